"""K(x, y) v for two sets of rows on a torch device, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gramless.arrays import is_tensor
from gramless.gram.cuda.forms import form_of
from gramless.gram.tiled.tiles import overflow_message
from gramless.kernels import Kernel

TILE = {"cuda": 4096, "cpu": 512}


def to_device(x: Any, device: Any) -> Any:
    """Rows (n, d) on a device, in the precision they have."""
    return (x if is_tensor(x) else torch.as_tensor(np.ascontiguousarray(x))).to(device=device)


def column_means(kernel: Kernel, x: Any) -> Any | None:
    """The mean row (d,) of a tensor, to be subtracted where that changes no value; None where it would."""
    return x.mean(0, dtype=torch.float64) if kernel.shift_invariant else None


def tensor_product(kernel: Kernel, x: Any, y: Any, v: Any, device: Any) -> Any:
    """K(x, y) v, tile by tile: memory for one tile, never for (m, n).

    Parameters
    ----------
    kernel : Kernel
    x : ndarray or tensor of shape (m, d)
    y : ndarray or tensor of shape (n, d)
    v : ndarray or tensor of shape (n, k)
    device : torch.device or str

    Returns
    -------
    tensor of shape (m, k)
        float64, on the device.

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> tensor_product(Linear(), np.array([[1.0], [2.0]]), np.array([[3.0]]), np.array([[1.0]]), "cpu").ravel().tolist()
    [3.0, 6.0]
    """
    form = form_of(kernel)
    if form is None:
        raise ValueError(f"{kernel} has no form on torch tensors; pass device='cpu'")
    x, y, v = to_device(x, device), to_device(y, device), to_device(v, device).double()
    shift, step = column_means(kernel, y), TILE.get(v.device.type, 512)
    sources = form.prepare(y.double(), shift, torch.float64)
    out = torch.zeros((len(x), v.shape[1]), dtype=torch.float64, device=v.device)
    for i in range(0, len(x), step):
        left = form.prepare(x[i : i + step].double(), shift, torch.float64)
        for j in range(0, len(y), step):
            columns = slice(j, j + step)
            out[i : i + step] += form.evaluate(left, sources.part(columns), False) @ v[columns]
    if not bool(torch.isfinite(out).all()):
        raise ValueError(overflow_message(kernel))
    return out


def landmark_sums(kernel: Kernel, x: Any, landmarks: Any, weights: Any) -> tuple[Any, Any]:
    """C^T D C (p, p) and C^T D 1 (p,), C the kernel of rows `x` (n, d) with `landmarks` (p, d), D = diag(weights)."""
    form = form_of(kernel)
    assert form is not None  # the plan has seen to it
    shift, step = column_means(kernel, landmarks), TILE.get(x.device.type, 512)
    right = form.prepare(landmarks.double(), shift, torch.float64)
    scatter = torch.zeros((len(landmarks), len(landmarks)), dtype=torch.float64, device=x.device)
    sums = torch.zeros(len(landmarks), dtype=torch.float64, device=x.device)
    for i in range(0, len(x), step):
        block = form.evaluate(form.prepare(x[i : i + step].double(), shift, torch.float64), right, False)
        weighted = block * weights[i : i + step, None]
        scatter += block.T @ weighted
        sums += weighted.sum(0)
    return scatter, sums
