"""Witnesses: found where there is one, small, and true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.kernels import (
    Cosine,
    Epanechnikov,
    Gaussian,
    Laplacian,
    Linear,
    Manhattan,
    Matern,
    Polynomial,
    Product,
    QuadraticForm,
    Sum,
    Tanh,
    check_mercer,
    find_witness,
)

METHODS = ["cholesky", "eigenvalues"]
MERCER = [
    Linear(),
    Polynomial(3, 1.0, 0.5),
    Polynomial(2, -1.0, -1.0),
    Polynomial(0, -1.0, 1.0),
    Gaussian(1.0),
    Gaussian(1e3),
    Laplacian(2.0),
    Manhattan(2.0),
    Matern(0.3, 1.0),
    Matern(1.5, 1.0),
    Cosine(),
    Tanh(0.0, 1.0),
    Sum(Gaussian(1.0), Linear()),
    Product(Gaussian(1.0), Polynomial(2)),
    3.0 * Linear(),
    0.0 * Tanh(),
]
GRID = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
INDEFINITE = [
    (Polynomial(1, -1.0), np.array([[0.1], [1.0]])),
    (Polynomial(2, -1.0), np.array([[0.5], [1.0], [2.0]])),
    (Polynomial(3, 1.0, -1.0), np.array([[1.5], [2.0]])),
    (Polynomial(1.5, 1.0, 1.0), np.linspace(0.05, 0.9, 6)[:, None]),
    (Tanh(1.0, 0.0), np.linspace(0.2, 3.0, 8)[:, None]),
    (Tanh(1.0, -1.0), np.array([[0.1], [1.0]])),
    (Epanechnikov(2.0), GRID),
    (QuadraticForm([[1.0, 0.0], [0.0, -1.0]]), np.array([[1.0, 0.0], [1.0, 2.0]])),
    (-1.0 * Gaussian(1.0), np.array([[0.0]])),
]


def holds(witness, gram):
    """The witness says what it claims: the value is right, negative, and comes from its points alone."""
    outside = np.setdiff1d(np.arange(len(gram)), witness.points)
    assert np.all(witness.vector[outside] == 0)
    assert np.linalg.norm(witness.vector) == pytest.approx(1)
    assert witness.value < 0
    wide = witness.vector.astype(np.longdouble)
    value = float(wide @ gram.astype(np.longdouble) @ wide)
    assert value == pytest.approx(witness.value, rel=1e-9, abs=1e-15 * len(gram) * np.abs(gram).max())
    part = gram[np.ix_(witness.points, witness.points)]
    assert np.linalg.eigvalsh(part)[0] < 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", MERCER, ids=repr)
@given(n=st.integers(1, 25), d=st.integers(1, 6), seed=st.integers(0, 99), repeat=st.booleans())
def test_mercer_kernels_have_no_witness(kernel, method, n, d, seed, repeat):
    x = 2 * np.random.default_rng(seed).standard_normal((n, d))
    assert kernel.mercer is True
    assert find_witness(kernel, np.vstack([x, x]) if repeat else x, method=method) is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("kernel", "x"), INDEFINITE, ids=lambda v: "" if isinstance(v, np.ndarray) else repr(v))
def test_indefinite_kernels_have_a_witness(kernel, x, method):
    assert kernel.mercer is False
    witness = find_witness(kernel, x, method=method)
    assert witness is not None
    holds(witness, kernel(x))


@pytest.mark.parametrize("method", METHODS)
@given(n=st.integers(1, 20), rank=st.integers(1, 20), seed=st.integers(0, 999), depth=st.floats(1e-6, 10))
def test_a_planted_negative_direction_is_found(method, n, rank, seed, depth):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((n, rank))
    direction = np.linalg.qr(rng.standard_normal((n, n)))[0][:, :1]
    factor -= direction @ (direction.T @ factor)
    gram = factor @ factor.T
    assert check_mercer(gram, method=method) is None
    gram -= depth * direction @ direction.T
    witness = check_mercer(gram, method=method)
    assert witness is not None
    holds(witness, gram)
    if method == "eigenvalues":
        assert witness.value == pytest.approx(-depth, abs=1e-9 * (1 + np.abs(gram).max()))


def test_every_point_of_a_thinned_witness_is_needed():
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 4, (60, 2))
    gram = Epanechnikov(2.0)(x)
    witness = check_mercer(gram, tol=1e-9)
    assert witness is not None
    assert len(witness.points) < 20
    for point in witness.points:
        rest = np.setdiff1d(witness.points, [point])
        assert np.linalg.eigvalsh(gram[np.ix_(rest, rest)])[0] >= -1e-9


def test_leading_minors_would_miss_it():
    gram = np.array([[0.0, 0.0], [0.0, -1.0]])  # both leading minors are 0
    witness = check_mercer(gram)
    assert witness is not None
    assert witness.points.tolist() == [1]


def test_zero_diagonal_beside_a_nonzero_entry():
    gram = np.zeros((5, 5))
    gram[1, 4] = gram[4, 1] = 1e-3
    gram[0, 0] = 1
    witness = check_mercer(gram)
    assert witness is not None
    assert witness.points.tolist() == [1, 4]
    assert witness.value == pytest.approx(-1e-3)


def test_tolerance_decides():
    gram = np.diag([1.0, 1.0, -1e-6])
    assert check_mercer(gram, tol=1e-5) is None
    assert check_mercer(gram, tol=1e-7) is not None


@pytest.mark.parametrize(
    ("gram", "options", "message"),
    [
        (np.ones((2, 3)), {}, r"gram has shape \(2, 3\); a Gram matrix is square"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), {}, "differ by 2"),
        (np.array([[np.nan]]), {}, "not finite"),
        (np.eye(2), {"tol": -1.0}, "tol=-1.0 must be at least 0"),
        (np.eye(2), {"method": "minors"}, "method='minors' is invalid"),
    ],
)
def test_messages(gram, options, message):
    with pytest.raises(ValueError, match=message):
        check_mercer(gram, **options)


def test_nothing_to_check():
    assert check_mercer(np.zeros((0, 0))) is None
    assert check_mercer(np.zeros((3, 3))) is None
