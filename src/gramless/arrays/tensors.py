"""Arrays of numpy or of torch: what the rest of the library needs to know of the difference."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from gramless.arrays.dtypes import Array


def is_tensor(array: Any) -> bool:
    """Whether `array` is a torch tensor; does not import torch.

    Examples
    --------
    >>> is_tensor(np.ones(2))
    False
    """
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def to_numpy(array: Any) -> Array:
    """`array` in the host's memory, as numpy's.

    Examples
    --------
    >>> to_numpy(np.ones(2))
    array([1., 1.])
    """
    return np.asarray(array.detach().cpu().numpy() if is_tensor(array) else array)


def like(array: Any, other: Any) -> Any:
    """`array` in the precision of `other`, and where that lives: numpy, or a torch device.

    Examples
    --------
    >>> like([1, 2], np.zeros(1))
    array([1., 2.])
    """
    if is_tensor(other):
        import torch

        return torch.as_tensor(array, dtype=other.dtype, device=other.device)
    return np.asarray(to_numpy(array), dtype=other.dtype)


def in_float64(array: Any) -> Any:
    """`array` in float64, where it is.

    Examples
    --------
    >>> in_float64([1, 2])
    array([1., 2.])
    """
    return array.double() if is_tensor(array) else np.asarray(array, dtype=np.float64)


def in_float32(array: Any) -> Any:
    """A block for drafts: numpy's in float32, which halves the work; a card's as it is, where float64 is fast."""
    return array if is_tensor(array) else array.astype(np.float32)


def beside(*blocks: Any) -> Any:
    """Blocks of columns (n, a), (n, b), ... side by side: (n, a + b + ...).

    Examples
    --------
    >>> beside(np.zeros((2, 1)), np.ones((2, 2))).shape
    (2, 3)
    """
    if is_tensor(blocks[0]):
        import torch

        return torch.cat([like(block, blocks[0]) for block in blocks], dim=1)
    return np.hstack(blocks)
