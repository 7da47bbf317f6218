"""Coordinates of training rows in the eigenspace that discriminants are sought in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramless.arrays import Array
from gramless.arrays.devices import free_card_memory, rows_on
from gramless.data import Block
from gramless.fitting import Fit


def training_coordinates(found: Fit, block: Block) -> Callable[[slice], Array]:
    """Coordinates (m, r) of a slice of the rows of a fit: written down if they fit, else made whenever asked for.

    They are those that new rows would get. Eigenvectors times roots of eigenvalues are the same only where the
    eigenproblem was solved to the last digit: elsewhere small components differ. On a GPU they stay there.
    """
    plan, model, weights = found.plan, found.finished, block.weights
    space = model.space
    if model.vectors is not None and plan.chosen == "dense" and (weights > 0).all():
        vectors, roots = model.vectors, np.sqrt(weights)
        return lambda part: vectors[part] * np.sqrt(space.scatter) / roots[part, None]
    device = plan.candidates[plan.chosen].device
    rows = rows_on(device, block.x, block.tensor if device != "cpu" else None)
    room = plan.problem.memory_limit if device == "cpu" else free_card_memory(device)
    if 8 * block.x.shape[0] * len(space.scatter) <= room / 4:
        values = space.project(rows)
        return lambda part: values[part]
    return lambda part: space.project(rows[part])
