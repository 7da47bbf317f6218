"""Choice of the bandwidth of a kernel for given data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from gramless.arrays import Array, refuse_weights
from gramless.bandwidth import (
    CRITERIA,
    SEARCHED,
    Bandwidth,
    bandwidth_of,
    gamma_of_variance,
    read_pattern,
    resolve_gamma,
    search_bandwidth,
    with_bandwidth,
)
from gramless.data import FileRows, block_rows_for, is_out_of_core, open_source
from gramless.data.survey import Tally, TallyOf
from gramless.estimators.checking import FLOATS, read_weights

_LEAST = 1000  # minimum size of the sample drawn from a source


def select_bandwidth(
    X: Any,
    kernel: Any = "rbf",
    criterion: str = "median",
    *,
    n_components: int = 2,
    candidates: Sequence[float] | Array | None = None,
    alpha: float | None = None,
    sample_weight: Any = None,
    max_samples: int | None = 500,
) -> Bandwidth:
    r"""Choose the bandwidth of a kernel.

    Parameters
    ----------
    X : {array-like, CSR} of shape (n_samples, n_features), path or source
        Files and other sources (:func:`gramless.open_source`) are read once: ``"scale"`` uses the variance of all rows,
        the other criteria use a sample drawn in the same pass.
    kernel : {"rbf", "laplacian", "poly", "sigmoid"} or Kernel, default="rbf"
        The kernel; its other parameters are unchanged. The bandwidth is ``sigma``, ``lengthscale`` or ``width`` of a
        radial kernel, and ``scale``, the factor of the dot product, of the polynomial and tanh kernels.
    criterion : {"median", "scale", "preimage", "gap"}, default="median"
        ``"median"``: the median heuristic: the median distance of two different rows (among at most 1,000 rows); the
        Manhattan distance for ``"laplacian"``. ``"scale"``: the square root of half the total variance, as
        scikit-learn's ``gamma="scale"``; one pass over the rows. ``"preimage"``: the minimum mean squared distance
        between held-out rows and their pre-images, in three folds, as a grid search with :meth:`KernelPCA.score` would
        find. ``"gap"``: the largest gap between eigenvalues `n_components` and `n_components` + 1, relative to the
        largest kernel value: the components that differ least between two samples of the data (Zwald & Blanchard 2005).
    n_components : int, default=2
        Number of components for which ``"preimage"`` and ``"gap"`` evaluate a bandwidth.
    candidates : array-like of shape (m,), default=None
        Bandwidths to try for ``"preimage"`` and ``"gap"``. None: from an eighth to eight times the median distance, in
        steps of a factor sqrt(2).
    alpha : float, default=None
        Ridge parameter of the pre-images. None: for each candidate the best of 1e-6, 1e-4, 1e-2 and 1, as the best
        ridge parameter depends on the bandwidth.
    sample_weight : array-like of shape (n_samples,), default=None
        A weight of 2 is equivalent to repeating the row (except in the folds of ``"preimage"``), 0 to omitting it.
    max_samples : int or None, default=500
        Maximum number of rows that ``"preimage"`` and ``"gap"`` use, drawn with probabilities proportional to their
        weights; None: all. For ``"gap"``, each candidate takes one pass over the rows where the kernel has explicit
        features.

    Returns
    -------
    Bandwidth

    See Also
    --------
    Bandwidth : The result.
    KernelPCA : Leading components in feature space, exact or by explicit features.

    Examples
    --------
    >>> from gramless import KernelPCA, select_bandwidth
    >>> from gramless.datasets import annulus
    >>> X = annulus(300, rng=0)
    >>> chosen = select_bandwidth(X, "rbf", "gap", n_components=2)
    >>> bool(0.3 < chosen.value < 1.5)
    True
    >>> kpca = KernelPCA(2, kernel=chosen.kernel).fit(X)
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion={criterion!r} is invalid; pass one of {', '.join(map(repr, CRITERIA))}")
    pattern, parameter = read_pattern(kernel)
    first: float | str = criterion if criterion not in SEARCHED else "median"
    if is_out_of_core(X):
        tally = _tally(X, sample_weight, max_samples)
        refuse_weights(tally.weight)
        X, weights = tally.sample.rows, tally.sample.weights
        if criterion == "scale":  # of all rows
            first = gamma_of_variance(tally.variance, len(tally.mean), pattern)
    else:
        X = check_array(X, accept_sparse="csr", dtype=FLOATS, input_name="X")
        weights = read_weights(sample_weight, X)
    start = bandwidth_of(pattern, parameter, resolve_gamma(first, X, weights, pattern))
    if criterion not in SEARCHED:
        return Bandwidth(with_bandwidth(pattern, parameter, start), parameter, criterion)
    return search_bandwidth(
        pattern,
        parameter,
        criterion,
        X,
        weights,
        start=start,
        n_components=n_components,
        candidates=candidates,
        alpha=alpha,
        max_samples=max_samples,
    )


def _tally(x: Any, sample_weight: Any, most: int | None) -> Tally:
    """One pass over a source: the variance of all rows, and a sample of them."""
    if most is None:
        raise ValueError("max_samples=None needs all rows of a source at once; pass a number, or an array")
    source = open_source(x)
    if source.sparse:
        raise ValueError(f"{source.name} is sparse: pass its rows as one CSR matrix")
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    rows = FileRows(source, block_rows_for(source.n_features, None), weights)
    return rows.sum(TallyOf(max(_LEAST, int(most)), measures=True))
