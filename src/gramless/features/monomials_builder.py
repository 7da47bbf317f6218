"""Where the monomials of a problem are centered, and what they cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array, unit_roundoff
from gramless.arrays.gpu_rates import machine_for
from gramless.features.base import Box, maps
from gramless.features.compress import count
from gramless.features.monomials import Monomials, as_power
from gramless.problem import Estimate, Problem

_MOST_FEATURES = 20_000


def middle(box: Box) -> tuple[Array, Array]:
    """A rounded point near the middle of a box, and powers of two near half its sides.

    Both are coarse on purpose, so that batches of similar data often get the same values. Data around the origin get
    the origin itself.

    Examples
    --------
    >>> middle(Box(np.array([-1.1, 99.0, 5.0]), np.array([0.9, 101.5, 5.0])))
    (array([  0.  , 100.25,   5.  ]), array([1., 1., 1.]))
    """
    half = box.high / 2 - box.low / 2
    usual = (half > 0) & np.isfinite(half)
    power = np.round(np.log2(np.where(usual, half, 1.0)))
    unit = np.exp2(np.minimum(power, 1023))  # 2^1024 overflows
    center = box.low / 2 + box.high / 2
    return np.where(usual, np.round(4 * center / unit) * unit / 4, center) + 0.0, unit


class MonomialsBuilder:
    """Monomials for problems with a polynomial kernel, if they are few enough."""

    eigh = 6e9  # operations of LAPACK a second, all threads

    boxed = False
    tensors = True
    leading = False

    def estimate(self, problem: Problem) -> Estimate:
        power = as_power(problem.kernel)
        if isinstance(power, str):
            return Estimate(refusal=power)
        variables, degree = problem.d + 1, max(1, power.degree)
        width = count(variables, degree)
        if width > _MOST_FEATURES:
            return Estimate(refusal=f"{width} monomials are more than {_MOST_FEATURES}")
        table = count(variables, 2 * degree)
        machine = machine_for(problem.device)
        gemm, sweep = machine.gemm, 2 * machine.kernel
        seconds = problem.n * (2 * table / gemm + 2.5 * width / sweep) / problem.threads
        solve = 45 if width <= 1200 else 10
        seconds += solve * width**3 / self.eigh + problem.n * width * (1 + 2 * problem.k / 60) / sweep + 2e-3
        size = 8 * (6 * width**2 + (2 * problem.threads + 2) * table + 2 * problem.threads * 512 * width + 2**21)
        return Estimate(seconds, size + 8 * problem.n * problem.k, (6e3 + 100 * width) * unit_roundoff())

    def make(self, problem: Problem, x: Any, weights: Array, rng: np.random.Generator) -> Monomials:
        """Monomials about the middle of the box of the problem, or of the rows if the problem has no box."""
        if problem.low is not None and problem.high is not None:
            box = Box(np.asarray(problem.low, dtype=np.float64), np.asarray(problem.high, dtype=np.float64))
        elif scipy.sparse.issparse(x):
            box = Box(x.min(axis=0).toarray().ravel().astype(float), x.max(axis=0).toarray().ravel().astype(float))
        else:
            box = Box.around(x)
        center, unit = middle(box)
        return Monomials(problem.kernel, problem.d, center, unit)


maps.register("monomials")(MonomialsBuilder())
