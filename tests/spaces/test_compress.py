"""Outputs on fewer points: the bound holds for every row, the tolerance on rows held back; failures have a curve."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from adversaries import INPUTS
from hypothesis import given
from hypothesis import strategies as st

from gramless import CompressionError
from gramless.gram import rectangular_product
from gramless.kernels import Epanechnikov, Gaussian, Laplacian, Linear, Matern, Polynomial, Precomputed
from gramless.spaces import Compression, Outputs, compress


def outputs(kernel, x, q=3, seed=0, **more):
    """Functions with coefficients of very different sizes."""
    rng = np.random.default_rng(seed)
    coefficients = rng.standard_normal((x.shape[0], q)) * np.logspace(0, 3, q)
    return Outputs(kernel, x, coefficients, np.arange(q).astype(str), **more)


def excess(given, points, coefficients, compression, x):
    """The largest change at rows `x` relative to its bound."""
    apart = given.values(x) - rectangular_product(given.kernel, x, points, coefficients)
    bounds = compression.bounds_at(np.asarray(given.kernel.diagonal(x)))
    # the outputs themselves are rounded: relative to the sum of the moduli of their terms
    terms = np.abs(given.coefficients).sum(axis=0) + np.abs(coefficients).sum(axis=0)
    rounded = 1e-13 * np.sqrt(np.abs(given.kernel.diagonal(x)))[:, None] * compression.height * terms
    return float((np.abs(apart) - rounded - bounds).max())


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Matern(1.5, 4.0), Laplacian(30.0), Polynomial(2, 1.0), Linear()])
def test_the_bound_holds_where_the_change_is_largest(kernel):
    """The bound is attained, up to rounding, along f - f_m itself: it is neither violated nor idle."""
    x = np.random.default_rng(0).standard_normal((300, 2))
    given = outputs(kernel, x)
    points, coefficients, found = compress(given, None, most=4)
    both, weights = np.vstack([x, points]), np.vstack([given.coefficients, -coefficients])
    exact = np.sqrt(np.einsum("ij,ij->j", weights, kernel(both) @ weights).clip(0.0))
    assert (exact <= found.norms).all()
    assert (found.norms <= exact * (1 + 1e-6) + 1e-5 * np.abs(given.coefficients).sum(axis=0)).all()
    assert excess(given, points, coefficients, found, np.random.default_rng(1).standard_normal((500, 2)) * 2) <= 0


def test_the_tolerance_is_met_on_rows_that_nothing_depends_on():
    x = np.random.default_rng(0).standard_normal((3000, 3))
    given = Outputs(Gaussian(3.0), x, np.full((3000, 1), 1 / 3000), np.array(["density"]))
    new = np.random.default_rng(1).standard_normal((3000, 3))
    for tol in (1e-1, 1e-3, 1e-5):
        points, coefficients, found = compress(given, tol)
        apart = given.values(new) - rectangular_product(given.kernel, new, points, coefficients)
        assert np.sqrt(np.mean(apart**2)) <= 1.2 * tol * float(given.values(new).std())
        assert found.change.max() <= tol
        assert (found.points, found.points_before, found.rows) == (len(points), 3000, 300)
        assert found.points < 500


def test_fewer_points_for_a_larger_tolerance_and_a_falling_curve():
    x = np.random.default_rng(0).standard_normal((1000, 2))
    given = outputs(Gaussian(2.0), x)
    few, many = (compress(given, tol)[2] for tol in (1e-1, 1e-4))
    assert few.points < many.points < 1000
    assert (np.diff(many.curve_points) > 0).all()
    assert (np.diff(many.curve_bound) <= 1e-12 * many.curve_bound[0]).all()  # projections on nested subspaces
    assert many.curve_change[-1] < 1e-3 * many.curve_change[0]


def test_a_number_of_points_is_kept_to():
    x = np.random.default_rng(0).standard_normal((500, 4))
    points, coefficients, found = compress(outputs(Laplacian(1.0), x), None, most=37)
    assert points.shape == (37, 4)
    assert coefficients.shape == (37, 3)
    assert found.tol is None


def test_points_are_rows_of_the_model_in_their_precision():
    x = np.random.default_rng(0).standard_normal((200, 2)).astype(np.float32)
    points, coefficients, _ = compress(outputs(Gaussian(1.0), x), 1e-2)
    assert points.dtype == np.float32
    assert coefficients.dtype == np.float64
    assert {tuple(row) for row in points.tolist()} <= {tuple(row) for row in x.tolist()}


def test_sparse_rows_give_the_same_as_dense_rows():
    x = np.random.default_rng(0).random((300, 6)) * (np.random.default_rng(1).random((300, 6)) < 0.4)
    dense = compress(outputs(Gaussian(3.0), x), 1e-2)
    sparse = compress(outputs(Gaussian(3.0), scipy.sparse.csr_array(x)), 1e-2)
    np.testing.assert_allclose(sparse[0].toarray(), dense[0])
    np.testing.assert_allclose(sparse[2].norms, dense[2].norms, rtol=1e-3)


def test_a_narrow_kernel_cannot_be_compressed_and_the_error_has_the_curve():
    x = np.random.default_rng(0).standard_normal((200, 5))
    with pytest.raises(
        CompressionError, match=r"no number of points up to 160 of the 200 .* tol=0.001.*160: "
    ) as caught:
        compress(outputs(Gaussian(0.05), x), 1e-3)
    assert [points for points, _ in caught.value.curve] == [1, 2, 4, 8, 16, 32, 64, 128, 160]
    assert all(change > 0.1 for _, change in caught.value.curve)


def test_rows_without_weight_count_for_nothing():
    rng = np.random.default_rng(0)
    x = np.vstack([rng.standard_normal((300, 2)), rng.standard_normal((300, 2)) + 50])
    coefficients = np.vstack([np.ones((300, 1)), np.zeros((300, 1))])
    weights = coefficients[:, 0]
    points, _, found = compress(Outputs(Gaussian(2.0), x, coefficients, np.array(["f"]), weights=weights), 1e-3)
    assert (points < 20).all()
    assert found.rows == 30


def test_rows_given_to_measure_on_are_measured_on():
    x = np.random.default_rng(0).standard_normal((400, 2))
    given, far = outputs(Gaussian(1.0), x), np.full((7, 2), 1e3)
    found = compress(given, 1e-2, test=far)[2]
    assert (found.rows, found.source) == (7, "rows given as X")
    assert (found.change == 0).all()  # both are 0 there


def test_an_influential_point_is_never_held_back():
    rng = np.random.default_rng(0)
    for seed in range(8):
        x = np.vstack([rng.standard_normal((200, 2)), [[500.0, 500.0]]])
        coefficients = np.append(np.full(200, 0.01), 1.0)[:, None]
        given = Outputs(Gaussian(2.0), x, coefficients, np.array(["f"]))
        points, _, _ = compress(given, 1e-2, rng=np.random.default_rng(seed))
        assert points.max() == 500


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Epanechnikov(1.0), "use a Mercer kernel"),
        (Precomputed(), "fit with the kernel itself"),
    ],
)
def test_what_cannot_be_compressed_names_a_remedy(kernel, message):
    with pytest.raises(ValueError, match=message):
        compress(outputs(kernel, np.eye(3)), 1e-3)


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Polynomial(3, 1.0), Laplacian(2.0)], ids=str)
def test_the_bound_holds_for_adversarial_rows(kernel, name):
    x = np.asarray(INPUTS[name](40, 3), dtype=np.float64)
    given = outputs(kernel, x, q=2)
    largest = float(np.asarray(kernel.diagonal(x)).max())
    if largest and not 1e-140 < largest < 1e140:
        with pytest.raises(ValueError, match="rescale the data"):
            compress(given, None, most=6)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        points, coefficients, found = compress(given, None, most=6)
    assert excess(given, points, coefficients, found, x) <= 0
    assert points.shape[0] <= 6


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 60),
    scale=st.sampled_from([1e-150, 1e-8, 1.0, 1e8]),
    size=st.sampled_from([1e-100, 1.0, 1e100]),
    most=st.integers(1, 60),
    copies=st.integers(0, 20),
    single=st.booleans(),
    weighted=st.booleans(),
)
def test_the_bound_holds_whatever_the_scale(seed, n, scale, size, most, copies, single, weighted):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2)) * (1.0 if single and scale < 1e-30 else scale)
    x = np.vstack([x, x[rng.integers(n, size=copies)]]).astype(np.float32 if single else np.float64)
    weights = rng.integers(0, 3, len(x)).astype(float) if weighted else None
    if weights is not None:
        weights[0] = 1.0
    kernel = Gaussian(float(np.abs(x).max()) or 1.0)
    given = outputs(kernel, x, 2, seed, weights=weights)
    given = Outputs(kernel, x, given.coefficients * size, given.names, weights=weights)
    points, coefficients, found = compress(given, None, most)
    new = np.vstack([x, rng.standard_normal((20, 2)) * np.abs(x).max()])
    assert excess(given, points, coefficients, found, new) <= 0


def test_the_table_has_a_row_for_each_output():
    x = np.random.default_rng(0).standard_normal((200, 2))
    found = compress(outputs(Gaussian(2.0), x), 1e-2)[2]
    lines = str(found).splitlines()
    assert lines[0].split() == list(Compression.header)
    assert [line.split()[0] for line in lines[1:4]] == ["0", "1", "2"]
    assert "tol=0.01" in lines[4]
    assert found._repr_html_().count("<tr>") == 4
    assert found.truncated(2).norms.shape == (2,)
