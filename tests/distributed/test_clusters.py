"""Clusters of other sizes, of our own, and of somebody else's."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.version import Version

from gramless import KernelPCA
from gramless.progress import Silent, observed_by

da = pytest.importorskip("dask.array", reason='dask is not installed: pip install ".[dask]"')
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

X = np.random.default_rng(0).standard_normal((500, 2))
MODELS = {
    "explicit": {"kernel": "rbf", "gamma": 1.0, "method": "fourier"},
    "tiled": {"kernel": "rbf", "gamma": 1.0, "method": "tiled"},
    "merged": {"kernel": "rbf", "gamma": 1.0, "method": "merging"},
}


def assert_fits_alike() -> None:
    """Every route finds what one process finds, with whatever client is active."""
    for name, parameters in MODELS.items():
        alone = KernelPCA(3, **{**parameters, "method": "auto" if name == "merged" else parameters["method"]}).fit(X)
        model = KernelPCA(3, **parameters).fit(da.from_array(X, chunks=(70, 2)))
        np.testing.assert_allclose(model.eigenvalues_, alone.eigenvalues_, rtol=1e-10 if name != "merged" else 1e-6)
        assert (model.certificate_.lower <= alone.certificate_.upper).all()
        assert (model.certificate_.upper >= alone.certificate_.lower).all()


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
def test_any_number_of_workers_finds_the_same(workers: int) -> None:
    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        assert_fits_alike()


def test_two_workers_find_the_same(client: Any) -> None:
    client.wait_for_workers(2, timeout=120)
    assert_fits_alike()


class Watch(Silent):
    """Notes what workers have received from each other before each pass over the Gram matrix."""

    def __init__(self, client: Any) -> None:
        self.client, self.rows = client, []

    def passing(self) -> None:
        self.rows.append(sum(size for key, size in received(self.client).items() if "make_part" in key))


def test_rows_are_sent_before_the_first_pass_and_then_no_more(client: Any) -> None:
    client.wait_for_workers(2, timeout=120)
    watch = Watch(client)
    with observed_by(watch):
        KernelPCA(2, kernel="rbf", gamma=0.1, method="tiled").fit(da.from_array(X, chunks=(70, 2)))
    assert len(watch.rows) > 2
    assert watch.rows[-1] == watch.rows[2]


def test_moments_are_sent_and_not_rows(client: Any) -> None:
    """And a sample, which does not grow with the rows; parts travel where the scheduler thinks fit, once at most."""
    client.wait_for_workers(2, timeout=120)
    x = np.random.default_rng(0).standard_normal((100_000, 8))
    before = received(client)
    KernelPCA(2, kernel="linear", method="monomials").fit(da.from_array(x, chunks=(6250, 8)))
    sent = received(client) - before
    parts = {key: size for key, size in sent.items() if "make_part" in key}
    assert sum(sent.values()) - sum(parts.values()) < x.nbytes / 8
    assert max(parts.values(), default=0) < 2 * x.nbytes / 16


def received(client: Any) -> Counter[str]:
    """Bytes that came from another worker, by key."""
    logs = client.run(lambda dask_worker: [dict(entry["keys"]) for entry in dask_worker.transfer_incoming_log])
    total: Counter[str] = Counter()
    for log in logs.values():
        for keys in log:
            total.update({str(key): size for key, size in keys.items()})
    return total


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a scheduler in a process of its own, with one worker in another."""
    file = tmp_path / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    tool = [sys.executable, "-m", "distributed.cli"]
    scheduler = [f"{tool[2]}.dask_scheduler", "--port", "0", "--scheduler-file", str(file), "--no-dashboard"]
    worker = [f"{tool[2]}.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard"]
    processes = [
        subprocess.Popen([sys.executable, "-m", *command], env=environment, stderr=subprocess.DEVNULL)
        for command in (scheduler, worker)
    ]
    try:
        for _ in range(600):
            if file.exists() and file.stat().st_size:
                break
            time.sleep(0.2)
        yield json.loads(file.read_text())["address"]
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(timeout=60)


def test_a_cluster_that_is_there_is_found_by_its_address(address: str) -> None:
    with distributed.Client(address, timeout=120):
        model = KernelPCA(3, **MODELS["explicit"]).fit(da.from_array(X, chunks=(70, 2)))
        assert model.plan_.problem.workers == 1
    np.testing.assert_allclose(model.eigenvalues_, KernelPCA(3, **MODELS["explicit"]).fit(X).eigenvalues_, rtol=1e-10)


SCRIPT = """
import dask.array as da, distributed, numpy as np
from gramless import KernelPCA

if __name__ == "__main__":
    x = np.random.default_rng(0).standard_normal((300, 2))
    model = KernelPCA(2, kernel="rbf", gamma=1.0, method="fourier", n_jobs=2).fit(da.from_array(x, chunks=(100, 2)))
    alone = KernelPCA(2, kernel="rbf", gamma=1.0, method="fourier").fit(x)
    print(model.plan_.problem.workers, np.allclose(model.eigenvalues_, alone.eigenvalues_, rtol=1e-10))
    try:
        distributed.default_client()
    except ValueError:
        print("closed")
"""


def test_without_a_client_a_local_cluster_serves_the_call(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.stdout.split() == ["2", "True", "closed"], done.stderr


@pytest.mark.skipif(
    Version(distributed.__version__) < Version("2026.7"), reason="before 2026.7 Dask starts such workers again for ever"
)
def test_a_script_that_every_worker_would_run_anew_is_told_what_to_do(tmp_path: Path) -> None:
    """Without ``if __name__ == "__main__"``: one error with the remedy, and not a word from the workers."""
    script = tmp_path / "script.py"
    script.write_text(
        "import dask.array as da\n"
        "from gramless import KernelPCA\n"
        "KernelPCA(2, kernel='rbf', n_jobs=1).fit(da.random.random((100, 2), chunks=(50, 2)))\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
    }
    ran = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 1
    assert ran.stderr.count("Traceback") == 1
    assert 'under `if __name__ == "__main__":`' in ran.stderr.splitlines()[-1]
    assert "No clients found" not in ran.stderr
