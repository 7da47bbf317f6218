"""Features of combined kernels: stacked for a sum, multiplied for a product, scaled for a multiple."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import Any, Literal

import numpy as np

from gramless.arrays import Array, beside, namespace, row_squares, unit_roundoff
from gramless.arrays.gpu_rates import machine_for
from gramless.features.base import Box, FeatureMap, maps
from gramless.features.rows import FeatureRows, RowwiseMap
from gramless.features.taylor import dense_estimate
from gramless.kernels import Kernel, Polynomial, Product, Scaled, Sum
from gramless.kernels.rounding import growth
from gramless.problem import Estimate, Problem

_MOST = 2500  # features at most
_PARTS = ("monomials", "taylor", "composite")


@dataclass(frozen=True, eq=False)
class CompositeMap(RowwiseMap):
    """Features of ``left + right`` (stacked) or ``left * right`` (all products), where both parts have features.

    The residual R = K - Phi Phi^T stays positive semidefinite. For a sum it is R_1 + R_2; for a product it is
    R_1 * K_2 + Phi_1 Phi_1^T * R_2, entrywise, to which Schur's product theorem applies.

    Parameters
    ----------
    kernel : Sum or Product
    left, right : FeatureMap

    Examples
    --------
    >>> from gramless.features.taylor import TaylorMap
    >>> from gramless.kernels import Gaussian
    >>> wide, narrow = (TaylorMap(Gaussian(sigma=s), np.zeros(1), terms=12) for s in (2.0, 1.0))
    >>> x = np.array([[0.2], [-0.4]])
    >>> phi = CompositeMap(wide.kernel * narrow.kernel, wide, narrow)
    >>> phi(x).shape, bool(np.allclose(phi(x) @ phi(x).T, phi.kernel(x)))
    ((2, 144), True)
    """

    kernel: Sum | Product
    left: FeatureMap
    right: FeatureMap

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """D_1 + D_2, or D_1 D_2."""
        a, b = self.left.n_features, self.right.n_features
        return a + b if isinstance(self.kernel, Sum) else a * b

    @property
    def tensors(self) -> bool:
        return self.left.tensors and self.right.tensors

    def beside(self, x: Any) -> CompositeMap:
        return replace(self, left=_beside(self.left, x), right=_beside(self.right, x))

    def rows(self, x: Any) -> FeatureRows:
        a, b = feature_rows(self.left, x), feature_rows(self.right, x)
        if isinstance(self.kernel, Sum):
            return FeatureRows(
                values=beside(a.values, b.values),
                leak=a.leak + b.leak,
                leak_error=a.leak_error + b.leak_error,
                error=namespace(a.values).hypot(a.error, b.error),
                rounding=a.rounding + b.rounding,
            )
        xp = namespace(a.values)
        norm_a, norm_b = xp.sqrt(a.norms2), xp.sqrt(b.norms2)
        whole_b = b.norms2 + b.leak + b.rounding  # upper bound on k_2(x, x)
        values = (a.values[:, :, None] * b.values[:, None, :]).reshape(len(a.leak), -1)
        leak = (a.leak * whole_b + a.norms2 * b.leak) * (1 + 1e-12)
        slip = a.leak_error * whole_b + (a.leak + a.norms2) * (b.leak_error + b.rounding)
        return FeatureRows(
            values=values,
            leak=leak,
            leak_error=xp.minimum(
                leak, slip + 5 * (a.error * norm_a + b.error * norm_b) * (a.leak + b.leak) + 1e-11 * leak
            ),
            error=a.error * norm_b + b.error * norm_a + growth(2, unit_roundoff()) * norm_a * norm_b,
            rounding=(a.rounding * whole_b + (a.norms2 + a.leak) * b.rounding) * (1 + 1e-12),
        )

    def symbolic(self, x: Any) -> Any:
        a, b, xp = self.left.symbolic(x), self.right.symbolic(x), namespace(x)
        if isinstance(self.kernel, Sum):
            return xp.concatenate([a, b], axis=1)
        return xp.reshape(xp.expand_dims(a, 2) * xp.expand_dims(b, 1), (-1, self.n_features))

    def same_space(self, other: FeatureMap) -> bool:
        return (
            isinstance(other, CompositeMap)
            and self.kernel == other.kernel
            and self.left.same_space(other.left)
            and self.right.same_space(other.right)
        )


@dataclass(frozen=True, eq=False)
class ScaledMap(RowwiseMap):
    """Features of ``factor * kernel``, factor >= 0: the features of the kernel times sqrt(factor).

    Parameters
    ----------
    kernel : Scaled
    inner : FeatureMap
    """

    kernel: Scaled
    inner: FeatureMap

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """As many as `inner` has."""
        return self.inner.n_features

    @property
    def tensors(self) -> bool:
        return self.inner.tensors

    def beside(self, x: Any) -> ScaledMap:
        return replace(self, inner=_beside(self.inner, x))

    def rows(self, x: Any) -> FeatureRows:
        rows, factor = feature_rows(self.inner, x), float(self.kernel.factor)
        root = float(np.sqrt(factor))
        return FeatureRows(
            values=rows.values * root,
            leak=rows.leak * factor * (1 + 1e-15),
            leak_error=(rows.leak_error + 1e-14 * rows.leak) * factor,
            error=(rows.error + growth(4, unit_roundoff()) * namespace(rows.values).sqrt(rows.norms2)) * root,
            rounding=rows.rounding * factor * (1 + 1e-15),
        )

    def symbolic(self, x: Any) -> Any:
        return self.inner.symbolic(x) * float(np.sqrt(self.kernel.factor))

    def same_space(self, other: FeatureMap) -> bool:
        return isinstance(other, ScaledMap) and self.kernel == other.kernel and self.inner.same_space(other.inner)


class CompositeBuilder:
    """Maps of combined kernels, made from maps of the parts by the other builders of the registry."""

    boxed = True
    tensors = True
    leading = False

    def estimate(self, problem: Problem) -> Estimate:
        if not isinstance(problem.kernel, (Sum, Product, Scaled)):
            return Estimate(refusal="only for sums, products and multiples of kernels")
        if problem.sparse or problem.low is None:
            return Estimate(refusal="needs dense rows and a bounding box")
        if isinstance(problem.kernel, Scaled) and problem.kernel.factor < 0:
            return Estimate(refusal="a negative multiple has no features")
        parts = _parts(problem)
        found = [_cheapest(part) for part in parts]
        if any(name is None for name, _ in found):
            return Estimate(refusal="a part of the kernel has no small explicit map")
        width = self.n_features(problem)
        if width > _MOST:
            return Estimate(refusal=f"would need {width} features")
        rate = machine_for(problem.device).kernel
        row = 3 * width / (4 * rate) + 24 / rate
        error = sum(_share(problem, part) * e.error for part, (_, e) in zip(parts, found, strict=True))
        return dense_estimate(problem, width, row, error)

    def n_features(self, problem: Problem) -> int:
        """D for a problem that is not refused."""
        counts = [_count(part) for part in _parts(problem)]
        return int(np.prod(counts)) if isinstance(problem.kernel, Product) else sum(counts)

    def make(self, problem: Problem, x: Any, weights: Array, rng: np.random.Generator) -> CompositeMap | ScaledMap:
        refusal = self.estimate(problem).refusal
        if refusal:
            raise ValueError(f"composite features are not applicable: {refusal}")
        made = []
        for part in _parts(problem):
            name, _ = _cheapest(part)
            made.append(maps[str(name)].make(part, x, weights, rng))
        if isinstance(problem.kernel, Scaled):
            return ScaledMap(problem.kernel, made[0])
        return CompositeMap(problem.kernel, made[0], made[1])


maps.register("composite")(CompositeBuilder())


def _beside(phi: FeatureMap, x: Any) -> FeatureMap:
    """The map of a part with its arrays on the device of the rows; monomials have no arrays worth moving."""
    return phi.beside(x) if isinstance(phi, RowwiseMap) else phi


def feature_rows(phi: FeatureMap, x: Any) -> FeatureRows:
    """Feature rows of a map that is exact, or that bounds its own residual."""
    if isinstance(phi, RowwiseMap):
        return phi.rows(x)
    kernel = phi.kernel  # an exact map: monomials, each a product of `degree` numbers
    values = phi(x)
    norms = namespace(values).sqrt(row_squares(values))
    degree = float(getattr(kernel, "degree", 1.0))
    nothing = namespace(norms).zeros_like(norms)
    error = growth(8 * degree + 16, unit_roundoff()) * norms
    return FeatureRows(values, nothing, nothing, error, nothing)


def _parts(problem: Problem) -> list[Problem]:
    """The problem for each part, with a tolerance that keeps the combined kernel within that of `problem`."""
    kernel = problem.kernel
    if isinstance(kernel, Scaled):
        return [replace(problem, kernel=kernel.kernel, tol=problem.tol / max(abs(kernel.factor), 1e-300))]
    sides: tuple[Literal["left", "right"], ...] = ("left", "right")
    parts = [replace(problem, kernel=getattr(kernel, side)) for side in sides]
    return [replace(part, tol=0.5 * problem.tol / _share(problem, part)) for part in parts]


def _share(problem: Problem, part: Problem) -> float:
    """Factor by which an error of a part enters the combined kernel."""
    kernel = problem.kernel
    if isinstance(kernel, Scaled):
        return abs(float(kernel.factor))
    if isinstance(kernel, Sum):
        return 1.0
    other: Kernel = kernel.right if part.kernel is kernel.left else kernel.left
    box = Box(problem.low, problem.high)
    return max(other.bound(float(np.linalg.norm(np.maximum(np.abs(box.low), np.abs(box.high))))), 1e-300)


def _cheapest(problem: Problem) -> tuple[str | None, Estimate]:
    """Name of the cheapest builder for a part, and its estimate; None where no builder applies."""
    offers = {name: maps[name].estimate(problem) for name in _PARTS if name in maps}
    offers = {name: offer for name, offer in offers.items() if not offer.refusal}
    if not offers:
        return None, Estimate()
    name = min(offers, key=lambda name: offers[name].seconds)
    return name, offers[name]


def _count(problem: Problem) -> int:
    """Features that the chosen builder would make."""
    name, _ = _cheapest(problem)
    builder: Any = maps[str(name)]
    if hasattr(builder, "n_features"):
        return int(builder.n_features(problem))
    degree = int(problem.kernel.degree) if isinstance(problem.kernel, Polynomial) else 1
    return comb(problem.d + degree, degree)
