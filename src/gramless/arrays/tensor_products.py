"""Products of tall torch tensors, summed in the order of :mod:`gramless.arrays.products`: one error bound serves both.

Small matrices, without a dimension of length n, are numpy arrays: their eigenproblems are solved on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays.dtypes import Array, unit_roundoff
from gramless.arrays.tensors import like, to_numpy

CHUNK, GROUP = 256, 32
_SLAB = 64  # groups of chunks multiplied at a time
_PARTIAL = 2**26  # entries of their partial products, which must not fill the memory of the GPU


def tensor_inner(a: Any, b: Any) -> Array:
    """``a.T @ b`` as a numpy array (p, q), for tensors (n, p) and (n, q).

    The sum runs over the rows of a chunk, then over the chunks of a group, then over groups.
    """
    import torch

    if not len(a) or not a.shape[1] or not b.shape[1]:
        return np.zeros((a.shape[1], b.shape[1]))
    step = CHUNK * GROUP
    slab = min(_SLAB, _PARTIAL // (GROUP * a.shape[1] * b.shape[1]))
    if not slab:
        return to_numpy(_wide_inner(a, b))
    groups = []
    for first in range(0, len(a), step * slab):
        left, right = a[first : first + step * slab], b[first : first + step * slab]
        whole = len(left) // step * step
        if whole:
            parts = torch.bmm(
                left[:whole].reshape(-1, CHUNK, a.shape[1]).transpose(1, 2),
                right[:whole].reshape(-1, CHUNK, b.shape[1]),
            )
            groups.append(parts.reshape(-1, GROUP, a.shape[1], b.shape[1]).sum(1))
        rest = [left[i : i + CHUNK].T @ right[i : i + CHUNK] for i in range(whole, len(left), CHUNK)]
        if rest:
            groups.append(torch.stack(rest).sum(0)[None])
    return to_numpy(torch.cat(groups).sum(0))


def _wide_inner(a: Any, b: Any) -> Any:
    """The sums of :func:`tensor_inner`, one product after the other: a wide product alone keeps a GPU busy."""
    total = a.new_zeros((a.shape[1], b.shape[1]))
    for first in range(0, len(a), CHUNK * GROUP):
        group = a.new_zeros(total.shape)
        for i in range(first, min(len(a), first + CHUNK * GROUP), CHUNK):
            group.addmm_(a[i : i + CHUNK].T, b[i : i + CHUNK])
        total += group
    return total


def tensor_times(a: Any, small: Array) -> Any:
    """``a @ small`` for a tensor (n, m) and a small numpy matrix (m, q)."""
    return a @ like(np.ascontiguousarray(small), a)


def tensor_qr(block: Any) -> tuple[Any, Array]:
    """Orthonormal columns Q (n, b) and C (b, b) with ``block = Q C``, from inner products alone.

    Each pass divides by a square root of the Gram matrix of the normalized columns, whose eigenvalues are first raised
    to the level of rounding. A few passes reach orthonormality from any condition number (Stathopoulos & Wu 2002).
    Zero columns stay zero.
    """
    width = block.shape[1]
    coefficients = np.eye(width)
    for _ in range(6):
        gram = tensor_inner(block, block)
        norms = np.sqrt(np.maximum(gram.diagonal(), 0))
        used = norms > 0
        scale = np.where(used, norms, 1.0)
        gram = gram / scale / scale[:, None]
        gram[~used, ~used] = 1.0
        distance = float(np.abs(gram - np.eye(width)).max(initial=0.0))
        if distance < 1e-13 and np.abs(norms[used] - 1).max(initial=0.0) < 1e-13:
            break
        values, turn = np.linalg.eigh((gram + gram.T) / 2)
        roots = np.sqrt(np.maximum(values, 16 * width * unit_roundoff() * values[-1]))
        block = tensor_times(block, turn / scale[:, None] / roots)
        coefficients = (roots[:, None] * turn.T * scale) @ coefficients
    return block, coefficients
