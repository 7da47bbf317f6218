"""The device that computes, and the memory of that device."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from gramless.arrays.memory import free_memory
from gramless.arrays.tensors import is_tensor

_INSTALL = 'install the extra, in the folder of gramless: pip install ".[gpu]" (torch and triton)'


def has_torch() -> bool:
    """Whether torch can be imported; does not import it."""
    return importlib.util.find_spec("torch") is not None


def find_device(device: str) -> str:
    """The device that the parameter `device` means; ``"auto"`` means a CUDA GPU if there is one, else the CPU.

    ``"torch"`` means torch on the CPU: the code for GPUs, run on a machine without one.

    Raises
    ------
    ValueError
        For an unknown device.
    RuntimeError
        For ``"cuda"`` without torch or without a GPU; the message says what to install.

    Examples
    --------
    >>> find_device("cpu")
    'cpu'
    """
    if device == "cpu":
        return "cpu"
    if device not in ("auto", "torch") and device.partition(":")[0] != "cuda":
        raise ValueError(
            f"device={device!r} is unknown; pass 'cuda' for a GPU, 'auto' for one if there is one, or 'cpu'"
        )
    if not has_torch():
        if device == "auto":
            return "cpu"
        raise RuntimeError(f"device={device!r} needs torch, which is not installed; {_INSTALL}, or pass device='cpu'")
    if device == "torch":
        return device
    import torch

    if torch.cuda.is_available():
        return "cuda" if device == "auto" else device
    if device == "auto":
        return "cpu"
    built = "finds no GPU: check the driver with nvidia-smi" if torch.version.cuda else "is built without CUDA"
    raise RuntimeError(
        f"device={device!r} needs a CUDA GPU, but torch {torch.__version__} {built}; "
        "install a CUDA build of torch (https://pytorch.org/get-started) and its driver, or pass device='cpu'"
    )


def usable_device(device: str) -> str:
    """`device` where this machine has it, else ``"cpu"``: for models that were fitted on another machine.

    Examples
    --------
    >>> usable_device("cpu")
    'cpu'
    """
    if device == "cpu" or not has_torch():
        return "cpu"
    import torch

    return device if device == "torch" or torch.cuda.is_available() else "cpu"


def to_device(x: Any, device: Any) -> Any:
    """Rows (n, d) as a tensor on a device, in the precision they have; ``"torch"`` is torch's CPU."""
    import torch

    rows = x if is_tensor(x) else torch.as_tensor(np.ascontiguousarray(x))
    return rows.to(device="cpu" if device == "torch" else device)


def rows_on(device: str, x: Any, tensor: Any = None) -> Any:
    """Rows `x` (n, d) in the memory of `device`: unchanged for ``"cpu"``; `tensor` holds the same rows, if given.

    Examples
    --------
    >>> rows_on("cpu", np.ones((1, 1)))
    array([[1.]])
    """
    device = usable_device(device)
    if device == "cpu":
        return x
    return to_device(x if tensor is None else tensor, device)


def card_workspace(device: Any) -> int:
    """Bytes for partial sums on a GPU: a share of total, not of free memory, so that the order of sums is fixed."""
    if device == "torch":
        return 2**25
    import torch

    return int(min(5 * 2**30, torch.cuda.get_device_properties(device).total_memory // 8))


def free_card_memory(device: str) -> int:
    """Bytes that can still be allocated on a GPU, torch's unused reserve included; for ``"torch"``, on the host."""
    if device == "torch":
        return free_memory()
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    reserved: Any = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(free + reserved)
