"""Nothing of gramless reaches for the network, not even for this machine itself."""

import os
import subprocess
import sys

import pytest

GUARD = """
import sys

FORBIDDEN = {"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo",
             "socket.gethostbyname", "socket.gethostbyaddr", "urllib.Request", "ftplib.connect", "http.client.connect"}

def guard(event, arguments):
    if event in FORBIDDEN:
        print("NETWORK", event, arguments)
        raise RuntimeError(f"{event} {arguments}")

sys.addaudithook(guard)
"""

WORK = """
import numpy as np, gramless
x = np.random.default_rng(0).standard_normal((60, 3))
y = np.arange(60) % 2
gramless.KernelPCA(2, kernel="rbf", n_jobs=2).fit(x).transform(x)
gramless.KernelPCA(2, kernel=gramless.kernels.Gaussian(3.0), method="fourier").fit(x)
gramless.KernelPCA(2, kernel="rbf").partial_fit(x[:30]).partial_fit(x[30:]).transform(x)
gramless.KernelKMeans(2).fit(x).predict(x)
gramless.KernelDiscriminantAnalysis(n_coordinates=5).fit(x, y).predict(x)
gramless.BiasedDiscriminantAnalysis(n_coordinates=5).fit(x, y).predict(x)
gramless.KernelICA(random_state=0, n_restarts=0).fit(x)
gramless.SeriesDensity(random_state=0).fit(x).score_samples(x)
gramless.KernelPCA(2, kernel="rbf").fit(x).save("model.safetensors")
gramless.load("model.safetensors").transform(x)
np.save("rows.npy", x)
from gramless.sources import open_source
list(open_source("rows.npy").blocks(10))
"""


def run(code, folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MPLBACKEND": "agg"}
    return subprocess.run(
        [sys.executable, "-c", GUARD + code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_imports_fits_and_files_do_not_reach_for_the_network(tmp_path):
    child = run(WORK, tmp_path)
    assert child.returncode == 0, child.stderr
    assert "NETWORK" not in child.stdout


@pytest.mark.slow
def test_the_demo_does_not_either(tmp_path):
    pytest.importorskip("matplotlib")
    child = run("from gramless.demo import run; run('out', rows=300)", tmp_path)
    assert child.returncode == 0, child.stderr
    assert "NETWORK" not in child.stdout


def test_the_guard_would_notice(tmp_path):
    child = run("import socket; socket.create_connection(('127.0.0.1', 9))", tmp_path)
    assert child.returncode != 0
    assert "NETWORK" in child.stdout
