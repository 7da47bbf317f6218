"""How many landmarks, further points and drawn rows a tolerance needs, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gramless.certificates import rows_to_draw
from gramless.features.landmark_curve import LandmarkCurve, landmark_curve
from gramless.kernels import FromCallable, Precomputed
from gramless.machine import TILE_PRODUCTS, TILE_VALUES
from gramless.problem import Problem

MORE_VECTORS = 10  #: vectors of the certificate beyond the components asked for
LANDMARKS = (200, 300, 400, 500, 700, 1000, 1400, 2000)
_CAUTION = 1.3  # a curve from a sample may be too low by as much
_SHARE = 0.3  # part of the tolerance that the true residual may take
_FEWEST_ROWS, _FEWEST_COLUMNS = 10_000, 4  # for smaller problems and in few columns other methods are better
_PATIENCE = 10.0


@dataclass(frozen=True)
class Sizes:
    """A choice of sizes.

    Attributes
    ----------
    landmarks : int
    points : int
        Further points of the second level; 0 for none.
    error : float
        Residual that the certificate will state, relative to the largest eigenvalue.
    seconds : float
        Seconds beyond the pass that sums the features of landmarks.
    bytes : int
        Memory beyond that of this pass.
    whole : float
        Seconds in all.
    """

    landmarks: int
    points: int
    error: float
    seconds: float
    bytes: int
    whole: float


def choose_sizes(problem: Problem, points: Iterable[int]) -> Sizes | None:
    """The cheapest sizes that reach the tolerance; None where nothing can be measured.

    Where no sizes reach it, the most accurate ones that take at most ten times as long as the smallest.

    Parameters
    ----------
    problem : Problem
    points : iterable of int
        Numbers of further points to choose from.
    """
    curve = curve_of(problem)
    if curve is None:
        return None
    choices = [
        _sizes(problem, curve, m, s) for m in LANDMARKS for s in points if s + m <= problem.n // 4 or m == LANDMARKS[0]
    ]
    fitting = [c for c in choices if c.bytes + 8 * 80 * c.landmarks**2 <= problem.memory_limit] or choices[:1]
    reached = [c for c in fitting if c.error <= problem.tol]
    if reached:
        return min(reached, key=lambda c: c.whole)
    patient = _PATIENCE * min(c.whole for c in fitting)
    return min((c for c in fitting if c.whole <= patient), key=lambda c: c.error)


def curve_of(problem: Problem) -> LandmarkCurve | None:
    """The accuracy of landmarks on the problem's sample; None where rows are not in memory, too few, or on a GPU."""
    here = problem.device == "cpu" and not (problem.block or problem.workers or problem.streaming or problem.sparse)
    if not here or problem.sample is None or problem.n < _FEWEST_ROWS or problem.d < _FEWEST_COLUMNS:
        return None
    if isinstance(problem.kernel, (FromCallable, Precomputed)) or not problem.kernel.mercer:
        return None
    return landmark_curve(problem.kernel, problem.sample, problem.k)


def _sizes(problem: Problem, curve: LandmarkCurve, m: int, s: int) -> Sizes:
    n, d, vectors = problem.n, problem.d, problem.k + MORE_VECTORS
    residual, trace = _CAUTION * curve.residual(m + s), curve.trace(m)
    goal = max(problem.tol, residual / _SHARE)
    rows = min(rows_to_draw(trace, goal, vectors), n / 4)
    error = max(residual / _SHARE, rows_to_draw(trace, 1.0, vectors) / rows)
    entry = 1 / TILE_VALUES + 2 * (d + vectors) / TILE_PRODUCTS  # one kernel value, and its products with all vectors
    passes = m + rows + (m + 3.5 * s if s else 0)
    features = m * (1 / TILE_VALUES + 2 * d / TILE_PRODUCTS) + 3 * m**2 / TILE_PRODUCTS
    level = (100 * m * features + s**3 / 3 / TILE_PRODUCTS) if s else 0.0
    seconds = (n * passes * entry + level) / problem.threads
    size = 8 * (3 * n * vectors + 4 * s**2 + problem.threads * 1024 * (s + 3 * vectors))
    return Sizes(m, s, float(error), float(seconds), int(size), float(seconds + n * features / problem.threads))
