"""Sets of vectors whose combinations make up a subspace of feature space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from gramless.arrays import Array, is_symbolic, is_tensor, times, to_numpy
from gramless.arrays.devices import rows_on, usable_device
from gramless.features import FeatureMap
from gramless.gram import rectangular_product
from gramless.gram.tiled import kernel_radius, middle
from gramless.kernels import Kernel, Linear, Precomputed, dense_rows


class Span(Protocol):
    """Vectors b_1 .. b_p of feature space."""

    def dot(self, x: Any, coefficients: Array) -> Array:
        """Inner products of phi(x_i) with sum_l c_lj b_l: (m, k) for rows `x` (m, d), `coefficients` (p, k).

        Symbolic rows give a symbolic result.
        """

    def norms2(self, x: Any) -> Array:
        """k(x_i, x_i): (m,)."""


@dataclass(frozen=True, eq=False)
class PointSpan:
    """The images of points: b_l = phi(points_l); products are computed on `device` if this machine has it."""

    kernel: Kernel
    points: Any
    device: str = "cpu"

    def dot(self, x: Any, coefficients: Array) -> Array:
        if is_symbolic(x):
            return self.kernel.symbolic(x, dense_rows(self.points)) @ coefficients  # type: ignore[no-any-return]
        device = usable_device(self.device)
        if device != "cpu" and not scipy.sparse.issparse(x):
            from gramless.gram.cuda.rectangular import tensor_product

            product = tensor_product(self.kernel, x, self.points, coefficients, device)
            return product if is_tensor(x) else to_numpy(product)
        return rectangular_product(self.kernel, x, self.points, coefficients, shift=self._shift)

    def dot_in_float32(self, x: Any, coefficients: Array) -> Array:
        """The same products in float32; in float64 where a row is much farther from the mean than every point."""
        if self._reach(x) > 2 * self.radius:
            return self.dot(x, coefficients)
        return rectangular_product(self.kernel, x, self.points, coefficients, np.float32, self._shift)

    @cached_property
    def radius(self) -> float:
        """The largest norm of a point."""
        return self._reach(self.points)

    @cached_property
    def _shift(self) -> Array | None:
        return None if isinstance(self.kernel, Precomputed) else middle(self.kernel, self.points)

    def _reach(self, x: Any) -> float:
        return kernel_radius(self.kernel, x, self._shift)

    def norms2(self, x: Any) -> Array:
        return self.kernel.diagonal(x)


@dataclass(frozen=True, eq=False)
class FeatureSpan:
    """The axes of explicit features, without training data; features are computed on `device` if there is one."""

    features: FeatureMap
    device: str = "cpu"

    @property
    def kernel(self) -> Kernel:
        """The kernel that the features represent."""
        return self.features.kernel

    def dot(self, x: Any, coefficients: Array) -> Array:
        if is_symbolic(x):
            return self.features.symbolic_dot(x, coefficients)  # type: ignore[no-any-return]
        if scipy.sparse.issparse(x):
            return self.features.dot(x, coefficients)
        product = self.features.dot(rows_on(self.device, x), coefficients)
        return product if is_tensor(x) else to_numpy(product)

    def norms2(self, x: Any) -> Array:
        return self.kernel.diagonal(x)


@dataclass(frozen=True, eq=False)
class InputSpan:
    """The axes of input space about an origin, for the linear kernel: phi(x) = x - origin.

    Differences from the origin do not cancel as inner products of points far from 0 would.
    """

    origin: Array

    @property
    def kernel(self) -> Kernel:
        """The kernel whose feature space this is, up to the origin."""
        return Linear()

    def dot(self, x: Any, coefficients: Array) -> Array:
        if is_symbolic(x):
            return (x - self.origin) @ coefficients  # type: ignore[no-any-return]
        if scipy.sparse.issparse(x):
            return np.asarray(x @ coefficients - self.origin @ coefficients, dtype=np.float64)
        return np.asarray(times(np.asarray(x, dtype=np.float64) - self.origin, coefficients))

    def norms2(self, x: Any) -> Array:
        if scipy.sparse.issparse(x):
            x = x.toarray()
        return Linear().diagonal(np.asarray(x, dtype=np.float64) - self.origin)


def stack_points(a: Any, b: Any) -> Any:
    """The rows of both arrays, sparse if one of them is."""
    if scipy.sparse.issparse(a) or scipy.sparse.issparse(b):
        return scipy.sparse.vstack([scipy.sparse.csr_array(a), scipy.sparse.csr_array(b)], format="csr")
    return np.concatenate([a, b])
