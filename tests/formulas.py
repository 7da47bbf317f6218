"""Every kernel's formula once more, naively, in arithmetic wider than float64: what values are held to."""

from functools import singledispatch
from types import SimpleNamespace

import mpmath
import numpy as np

from gramless import kernels as k

#: 80-bit floats where the machine has them.
WIDE = SimpleNamespace(
    number=np.longdouble,
    rows=lambda x: np.asarray(x).astype(np.longdouble),
    exp=np.exp,
    sqrt=np.sqrt,
    tanh=np.tanh,
)


def _exactly(value):
    return mpmath.mpf(float(value))


#: As many digits as `mpmath.mp.dps` says, in arrays of objects.
MANY_DIGITS = SimpleNamespace(
    number=_exactly,
    rows=lambda x: np.frompyfunc(_exactly, 1, 1)(np.asarray(x, dtype=np.float64)),
    exp=np.frompyfunc(mpmath.exp, 1, 1),
    sqrt=np.frompyfunc(mpmath.sqrt, 1, 1),
    tanh=np.frompyfunc(mpmath.tanh, 1, 1),
)


def gram(kernel, x, arithmetic=WIDE):
    """Gram matrix (n, n) of rows `x` (n, d), whose floats are taken for the numbers they are."""
    return values(kernel, arithmetic.rows(x), arithmetic)


def _dots(x):
    return x @ x.T


def _squared_distances(x):
    return ((x[:, None] - x[None]) ** 2).sum(axis=-1)


@singledispatch
def values(kernel, x, a):
    """Gram matrix of wide rows `x`, in the arithmetic `a`."""
    raise NotImplementedError(f"write down {kernel!r} here")


@values.register
def _(kernel: k.Gaussian, x, a):
    if np.isinf(kernel.sigma):
        return _dots(x) * 0 + 1
    return a.exp(-_squared_distances(x) / (2 * a.number(kernel.sigma) ** 2))


@values.register
def _(kernel: k.Polynomial, x, a):
    base = _dots(x) * a.number(kernel.scale) + a.number(kernel.c)
    return base ** int(kernel.degree) if float(kernel.degree).is_integer() else base ** a.number(kernel.degree)


@values.register
def _(kernel: k.Linear, x, a):
    return _dots(x)


@values.register
def _(kernel: k.Tanh, x, a):
    return a.tanh(_dots(x) * a.number(kernel.scale) + a.number(kernel.b))


@values.register
def _(kernel: k.Epanechnikov, x, a):
    return np.maximum(a.number(0), 1 - _squared_distances(x) / a.number(kernel.width) ** 2)


@values.register
def _(kernel: k.Laplacian, x, a):
    return a.exp(-a.sqrt(_squared_distances(x)) / a.number(kernel.lengthscale))


@values.register
def _(kernel: k.Manhattan, x, a):
    return a.exp(-np.abs(x[:, None] - x[None]).sum(axis=-1) / a.number(kernel.lengthscale))


@values.register
def _(kernel: k.Matern, x, a):
    t = a.sqrt(_squared_distances(x) * (2 * a.number(kernel.nu))) / a.number(kernel.lengthscale)
    polynomial = {0.5: t * 0 + 1, 1.5: 1 + t, 2.5: 1 + t + t * t / 3}[kernel.nu]
    return polynomial * a.exp(-t)


@values.register
def _(kernel: k.Cosine, x, a):
    norms = a.sqrt((x**2).sum(axis=1))
    norms = np.where(norms == 0, a.number(1), norms)
    return _dots(x) / norms[:, None] / norms


@values.register
def _(kernel: k.QuadraticForm, x, a):
    return x @ a.rows(kernel.A) @ x.T


@values.register
def _(kernel: k.Sum, x, a):
    return values(kernel.left, x, a) + values(kernel.right, x, a)


@values.register
def _(kernel: k.Product, x, a):
    return values(kernel.left, x, a) * values(kernel.right, x, a)


@values.register
def _(kernel: k.Scaled, x, a):
    return values(kernel.kernel, x, a) * a.number(kernel.factor)


@values.register
def _(kernel: k.FromCallable, x, a):
    return np.array([[kernel.function(one, other) for other in x] for one in x])


@values.register
def _(kernel: k.Precomputed, x, a):
    return (x + x.T) / 2
