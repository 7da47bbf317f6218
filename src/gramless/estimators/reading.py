"""What scikit-learn's parameters and data mean to us: a kernel, a solver, a seed, a start, rows, a Gram matrix."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from gramless.arrays import Array, refuse_weights
from gramless.eigen import Randomized, Solver, solvers
from gramless.errors import IndefiniteKernelWarning
from gramless.estimators.devices import to_numpy_rows
from gramless.kernels import FromCallable, Kernel, Precomputed, kernel_from_name
from gramless.warning import warn

_FLOATS = [np.float64, np.float32]


def is_precomputed(kernel: Any) -> bool:
    """Whether the rows will be a Gram matrix."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def read_kernel(kernel: Any, gamma: float, degree: float, coef0: float, params: dict[str, Any] | None) -> Kernel:
    """A kernel object from a name, an object or a function; an indefinite one warns."""
    if isinstance(kernel, str):
        made = kernel_from_name(kernel, gamma=gamma, degree=degree, coef0=coef0)
    else:
        made = kernel if isinstance(kernel, Kernel) else FromCallable(kernel, params or {})
    if made.mercer is False:
        warn(
            f"{made} is not positive semidefinite: variances may be negative, and components then do not exist. "
            "Those kept are checked.",
            IndefiniteKernelWarning,
        )
    return made


def read_solver(name: str, iterated_power: Any) -> Solver | None:
    """A solver with its settings; None where the method has its own."""
    if name == "randomized":
        return Randomized(iterated_power=iterated_power)
    return None if name in ("auto", "dense") else solvers[name]()


def read_seed(random_state: Any) -> np.random.Generator:
    """A Generator from whatever scikit-learn takes for a seed; None is a fixed seed: same data, same bits."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(0 if random_state is None else random_state)


def read_start(init: Any, n: int, k: int) -> Any:
    """How `k` clusters of `n` rows begin: the name of a way to draw seeds, or labels (n,), which are checked."""
    if isinstance(init, str):
        return init
    labels = np.asarray(init)
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"init of shape {labels.shape} and type {labels.dtype} given; pass {n} labels (integers), "
            "'k-means++' or 'random'"
        )
    if labels.min() < 0 or labels.max() >= k:
        raise ValueError(f"init has labels from {labels.min()} to {labels.max()}; pass 0 to {k - 1}")
    return labels


def read_rows(model: Any, X: Any, sample_weight: Any, **checks: Any) -> tuple[Any, Array]:
    """Rows (n, d) to fit to, or a Gram matrix (n, n), and weights (n,), checked; `checks` are those of scikit-learn."""
    refuse_path(model, X)
    X = validate_data(model, X, accept_sparse="csr", dtype=_FLOATS, **checks)
    if is_precomputed(model.kernel):
        X = read_gram(X)
    return X, read_weights(sample_weight, X)


def read_weights(sample_weight: Any, X: Any) -> Array:
    """Weights (n,) of rows X, checked: ones where there are none."""
    weights: Array = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    with np.errstate(over="ignore"):
        refuse_weights(float(weights.sum()))
    return weights


def refuse_path(model: Any, X: Any) -> None:
    """Raise where the name of a file came to a method that takes rows in memory only."""
    if isinstance(X, (str, os.PathLike)):
        name = type(model).__name__
        raise ValueError(
            f"X={str(X)!r} is the name of a file, and {name} takes rows here; read the file, and pass its rows"
        )


def read_new_rows(model: Any, X: Any) -> Any:
    """Rows (m, d) that a fitted estimator is asked about, checked; a torch tensor comes as an array."""
    check_is_fitted(model)
    refuse_path(model, X)
    return validate_data(model, to_numpy_rows(X), accept_sparse="csr", dtype=_FLOATS, reset=False)


def read_gram(gram: Any) -> Array:
    """A precomputed Gram matrix, checked: square, dense, and symmetric at least once it is centred."""
    if scipy.sparse.issparse(gram):
        raise ValueError("kernel='precomputed' needs a dense matrix; pass K.toarray()")
    n, m = gram.shape
    if n != m:
        raise ValueError(f"kernel='precomputed' needs a square matrix of kernel values; got shape {gram.shape}")
    worst, where = _largest_skew(gram, np.zeros(n))
    slack = (1e-8 if gram.dtype == np.float64 else 1e-4) * float(np.abs(gram).max(initial=0.0))
    if worst == 0:
        return np.asarray(gram)
    if worst <= slack:
        return np.asarray((gram + gram.T) / 2)
    means = (gram.sum(axis=1, dtype=np.float64) - gram.sum(axis=0, dtype=np.float64)) / n
    worst, where = _largest_skew(gram, means)
    if worst > slack:
        i, j = where
        raise ValueError(
            f"kernel='precomputed' needs a symmetric matrix: K[{i}, {j}]={gram[i, j]:g} but K[{j}, {i}]={gram[j, i]:g};"
            " pass (K + K.T) / 2 if that is what you mean"
        )
    return np.asarray((gram + gram.T) / 2)


def _largest_skew(gram: Array, means: Array) -> tuple[float, tuple[int, int]]:
    """Largest entry of the skew part of a matrix less that of its rows' means, and where; a block of rows at a time."""
    worst, where = -1.0, (0, 0)
    for first in range(0, len(gram), 256):
        rows = slice(first, first + 256)
        skew = np.abs(gram[rows] - gram[:, rows].T - means[rows, None] + means)
        i, j = np.unravel_index(int(np.argmax(skew)), skew.shape)
        if skew[i, j] > worst:
            worst, where = float(skew[i, j]), (first + int(i), int(j))
    return worst, where
