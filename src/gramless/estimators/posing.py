"""The problem that an estimator's parameters and rows pose to a planner."""

from __future__ import annotations

from typing import Any

import scipy.sparse

from gramless.arrays import Array, parse_memory, thread_count, use_threads
from gramless.estimators.bandwidth import resolve_gamma
from gramless.estimators.domain import estimate_spectrum, some_rows
from gramless.estimators.reading import read_kernel
from gramless.features import Box
from gramless.kernels import Precomputed
from gramless.problem import Problem

KERNEL_NAMES = {"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"}


def is_precomputed(kernel: Any) -> bool:
    """Whether the rows will be a Gram matrix."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def pose_problem(model: Any, x: Any, weights: Array, k: int, tol: float) -> tuple[float, Problem]:
    """The number that `gamma` stands for, and the problem for rows `x` (n, d).

    Parameters
    ----------
    model : estimator
        With kernel, gamma, degree, coef0, kernel_params, memory_limit and n_jobs.
    x : ndarray or CSR of shape (n, d)
    weights : ndarray of shape (n,)
    k : int
        Components, or clusters.
    tol : float
        Error wanted, relative to the largest eigenvalue.
    """
    given = is_precomputed(model.kernel)
    gamma = 1.0 / x.shape[1] if given else resolve_gamma(model.gamma, x, weights)
    kernel = read_kernel(model.kernel, gamma, model.degree, model.coef0, model.kernel_params)
    boxless = given or scipy.sparse.issparse(x)
    box = None if boxless else Box.around(x)
    with use_threads(model.n_jobs):
        threads = thread_count()
    peak, variance = estimate_spectrum(kernel, x)
    return gamma, Problem(
        n=x.shape[0],
        d=x.shape[1],
        kernel=kernel,
        k=k,
        tol=tol,
        memory_limit=parse_memory(model.memory_limit),
        threads=threads,
        sparse=scipy.sparse.issparse(x),
        low=None if box is None else box.low,
        high=None if box is None else box.high,
        weight=float(weights.sum()),
        peak=peak,
        variance=variance,
        sample=None if boxless else some_rows(x),
    )
