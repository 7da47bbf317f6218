"""Figures are closed after every test; modules that need torch or triton are ignored where these are not installed."""

import importlib.util
import sys
from collections.abc import Iterator

import pytest

_CUDA = "src/gramless/gram/cuda"
collect_ignore_glob = []
if importlib.util.find_spec("torch") is None:
    collect_ignore_glob.append(f"{_CUDA}/*.py")
elif importlib.util.find_spec("triton") is None:
    collect_ignore_glob += [f"{_CUDA}/kernel.py", f"{_CUDA}/fused.py"]


@pytest.fixture(autouse=True)
def _no_open_figures() -> Iterator[None]:
    """Doctests in docstrings and pages open figures as well: matplotlib warns from the twentieth on."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
