"""What a kernel PCA asks for: how many components, how accurate, found how; with its rows, a problem to plan."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array
from gramless.estimators.devices import placement
from gramless.estimators.domain import read_domain
from gramless.estimators.posing import pose_problem
from gramless.estimators.reading import is_precomputed, read_seed, read_solver
from gramless.features import Box
from gramless.kernels import Kernel
from gramless.problem import Problem, Request
from gramless.routes.blockwise import refuse_outside
from gramless.routes.survey import Survey

_ALL = 1000  # components to plan with, where all are asked for


def pose_components(
    model: Any, x: Any, kernel: Kernel, weights: Array, *, survey: Survey | None = None, **more: Any
) -> Problem:
    """The problem that `model`, a KernelPCA, poses the planner.

    Parameters
    ----------
    model : KernelPCA
    x : ndarray or CSR of shape (n, d)
        All rows, as the kernel sees them, or a sample of those that were surveyed.
    kernel : Kernel
    weights : ndarray of shape (n,)
    survey : Survey, optional
    **more
        Further fields of the problem.
    """
    n = x.shape[0] if survey is None else survey.rows
    default = 1e-5 if x.dtype == np.float32 else 1e-10
    return pose_problem(
        kernel,
        x,
        weights,
        n if model.n_components is None else components_asked(model) or min(n, 16),
        model.tol if model.tol > 0 or model.eigen_solver == "arpack" else default,
        model.memory_limit,
        domain=domain_around(model, x),
        survey=survey,
        solver=model.eigen_solver,
        strict=model.tol > 0,
        forget=not model.keep_data,
        **placement(model.device),
        **more,
    )


def to_plan(model: Any, problem: Problem) -> Problem:
    """The problem as it is planned: where all components are asked for, as if it were so many."""
    return replace(problem, k=min(problem.k, _ALL)) if model.n_components is None else problem


def components_asked(model: Any) -> int:
    """Components asked for; 0 for all, or for a share of the variance."""
    wanted = model.n_components
    return int(wanted) if isinstance(wanted, Integral) else 0


def make_request(model: Any, tensor: Any = None) -> Request:
    """What a method is asked for: the seed, the share of variance, a solver if one was named; `tensor` has the rows."""
    wanted = model.n_components
    share = None if wanted is None or isinstance(wanted, Integral) else float(wanted)
    solver = read_solver(model.eigen_solver, model.iterated_power)
    rng = read_seed(model.random_state)
    return Request(rng=rng, share=share, solver=solver, max_iter=model.max_iter, tensor=tensor)


def domain_around(model: Any, x: Any) -> Box | None:
    """The domain, which must hold the rows, if one was given and they have a box; both where the kernel sees them."""
    if model.domain is None or is_precomputed(model.kernel) or scipy.sparse.issparse(x):
        return None
    given = read_domain(model.domain, x.shape[1])
    domain = Box(model._rows_for_kernel(given.low), model._rows_for_kernel(given.high))
    refuse_outside(domain, Box.around(x), model._rows_for_input)
    return domain
