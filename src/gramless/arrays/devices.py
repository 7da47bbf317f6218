"""Which device the work is done on, and what it has."""

from __future__ import annotations

import importlib.util
from typing import Any

_INSTALL = "install the extra: pip install 'gramless[gpu]' (torch and triton)"


def has_torch() -> bool:
    """Whether torch can be imported; does not import it."""
    return importlib.util.find_spec("torch") is not None


def find_device(device: str) -> str:
    """The device meant: ``"cpu"`` as it is, ``"cuda"`` if there is one, ``"auto"`` for a card where there is one.

    Raises
    ------
    RuntimeError
        For ``"cuda"`` without torch or without a card; the message says what to install.

    Examples
    --------
    >>> find_device("cpu")
    'cpu'
    """
    if device == "cpu":
        return "cpu"
    if not has_torch():
        if device == "auto":
            return "cpu"
        raise RuntimeError(f"device={device!r} needs torch, which is not installed; {_INSTALL}, or pass device='cpu'")
    import torch

    if torch.cuda.is_available():
        return "cuda" if device == "auto" else device
    if device == "auto":
        return "cpu"
    built = "finds no card: check the driver with nvidia-smi" if torch.version.cuda else "is built without CUDA"
    raise RuntimeError(
        f"device={device!r} needs a CUDA card, but torch {torch.__version__} {built}; "
        "install a CUDA build of torch (https://pytorch.org/get-started) and its driver, or pass device='cpu'"
    )


def free_card_memory(device: str) -> int:
    """Bytes that can still be taken on a card, what torch holds in reserve included."""
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    reserved: Any = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(free + reserved)
