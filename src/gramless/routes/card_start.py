"""Where block Krylov begins on a card: :func:`gramless.routes.start.landmark_start`, with its passes there."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array, to_numpy
from gramless.problem import Problem
from gramless.routes.start import draw_landmarks, landmark_components

_LANDMARKS = 1024


def card_start(problem: Problem, x: Any, weights: Array, width: int, rng: np.random.Generator) -> Any | None:
    """Leading vectors of C W^-1 C^T as a tensor (n, width), for rows `x` on a card; None where rows are few."""
    import torch

    from gramless.gram.cuda.rectangular import landmark_sums, tensor_product

    n, size = problem.n, max(_LANDMARKS, 2 * width)
    if 4 * size > n:
        return None
    landmarks = x[torch.as_tensor(draw_landmarks(weights, size, rng), device=x.device)]
    gram = to_numpy(tensor_product(problem.kernel, landmarks, landmarks, np.eye(size), x.device))
    weight = torch.as_tensor(weights, device=x.device)
    scatter, sums = (to_numpy(part) for part in landmark_sums(problem.kernel, x, landmarks, weight))
    whitening, leading = landmark_components((gram + gram.T) / 2, scatter, sums, float(weights.sum()), width)
    start = tensor_product(problem.kernel, x, landmarks, whitening @ leading, x.device)
    start -= (weight[:, None] * start).sum(0) / weight.sum()
    return start * weight.sqrt()[:, None]
