"""Products with centred rows that are never formed: against the matrix that is."""

import numpy as np
import pytest
import scipy.sparse

from gramless.gram import CenteredRows, RowProducts


def sparse_rows(n, d, seed=0):
    x = scipy.sparse.random(n, d, 0.1, format="csr", random_state=seed)
    x.data = x.data * 4 - 1
    return x


def formed(x, weights):
    x = x.toarray() if scipy.sparse.issparse(x) else x
    return np.sqrt(weights)[:, None] * (x - weights @ x / weights.sum())


@pytest.mark.parametrize("shape", [(60, 200), (200, 60), (9000, 12)], ids=str)
@pytest.mark.parametrize("dense", [False, True], ids=["CSR", "dense"])
def test_products_are_those_of_the_centred_rows(shape, dense):
    rng = np.random.default_rng(0)
    x = sparse_rows(*shape)
    x = x.toarray() + 5.0 if dense else x
    weights = rng.choice([0.0, 1.0, 2.5], shape[0])
    rows, b = CenteredRows(x, weights), formed(x, weights)
    small = min(shape)
    exact = b.T @ b if shape[1] < shape[0] else b @ b.T
    operator = RowProducts(rows)
    assert operator.shape == (small, small)
    for columns in (1, 7):
        v = rng.standard_normal((small, columns))
        apart = np.linalg.norm(operator @ v - exact @ v, axis=0)
        assert (apart <= operator.error * np.linalg.norm(v, axis=0) + 1e-13 * np.linalg.norm(exact)).all()
    assert operator.error <= 1e-9 * np.linalg.norm(exact, 2) * (1 + 1e3 * dense)
    assert rows.trace == pytest.approx((b**2).sum(), rel=1e-12)


def test_the_bound_on_the_norm_is_above_that_of_the_moduli():
    x, weights = sparse_rows(300, 80), np.linspace(0.1, 2, 300)
    norm = np.linalg.norm(np.sqrt(weights)[:, None] * abs(x.toarray()), 2) ** 2
    size = CenteredRows(x, weights).size
    frobenius2 = float(weights @ (x.toarray() ** 2).sum(axis=1))
    assert norm <= size < 0.5 * frobenius2


def test_rows_are_not_copied():
    x = sparse_rows(5000, 30)
    rows = CenteredRows(x, np.ones(5000))
    assert all(np.shares_memory(chunk.data, x.data) for chunk in rows._chunks)
