"""Random generators from what scikit-learn takes for a seed."""

from __future__ import annotations

from typing import Any

import numpy as np


def read_seed(random_state: Any) -> np.random.Generator:
    """A Generator from whatever scikit-learn takes for a seed; None is a fixed seed: same data, same bits."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(0 if random_state is None else random_state)
