"""Kernel PCA without the Gram matrix: leading components of data too large for an N x N matrix, certified."""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from gramless._version import __version__ as __version__

if _TYPE_CHECKING:
    from gramless.public import *  # noqa: F403
    from gramless.public import __all__ as __all__


def __getattr__(name: str) -> _Any:
    """Lazy import on first access, so that the version, or the help of a command, does not load SciPy."""
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _find_spec(f"{__name__}.{name}") is not None:
        return _import_module(f"{__name__}.{name}")
    public = _import_module("gramless.public")
    if name != "__all__" and name not in public.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(public, name)  # later accesses do not call this function
    return globals()[name]


def __dir__() -> list[str]:
    """Public names, and the packages and modules that are looked up here."""
    from pkgutil import iter_modules

    found = {module.name for module in iter_modules(__path__)}  # noqa: F405 - every package has it
    return sorted({name for name in found if name[0] != "_"} | {*_import_module("gramless.public").__all__})
