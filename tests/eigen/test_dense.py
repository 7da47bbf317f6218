"""A dense matrix by LAPACK or by Lanczos: the same answer, and bounds that hold."""

import numpy as np
import pytest

from gramless.eigen import dense, eigsh


def matrix(values, seed=0):
    n = len(values)
    q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    a = (q * values) @ q.T
    return (a + a.T) / 2


SPECTRA = {
    "geometric": 0.9 ** np.arange(300.0),
    "flat": 1 + np.random.default_rng(1).random(300) / 10,
    "indefinite": np.linspace(-1, 1, 300),
    "one": np.concatenate([[1.0], np.zeros(299)]),
    "pairs": np.repeat(0.9 ** np.arange(150.0), 2),
    "wanted are equal": np.concatenate([np.ones(3), 0.5 ** np.arange(1, 298.0)]),
    "no gap": np.concatenate([np.ones(8), np.full(292, 0.1)]),
    "negative": -1 - np.arange(300.0),
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("scale", [1.0, 1e-120, 1e120])
def test_few_pairs_are_those_of_lapack(name, scale):
    a = matrix(SPECTRA[name]) * scale
    truth = np.linalg.eigvalsh(a)[::-1]
    result = eigsh(a, 3, "dense", rng=0)
    size = np.abs(truth).max()
    assert np.abs(result.values - truth[:3]).max() <= 1e-13 * size
    certificate = result.certificate
    assert (certificate.kind == "rigorous").all()
    assert (certificate.lower <= truth[:3] + 1e-14 * size).all()
    assert (truth[:3] <= certificate.upper + 1e-14 * size).all()
    assert (certificate.upper - certificate.lower).max() <= 1e-9 * size
    residual = np.linalg.norm(a / scale @ result.vectors - result.vectors * (result.values / scale), axis=0)
    assert residual.max() <= 1e-10 * size / scale


def test_a_missed_copy_of_an_eigenvalue_is_found(monkeypatch):
    """A Krylov space may lack a copy of a repeated eigenvalue; then nothing proves that no larger one is left."""
    a = matrix(SPECTRA["wanted are equal"])
    vectors = np.linalg.eigh(a)[1][:, [-1, -4, -5, -6]]  # not the second and the third copy
    lacking = dense.Basis.from_vectors(a, vectors, dense.Outcome.CONVERGED)
    monkeypatch.setattr(dense, "_krylov", lambda *_: lacking)
    result = eigsh(a, 3, "dense", rng=0)
    assert np.allclose(result.values, 1.0)
    assert (result.certificate.lower > 0.99).all()


@pytest.mark.parametrize("name", ["geometric", "noise"])
def test_norm_and_trace_suffice_where_the_rest_is_small_or_equal(name, monkeypatch):
    noise = np.concatenate([[40.0, 30.0, 20.0], 1 + 0.01 * np.random.default_rng(0).random(497)])
    a = matrix({**SPECTRA, "noise": noise}[name])
    monkeypatch.setattr(dense, "_largest_outside", lambda *_: pytest.fail("Cholesky was needed"))
    certificate = eigsh(a, 2, "dense", rng=0).certificate
    truth = np.linalg.eigvalsh(a)[::-1][:2]
    assert (certificate.kind == "rigorous").all()
    assert (certificate.lower <= truth).all()
    assert (truth <= certificate.upper).all()


def test_the_bound_outside_is_above_the_next_eigenvalue():
    a = matrix(SPECTRA["geometric"])
    values, vectors = np.linalg.eigh(a)
    basis = dense.Basis.from_vectors(a, vectors[:, -3:], dense.Outcome.CONVERGED)
    assert dense._largest_outside(a, basis, values[-4] * (1 - 1e-9)) is None
    found = dense._largest_outside(a, basis, values[-4] * (1 + 1e-9))
    assert values[-4] <= found <= values[-4] * (1 + 1e-8)
