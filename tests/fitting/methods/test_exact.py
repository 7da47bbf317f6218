"""The tiled route: float32 rows lose no more than they must, and no spectrum makes a certificate miss."""

import warnings

import numpy as np
import pytest
import scipy.linalg
from extended import WIDE, eigenvalues
from hypothesis import given
from hypothesis import strategies as st

from gramless import KernelPCA
from gramless.datasets import resampled_digits
from gramless.eigen import NotConvergedWarning
from gramless.errors import UncertifiedWarning
from gramless.gram import CenteredGram, TiledGram
from gramless.kernels import Gaussian, Linear, Polynomial


def wide_digits(n, columns):
    """Digits with noise side by side: rows of many columns with a spectrum of real data."""
    copies = -(-columns // 64)
    return np.hstack([resampled_digits(n, rng=seed) for seed in range(copies)])[:, :columns]


def assert_float32_is_enough(x, truth_of):
    single = x.astype(np.float32)
    model = KernelPCA(20, kernel="rbf", gamma="median", method="tiled", random_state=0).fit(single)
    truth = truth_of(single.astype(np.float64), Gaussian.from_gamma(model.gamma_))
    np.testing.assert_allclose(model.eigenvalues_, truth, rtol=1e-5)
    certificate = model.certificate_
    assert (certificate.lower <= truth * (1 + 1e-12)).all()
    assert (truth * (1 - 1e-12) <= certificate.upper).all()


@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_float32_rows_give_the_float64_eigenvalues(offset):
    """Also far from the origin, where distances in float32 would cancel."""

    def by_lapack(x, kernel):
        dense = CenteredGram(TiledGram(kernel, x)).to_dense()
        return scipy.linalg.eigh(dense, subset_by_index=(len(x) - 20, len(x) - 1), eigvals_only=True)[::-1]

    assert_float32_is_enough(wide_digits(2000, 100) + offset, by_lapack)


@pytest.mark.slow
def test_many_float32_rows_of_many_columns_give_the_float64_eigenvalues():
    """The reference is float64 too, from another solver on all of the rows, certified far below what is asked."""

    def certified(x, kernel):
        model = KernelPCA(20, kernel=kernel, method="tiled", tol=1e-9, random_state=1).fit(x)
        assert model.certificate_.width.max() < 1e-7
        return model.eigenvalues_

    assert_float32_is_enough(wide_digits(20_000, 784), certified)


@st.composite
def spectra(draw):
    """Descending positive values: one, equal ones, groups that agree to many digits, or a slow decay."""
    count = draw(st.integers(1, 12))
    decay = draw(st.sampled_from([0.0, 0.02, 0.3, 3.0]))  # 0: all the same
    gap = draw(st.sampled_from([0.0, 1e-14, 1e-10, 1e-6, 1e-3]))
    group = draw(st.integers(1, count))
    number = np.arange(count)
    return 10.0 ** draw(st.integers(-3, 3)) * np.exp(-decay * (number // group)) * (1 - gap * (number % group))


@st.composite
def fits(draw):
    """How to fit: tolerance, components, seed; and iterations that may end before it is done."""
    return {
        "tol": draw(st.sampled_from([1e-1, 1e-3, 1e-6, 1e-10])),
        "n_components": draw(st.integers(1, 14)),
        "random_state": draw(st.integers(0, 100)),
        "max_iter": draw(st.sampled_from([None, None, 1, 3])),
        "method": "tiled",
    }


def rows_with(spectrum, n, rng):
    """Rows (n, d) whose scatter has about this spectrum, each value along a direction of its own."""
    turned = np.linalg.qr(rng.standard_normal((n, len(spectrum))))[0] * np.sqrt(spectrum)
    return turned @ np.linalg.qr(rng.standard_normal((len(spectrum), len(spectrum))))[0]


def scatter_values(features, weights):
    """Eigenvalues of the centred scatter of `features` (n, D), in extended precision: those of the Gram matrix."""
    features, weights = features.astype(WIDE), weights.astype(WIDE)
    features = features - weights @ features / weights.sum()
    return eigenvalues(features.T @ (weights[:, None] * features))


def assert_inside(kernel, x, weights, truth, slack, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        warnings.simplefilter("ignore", UncertifiedWarning)
        model = KernelPCA(kernel=kernel, **how).fit(x, sample_weight=weights)
    certificate, k = model.certificate_, len(model.eigenvalues_)
    truth = np.concatenate([truth, np.zeros(max(0, k - len(truth)))])[:k]
    assert model.passes_ > 0
    assert (certificate.lower <= truth + slack).all(), (truth - certificate.lower).min()
    assert (truth - slack <= certificate.upper).all(), (certificate.upper - truth).min()


@given(
    spectrum=spectra(),
    n=st.sampled_from([60, 200, 700]),
    seed=st.integers(0, 1000),
    weighted=st.booleans(),
    single=st.booleans(),
    how=fits(),
)
def test_certificates_hold_for_clustered_repeated_and_few_eigenvalues(spectrum, n, seed, weighted, single, how):
    rng = np.random.default_rng(seed)
    x = rows_with(spectrum, n, rng).astype(np.float32 if single else np.float64)
    weights = rng.integers(0, 4, n).astype(float) if weighted else np.ones(n)
    truth = scatter_values(x, weights)
    assert_inside(Linear(), x, weights, truth, 1e-17 * truth[0], **how)


@given(n=st.sampled_from([200, 700]), d=st.integers(2, 9), seed=st.integers(0, 1000), how=fits())
def test_certificates_hold_for_more_eigenvalues_than_a_block_has_columns(n, d, seed, how):
    """(x.y)^2 has d (d + 1) / 2 features: products of coordinates."""
    x = np.random.default_rng(seed).standard_normal((n, d))
    wide = x.astype(WIDE)
    features = [wide[:, i] * wide[:, j] * (1 if i == j else np.sqrt(WIDE(2))) for i in range(d) for j in range(i, d)]
    truth = scatter_values(np.column_stack(features), np.ones(n))
    assert_inside(Polynomial(2, 0.0), x, np.ones(n), truth, 1e-17 * truth[0], **how)


@given(n=st.sampled_from([200, 333, 700]), neighbours=st.sampled_from([0.3, 1.0, 5.0, 40.0]), how=fits())
def test_certificates_hold_for_slow_spectra_of_equal_pairs(n, neighbours, how):
    """Points evenly on a circle: a circulant matrix, whose eigenvalues are a Fourier sum and come in pairs."""
    angle = 2 * np.pi * np.arange(n) / n
    x = np.column_stack([np.cos(angle), np.sin(angle)])
    sigma = 2 * np.pi * neighbours / n
    turn = 2 * WIDE("3.14159265358979323846264338327950288") * np.arange(n, dtype=WIDE) / n
    first_row = np.exp(-(2 - 2 * np.cos(turn)) / (2 * WIDE(sigma) ** 2))
    values = np.array([(first_row * np.cos(j * turn)).sum() for j in range(n)])
    values[0] = 0  # centring takes the constant away
    truth = np.sort(values)[::-1]
    slack = 4e-16 * min(n, 1 + 8 * neighbours) * (1 + 1 / sigma)  # the points themselves are rounded
    assert_inside(Gaussian(sigma), x, np.ones(n), truth, slack, **how)
