"""The problem that an estimator's parameters and rows pose to a planner."""

from __future__ import annotations

from typing import Any

import scipy.sparse

from gramless.arrays import Array, parse_memory, refuse_weights, thread_count
from gramless.estimators.bandwidth import resolve_gamma
from gramless.estimators.domain import estimate_spectrum, some_rows, spread
from gramless.estimators.reading import is_precomputed, read_kernel
from gramless.features import Box
from gramless.kernels import Kernel, Precomputed
from gramless.problem import Problem
from gramless.routes.survey import Survey


def make_kernel(model: Any, x: Any, weights: Array, gamma: float | None = None) -> tuple[float, Kernel]:
    """The number that an estimator's `gamma` stands for with rows `x` (n, d), and its kernel as an object.

    `gamma` is given where it took a search to find it.
    """
    if gamma is None:
        named = None if is_precomputed(model.kernel) else model.gamma
        gamma = resolve_gamma(named, x, weights, model.kernel)
    return gamma, read_kernel(model.kernel, gamma, model.degree, model.coef0, model.kernel_params)


def pose_problem(
    kernel: Kernel,
    x: Any,
    weights: Array,
    k: int,
    tol: float,
    memory_limit: Any,
    *,
    domain: Box | None = None,
    survey: Survey | None = None,
    **more: Any,
) -> Problem:
    """The problem for rows `x` (n, d), with what a sample of them says of the spectrum.

    Parameters
    ----------
    kernel : Kernel
    x : ndarray or CSR of shape (n, d)
    weights : ndarray of shape (n,)
    k : int
        Components, or clusters.
    tol : float
        Error wanted, relative to the largest eigenvalue.
    memory_limit : int, str or None
    domain : Box, optional
        Holds all rows that will ever come: then the plan depends on it, not on these rows.
    survey : Survey, optional
        Of all rows, where `x` is a sample of them.
    **more
        Further fields of the problem.
    """
    boxless = isinstance(kernel, Precomputed) or scipy.sparse.issparse(x)
    box = None if boxless else domain or (Box.around(x) if survey is None else survey.box)
    n, weight = (x.shape[0], float(weights.sum())) if survey is None else (survey.rows, survey.weight)
    refuse_weights(weight)
    if domain is None:
        peak, variance = estimate_spectrum(kernel, x, n)
    else:
        peak, variance = estimate_spectrum(kernel, spread(domain.low, domain.high))
    return Problem(
        n=n,
        d=x.shape[1],
        kernel=kernel,
        k=k,
        tol=tol,
        memory_limit=parse_memory(memory_limit),
        threads=thread_count(),
        sparse=scipy.sparse.issparse(x),
        low=None if box is None else box.low,
        high=None if box is None else box.high,
        weight=weight,
        domain=domain is not None,
        peak=peak,
        variance=variance,
        sample=None if boxless or domain is not None or survey is not None else some_rows(x),
        **more,
    )
