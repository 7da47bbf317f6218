"""Whether one column dominates the distances from which a bandwidth is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array
from gramless.data.formats.source import column_word
from gramless.errors import DominantColumnWarning
from gramless.warning import warn

_SHARE = 0.95  # fraction of the squared distances above which a column dominates
_SEEN = 8192  # about how many rows the variances are taken from

SCALE_FIRST = "standardize the columns first (sklearn.preprocessing.StandardScaler), or drop it"
SCALE_INPUT = "pass scale_input=True, or drop it"
SCALE_ON_CLUSTER = "pass (X - X.mean(axis=0)) / X.std(axis=0), or drop it"


def column_variances(x: Any, weights: Array | None = None) -> Array:
    """Weighted variances (d,) of the columns, from a sample of the rows of `x` (n, d); 0 where a column is constant.

    Examples
    --------
    >>> column_variances(np.array([[1.0, 0.1], [3.0, 0.1], [5.0, 0.1]]), np.array([1.0, 1.0, 0.0])).tolist()
    [1.0, 0.0]
    """
    step = max(1, x.shape[0] // _SEEN)
    x = x[::step]
    weights = np.ones(x.shape[0]) if weights is None else weights[::step]
    if not weights.any():
        return np.zeros(x.shape[1])
    part = weights / weights.sum()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if scipy.sparse.issparse(x):
            x = x.astype(np.float64)
            return np.asarray((part @ x.multiply(x)) - (part @ x) ** 2).ravel()
        x = np.asarray(x, dtype=np.float64)
        moved = x - x[np.argmax(part)]  # so that the variance of a constant column is 0 exactly
        return np.asarray(part @ (moved - part @ moved) ** 2)


def dominant_column(variances: Array) -> tuple[int, float] | None:
    """The column that makes up more than 95 % of the squared distances, and its fraction; None without such a column.

    E (x_j - z_j)^2 of two rows is twice the variance of column j. A column does not count as dominant where all other
    columns are constant.

    Examples
    --------
    >>> dominant_column(np.array([1.0, 999.0]))
    (1, 0.999)
    >>> dominant_column(np.array([0.0, 999.0])), dominant_column(np.array([1.0, 1.0]))
    (None, None)
    """
    if np.count_nonzero(variances > 0) < 2 or not np.isfinite(total := variances.sum()):
        return None
    column = int(np.argmax(variances))
    share = float(variances[column] / total)
    return (column, share) if share > _SHARE else None


def percent(share: float) -> str:
    """A fraction as a percentage, rounded down and at most 99.9 %: the other columns have the rest.

    Examples
    --------
    >>> percent(0.97468), percent(0.99999)
    ('97.4 %', '99.9 %')
    """
    return f"{min(np.floor(1000 * share) / 10, 99.9):.1f} %"


def warn_of_column(variances: Array, names: Any, what: str, remedy: str) -> None:
    """Warn where one column accounts for nearly all of the distances from which `what` is chosen."""
    found = dominant_column(variances)
    if found is not None:
        column, share = found
        word = column_word(names, column)
        warn(
            f"{word} accounts for {percent(share)} of the distances from which {what} is chosen: {remedy}",
            DominantColumnWarning,
        )


def remedy_for(workers: int, scalable: bool) -> str:
    """The advice where one column dominates: for rows on a cluster, with ``scale_input=`` available, or without."""
    if workers:
        return SCALE_ON_CLUSTER
    return SCALE_INPUT if scalable else SCALE_FIRST
