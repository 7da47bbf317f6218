"""Kernel PCA without the Gram matrix: leading components of data too large for an N x N matrix, certified."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gramless._version import __version__ as __version__

if TYPE_CHECKING:
    from gramless.public import *  # noqa: F403
    from gramless.public import __all__ as __all__


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is: whoever wants the version, or a command's help, does not wait for SciPy."""
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    public = import_module("gramless.public")
    if name != "__all__" and name not in public.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(public, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module("gramless.public").__all__})
