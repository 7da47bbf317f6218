"""The interface of feature maps: finite vectors whose dot products equal or approximate the kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from gramless.arrays import Array, blank, is_tensor, like
from gramless.errors import ExportError
from gramless.kernels import Kernel
from gramless.problem import Estimate, Problem
from gramless.registry import Registry


@dataclass(frozen=True)
class Box:
    """The smallest box, with sides along the axes, that contains the data.

    Attributes
    ----------
    low, high : ndarray of shape (d,)
    """

    low: Array
    high: Array

    @classmethod
    def around(cls, x: Any) -> Box:
        """The box of rows `x` (n, d)."""
        if x.shape[1] > 16:
            return cls(x.min(axis=0).astype(np.float64), x.max(axis=0).astype(np.float64))
        columns = range(x.shape[1])  # one by one: many times faster than along the first axis of a narrow array
        low, high = [x[:, j].min() for j in columns], [x[:, j].max() for j in columns]
        return cls(np.array(low, dtype=np.float64), np.array(high, dtype=np.float64))

    @property
    def center(self) -> Array:
        """The middle (d,)."""
        return self.low + (self.high - self.low) / 2

    @property
    def extent(self) -> Array:
        """Length of each side (d,)."""
        return self.high - self.low

    def outside(self, x: Any) -> Array:
        """How far each coordinate lies outside the box, 0 inside: (n, d)."""
        return np.asarray(np.maximum(np.maximum(self.low - x, x - self.high), 0.0))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Leading eigenpairs of the centered scatter of the features, and bounds on those of the exact kernel.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Descending eigenvalues of the scatter.
    axes : ndarray of shape (D, k)
        Coefficients of the components, in the form :meth:`FeatureMap.dot` takes; orthonormal in feature space.
    lower, upper : ndarray of shape (k + 1,)
        Bounds on the leading eigenvalues of the *exact* centered Gram matrix; the last is for eigenvalue k + 1
        (0 where there is none).
    residual : ndarray of shape (k,)
        Bound on norm(K v - l v) of the Gram eigenvectors, in the scale of the values.
    kind : str
        ``"rigorous"`` or ``"probabilistic"``.
    failure_probability : float
        Chance that a probabilistic bound is wrong; 0 for rigorous ones.
    """

    values: Array
    axes: Array
    lower: Array
    upper: Array
    residual: Array
    kind: str = "rigorous"
    failure_probability: float = 0.0


Self = TypeVar("Self", bound="Moments")


class Moments(Protocol):
    """Sums over rows, all that a fit needs: the moments of two data sets add up, and no row has to be kept."""

    @property
    def weight(self) -> float:
        """Sum of the weights."""

    @property
    def rows(self) -> int:
        """How many rows were summed."""

    @property
    def trace(self) -> float:
        """Trace of the centered scatter of the exact kernel, sum_i w_i |phi(x_i) - mean|^2, not of the map alone."""

    @property
    def mean(self) -> Array:
        """Mean feature (D,), in the form :meth:`FeatureMap.dot` takes for coefficients."""

    @property
    def mean_norm2(self) -> float:
        """Squared norm of the mean."""

    def __add__(self: Self, other: Self) -> Self: ...

    def __sub__(self: Self, other: Self) -> Self: ...

    def scaled(self: Self, factor: float) -> Self:
        """As if every weight were multiplied by `factor` >= 0."""

    def solve(self, k: int, tol: float, rng: np.random.Generator) -> Spectrum:
        """The `k` leading eigenpairs."""


class FeatureMap(ABC):
    """phi with phi(x) . phi(y) ~ k(x, y). A map does not change once it is made, so that moments can be added.

    Attributes
    ----------
    kernel : Kernel
    n_features : int
        D.
    """

    kernel: Kernel
    n_features: int

    @property
    def tensors(self) -> bool:
        """Whether rows may be torch tensors: then features and sums are computed on their device."""
        return False

    @abstractmethod
    def __call__(self, x: Any) -> Array:
        """Features (n, D) of rows `x` (n, d)."""

    @abstractmethod
    def moments(self, x: Any, weights: Array) -> Moments:
        """Moments of rows `x` (n, d) with `weights` (n,), in chunks: one pass, memory for one chunk."""

    def dot(self, x: Any, coefficients: Array) -> Array:
        """phi(x) @ coefficients (n, k), in chunks; a tensor if `x` is one."""
        out: Array = blank((x.shape[0], coefficients.shape[1]), x)
        coefficients = like(coefficients, out)
        step = max(1, (2**25 if is_tensor(x) else 2**21) // max(1, self.n_features))
        for first in range(0, x.shape[0], step):
            out[first : first + step] = self(x[first : first + step]) @ coefficients
        return out

    def symbolic(self, x: Any) -> Any:
        """Features (n, D) of rows `x` that are :class:`~gramless.arrays.Symbolic`: how the map is written in ONNX.

        Raises
        ------
        ExportError
            If the features cannot be written in the operators of symbolic arrays.
        """
        raise ExportError(
            f"features by {type(self).__name__} cannot be written in the operators of ONNX; fit with "
            f"method='landmarks' or 'tiled', or define the method symbolic of {type(self).__name__}"
        )

    def symbolic_dot(self, x: Any, coefficients: Array) -> Any:
        """phi(x) @ coefficients (n, k) for symbolic rows."""
        return self.symbolic(x) @ coefficients

    @abstractmethod
    def same_space(self, other: FeatureMap) -> bool:
        """Whether moments of both maps may be added."""

    def same_axes(self, other: FeatureMap) -> bool:
        """Whether the same coefficients mean the same vectors in both maps."""
        return self.same_space(other)

    def adopted(self, moments: Any, other: FeatureMap) -> Any:
        """Moments made by `other`, in the form in which they add to this map's own.

        Raises
        ------
        ValueError
            If there is no such form.
        """
        if not self.same_space(other):
            raise ValueError(
                "the features are of different boxes or landmarks; fit both with the same domain=, or continue "
                "a copy of one model with partial_fit"
            )
        return moments


class MapBuilder(Protocol):
    """Estimates what one kind of map would cost for a problem, and makes the map.

    Attributes
    ----------
    boxed : bool
        Whether its maps hold only inside a box that must contain all rows.
    tensors : bool
        Whether its maps take rows on a torch device if the kernel does; `estimate` then uses the rates of the
        problem's device.
    leading : bool
        Whether its maps are accurate for the leading components only, not for the kernel as a whole.
    """

    boxed: bool
    tensors: bool
    leading: bool

    def estimate(self, problem: Problem) -> Estimate:
        """Seconds of a fit, bytes and error (residual relative to the largest eigenvalue), or a refusal."""

    def make(self, problem: Problem, x: Any, weights: Array, rng: np.random.Generator) -> FeatureMap:
        """The map for these rows, accurate enough to keep the residual below ``tol`` where possible."""


maps: Registry[MapBuilder] = Registry("feature map")
