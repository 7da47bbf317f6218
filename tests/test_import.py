import os
import subprocess
import sys

import pytest

OPTIONAL = (
    "matplotlib",
    "panel",
    "bokeh",
    "datashader",
    "torch",
    "triton",
    "dask",
    "pyarrow",
    "finufft",
    "onnx",
    "onnxruntime",
)


def run_in_child(code: str) -> str:
    """What `code` prints in a fresh process that finds modules where this one does."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert child.returncode == 0, child.stderr
    return child.stdout.strip()


def modules_after(statement: str) -> set[str]:
    """Top-level names of all modules there are after `statement`, in a fresh process."""
    return set(run_in_child(f"import sys; {statement}; print(*{{n.partition('.')[0] for n in sys.modules}})").split())


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """What the public names of gramless bring in on top of scikit-learn (which may import pandas) and rich."""
    return modules_after("import gramless.public") - modules_after("import numpy, scipy, sklearn.base, rich.live")


@pytest.mark.parametrize("package", OPTIONAL)
def test_import_leaves_optional_packages_alone(imported: set[str], package: str) -> None:
    assert "gramless" in imported
    assert package not in imported


def test_import_brings_little_beyond_the_three_packages(imported: set[str]) -> None:
    assert imported <= {"gramless", *sys.stdlib_module_names}


def test_bare_import_waits_for_nothing() -> None:
    assert not modules_after("import gramless; gramless.__version__") & {"numpy", "scipy", "sklearn", "rich"}


def test_import_prints_nothing() -> None:
    assert run_in_child("import gramless") == ""


def test_public_names_exist() -> None:
    code = "import gramless; print(*[name for name in gramless.__all__ if not hasattr(gramless, name)])"
    assert run_in_child(code) == ""


def test_packages_are_found_without_importing_them_by_name() -> None:
    assert run_in_child("import gramless; print(gramless.plots.__name__)") == "gramless.plots"


@pytest.mark.parametrize("order", ["gramless.estimators", "gramless.plots"])
def test_any_package_may_come_first(order: str) -> None:
    assert run_in_child(f"import {order}; from gramless import KernelPCA; print(KernelPCA.__name__)") == "KernelPCA"


def test_star_import_brings_the_public_names() -> None:
    assert (
        run_in_child("from gramless import *; print(KernelPCA(), kernels.__name__)") == "KernelPCA() gramless.kernels"
    )


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    code = "import gramless\ntry: gramless.KernelPAC\nexcept AttributeError as error: print(error)"
    assert run_in_child(code) == "module 'gramless' has no attribute 'KernelPAC'"


def test_dir_lists_public_names_and_modules_and_nothing_else() -> None:
    code = "import gramless; print(*dir(gramless))"
    listed = set(run_in_child(code).split())
    assert {"KernelPCA", "kernels", "plots", "load", "__version__"} <= listed
    assert not listed & {"Any", "TYPE_CHECKING", "find_spec", "import_module"}
    missing = "import gramless; print(*[name for name in dir(gramless) if not hasattr(gramless, name)])"
    assert run_in_child(missing) == ""


def test_a_name_is_looked_up_once() -> None:
    code = "import gramless; gramless.KernelPCA; print('KernelPCA' in vars(gramless), 'load' in vars(gramless))"
    assert run_in_child(code) == "True False"
