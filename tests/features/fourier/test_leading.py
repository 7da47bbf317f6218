"""Leading pairs of a scatter by iteration: what is proved of them holds of the matrix written down."""

import numpy as np
import pytest
from scipy.sparse.linalg import ArpackError

from gramless.features import Box, fourier_map
from gramless.features.fourier.leading import is_dense, leading_pairs
from gramless.features.fourier.scatter import ToeplitzScatter
from gramless.kernels import Gaussian


def scatter_of(kernel, x, error):
    phi = fourier_map(kernel, Box.around(x), error)
    moments = phi.moments(x, np.ones(len(x)))
    return ToeplitzScatter(phi.grid, moments.sums, moments.weight)


RNG = np.random.default_rng(0)
CASES = {  # eigenvalues that fall, that hardly fall, and that are few
    "falling": (scatter_of(Gaussian(0.12), RNG.random((200, 2)), 1e-6), 4, 1e-8),
    "flat": (scatter_of(Gaussian(0.06), RNG.random((300, 2)), 1e-2), 3, 1e-8),
    "loose": (scatter_of(Gaussian(0.06), RNG.random((300, 2)), 1e-2), 3, 0.3),
    "few": (scatter_of(Gaussian(0.1), RNG.random((5, 2)), 1e-6), 4, 1e-8),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("error", [0.0, 1e-2])
def test_pairs_are_proved_of_every_matrix_within_the_error(name, error):
    scatter, k, tol = CASES[name]
    assert not is_dense(scatter.shape[0], k + 1)
    dense = scatter.to_dense()
    truth = np.linalg.eigvalsh(dense)[::-1][: k + 1]
    found = leading_pairs(scatter, k, tol, error, np.random.default_rng(1))
    slack = 1e-12 * truth[0]
    assert (found.lower <= truth - error + slack).all()
    assert (truth + error - slack <= found.upper).all()
    np.testing.assert_allclose(found.axes.T @ found.axes, np.eye(k), atol=1e-10)
    off = np.linalg.norm(dense @ found.axes - found.axes * found.values, axis=0)
    assert (off + error <= found.residual + slack).all()
    if name == "few":  # there are no more than these: what is left of the trace says so better than the squares
        assert found.upper[k] - error <= 5e-9 * truth[0] + 20 * error
    if not error:
        np.testing.assert_allclose(found.values, truth[:k], atol=tol * truth[0])
        assert (found.upper[:k] - found.lower[:k] <= 3 * tol * truth[0]).all()


def test_where_arpack_fails_intervals_are_wide_and_hold(monkeypatch):
    """Vectors at random know little: what is outside them is bounded by powers of the scatter on others."""

    def fails(*given, **settings):
        raise ArpackError(-9999)

    monkeypatch.setattr("gramless.features.fourier.leading.eigsh", fails)
    scatter, k, tol = CASES["falling"]
    dense = scatter.to_dense()
    truth = np.linalg.eigvalsh(dense)[::-1][: k + 1]
    found = leading_pairs(scatter, k, tol, 0.0, np.random.default_rng(1))
    off = np.linalg.norm(dense @ found.axes - found.axes * found.values, axis=0)
    np.testing.assert_allclose(found.residual, off, rtol=1e-6)
    assert (found.lower <= truth).all()
    assert (truth <= found.upper).all()
    assert (found.upper <= 1.5 * truth[0]).all()
    assert found.kind == "probabilistic"


def test_what_the_trace_leaves_is_proved_without_chance():
    """Five rows have four directions: with all of them found, nothing is left to doubt."""
    scatter, k, tol = CASES["few"]
    assert leading_pairs(scatter, k, tol, 0.0, np.random.default_rng(1)).kind == "rigorous"
    scatter, k, tol = CASES["flat"]
    assert leading_pairs(scatter, k, tol, 0.0, np.random.default_rng(1)).kind == "probabilistic"


def test_more_pairs_than_there_are_frequencies():
    scatter = scatter_of(Gaussian(2.0), np.linspace(0, 1, 6)[:, None], 1e-3)
    unknowns = scatter.shape[0]
    found = leading_pairs(scatter, unknowns + 2, 1e-8, 0.25, np.random.default_rng(0))
    truth = np.append(np.linalg.eigvalsh(scatter.to_dense())[::-1], [0.0, 0.0, 0.0])
    np.testing.assert_allclose(found.values, truth[:-1], atol=1e-13)
    np.testing.assert_allclose(found.upper, truth + 0.25, atol=1e-12)
    np.testing.assert_allclose(found.lower, truth - 0.25, atol=1e-12)
    np.testing.assert_allclose(found.residual, 0.25, atol=1e-12)
    np.testing.assert_array_equal(found.axes[:, unknowns:], 0)
    np.testing.assert_allclose(found.axes[:, :unknowns].T @ found.axes[:, :unknowns], np.eye(unknowns), atol=1e-12)


def test_lapack_is_for_few_unknowns_or_for_many_pairs():
    assert is_dense(400, 1)
    assert not is_dense(401, 11)
    assert is_dense(3000, 200)
    assert not is_dense(5000, 300)
    assert is_dense(5000, 2000)
