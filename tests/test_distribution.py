"""What is published: a wheel and a source distribution that install and work without a compiler."""

import importlib.util
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_wheel_and_source_install_in_an_empty_environment(tmp_path):
    if importlib.util.find_spec("build") is None:
        pytest.skip("the package build is not installed")
    subprocess.run([sys.executable, "-m", "build", "-q", "--outdir", str(tmp_path), str(ROOT)], check=True)
    (wheel,), (source,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert all(name.startswith(("gramless/", "gramless-")) for name in archive.namelist())
        assert "gramless/py.typed" in archive.namelist()
    with tarfile.open(source) as archive:
        assert any(name.endswith("SECURITY.md") for name in archive.getnames())
    subprocess.run([sys.executable, str(ROOT / "tools" / "try_dist.py"), str(tmp_path)], check=True)


def test_every_dependency_has_a_lower_bound():
    bounds = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "lower_bounds.py"), "plot", "io", "dev", "docs"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert {bound.partition("==")[0].partition("[")[0] for bound in bounds} >= {"numpy", "scipy", "scikit-learn"}


def test_the_lock_file_is_names_and_versions_of_what_is_needed():
    lines = (ROOT / "requirements-dev.lock").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    assert {"numpy", "scipy", "scikit-learn", "finufft", "pytest", "hypothesis"} <= set(pins)
    assert not any(mark in line for line in lines for mark in ("://", "@ ", "--index", "--find-links"))
