"""Gradients of sums of kernel values in their first point."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

import numpy as np

from gramless.arrays import Array
from gramless.kernels.base import DotKernel, Kernel, RadialKernel
from gramless.kernels.combine import Product, Scaled, Sum
from gramless.kernels.gaussian import Gaussian
from gramless.kernels.manhattan import Manhattan
from gramless.kernels.points import Points, squared_distances
from gramless.kernels.quadratic_form import QuadraticForm

_STEP = 1e-5


@singledispatch
def weighted_gradients(kernel: Kernel, z: Array, x: Array, weights: Array) -> Array:
    """Gradients (m, d) of sum_i w_mi k(z_m, x_i) in z_m, for `z` (m, d), `x` (n, d) and `weights` w (m, n).

    A kernel without a formula here is differentiated by central differences, column by column.

    Examples
    --------
    >>> from gramless.kernels import Polynomial
    >>> weighted_gradients(Polynomial(2), np.array([[1.0, 0.0]]), np.array([[3.0, 4.0]]), np.ones((1, 1))).round(6)
    array([[24., 32.]])
    """
    return central_differences(lambda near: np.einsum("mn,mn->m", weights, kernel(near, x)), z)


def central_differences(values: Callable[[Array], Array], z: Array) -> Array:
    """Gradients (m, d) of a function of rows, ``values(z)`` (m,), column by column."""
    step = _STEP * (float(np.abs(z).max(initial=0.0)) or 1.0)
    out = np.empty_like(z)
    for column in range(z.shape[1]):
        move = np.zeros(z.shape[1])
        move[column] = step
        out[:, column] = (values(z + move) - values(z - move)) / (2 * step)
    return out


def descents(kernel: RadialKernel, z: Points, x: Points) -> Array:
    """-g' (m, n) of k = g(squared distance); from differences, so that no kernel needs a formula for g'."""
    if isinstance(kernel, Gaussian):
        return kernel.evaluate(z, x) / (2 * kernel.sigma**2)
    squared = np.maximum(squared_distances(z, x), 0.0)
    step = _STEP * np.maximum(squared, 1e-6 * max(float(squared.mean()), np.finfo(float).tiny))
    below, above = np.maximum(squared - step, 0.0), squared + step
    fall: Array = (kernel.profile(below.copy()) - kernel.profile(above.copy())) / (above - below)
    return np.maximum(fall, 0.0)


@weighted_gradients.register
def _radial(kernel: RadialKernel, z: Array, x: Array, weights: Array) -> Array:
    pull = weights * descents(kernel, kernel.prepare(z), kernel.prepare(x))
    return np.asarray(2 * (pull @ x - pull.sum(axis=1, keepdims=True) * z))


@weighted_gradients.register
def _dot(kernel: DotKernel, z: Array, x: Array, weights: Array) -> Array:
    dots = z @ x.T
    largest = max(float(np.abs(dots).max(initial=0.0)), float(np.einsum("nd,nd->n", x, x).max(initial=0.0)))
    step = _STEP * max(largest, np.finfo(float).tiny)
    slopes = (kernel.profile(dots + step) - kernel.profile(dots - step)) / (2 * step)
    return np.asarray((weights * slopes) @ x)


@weighted_gradients.register
def _quadratic(kernel: QuadraticForm, z: Array, x: Array, weights: Array) -> Array:
    return np.asarray(weights @ x @ kernel.A)


@weighted_gradients.register
def _manhattan(kernel: Manhattan, z: Array, x: Array, weights: Array) -> Array:
    pull = weights * kernel(z, x) / kernel.lengthscale
    out = np.empty_like(z)
    for column in range(z.shape[1]):
        out[:, column] = np.einsum("mn,mn->m", pull, np.sign(x[:, column] - z[:, column, None]))
    return out


@weighted_gradients.register
def _scaled(kernel: Scaled, z: Array, x: Array, weights: Array) -> Array:
    return weighted_gradients(kernel.kernel, z, x, kernel.factor * weights)


@weighted_gradients.register
def _sum(kernel: Sum, z: Array, x: Array, weights: Array) -> Array:
    return weighted_gradients(kernel.left, z, x, weights) + weighted_gradients(kernel.right, z, x, weights)


@weighted_gradients.register
def _product(kernel: Product, z: Array, x: Array, weights: Array) -> Array:
    return weighted_gradients(kernel.left, z, x, weights * kernel.right(z, x)) + weighted_gradients(
        kernel.right, z, x, weights * kernel.left(z, x)
    )
