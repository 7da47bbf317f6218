"""The operator with float32 entries: exact for a matrix whose distance from the exact one is bounded."""

import numpy as np
import pytest

from gramless.certificates import FAILURE_PROBABILITY
from gramless.eigen import eigsh
from gramless.gram import CenteredGram, Float32Gram, TiledGram
from gramless.kernels import Gaussian, Matern, Polynomial

KERNELS = [Gaussian(3.0), Matern(2.5, 4.0), Polynomial(2, 1.0, 0.1)]


def rows(n=700, d=30, outliers=True):
    x = np.random.default_rng(0).standard_normal((n, d))
    if outliers:
        x[::97] *= 30
    return x


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_matrix_is_within_its_perturbation(kernel, weighted):
    x = rows()
    weights = np.random.default_rng(1).integers(0, 4, len(x)).astype(float) if weighted else None
    exact, rough = TiledGram(kernel, x, weights).to_dense(), Float32Gram(kernel, x, weights)
    away = rough.to_dense() - exact
    assert 0 < np.linalg.norm(away, 2) <= rough.perturbation.norm
    assert rough.perturbation.failure_probability == 0
    np.testing.assert_allclose(rough.to_dense(), rough.to_dense().T, rtol=1e-15 if weighted else 0)
    v = np.random.default_rng(2).standard_normal((len(x), 5))
    slip = np.linalg.norm(rough @ v - rough.to_dense() @ v, axis=0)
    assert (slip <= rough.error * np.linalg.norm(v, axis=0) + 1e-12 * np.linalg.norm(exact)).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_drawn_entries_narrow_the_perturbation(kernel):
    x = rows(outliers=False)
    exact, rough = TiledGram(kernel, x).to_dense(), Float32Gram(kernel, x)
    worst = rough.perturbation.norm
    rough.check(100_000, np.random.default_rng(3))
    rough @ np.ones((len(x), 1))
    assert rough.perturbation.failure_probability == FAILURE_PROBABILITY
    assert np.linalg.norm(rough.to_dense() - exact) <= rough.perturbation.norm < worst / 5


def test_an_error_of_the_tiles_is_found():
    """Entries that differ from the kernel by more than rounding must show in the bound."""
    x, kernel = rows(outliers=False), Gaussian(3.0)
    rough = Float32Gram(kernel, x)
    tiles = rough._tiles
    make = type(tiles).__getitem__

    class Wrong(type(tiles)):
        def __getitem__(self, index):
            return make(self, index) + np.float32(2e-6)

    tiles.__class__ = Wrong
    rough.check(100_000, np.random.default_rng(3))
    rough @ np.ones((len(x), 1))
    away = np.linalg.norm(rough.to_dense() - TiledGram(kernel, x).to_dense())
    assert away > 1e-6 * len(x)
    assert away <= rough.perturbation.norm


def test_the_number_of_pairs_proves_the_norm_it_was_chosen_for():
    check = Float32Gram(Gaussian(3.0), rows(outliers=False)).spot_check
    for norm in (check.worst / 10, check.worst / 30):
        pairs = int(check.pairs_for(norm))
        assert check.worst * np.sqrt(np.log(1 / FAILURE_PROBABILITY) / pairs) < norm
    assert check.pairs_for(0.0) == np.inf


def test_a_draft_shares_the_tiles():
    rough = TiledGram(Gaussian(3.0), rows(), keep_bytes=2**24, draft=True).rough
    assert rough.draft._tiles is rough._tiles
    rough.draft @ np.ones((700, 1))
    assert rough._tiles._kept


@pytest.mark.parametrize("checked", [False, True])
def test_certificates_from_float32_hold_the_eigenvalues_of_the_exact_matrix(checked):
    x, kernel = rows(outliers=False), Gaussian(5.0)
    truth = np.linalg.eigvalsh(CenteredGram(TiledGram(kernel, x)).to_dense())[::-1][:4]
    rough = Float32Gram(kernel, x)
    if checked:
        rough.check(100_000, np.random.default_rng(0))
    found = eigsh(CenteredGram(rough), 4, tol=1e-6, rng=0).certificate
    assert (found.lower <= truth).all()
    assert (truth <= found.upper).all()
    assert set(found.kind) == ({"probabilistic"} if checked else {"rigorous"})
    assert (found.upper - found.lower <= 2.1 * rough.perturbation.norm + 1e-6 * truth[0]).all()


def test_what_drawn_pairs_will_prove_is_known_before_the_product():
    x = rows(outliers=False)
    rough = Float32Gram(Gaussian(3.0), x)
    worst = rough.expected
    assert worst == rough.perturbation.norm
    rough.check(20_000, np.random.default_rng(0))
    expected = rough.expected
    assert expected < 0.6 * worst
    rough @ np.ones((len(x), 1))
    assert rough.expected == rough.perturbation.norm < 1.2 * expected
