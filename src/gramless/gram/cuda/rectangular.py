"""K(x, y) v for two sets of rows on a torch device, in float64."""

from __future__ import annotations

from typing import Any

import torch

from gramless.arrays.devices import to_device
from gramless.gram.tiled.tiles import overflow_message
from gramless.kernels import Kernel, column_shift

TILE = {"cuda": 4096, "cpu": 512}


def refuse_without_tensors(kernel: Kernel) -> None:
    """Raise for a kernel that does not work on torch tensors."""
    if not kernel.tensors:
        raise ValueError(f"{kernel} is not implemented for torch tensors; pass device='cpu'")


def tensor_product(kernel: Kernel, x: Any, y: Any, v: Any, device: Any) -> Any:
    """K(x, y) v, tile by tile: memory for one tile, never for (m, n).

    Parameters
    ----------
    kernel : Kernel
    x : ndarray or tensor of shape (m, d)
    y : ndarray or tensor of shape (n, d)
    v : ndarray or tensor of shape (n, k)
    device : torch.device or str
        ``"torch"`` is torch's CPU.

    Returns
    -------
    tensor of shape (m, k)
        float64, on the device.

    Examples
    --------
    >>> import numpy as np
    >>> from gramless.kernels import Linear
    >>> x, y = np.array([[1.0], [2.0]]), np.array([[3.0]])
    >>> tensor_product(Linear(), x, y, np.array([[1.0]]), "torch").ravel().tolist()
    [3.0, 6.0]
    """
    refuse_without_tensors(kernel)
    x, y, v = to_device(x, device), to_device(y, device), to_device(v, device).double()
    shift, step = column_shift(y) if kernel.shift_invariant else None, TILE.get(v.device.type, 512)
    sources = kernel.prepare(y, shift)
    out = torch.zeros((len(x), v.shape[1]), dtype=torch.float64, device=v.device)
    for i in range(0, len(x), step):
        left = kernel.prepare(x[i : i + step], shift)
        for j in range(0, len(y), step):
            columns = slice(j, j + step)
            out[i : i + step] += kernel.evaluate(left, sources.part(columns)) @ v[columns]
    if not bool(torch.isfinite(out).all()):
        raise ValueError(overflow_message(kernel))
    return out


def landmark_sums(kernel: Kernel, x: Any, landmarks: Any, weights: Any) -> tuple[Any, Any]:
    """C^T D C (p, p) and C^T D 1 (p,), C the kernel of rows `x` (n, d) with `landmarks` (p, d), D = diag(weights)."""
    shift, step = column_shift(landmarks) if kernel.shift_invariant else None, TILE.get(x.device.type, 512)
    right = kernel.prepare(landmarks, shift)
    scatter = torch.zeros((len(landmarks), len(landmarks)), dtype=torch.float64, device=x.device)
    sums = torch.zeros(len(landmarks), dtype=torch.float64, device=x.device)
    for i in range(0, len(x), step):
        block = kernel.evaluate(kernel.prepare(x[i : i + step], shift), right)
        weighted = block * weights[i : i + step, None]
        scatter += block.T @ weighted
        sums += weighted.sum(0)
    return scatter, sums
