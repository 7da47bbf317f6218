import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import unreliable

from gramless import KernelPCA
from gramless.errors import PartitionError
from gramless.progress import Silent, observed_by

da = pytest.importorskip("dask.array", reason='dask is not installed: pip install ".[dask]"')

X = np.random.default_rng(0).standard_normal((600, 3))
X[250] = 7
MODELS = {
    "explicit": {"kernel": "poly", "degree": 2, "gamma": 0.5},
    "tiled": {"kernel": "rbf", "gamma": 0.1, "method": "tiled"},
}


class Incident(Silent):
    """Does something in the middle of a fit: after so many passes over the Gram matrix, or before the first."""

    def __init__(self, happen: Callable[[], Any], passes: int) -> None:
        self.happen, self.left = happen, passes

    def begins(self, method: str, seconds: float) -> None:
        self.count()

    def passing(self) -> None:
        self.count()

    def count(self) -> None:
        self.left -= 1
        if self.left == -1:
            self.happen()


def kill_a_worker(client: Any) -> None:
    pids = client.run(os.getpid)
    os.kill(next(iter(pids.values())), signal.SIGKILL)


@pytest.mark.parametrize("route", MODELS)
def test_a_worker_killed_in_the_middle_of_a_fit(client: Any, route: str) -> None:
    client.wait_for_workers(2, timeout=120)
    quiet = KernelPCA(3, **MODELS[route]).fit(X)
    incident = Incident(lambda: kill_a_worker(client), passes=0 if route == "explicit" else 2)
    with observed_by(incident):
        model = KernelPCA(3, **MODELS[route]).fit(da.from_array(X, chunks=(90, 3)))
    assert incident.left < 0
    np.testing.assert_allclose(model.eigenvalues_, quiet.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(model.transform(X), quiet.transform(X), atol=1e-8)
    client.wait_for_workers(2, timeout=120)


@pytest.mark.parametrize("route", [pytest.param("explicit", marks=pytest.mark.slow), "tiled"])
def test_a_worker_that_comes_late(client: Any, route: str) -> None:
    quiet = KernelPCA(3, **MODELS[route]).fit(X)

    def join() -> None:
        client.cluster.scale(3)
        client.wait_for_workers(3, timeout=120)

    incident = Incident(join, passes=0 if route == "explicit" else 2)
    try:
        with observed_by(incident):
            model = KernelPCA(3, **MODELS[route]).fit(da.from_array(X, chunks=(90, 3)))
    finally:
        client.cluster.scale(2)
    assert incident.left < 0
    np.testing.assert_allclose(model.eigenvalues_, quiet.eigenvalues_, rtol=1e-10)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("route", ["explicit", pytest.param("tiled", marks=pytest.mark.slow)])
def test_a_partition_that_fails_once_is_tried_again(tmp_path: Path, route: str) -> None:
    marker = tmp_path / "failed"
    blocks = da.from_array(X, chunks=(100, 3)).map_blocks(unreliable.fail_once, str(marker), dtype=float)
    model = KernelPCA(3, **MODELS[route]).fit(blocks)
    assert marker.exists()
    np.testing.assert_allclose(model.eigenvalues_, KernelPCA(3, **MODELS[route]).fit(X).eigenvalues_, rtol=1e-10)


@pytest.mark.slow
def test_a_partition_that_takes_every_worker_with_it_is_named() -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    blocks = da.from_array(X, chunks=(100, 3)).map_blocks(unreliable.kill_the_worker, dtype=float)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
        pytest.raises(PartitionError, match=r"partition.*\b2\b.* failed: KilledWorker"),
    ):
        KernelPCA(3, kernel="poly").fit(blocks)


@pytest.mark.usefixtures("client")
def test_a_partition_that_always_fails_is_named() -> None:
    blocks = da.from_array(X, chunks=(100, 3)).map_blocks(unreliable.fail_always, dtype=float)
    model = KernelPCA(3, kernel="poly")
    with pytest.raises(PartitionError, match="partition 2 failed: OSError: the disk is broken"):
        model.fit(blocks)
    assert not hasattr(model, "eigenvalues_")
