"""Nothing of gramless reaches for the network, not even for this machine itself."""

import importlib.util
import os
import subprocess
import sys

import pytest

GUARD = """
import sys

FORBIDDEN = {"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo",
             "socket.gethostbyname", "socket.gethostbyaddr", "urllib.Request", "ftplib.connect", "http.client.connect",
             "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"}  # nor does a child, whom nobody watches
LOCAL = ("fc-list", "ldconfig", "gcc", "cc", "ld", "objdump")  # by which matplotlib finds fonts, and ctypes libraries

def guard(event, arguments):
    if event == "subprocess.Popen" and str(arguments[0]).rpartition("/")[2] in LOCAL:
        return
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
from gramless.data import open_source
list(open_source("rows.npy").blocks(10))
from gramless.cli import main
assert main(["--quiet", "fit", "rows.npy", "-k", "2", "-o", "model.gramless"]) == 0
assert main(["transform", "model.gramless", "rows.npy", "-o", "scores.csv"]) == 0
"""

PAGES = """
import numpy as np, gramless
x = np.random.default_rng(0).standard_normal((60, 3))
model = gramless.KernelPCA(2, kernel="rbf").fit(x)
gramless.plots.plot_embedding(model.transform(x))
gramless.plots.plot_spectrum(model)
from gramless.report import write_report
write_report(model, x, "page.html")
"""


NEEDS_FIGURES = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")


def run(code, folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MPLBACKEND": "agg"}
    return subprocess.run(
        [sys.executable, "-c", GUARD + code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("work", [WORK, pytest.param(PAGES, marks=NEEDS_FIGURES)], ids=["library", "figures"])
def test_nothing_reaches_for_the_network(tmp_path, work):
    child = run(work, tmp_path)
    assert "NETWORK" not in child.stdout  # whoever caught the error
    assert child.returncode == 0, child.stderr


DEMO = """
from functools import partial
from gramless.demo import run, file, scale, stream, table
if __name__ == "__main__":
    run("out", chapters=[partial(scale.scale_chapter, sizes=(300, 600)), partial(table.table_chapter, names=("iris",)),
                         partial(file.file_chapter, folder=".", rows=2000), partial(stream.stream_chapter, quiet=10)])
"""


@pytest.mark.slow
@NEEDS_FIGURES
def test_the_demo_does_not_either(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(GUARD, encoding="utf-8")  # the processes it starts are watched, too
    (tmp_path / "tour.py").write_text(DEMO, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "MPLBACKEND": "agg"}
    child = subprocess.run(
        [sys.executable, "tour.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "NETWORK" not in child.stdout
    assert child.returncode == 0, child.stderr
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ('127.0.0.1', 9))",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
    ],
)
def test_the_guard_would_notice_though_the_error_is_caught(tmp_path, code):
    child = run(f"try:\n    {code}\nexcept Exception:\n    pass\n", tmp_path)
    assert child.returncode == 0, child.stderr
    assert "NETWORK" in child.stdout
