"""Every kernel equals its formula in extended precision, within the rounding error it states."""

import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from gramless.kernels import (
    Cosine,
    Epanechnikov,
    FromCallable,
    Gaussian,
    Laplacian,
    Linear,
    Manhattan,
    Matern,
    Polynomial,
    QuadraticForm,
    Tanh,
    column_shift,
)

WIDE = np.longdouble


def dots(x, y):
    return np.einsum("id,jd->ij", x, y)


def squares(x, y):
    difference = x[:, None] - y[None]
    return (difference**2).sum(axis=-1)


def cosines(x, y):
    norms = np.sqrt((x**2).sum(axis=1))[:, None] * np.sqrt((y**2).sum(axis=1))
    return np.divide(dots(x, y), norms, out=np.zeros_like(norms), where=norms > 0)


def whole_power(base, degree):
    result = np.ones_like(base)
    for _ in range(degree):
        result = result * base
    return result


def matern(nu, squared):
    """By the integral of exp(-t cosh u) cosh(nu u), which the trapezoidal rule gives to the last digit."""
    t = np.sqrt(2 * WIDE(nu) * squared)[..., None]
    step = 1 / 40  # enough for t up to 700, where the kernel underflows
    u = np.arange(0, 80, step).astype(WIDE)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        terms = np.exp(-t * np.cosh(u) + nu * u) + np.exp(-t * np.cosh(u) - nu * u)
    bessel = (terms.sum(axis=-1) - terms[..., 0] / 2) * WIDE(step) / 2
    value = 2 * (t[..., 0] / 2) ** WIDE(nu) / WIDE(special.gamma(nu)) * bessel
    return np.where(squared == 0, WIDE(1), value)


# kernel of a length scale, and its formula for rows divided by that scale
CASES = {
    "gaussian": (Gaussian, lambda x, y: np.exp(-squares(x, y) / 2)),
    "epanechnikov": (Epanechnikov, lambda x, y: np.maximum(0, 1 - squares(x, y))),
    "laplacian": (Laplacian, lambda x, y: np.exp(-np.sqrt(squares(x, y)))),
    "manhattan": (Manhattan, lambda x, y: np.exp(-np.abs(x[:, None] - y[None]).sum(axis=-1))),
    "matern 1/2": (lambda s: Matern(0.5, s), lambda x, y: np.exp(-np.sqrt(squares(x, y)))),
    "matern 3/2": (
        lambda s: Matern(1.5, s),
        lambda x, y: (1 + np.sqrt(3 * squares(x, y))) * np.exp(-np.sqrt(3 * squares(x, y))),
    ),
    "matern 5/2": (
        lambda s: Matern(2.5, s),
        lambda x, y: (1 + np.sqrt(5 * squares(x, y)) + 5 * squares(x, y) / 3) * np.exp(-np.sqrt(5 * squares(x, y))),
    ),
    "matern inf": (lambda s: Matern(math.inf, s), lambda x, y: np.exp(-squares(x, y) / 2)),
    "matern 0.3": (lambda s: Matern(0.3, s), lambda x, y: matern(0.3, squares(x, y))),
    "matern 1": (lambda s: Matern(1, s), lambda x, y: matern(1, squares(x, y))),
    "matern 7.2": (lambda s: Matern(7.2, s), lambda x, y: matern(7.2, squares(x, y))),
    "linear": (lambda s: (1 / s) * (Linear() * (1 / s)), dots),
    "polynomial 2": (lambda s: Polynomial(2, 1.0, 1 / s**2), lambda x, y: whole_power(dots(x, y) + 1, 2)),
    "polynomial 3": (lambda s: Polynomial(3, -0.25, 1 / s**2), lambda x, y: whole_power(dots(x, y) - WIDE(0.25), 3)),
    "polynomial 0": (lambda s: Polynomial(0, 2.0, 1 / s**2), lambda x, y: np.ones_like(dots(x, y))),
    "polynomial 7": (lambda s: Polynomial(7, 0.0, 1 / s**2), lambda x, y: whole_power(dots(x, y), 7)),
    "tanh": (lambda s: Tanh(1 / s**2, 0.5), lambda x, y: np.tanh(dots(x, y) + WIDE(0.5))),
    "cosine": (lambda s: Cosine(), cosines),
}


@st.composite
def rows(draw, most=100):
    """Rows of any scale, some duplicated or nearly so, with or without an offset; and a length of their size."""
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    d = draw(st.sampled_from([1, 2, 3, 10, most]))
    scale = 10.0 ** draw(st.integers(-3, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    x = scale * rng.standard_normal((n, d))
    y = scale * rng.standard_normal((m, d))
    if draw(st.booleans()):  # duplicates
        y[: min(n, m)] = x[: min(n, m)]
    if draw(st.booleans()):  # and near ones
        y[: min(n, m)] = x[: min(n, m)] * (1 + 1e-9 * rng.standard_normal((min(n, m), d)))
    if draw(st.booleans()):  # zeros
        x[rng.random(x.shape) < 0.6] = 0
    offset = scale * draw(st.sampled_from([0.0, 0.0, 1.0, 100.0]))
    length = scale * math.sqrt(d) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    return x + offset, y + offset, float(2.0 ** round(math.log2(length)))  # a power of 2: division by it is exact


def excess(kernel, x, y, truth, dtype, sparse=False):
    """Largest error of `kernel` in the rounding error it states; and that error."""
    shift = column_shift(y) if kernel.shift_invariant and not sparse else None
    if sparse:
        x, y = scipy.sparse.csr_array(x), scipy.sparse.csr_array(y)
    left, right = kernel.prepare(x, shift, dtype), kernel.prepare(y, shift, dtype)
    values = kernel.evaluate(left, right)
    assert values.dtype == dtype
    assert values.shape == truth.shape
    radius = max(kernel.radius(left), kernel.radius(right))
    unit = float(np.finfo(dtype).eps) / 2
    stated = kernel.rounding(radius, x.shape[1], unit)
    allowed = stated.absolute + stated.relative * np.abs(truth)
    assert np.all(np.abs(truth) <= kernel.bound(radius) * (1 + 1e-12))
    return float((np.abs(values.astype(WIDE) - truth) / allowed).max()), stated


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CASES)
@given(data=rows(), sparse=st.booleans())
def test_error_is_within_the_rounding_stated(name, dtype, data, sparse):
    make, formula = CASES[name]
    x, y, length = data
    kernel = make(length)
    # polynomials of large arguments leave float32; Linear above is divided twice
    truth = formula(x.astype(WIDE) / length, y.astype(WIDE) / length)
    if np.abs(truth).max() > 1e30:
        return
    worst, _ = excess(kernel, x, y, truth, dtype, sparse)
    assert worst <= 1


@pytest.mark.parametrize("name", CASES)
def test_the_rounding_stated_is_useful(name):
    make, formula = CASES[name]
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 10))
    kernel = make(4.0)
    truth = formula(x.astype(WIDE) / 4, x.astype(WIDE) / 4)
    _, stated = excess(kernel, x, x, truth, np.float64)
    limit = 2e-6 if name == "matern 0.3" else 1e-10  # |x - y|^0.6 blows up the rounding of the rows
    assert stated.absolute + stated.relative <= limit * max(1, float(np.abs(truth).max()))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(data=rows(most=40), whole=st.booleans())
def test_quadratic_form(dtype, data, whole):
    x, y, _ = data
    rng = np.random.default_rng(x.shape[1])
    form = rng.standard_normal((x.shape[1], x.shape[1]))
    form = form @ form.T if whole else form + form.T
    kernel = QuadraticForm(form)
    truth = x.astype(WIDE) @ kernel.A.astype(WIDE) @ y.T.astype(WIDE)
    assert excess(kernel, x, y, truth, dtype)[0] <= 1
    assert excess(kernel, x, y, truth, dtype, sparse=True)[0] <= 1


@pytest.mark.parametrize("degree", [0.5, 1.5, 2.7])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(data=rows())
def test_polynomial_of_real_degree(degree, dtype, data):
    x, y, length = data
    x, y = np.abs(x), np.abs(y)
    truth = (dots(x.astype(WIDE) / length, y.astype(WIDE) / length) + 1) ** WIDE(degree)
    if truth.max() > 1e30:
        return
    assert excess(Polynomial(degree, 1.0, 1 / length**2), x, y, truth, dtype)[0] <= 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(data=rows(most=10))
def test_sums_and_products(dtype, data):
    x, y, length = data
    wide_x, wide_y = x.astype(WIDE) / length, y.astype(WIDE) / length
    gaussian, tanh = np.exp(-squares(wide_x, wide_y) / 2), np.tanh(dots(wide_x, wide_y) - 1)
    parts = Gaussian(length), Tanh(1 / length**2, -1.0)
    assert excess(parts[0] + parts[1], x, y, gaussian + tanh, dtype)[0] <= 1
    assert excess(parts[0] * parts[1], x, y, gaussian * tanh, dtype)[0] <= 1
    assert excess(parts[1] * parts[0], x, y, tanh * gaussian, dtype)[0] <= 1
    assert excess(-3.0 * (parts[0] + parts[0]), x, y, -6 * gaussian, dtype)[0] <= 1
    both = parts[1] * parts[1] + Laplacian(length) * parts[0]
    laplacian = np.exp(-np.sqrt(squares(wide_x, wide_y)))
    assert excess(both, x, y, tanh**2 + laplacian * gaussian, dtype)[0] <= 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_of_a_large_constant_counts(dtype):
    x = np.random.default_rng(0).standard_normal((200, 3)) / 8
    dot = dots(x.astype(WIDE), x.astype(WIDE))
    assert excess(Polynomial(12, -300.7), x, x, whole_power(dot - WIDE(300.7), 12), dtype)[0] <= 1
    assert excess(Tanh(1.0, 1.0 / 3), x, x, np.tanh(dot + WIDE(1.0 / 3)), dtype)[0] <= 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_product_keeps_the_absolute_error_of_either_factor(dtype):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((60, 3)), rng.standard_normal((60, 3))
    x[:, 0], y[:, 0] = 100, -(x[:, 1:] * y[:, 1:]).sum(axis=1) / 100  # row i of x is orthogonal to row i of y
    dot, gaussian = dots(x.astype(WIDE), y.astype(WIDE)), np.exp(-squares(x.astype(WIDE), y.astype(WIDE)) / 2e6)
    for kernel in (Linear() * Gaussian(1e3), Gaussian(1e3) * Linear()):
        assert excess(kernel, x, y, dot * gaussian, dtype)[0] <= 1


def test_near_duplicates_far_from_the_origin_keep_their_digits():
    x = 1e3 + np.array([[0.0, 0.0], [1e-7, 0.0], [1.0, 1.0]])
    truth = np.exp(-np.sqrt(squares(x.astype(WIDE), x.astype(WIDE))))
    np.testing.assert_allclose(Laplacian()(x), truth.astype(float), rtol=0, atol=1e-14)
    np.testing.assert_allclose(Matern(0.5)(x), truth.astype(float), rtol=0, atol=1e-14)


def test_a_tile_of_near_duplicates():
    rng = np.random.default_rng(0)
    x = np.vstack([1e-4 * rng.standard_normal((400, 3)), [[50.0, 0.0, 0.0]]])
    np.testing.assert_allclose(Laplacian(1e-4)(x), np.exp(-np.sqrt(squares(x, x)) / 1e-4), rtol=0, atol=1e-9)


@given(data=rows(most=20))
def test_against_scikit_learn(data):
    from sklearn.gaussian_process import kernels as processes
    from sklearn.metrics import pairwise

    x, y, length = data
    pairs = [
        (Linear(), pairwise.linear_kernel(x, y)),
        (Polynomial(3, 1.0, 0.5 / length**2), pairwise.polynomial_kernel(x, y, 3, 0.5 / length**2, 1.0)),
        (Gaussian.from_gamma(1 / length**2), pairwise.rbf_kernel(x - x[0], y - x[0], 1 / length**2)),
        (Tanh(1 / length**2, 0.5), pairwise.sigmoid_kernel(x, y, 1 / length**2, 0.5)),
        (Cosine(), pairwise.cosine_similarity(x, y)),
        (Manhattan(length), pairwise.laplacian_kernel(x, y, 1 / length)),
        *((Matern(nu, length), processes.Matern(length, nu=nu)(x, y)) for nu in (0.5, 1.2, 1.5, 2.5, math.inf)),
    ]
    for kernel, theirs in pairs:
        scale = np.abs(theirs).max()
        if isinstance(kernel, (Linear, Polynomial)):  # theirs cancels as ours does
            scale = kernel.bound(np.sqrt(max((x**2).sum(axis=1).max(), (y**2).sum(axis=1).max())))
        np.testing.assert_allclose(kernel(x, y), theirs, rtol=1e-9, atol=1e-9 * max(1, scale), err_msg=repr(kernel))


@given(data=rows(most=5), sparse=st.booleans())
def test_callable_matches_scikit_learn(data, sparse):
    from sklearn.metrics.pairwise import pairwise_kernels

    def product(a, b, power):
        dot = (a @ b.T).sum() if scipy.sparse.issparse(a) else a @ b
        return dot**power

    x, y, _ = data
    if sparse:
        x, y = scipy.sparse.csr_matrix(x), scipy.sparse.csr_matrix(y)
    kernel = FromCallable(product, {"power": 2})
    np.testing.assert_array_equal(kernel(x, y), pairwise_kernels(x, y, metric=product, power=2))
    np.testing.assert_array_equal(kernel(x), pairwise_kernels(x, metric=product, power=2))


@given(nu=st.floats(0.01, 12.0))
def test_the_bessel_function_loses_no_more_than_allowed_for(nu):
    t = np.concatenate([np.linspace(0.1, 1.8, 6), np.linspace(1.9, 2.0, 12), [2.0 + 1e-9, 2.5, 10.0, 50.0]])
    squared = t**2 / (2 * nu)
    truth = matern(nu, squared.astype(WIDE))
    own = Matern(nu).rounding(0.0, 1, 2.0**-53).relative
    argument = 8 * 2.0**-53 * (1 + t)  # 8 units in the argument move the value by at most this part
    error = np.abs(Matern(nu).profile(squared.copy()) - truth) / truth
    assert np.all(error <= own + argument)


def test_large_and_small_matern_arguments_are_finite():
    x = np.array([[0.0], [1e-300], [1e-30], [1e-9], [1.0], [1e4]])
    for nu in (0.01, 0.3, 3.3, 30):
        values = Matern(nu)(x)
        assert np.all(np.isfinite(values))
        assert np.all(values <= 1 + 1e-12)
        assert values[0, 4] > values[0, 5] >= 0
    assert Matern(30.0)(x)[0, 4] == pytest.approx(float(matern(30.0, WIDE([1.0]))[0]), rel=1e-12)
