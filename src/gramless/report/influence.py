"""Which input columns the components depend on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramless.arrays import Array

_BUDGET = 20_000  # rows to project
_BYTES = 2**25


def column_influence(project: Callable[[Array], Array], rows: Array, *, seed: int = 0, budget: int = _BUDGET) -> Array:
    r"""How much the components change when one column is taken from another row.

    For each column j the mean, over rows, of ``|s(x) - s(x')|^2 / 2``, divided by the total variance of the scores s;
    x' is x with column j of another row, drawn at random. This is Jansen's estimator of Sobol's total effect index: for
    independent columns it is the fraction of the variance of the scores that is due to column j, interactions with
    other columns included, so that the sum may exceed 1. Columns that depend on one another share their influence: it
    counts in full for each of them.

    Parameters
    ----------
    project : callable
        From rows (m, d) to scores (m, k), as ``transform``.
    rows : ndarray of shape (n, d)
    seed : int
    budget : int
        Approximate total number of projected rows; with many columns fewer rows are used, at least 16.

    Returns
    -------
    ndarray of shape (d,)

    References
    ----------
    Jansen, Analysis of variance designs for model output, Computer Physics Communications 117 (1999).

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(4000, 3))
    >>> column_influence(lambda x: x[:, :2] * [3.0, 1.0], rows, budget=12_000).round(1)
    array([0.9, 0.1, 0. ])
    """
    n, d = rows.shape
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(n)[: max(min(n, 16), min(n, budget // d))]
    base, other = rows[chosen], rows[np.roll(chosen, 1)]
    scores = project(base)
    variance = float(project(rows).var(axis=0).sum()) if n * 2 <= budget else float(scores.var(axis=0).sum())
    influence = np.zeros(d)
    at_once = max(1, _BYTES // (8 * base.size))
    for first in range(0, d, at_once):
        columns = range(first, min(first + at_once, d))
        changed = np.tile(base, (len(columns), 1))
        for place, j in enumerate(columns):
            changed[place * len(base) : (place + 1) * len(base), j] = other[:, j]
        moved = project(changed).reshape(len(columns), *scores.shape) - scores
        influence[first : first + len(columns)] = np.einsum("cik,cik->c", moved, moved) / (2 * len(base))
    return influence / variance if variance > 0 else influence
