"""Kernels on torch tensors: the formulas of :mod:`gramless.kernels`, tested against them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, Protocol

import torch

from gramless.kernels import (
    Cosine,
    Epanechnikov,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Tanh,
)
from gramless.kernels.base import RadialKernel
from gramless.kernels.combine import Product, Scaled, Sum

_CLOSED = (0.5, 1.5, 2.5, float("inf"))
_PAIRS = 2**24  # numbers in differences of near pairs at a time


@dataclass(frozen=True)
class Rows:
    """Rows made ready for products: values (n, d) and squared norms (n,)."""

    values: Any
    norms: Any

    def part(self, rows: slice) -> Rows:
        """Some of the rows."""
        return Rows(self.values[rows], self.norms[rows])


@dataclass(frozen=True)
class TwoRows:
    """Rows made ready for each of two kernels."""

    left: Any
    right: Any

    def part(self, rows: slice) -> TwoRows:
        """Some of the rows."""
        return TwoRows(self.left.part(rows), self.right.part(rows))


class Form(Protocol):
    """A kernel's way of making tiles from tensors."""

    def prepare(self, x: Any, shift: Any | None, dtype: Any) -> Any:
        """Rows (n, d), float64, ready for products in `dtype`."""

    def evaluate(self, x: Any, y: Any, same: bool) -> Any:
        """A tile (n, m) of values that the caller owns; `same` when both are the same rows."""

    def radius(self, prepared: Any) -> float:
        """Largest norm of a row."""


def form_of(kernel: Kernel) -> Form | None:
    """The tensor form of a kernel; None where it has none (functions of two rows, given matrices, Bessel functions).

    Examples
    --------
    >>> form_of(Gaussian(2.0)) is not None, form_of(Matern(nu=0.7)) is None
    (True, True)
    """
    if isinstance(kernel, (Sum, Product)):
        left, right = form_of(kernel.left), form_of(kernel.right)
        return None if left is None or right is None else _Both(left, right, isinstance(kernel, Sum))
    if isinstance(kernel, Scaled):
        inside = form_of(kernel.kernel)
        return None if inside is None else _Multiple(inside, float(kernel.factor))
    if isinstance(kernel, Cosine):
        return _Angle()
    if isinstance(kernel, Matern) and kernel.nu not in _CLOSED:
        return None
    if isinstance(kernel, Gaussian):
        return _Exponential(kernel)
    if tensor_profile.dispatch(type(kernel)) is tensor_profile.dispatch(object):
        return None
    return _Radial(kernel) if isinstance(kernel, RadialKernel) else _Dot(kernel)


@dataclass(frozen=True)
class _Radial:
    kernel: RadialKernel

    def prepare(self, x: Any, shift: Any | None, dtype: Any) -> Rows:
        if shift is not None:
            x = x - shift
        values = x.to(dtype).contiguous()
        return Rows(values, (values * values).sum(1))

    def evaluate(self, x: Rows, y: Rows, same: bool) -> Any:
        squared = x.norms[:, None] + y.norms
        squared.addmm_(x.values, y.values.T, alpha=-2)
        if same:
            squared.fill_diagonal_(0)
        squared.clamp_min_(0)
        if self.kernel.near:
            self._mend(squared, x, y)
        return tensor_profile(self.kernel, squared)

    def _mend(self, squared: Any, x: Rows, y: Rows) -> None:
        """Replace small squared distances by sums of squared differences, which do not cancel."""
        largest = 4 * torch.maximum(x.norms.max(), y.norms.max())
        i, j = torch.nonzero(squared <= self.kernel.near * largest, as_tuple=True)
        step = max(1, _PAIRS // max(1, x.values.shape[1]))
        for first in range(0, len(i), step):
            part = slice(first, first + step)
            squared[i[part], j[part]] = ((x.values[i[part]] - y.values[j[part]]) ** 2).sum(1)

    def radius(self, prepared: Rows) -> float:
        return _largest_norm(prepared.norms, prepared.values.shape[1])


@dataclass(frozen=True)
class Augmented:
    """Rows and their norms as factors of one matrix product, whose entries are -gamma |x - y|^2."""

    left: Any
    right: Any
    norms: Any
    largest: float  # norm, of all rows that were made ready together: to ask the card for it tile by tile would wait

    def part(self, rows: slice) -> Augmented:
        """Some of the rows."""
        return replace(self, left=self.left[rows], right=self.right[rows], norms=self.norms[rows])


@dataclass(frozen=True)
class _Exponential:
    """The Gaussian: one matrix product and one exponential, no other sweep over the tile."""

    kernel: Gaussian

    def prepare(self, x: Any, shift: Any | None, dtype: Any) -> Augmented:
        if shift is not None:
            x = x - shift
        values = x.to(dtype)
        norms = (values * values).sum(1)
        column, gamma = norms[:, None], self.kernel.gamma
        left = torch.cat([values, column, torch.ones_like(column)], dim=1)
        right = torch.cat([2 * gamma * values, torch.full_like(column, -gamma), -gamma * column], dim=1)
        return Augmented(left, right, norms, float(norms.max()))

    def evaluate(self, x: Augmented, y: Augmented, same: bool) -> Any:
        exponent = x.left @ y.right.T
        if same:
            exponent.fill_diagonal_(0)
        return exponent.clamp_max_(0).exp_() if self._slips(x, y) else exponent.exp_()

    def _slips(self, x: Augmented, y: Augmented) -> bool:
        """Whether rounding could leave exponents so far above 0 that they have to be cut off there."""
        return (
            not self.kernel.gamma * (x.largest + y.largest) * torch.finfo(x.norms.dtype).eps * (x.left.shape[1] + 10)
            < 1e-2
        )

    def radius(self, prepared: Augmented) -> float:
        return _largest_norm(prepared.norms, prepared.left.shape[1])


@dataclass(frozen=True)
class _Dot:
    kernel: Kernel

    def prepare(self, x: Any, shift: Any | None, dtype: Any) -> Rows:
        values = x.to(dtype).contiguous()
        return Rows(values, (values * values).sum(1))

    def evaluate(self, x: Rows, y: Rows, same: bool) -> Any:
        return tensor_profile(self.kernel, x.values @ y.values.T)

    def radius(self, prepared: Rows) -> float:
        return _largest_norm(prepared.norms, prepared.values.shape[1])


class _Angle(_Dot):
    def __init__(self) -> None:
        super().__init__(Linear())

    def prepare(self, x: Any, shift: Any | None, dtype: Any) -> Rows:
        largest = x.abs().amax(1, keepdim=True)
        scaled = x / torch.where(largest > 0, largest, 1.0)
        norms = scaled.norm(dim=1, keepdim=True)
        return super().prepare(scaled / torch.where(norms > 0, norms, 1.0), None, dtype)


@dataclass(frozen=True)
class _Both:
    left: Form
    right: Form
    added: bool

    def prepare(self, x: Any, shift: Any | None, dtype: Any) -> TwoRows:
        return TwoRows(self.left.prepare(x, shift, dtype), self.right.prepare(x, shift, dtype))

    def evaluate(self, x: TwoRows, y: TwoRows, same: bool) -> Any:
        left, right = self.left.evaluate(x.left, y.left, same), self.right.evaluate(x.right, y.right, same)
        return left.add_(right) if self.added else left.mul_(right)

    def radius(self, prepared: TwoRows) -> float:
        return max(self.left.radius(prepared.left), self.right.radius(prepared.right))


@dataclass(frozen=True)
class _Multiple:
    inside: Form
    factor: float

    def prepare(self, x: Any, shift: Any | None, dtype: Any) -> Any:
        return self.inside.prepare(x, shift, dtype)

    def evaluate(self, x: Any, y: Any, same: bool) -> Any:
        return self.inside.evaluate(x, y, same).mul_(self.factor)

    def radius(self, prepared: Any) -> float:
        return self.inside.radius(prepared)


def _largest_norm(norms: Any, d: int) -> float:
    return float(float(norms.max()) ** 0.5 * (1 + (d + 4) * torch.finfo(norms.dtype).eps))


@singledispatch
def tensor_profile(kernel: Kernel, argument: Any) -> Any:
    """The formula of a radial or dot kernel on a tensor of squared distances or dot products, which it overwrites."""
    raise NotImplementedError(f"{kernel} has no formula for tensors")


@tensor_profile.register
def _(kernel: Laplacian, argument: Any) -> Any:
    return argument.sqrt_().div_(-float(kernel.lengthscale)).exp_()


@tensor_profile.register
def _(kernel: Epanechnikov, argument: Any) -> Any:
    return argument.div_(float(kernel.width)).div_(-float(kernel.width)).add_(1).clamp_min_(0)


@tensor_profile.register
def _(kernel: Matern, argument: Any) -> Any:
    length = float(kernel.lengthscale)
    if kernel.nu == float("inf"):
        return argument.div_(length).div_(-2 * length).exp_()
    t = argument.sqrt_().mul_((2 * kernel.nu) ** 0.5 / length)
    if kernel.nu == 0.5:
        return t.neg_().exp_()
    polynomial = t / 3 + 1 if kernel.nu == 2.5 else torch.ones_like(t)
    polynomial.mul_(t).add_(1)
    return polynomial.mul_(t.neg_().exp_())


@tensor_profile.register
def _(kernel: Linear, argument: Any) -> Any:
    return argument


@tensor_profile.register
def _(kernel: Tanh, argument: Any) -> Any:
    return argument.mul_(float(kernel.scale)).add_(float(kernel.b)).tanh_()


@tensor_profile.register
def _(kernel: Polynomial, argument: Any) -> Any:
    base = argument.mul_(float(kernel.scale)).add_(float(kernel.c))
    if float(kernel.degree).is_integer():
        return base.pow_(int(kernel.degree))
    if base.numel() and not float(base.min()) >= 0:
        raise ValueError(
            f"degree={kernel.degree!r} is not an integer and needs scale * x.y + c >= 0, but a pair of rows has "
            f"{float(base.min()):g}; pass an integer degree, a larger c, or data without negative products"
        )
    return base.pow_(float(kernel.degree))
