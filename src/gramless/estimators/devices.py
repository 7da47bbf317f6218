"""What `device` means to an estimator, and torch tensors in and out."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import is_tensor, to_numpy


def method_on(device: str, method: str) -> str:
    """The method to plan with: on a card that was asked for, the one that works there.

    Examples
    --------
    >>> method_on("cuda", "auto"), method_on("auto", "tiled")
    ('cuda', 'tiled')
    """
    if device in ("cpu", "auto"):
        return method
    if method not in ("auto", "cuda"):
        raise ValueError(f"method={method!r} works on the CPU, but device={device!r}; pass device='auto' or 'cpu'")
    return "cuda"


def to_numpy_rows(x: Any) -> Any:
    """A torch tensor as numpy's array in the host's memory; anything else as it is."""
    return to_numpy(x) if is_tensor(x) else x


def given_back(values: Any, x: Any) -> Any:
    """`values` as a tensor where `x` is one: on its device and, if that is a floating type, of its type."""
    if not is_tensor(x):
        return values
    import torch

    dtype = x.dtype if x.dtype.is_floating_point else torch.float64
    return torch.as_tensor(np.ascontiguousarray(values), dtype=dtype, device=x.device)
