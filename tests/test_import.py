import os
import subprocess
import sys

import pytest

OPTIONAL = ("matplotlib", "panel", "bokeh", "datashader", "torch", "triton", "dask", "pyarrow", "finufft")


def run_in_child(code: str) -> str:
    """What `code` prints in a fresh process that finds modules where this one does."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert child.returncode == 0, child.stderr
    return child.stdout.strip()


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """Top-level names of all modules that `import gramless` brings in beyond those that scikit-learn does."""
    shown = "print(*{name.partition('.')[0] for name in sys.modules})"
    before, after = (set(run_in_child(f"import sys, {name}; {shown}").split()) for name in ("sklearn.base", "gramless"))
    return after - before


@pytest.mark.parametrize("package", OPTIONAL)
def test_import_leaves_optional_packages_alone(imported: set[str], package: str) -> None:
    assert "gramless" in imported
    assert package not in imported


def test_import_prints_nothing() -> None:
    assert run_in_child("import gramless") == ""


def test_public_names_exist() -> None:
    code = "import gramless; print(*[name for name in gramless.__all__ if not hasattr(gramless, name)])"
    assert run_in_child(code) == ""
