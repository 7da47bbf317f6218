"""What is published: a wheel and a source distribution that install and work without a compiler."""

import importlib.util
import os
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
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("SECURITY.md", "Makefile", "conftest.py", "requirements-dev.lock", "benchmarks/readme.py"):
        assert needed in names  # make test runs from it
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


AUDITED = {"name": "one", "version": "1.0", "vulns": []}
VULNERABLE = {**AUDITED, "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}
SKIPPED = {"name": "one", "skip_reason": "not found there"}


@pytest.mark.parametrize(
    ("pypi", "osv", "status", "said"),
    [
        (AUDITED, None, 0, "1 of 1 packages looked up, 0 of them with known vulnerabilities"),
        (VULNERABLE, None, 1, "one 1.0: PYSEC-1, fixed in: 1.1"),
        (SKIPPED, AUDITED, 0, "1 of 1 packages looked up"),
        (SKIPPED, VULNERABLE, 1, "one 1.0: PYSEC-1"),
        (SKIPPED, None, 2, "not found there"),
        (None, None, 2, "ConnectionError: no network"),
        (None, None, 2, "NOT AUDITED: one"),
    ],
)
def test_an_audit_that_could_not_look_does_not_pass(tmp_path, pypi, osv, status, said):
    """With a pip-audit in place of the real one that answers from here, or fails as without a network."""
    (tmp_path / "one.lock").write_text("# a comment\none==1.0\n")
    (tmp_path / "pip_audit.py").write_text(
        f"import json, sys\nanswer = {dict(pypi=pypi, osv=osv)}[sys.argv[2]]\n"
        "if answer is None:\n    raise ConnectionError('no network')\n"
        "print(json.dumps({'dependencies': [answer]}))\n"
    )
    ran = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "audit.py"), "one.lock"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == status
    assert said in ran.stdout + ran.stderr
