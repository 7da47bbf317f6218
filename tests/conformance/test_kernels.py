"""Laws that every registered kernel keeps. A new kernel needs an example here, and nothing else."""

import pickle
from dataclasses import is_dataclass

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

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
    Precomputed,
    Product,
    QuadraticForm,
    Scaled,
    Sum,
    Tanh,
    find_witness,
    kernels,
)

D = 4


def overlap(x, y):
    """Sum of the smaller entries: positive semidefinite for nonnegative data only."""
    if scipy.sparse.issparse(x):
        x, y = x.toarray().ravel(), y.toarray().ravel()
    return float(np.minimum(x, y).sum())


EXAMPLES = {
    "gaussian": [Gaussian(1.5), Gaussian(float("inf"))],
    "polynomial": [Polynomial(3, 1.0, 0.5), Polynomial(2, 0.0)],
    "linear": [Linear()],
    "tanh": [Tanh(0.5, -0.2)],
    "epanechnikov": [Epanechnikov(3.0)],
    "laplacian": [Laplacian(2.0)],
    "manhattan": [Manhattan(3.0)],
    "matern": [Matern(0.5, 2.0), Matern(1.5, 2.0), Matern(2.5, 2.0), Matern(0.8, 2.0), Matern(float("inf"), 2.0)],
    "cosine": [Cosine()],
    "quadratic_form": [QuadraticForm(np.diag([1.0, 2.0, 0.0, 3.0])), QuadraticForm(np.ones((D, D)) - np.eye(D))],
    "precomputed": [],  # never evaluated
    "callable": [FromCallable(overlap)],
    "sum": [Sum(Gaussian(1.0), Linear()), Sum(Laplacian(1.0), Tanh())],
    "product": [Product(Polynomial(2), Gaussian(2.0)), Product(Cosine(), Manhattan(2.0))],
    "scaled": [Scaled(Gaussian(1.0), 2.5), Scaled(Linear(), -1.0)],
}
ALL = [pytest.param(kernel, id=f"{name}-{i}") for name, some in EXAMPLES.items() for i, kernel in enumerate(some)]


@st.composite
def rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    x = rng.standard_normal((draw(st.integers(1, 12)), D)) * draw(st.sampled_from([0.01, 1.0, 5.0]))
    x[rng.random(x.shape) < 0.4] = 0
    return np.vstack([x, x[:2]])  # duplicates


def allowance(kernel, prepared, unit):
    error = kernel.rounding(kernel.radius(prepared), D, unit)
    return error.absolute, error.relative


def test_every_kernel_has_an_example():
    assert set(kernels) == set(EXAMPLES)
    for name, some in EXAMPLES.items():
        assert is_dataclass(kernels[name])
        assert all(type(kernel) is kernels[name] for kernel in some)
        assert some or kernels[name] is Precomputed


@pytest.mark.parametrize("kernel", ALL)
@given(x=rows())
def test_gram_matrix(kernel, x):
    prepared = kernel.prepare(x)
    gram = kernel(x)
    assert len(prepared) == len(x)
    assert gram.shape == (len(x), len(x))
    assert gram.dtype == np.float64
    absolute, relative = allowance(kernel, prepared, 2.0**-53)
    close = {"rtol": 4 * relative, "atol": 4 * absolute}
    np.testing.assert_allclose(gram, gram.T, **close)
    np.testing.assert_allclose(gram.diagonal(), kernel.diagonal(x), **close)
    np.testing.assert_allclose(kernel(x, x[:3].copy()), gram[:, :3], **close)
    np.testing.assert_allclose(kernel(x[::-1].copy(), x), gram[::-1], **close)
    assert np.abs(gram).max() <= kernel.bound(kernel.radius(prepared)) * (1 + 1e-12)
    if kernel.nonnegative:
        assert gram.min() >= 0


@pytest.mark.parametrize("kernel", ALL)
@given(x=rows())
def test_csr_equals_dense(kernel, x):
    absolute, relative = allowance(kernel, kernel.prepare(x), 2.0**-53)
    close = {"rtol": 4 * relative, "atol": 4 * absolute}
    for sparse in (scipy.sparse.csr_array(x), scipy.sparse.csr_matrix(x)):
        np.testing.assert_allclose(kernel(sparse), kernel(x), **close)
        np.testing.assert_allclose(kernel(sparse, sparse[:2]), kernel(x, x[:2]), **close)
        np.testing.assert_allclose(kernel.diagonal(sparse), kernel.diagonal(x), **close)


@pytest.mark.parametrize("kernel", ALL)
@given(x=rows())
def test_float32_is_within_its_bound(kernel, x):
    prepared = kernel.prepare(x, dtype=np.float32)
    values = kernel.evaluate(prepared, prepared)
    assert values.dtype == np.float32
    absolute, relative = allowance(kernel, prepared, 2.0**-24)
    truth = kernel(x)
    assert np.all(np.abs(values - truth) <= 1.001 * (absolute + relative * np.abs(truth)))


@pytest.mark.parametrize("kernel", ALL)
@given(x=rows(), offset=st.sampled_from([0.0, 7.0]))
def test_a_shift_changes_nothing(kernel, x, offset):
    shift = np.full(D, 0.5) + offset
    plain, shifted = kernel.prepare(x), kernel.prepare(x, shift)
    radius = max(kernel.radius(plain), kernel.radius(shifted))
    error = kernel.rounding(radius, D, 2.0**-53)
    np.testing.assert_allclose(
        kernel.evaluate(shifted, shifted),
        kernel.evaluate(plain, plain),
        rtol=2.01 * error.relative,
        atol=2.01 * error.absolute,
    )


@pytest.mark.parametrize("kernel", ALL)
@given(x=rows())
def test_evaluate_leaves_its_arguments_alone(kernel, x):
    before = x.copy()
    prepared = kernel.prepare(x)
    first = kernel.evaluate(prepared, prepared)
    again = kernel.evaluate(prepared, prepared)
    np.testing.assert_array_equal(first, again)
    assert not np.shares_memory(first, again)
    kernel.diagonal(x)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("kernel", ALL)
@given(x=rows())
def test_mercer_kernels_have_no_witness(kernel, x):
    assert kernel.mercer in (True, False, None)
    if kernel.mercer:
        assert find_witness(kernel, x) is None


@pytest.mark.parametrize("kernel", ALL)
def test_the_error_grows_with_the_radius_and_the_roundoff(kernel):
    for unit in (2.0**-53, 2.0**-24):
        errors = [kernel.rounding(radius, D, unit) for radius in (0.0, 0.1, 1.0, 10.0)]
        assert all(0 <= error.absolute < np.inf and 0 <= error.relative < np.inf for error in errors)
    assert kernel.rounding(1.0, D, 2.0**-53).absolute <= kernel.rounding(1.0, D, 2.0**-24).absolute


@pytest.mark.parametrize("kernel", ALL)
def test_kernels_are_values(kernel):
    twin = pickle.loads(pickle.dumps(kernel))
    assert twin == kernel
    assert hash(twin) == hash(kernel)
    assert type(kernel).__name__ in repr(kernel)
    assert (kernel + kernel).left == kernel
    assert (2.0 * kernel).kernel == kernel


@pytest.mark.parametrize("kernel", [case for case in ALL if case.values[0].tensors])
@given(n=st.integers(1, 40), m=st.integers(1, 40), seed=st.integers(0, 999))
def test_tensors_give_the_values_of_arrays(kernel, n, m, seed):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((n, D)), rng.standard_normal((m, D))
    y[0] = x[0]  # a distance of 0
    left, right = torch.as_tensor(x), torch.as_tensor(y)
    slack = kernel.rounding(max(kernel.radius(kernel.prepare(side)) for side in (x, y)) * 2, D, 2.0**-53)
    expected = kernel(x, y)
    atol = 4 * (slack.absolute + slack.relative * np.abs(expected).max())
    np.testing.assert_allclose(kernel(left, right).numpy(), expected, rtol=0, atol=atol)
    np.testing.assert_allclose(kernel.diagonal(left).numpy(), kernel.diagonal(x), rtol=1e-12, atol=atol)
    ready = kernel.prepare(left)
    assert kernel.radius(ready) == pytest.approx(kernel.radius(kernel.prepare(x)))
    part = slice(n // 2, n)
    tile = kernel.evaluate(ready.part(part), ready)
    np.testing.assert_allclose(tile.numpy(), kernel(left).numpy()[part], rtol=0, atol=atol)


def test_kernels_that_a_card_can_compute_say_so():
    able = {name for name, some in EXAMPLES.items() for kernel in some if kernel.tensors}
    assert able >= {"gaussian", "polynomial", "linear", "tanh", "epanechnikov", "laplacian", "matern", "cosine"}
    assert not Matern(0.8).tensors
    assert not Product(Cosine(), Manhattan(2.0)).tensors
