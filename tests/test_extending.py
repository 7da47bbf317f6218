"""The files of the page on extending do what it says they do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "extending"

KERNEL = """
import numpy as np
from gramless import KernelPCA
from gramless.kernels import Cauchy

x = np.random.default_rng(0).standard_normal((300, 4))
naive = 1 / (1 + ((x[:, None] - x) ** 2).sum(axis=2) / 4)
np.testing.assert_allclose(Cauchy(scale=2.0)(x), naive, rtol=1e-12)
centring = np.eye(300) - 1 / 300
truth = np.linalg.eigvalsh(centring @ naive @ centring)[::-1][:5]
for method in ("auto", "tiled", "landmarks"):
    model = KernelPCA(5, kernel=Cauchy(scale=2.0), method=method, random_state=0).fit(x)
    assert (model.certificate_.lower <= truth + 1e-10).all(), method
    assert (truth <= model.certificate_.upper + 1e-10).all(), method
"""

MAP = """
import numpy as np
from gramless import KernelPCA

x = np.random.default_rng(0).standard_normal((500, 3))
settings = {"kernel": "poly", "degree": 2, "random_state": 0}
model = KernelPCA(5, method="squares", **settings).fit(x)
assert model.method_ == "squares"
np.testing.assert_allclose(model.eigenvalues_, KernelPCA(5, method="dense", **settings).fit(x).eigenvalues_, rtol=1e-10)
assert "squares" in KernelPCA(5, **settings).plan(x).candidates
stream = KernelPCA(5, method="squares", **settings).partial_fit(x[:200]).partial_fit(x[200:])
np.testing.assert_allclose(stream.eigenvalues_, model.eigenvalues_, rtol=1e-10)
"""


ONNX = """
import numpy as np
from gramless import KernelPCA
from gramless.kernels import Cauchy, Gaussian

x = np.random.default_rng(0).standard_normal((300, 4))
for kernel in (Cauchy(scale=1.7), 0.3 * Cauchy(scale=1.7) * Gaussian(2.0)):
    agreement = KernelPCA(5, kernel=kernel, random_state=0).fit(x).to_onnx("model.onnx")
    assert agreement.difference < 1e-12, agreement
"""


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A copy of the package with both files where the page puts them."""
    root = tmp_path_factory.mktemp("extended")
    package = shutil.copytree(
        ROOT / "src" / "gramless", root / "gramless", ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder, file, name in (("kernels", "cauchy", "Cauchy"), ("features", "squares", "Squares")):
        shutil.copy(FOLDER / f"{file}.py", package / folder)
        with (package / folder / "__init__.py").open("a") as init:
            init.write(f"\nfrom gramless.{folder}.{file} import {name}\n")
    return root


def run(root, *arguments):
    """In a process of its own: what is registered there stays there."""
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, *arguments], cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_kernel(extended):
    run(extended, "-c", KERNEL)


def test_the_kernel_in_an_onnx_file(extended):
    pytest.importorskip("onnxruntime", reason='ONNX files need onnx: pip install ".[onnx]"')
    run(extended, "-c", ONNX)


def test_the_map(extended):
    run(extended, "-c", MAP)


def test_the_conformance_suite_finds_the_map(extended):
    shutil.copytree(ROOT / "tests" / "conformance", extended / "conformance", dirs_exist_ok=True)
    said = run(extended, "-m", "pytest", "-q", "conformance/test_maps.py", "-k", "squares")
    assert " passed" in said
