"""Parameters: what is refused, with which words; equality; names."""

import pickle

import numpy as np
import pytest

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
    QuadraticForm,
    Tanh,
    find_witness,
    kernel_from_name,
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(-1.0), "sigma=-1.0 must be positive"),
        (lambda: Gaussian(float("nan")), "sigma=nan must be positive"),
        (lambda: Gaussian("wide"), "sigma='wide' must be positive"),
        (lambda: Gaussian(1e-200), "sigma=1e-200 is too small"),
        (lambda: Gaussian.from_gamma(-2.0), "gamma=-2.0 must be at least 0"),
        (lambda: Polynomial(degree=-1), "degree=-1 must be at least 0"),
        (lambda: Polynomial(degree=float("inf")), "degree=inf must be a finite number"),
        (lambda: Polynomial(c=float("nan")), "c=nan must be a finite number"),
        (lambda: Tanh(scale=float("inf")), "scale=inf must be a finite number"),
        (lambda: Epanechnikov(0.0), "width=0.0 must be positive"),
        (lambda: Laplacian(0), "lengthscale=0 must be positive"),
        (lambda: Manhattan(-1), "lengthscale=-1 must be positive"),
        (lambda: Matern(nu=-1), "nu=-1 must be positive"),
        (lambda: Matern(nu=31), "nu=31 must be at most 30, or inf"),
        (lambda: Matern(lengthscale=None), "lengthscale=None must be positive"),
        (lambda: QuadraticForm([[1.0, 2.0]]), r"A has shape \(1, 2\); it must be square"),
        (lambda: QuadraticForm([[1.0, 2.0], [0.0, 1.0]]), "A must be symmetric, but A and its transpose differ by 2"),
        (lambda: QuadraticForm([[np.inf]]), "A has entries that are not finite"),
        (lambda: QuadraticForm(np.eye(2))(np.ones((1, 3))), "x has 3 columns, but A is 2 x 2"),
        (lambda: FromCallable("rbf"), "function='rbf' must be callable"),
        (lambda: kernel_from_name("gauss"), "kernel='gauss' is invalid.*linear, poly, rbf, laplacian, sigmoid, co"),
        (lambda: Manhattan.from_gamma(-2.0), "gamma=-2.0 must be at least 0"),
    ],
)
def test_messages(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_real_degree_of_a_negative_number_is_refused():
    x = np.array([[1.0], [-2.0]])
    with pytest.raises(ValueError, match=r"degree=1.5 is not an integer.* has -1; pass an integer degree"):
        Polynomial(degree=1.5, c=1.0)(x)
    assert np.all(np.isfinite(Polynomial(degree=1.5, c=2.0)(x)))


def test_a_precomputed_matrix_is_never_evaluated():
    gram = np.array([[2.0, 1.0], [1.0, 3.0]])
    for attempt in (
        lambda: Precomputed().prepare(gram),
        lambda: Precomputed().evaluate(gram, gram),
        lambda: Precomputed()(gram),
        lambda: find_witness(Precomputed(), gram),
    ):
        with pytest.raises(TypeError, match="pass the Gram matrix itself as the data"):
            attempt()
    assert Precomputed().mercer is None
    np.testing.assert_array_equal(Precomputed().diagonal(gram), [2.0, 3.0])


def test_quadratic_forms_compare_by_value():
    form = np.array([[2.0, -0.0], [0.0, 1.0]])
    kernel = QuadraticForm(form)
    form[0, 0] = 5  # the kernel has its own copy
    assert kernel == QuadraticForm([[2, 0], [0, 1]])
    assert hash(kernel) == hash(QuadraticForm([[2, 0], [0, 1]]))
    assert kernel != QuadraticForm(form)
    assert kernel != Linear()
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    with pytest.raises(ValueError, match="read-only"):
        kernel.A[0, 0] = 1


@pytest.mark.parametrize(
    ("form", "mercer"),
    [
        (np.eye(3), True),
        (np.zeros((2, 2)), True),
        (np.ones((4, 4)), None),  # eigenvalues 4, 0, 0, 0: rounding hides the sign of the zeros
        (np.outer([0.1, 0.7, 1.3], [0.1, 0.7, 1.3]), True),
        (np.diag([0.0, -1.0]), False),  # both leading minors are 0
        (np.diag([1.0, -1e-6]), False),
    ],
)
def test_a_quadratic_form_is_mercer_when_its_matrix_is_semidefinite(form, mercer):
    assert QuadraticForm(form).mercer is mercer


@pytest.mark.parametrize(
    ("kernel", "mercer", "nonnegative"),
    [
        (Polynomial(2, 1.0, 1.0), True, True),
        (Polynomial(3, 0.0, 1.0), True, False),
        (Polynomial(3, -1.0, 1.0), False, False),
        (Polynomial(2, -1.0, 1.0), False, True),
        (Polynomial(2, 0.0, -1.0), True, True),  # (-x.y)^2 = (x.y)^2
        (Polynomial(1, 0.0, -1.0), False, False),
        (Polynomial(0, -1.0, -1.0), True, True),
        (Polynomial(2.5, 1.0, 1.0), False, True),
        (Polynomial(3.0, 1.0, 0.0), True, False),
        (Tanh(1.0, 1.0), False, False),
        (Tanh(0.0, 1.0), True, False),
        (Tanh(0.0, -1.0), False, False),
        (Epanechnikov(1.0), False, True),
        (Cosine(), True, False),
        (Laplacian(), True, True),
    ],
    ids=repr,
)
def test_flags(kernel, mercer, nonnegative):
    assert kernel.mercer is mercer
    assert kernel.nonnegative is nonnegative


def test_what_is_rough_at_zero_is_not_drafted_in_float32():
    assert not Laplacian().draftable
    assert not Matern(0.5).draftable
    assert Matern(0.5).near
    assert Matern(1.5).draftable
    assert not Matern(1.5).near


def test_limits():
    x = np.array([[0.0], [3.0]])
    np.testing.assert_array_equal(Gaussian(float("inf"))(x), np.ones((2, 2)))
    np.testing.assert_array_equal(Gaussian(1e200)(x), np.ones((2, 2)))
    np.testing.assert_array_equal(Cosine()(np.array([[0.0], [1e-200], [-1e200]])), [[0, 0, 0], [0, 1, -1], [0, -1, 1]])
    np.testing.assert_array_equal(Cosine().diagonal(np.array([[0.0], [1e-200]])), [0, 1])


def test_names():
    assert kernel_from_name("linear") == Linear()
    assert kernel_from_name("poly", 0.5, 2, 1.5) == Polynomial(2, 1.5, 0.5)
    assert kernel_from_name("rbf", gamma=0.5) == Gaussian(1.0)
    assert kernel_from_name("laplacian", gamma=0.5) == Manhattan(2.0)
    assert kernel_from_name("laplacian", gamma=0.0) == Manhattan(float("inf"))
    assert kernel_from_name("gaussian", gamma=0.5) == kernel_from_name("rbf", gamma=0.5)
    assert kernel_from_name("polynomial", 0.5, 2, 1.5) == kernel_from_name("poly", 0.5, 2, 1.5)
    assert kernel_from_name("tanh", gamma=0.5, coef0=-1.0) == kernel_from_name("sigmoid", gamma=0.5, coef0=-1.0)
    assert kernel_from_name("sigmoid", gamma=0.5, coef0=-1.0) == Tanh(0.5, -1.0)
    assert kernel_from_name("cosine") == Cosine()
    assert kernel_from_name("precomputed") == Precomputed()


def test_parameters_of_a_callable():
    def power(x, y, exponent):
        return float(x @ y) ** exponent

    kernel = FromCallable(power, {"exponent": 3}, mercer=True)
    assert kernel == FromCallable(power, (("exponent", 3),), mercer=True)
    assert hash(kernel) == hash(FromCallable(power, {"exponent": 3}, mercer=True))
    assert kernel.mercer is True
    np.testing.assert_array_equal(kernel(np.array([[2.0]])), [[64.0]])
