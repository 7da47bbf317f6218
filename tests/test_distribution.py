"""What is published: a wheel and a source distribution that install and work without a compiler."""

import importlib.util
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

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


def lower_bounds():
    """The least version of everything that is needed, by name; fails where one is missing."""
    command = [sys.executable, str(ROOT / "tools" / "lower_bounds.py"), "dev", "docs"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name.partition("[")[0].lower(): bound for name, _, bound in (line.partition("==") for line in lines)}


def test_the_lock_file_has_a_version_of_everything_that_is_needed():
    lines = (ROOT / "requirements-dev.lock").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    for name, bound in lower_bounds().items():
        assert name in pins, f"{name} is not in requirements-dev.lock; run make lock"
        assert Version(pins[name]) >= Version(bound)
    assert not any(mark in line for line in lines for mark in ("://", "@ ", "--index", "--find-links"))
