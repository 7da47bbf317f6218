"""An eigenspace of feature space whose coordinates other estimators work in."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.arrays.devices import free_card_memory, rows_on
from gramless.estimators.devices import placement, tensor_on
from gramless.estimators.dominance import SCALE_FIRST, warn_of_width
from gramless.estimators.posing import make_kernel, pose_problem
from gramless.estimators.reading import read_seed
from gramless.planning import Plan, make_plan, methods
from gramless.problem import Request
from gramless.routes import Fitted
from gramless.spaces import Eigenspace

_TOL = 1e-6


def find_eigenspace(model: Any, x: Any, weights: Array, tensor: Any = None) -> tuple[float, Plan, Fitted]:
    """Leading components of the rows, by the method that is cheapest: the number gamma stands for, the plan, the fit.

    Parameters
    ----------
    model : estimator
        With n_coordinates (a number, a share of the variance, or None for all), method, device, random_state,
        memory_limit and the parameters of a kernel.
    x : ndarray or CSR of shape (n, d)
    weights : ndarray of shape (n,)
    tensor : tensor of shape (n, d), optional
        The same rows as they were given, perhaps on the device.
    """
    n, wanted = x.shape[0], model.n_coordinates
    share = None if wanted is None or isinstance(wanted, Integral) else float(wanted)
    k = n if wanted is None else min(n, int(wanted) if share is None else 16)
    warn_of_width(model, x, weights, SCALE_FIRST)
    gamma, kernel = make_kernel(model, x, weights)
    problem = pose_problem(kernel, x, weights, k, _TOL, model.memory_limit, **placement(model.device))
    tensor = tensor_on(problem.device, tensor, x)

    def run(plan: Plan) -> Fitted:
        request = Request(rng=read_seed(model.random_state), share=share, tensor=tensor)
        return methods[plan.chosen].run(plan.placed, x, weights, request)  # type: ignore[no-any-return]

    plan, fitted = make_plan(problem, model.method).carry_out(run)
    kept = max(1, int((fitted.space.scatter > 0).sum()))
    return gamma, plan, fitted.truncated(kept)


def training_coordinates(
    plan: Plan, fitted: Fitted, x: Any, weights: Array, tensor: Any = None
) -> Callable[[slice], Array]:
    """Coordinates (m, r) of a slice of the rows of the fit: written down if they fit, else made whenever asked for.

    They are those that new rows would get. Eigenvectors times roots of eigenvalues are the same only where the
    eigenproblem was solved to the last digit: elsewhere small components differ. On a card they stay there.
    """
    space: Eigenspace = fitted.space
    if fitted.vectors is not None and plan.chosen == "dense" and (weights > 0).all():
        vectors, roots = fitted.vectors, np.sqrt(weights)
        return lambda part: vectors[part] * np.sqrt(space.scatter) / roots[part, None]
    device = plan.candidates[plan.chosen].device
    rows = rows_on(device, x, tensor_on(device, tensor, x))
    room = plan.problem.memory_limit if device == "cpu" else free_card_memory(device)
    if 8 * x.shape[0] * len(space.scatter) <= room / 4:
        values = space.project(rows)
        return lambda part: values[part]
    return lambda part: space.project(rows[part])
