"""Functions that hide the difference between numpy arrays and torch tensors."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.special

from gramless.arrays.dtypes import Array
from gramless.arrays.symbols import Symbolic


def is_tensor(array: Any) -> bool:
    """Whether `array` is a torch tensor; does not import torch.

    Examples
    --------
    >>> is_tensor(np.ones(2))
    False
    """
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def namespace(array: Any) -> Any:
    """The module whose functions take `array`: numpy or torch. Use names that mean the same in both.

    A :class:`~gramless.arrays.Symbolic` array has functions of its own.

    Examples
    --------
    >>> namespace(np.ones(2)) is np
    True
    """
    if isinstance(array, Symbolic):
        return array.__array_namespace__()
    return sys.modules["torch"] if is_tensor(array) else np


def to_numpy(array: Any) -> Array:
    """`array` as a numpy array in the memory of the host.

    Examples
    --------
    >>> to_numpy(np.ones(2))
    array([1., 1.])
    """
    return np.asarray(array.detach().cpu().numpy() if is_tensor(array) else array)


def like(array: Any, other: Any) -> Any:
    """`array` with the dtype of `other`: as a numpy array, or as a tensor on the torch device of `other`.

    Beside a symbolic `other`, it stays as it is.

    Examples
    --------
    >>> like([1, 2], np.zeros(1))
    array([1., 2.])
    """
    if isinstance(other, Symbolic):
        return array
    if is_tensor(other):
        import torch

        return torch.as_tensor(array, dtype=other.dtype, device=other.device)
    return np.asarray(to_numpy(array), dtype=other.dtype)


def blank(shape: tuple[int, ...], other: Any) -> Any:
    """An uninitialized float64 array: of numpy, or of torch on the device of `other`.

    Examples
    --------
    >>> blank((2, 3), np.ones(1, dtype=np.float32)).dtype
    dtype('float64')
    """
    if is_tensor(other):
        return other.new_empty(shape, dtype=namespace(other).float64)
    return np.empty(shape)


def in_dtype(array: Any, dtype: npt.DTypeLike) -> Any:
    """`array` in a numpy dtype, or the torch dtype of that name, C-contiguous.

    Examples
    --------
    >>> in_dtype([1, 2], np.float32)
    array([1., 2.], dtype=float32)
    """
    if is_tensor(array):
        return array.to(getattr(namespace(array), np.dtype(dtype).name)).contiguous()
    return np.ascontiguousarray(array, dtype=dtype)


def copied(array: Any) -> Any:
    """A C-contiguous copy, which the caller may overwrite.

    Examples
    --------
    >>> copied(np.ones((2, 2)).T).flags.c_contiguous
    True
    """
    return array.clone(memory_format=namespace(array).contiguous_format) if is_tensor(array) else array.copy()


def row_squares(array: Any) -> Any:
    """Squared norm (n,) of each row of (n, d).

    Examples
    --------
    >>> row_squares(np.array([[3.0, 4.0]]))
    array([25.])
    """
    return namespace(array).einsum("ij,ij->i", array, array)


def normal_columns(rng: np.random.Generator, columns: int, other: Any) -> Any:
    """Independent standard normal numbers (n, columns), with the number of rows, dtype and device of `other`.

    On a torch device, torch's own generator draws them, seeded by `rng`: a copy from the host would take longer.

    Examples
    --------
    >>> normal_columns(np.random.default_rng(0), 2, np.zeros((3, 1))).shape
    (3, 2)
    """
    if not is_tensor(other):
        return np.asarray(rng.standard_normal((len(other), columns)), dtype=other.dtype)
    torch = namespace(other)
    generator = torch.Generator(other.device).manual_seed(int(rng.integers(2**62)))
    return torch.randn((len(other), columns), dtype=other.dtype, device=other.device, generator=generator)


def lower_gamma(a: float, x: Any) -> Any:
    """The regularized lower incomplete gamma function P(a, x), entry by entry.

    Examples
    --------
    >>> lower_gamma(1.0, np.array([0.0, 1.0])).round(6)
    array([0.      , 0.632121])
    """
    if is_tensor(x):
        return namespace(x).special.gammainc(namespace(x).full_like(x, a), x)
    return scipy.special.gammainc(a, x)


def in_float64(array: Any) -> Any:
    """`array` in float64, on the device where it is.

    Examples
    --------
    >>> in_float64([1, 2])
    array([1., 2.])
    """
    return array.double() if is_tensor(array) else np.asarray(array, dtype=np.float64)


def in_float32(array: Any) -> Any:
    """A block for a draft: an array in float32, which halves the work; a tensor unchanged: float64 is fast on GPUs."""
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
