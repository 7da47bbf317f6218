"""Fourier features of rows in a box, and their moments by one non-uniform FFT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramless.arrays import Array, namespace, run_in_threads
from gramless.features.base import Box, FeatureMap
from gramless.features.chunks import add_in_order, row_chunks
from gramless.features.fourier.grid import FourierGrid
from gramless.features.fourier.leftover import left_out_bound
from gramless.features.fourier.nufft import frequency_sums, measured_error, point_values, promised
from gramless.features.fourier.toeplitz import ToeplitzMoments

_ROWS = 1_000_000
_PROJECTED_ROWS = 2**17


@dataclass(frozen=True, eq=False)
class FourierMap(FeatureMap):
    """phi_j(x) = sqrt(w_j) (cos t.j + sin t.j), t = 2 pi (x - centre) / P, over the frequencies of a grid.

    The map is periodic, but no image of the box is within the grid's reach of the box. A point beyond the reach has
    phi = 0: its kernel values with points of the box are below the error of the map.

    Attributes
    ----------
    grid : FourierGrid
    eps : float
        Accuracy asked of the non-uniform FFTs.
    seed : int
        Seed for the pairs that are drawn where the map misses its goal.

    Examples
    --------
    >>> from gramless.features import Box, fourier_map
    >>> from gramless.kernels import Gaussian
    >>> x = np.array([[0.0], [0.3], [1.0]])
    >>> phi = fourier_map(Gaussian(0.5), Box.around(x), error=1e-8)
    >>> bool(np.abs(phi(x) @ phi(x).T - Gaussian(0.5)(x)).max() < 1e-8)
    True
    """

    grid: FourierGrid
    eps: float
    seed: int = 0

    @property
    def kernel(self) -> Any:  # type: ignore[override]
        """The kernel that the map approximates."""
        return self.grid.kernel

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of frequencies, both signs counted."""
        return len(self.grid.weights)

    def __call__(self, x: Any) -> Array:
        x = np.asarray(x, dtype=np.float64)
        near = self._near(x)
        features = np.zeros((len(x), self.n_features))
        phase = np.column_stack(self.grid.angles(x[near])) @ self.grid.modes.T
        features[near] = self.grid.roots * (np.cos(phase) + np.sin(phase))
        return features

    def symbolic(self, x: Any) -> Any:
        grid, xp = self.grid, namespace(x)
        phase = ((x - grid.box.center) * (2 * np.pi / grid.axes.periods)) @ grid.modes.T.astype(np.float64)
        features = xp.sin(phase + np.pi / 4) * (np.sqrt(2) * grid.roots)  # cos t + sin t = sqrt(2) sin(t + pi / 4)
        outside = xp.maximum(grid.box.low - x, x - grid.box.high).max(axis=1, keepdims=True)
        return xp.where(outside <= grid.axes.reach, features, 0.0)

    def same_space(self, other: FeatureMap) -> bool:
        return isinstance(other, FourierMap) and self.grid.matches(other.grid)

    def moments(self, x: Any, weights: Array) -> ToeplitzMoments:
        grid, shape = self.grid, self.grid.axes.shape
        weights = np.asarray(weights, dtype=np.float64)
        total = np.zeros(shape, dtype=np.complex128)
        error = promised(self.eps, shape)

        def sums_of(chunk: slice) -> Array:
            nonlocal error
            rows = np.asarray(x[chunk], dtype=np.float64)
            self._require_inside(rows, weights[chunk])
            angles = grid.angles(rows)
            sums = frequency_sums(angles, weights[chunk], shape, self.eps)
            if chunk.start == 0:
                error = _checked(error, measured_error(angles, weights[chunk], sums))
            return sums

        chunks = row_chunks(len(weights), chunk_rows(len(weights), shape))
        add_in_order(sums_of, chunks, lambda sums: np.add(total, sums, out=total))
        total = (total + np.flip(total).conj()) / 2
        weight = float(weights.sum())
        left_out, kind = weight * grid.tail, "rigorous"
        if grid.tail > grid.goal and weight > 0:
            left_out, kind = left_out_bound(grid, x, weights, self.eps, self.seed)
        return ToeplitzMoments(
            grid=grid,
            sums=total,
            weight=weight,
            squares=float(weights @ weights),
            slip=error * weight,
            left_out=left_out,
            kind=kind,
            rows=len(weights),
        )

    def dot(self, x: Any, coefficients: Array) -> Array:
        """phi(x) @ coefficients (n, k): one complex transform serves two real columns."""
        n, k = x.shape[0], coefficients.shape[1]
        out = np.empty((n, k))
        packed = self._packed(coefficients)

        def work(first: int) -> None:
            rows = np.asarray(x[first : first + _PROJECTED_ROWS], dtype=np.float64)
            near = self._near(rows)
            angles = self.grid.angles(rows)
            if not near.all():
                for angle in angles:
                    angle[~near] = 0.0
            values = point_values(angles, packed, self.eps).T
            part = out[first : first + _PROJECTED_ROWS]
            part[:, 0::2] = values.real
            part[:, 1::2] = values.imag[:, : k // 2]
            part[~near] = 0.0

        firsts = list(range(0, n, _PROJECTED_ROWS))
        run_in_threads(work, [firsts])
        return out

    def _packed(self, coefficients: Array) -> Array:
        """Coefficients of exponentials (ceil(k / 2), *grid), the second of two columns times i."""
        k = coefficients.shape[1]
        scaled = coefficients * self.grid.roots[:, None]
        flipped = scaled[::-1]
        modes = ((scaled + flipped) - 1j * (scaled - flipped)) / 2
        pairs = modes[:, 0::2].copy()
        pairs[:, : k // 2] += 1j * modes[:, 1::2]
        shape = tuple(2 * m + 1 for m in self.grid.axes.counts)
        packed = np.zeros((pairs.shape[1], *shape), dtype=np.complex128)
        packed.reshape(len(packed), -1)[:, self.grid.places(shape)] = pairs.T
        return packed

    def _near(self, x: Array) -> Array:
        """Mask (n,) of the rows within reach of the box; False for rows with a NaN."""
        return np.asarray((self.grid.box.outside(x) <= self.grid.axes.reach).all(axis=1))

    def _require_inside(self, x: Array, weights: Array) -> None:
        box = self.grid.box
        if not len(x):
            return
        taken = Box.around(x)
        if not ((taken.low >= box.low).all() and (taken.high <= box.high).all()):
            outside = (box.outside(x) > 0).any(axis=1) & (weights > 0)
            if outside.any():
                row = x[np.argmax(outside)]
                raise ValueError(
                    f"row {row} lies outside the box from {box.low} to {box.high} of the Fourier map; "
                    "pass domain=(low, high) that contains all later rows"
                )


def chunk_rows(n: int, shape: tuple[int, ...]) -> int:
    """Rows for one transform: enough to outweigh its FFT, few enough for several threads and for the memory."""
    fine = int(np.prod([2.0 * size for size in shape]))
    most = max(1, min(max(n // 4 + 1, _ROWS // 10, fine // 8), max(_ROWS, fine)))
    return max(1, -(-n // -(-n // most))) if n else 1


def _checked(promise: float, measured: float) -> float:
    """The error bound to use, after one batch has been compared with direct sums."""
    if measured <= promise:
        return promise
    if not measured < 1e-3:
        raise ArithmeticError(
            f"the error of finufft is {measured:.1e}, but at most {promise:.1e} was requested; reinstall it"
        )
    return 10 * measured
