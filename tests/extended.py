"""Obvious references in extended precision (80-bit where the machine has it), for sizes where that is quick."""

from functools import lru_cache

import mpmath
import numpy as np
from formulas import MANY_DIGITS, gram

WIDE = np.longdouble
EPS = np.finfo(WIDE).eps
_DIGITS = 120


def squared_distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(axis=-1)


def centered_gram(gram, weights):
    """D^1/2 H K H^T D^1/2, with D = diag(weights) and H = I - 1 w^T / W."""
    gram, weights = np.asarray(gram, dtype=WIDE), np.asarray(weights, dtype=WIDE)
    means = gram @ weights / weights.sum()
    centered = gram - means[:, None] - means + means @ weights / weights.sum()
    roots = np.sqrt(weights)
    return roots[:, None] * centered * roots


def eigenvalues(matrix):
    """Descending eigenvalues of a symmetric matrix, in the precision of its entries.

    LAPACK's eigenvectors nearly diagonalise it; Jacobi's rotations do the rest, where a rotation still tells.
    """
    a = np.array(matrix, dtype=WIDE)
    n, scale = len(a), np.abs(a).max(initial=0)
    if not scale > 0:
        return np.zeros(n, dtype=WIDE)
    a /= scale
    v = np.linalg.eigh(a.astype(np.float64))[1].astype(WIDE)
    for _ in range(2):  # orthonormal to the last bit (Newton & Schulz)
        v = v @ (3 * np.eye(n, dtype=WIDE) - v.T @ v) / 2
    a = v.T @ a @ v
    a = (a + a.T) / 2
    for _ in range(30):
        moved = np.abs(a) * np.minimum(1, np.abs(a) / (np.abs(np.subtract.outer(np.diag(a), np.diag(a))) + EPS**2))
        pairs = np.argwhere(np.triu(moved, 1) > EPS / 16)
        if not len(pairs):
            break
        for p, q in pairs:
            _rotate(a, p, q)
    return np.sort(np.diag(a))[::-1] * scale


def _rotate(a, p, q):
    """Jacobi's rotation that makes a[p, q] = 0, in place."""
    if a[p, q] == 0:
        return
    theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
    t = (1 if theta >= 0 else -1) / (abs(theta) + np.sqrt(theta**2 + 1))
    c = 1 / np.sqrt(t**2 + 1)
    turn = np.array([[c, -t * c], [t * c, c]])
    a[[p, q]] = turn @ a[[p, q]]
    a[:, [p, q]] = a[:, [p, q]] @ turn.T


def exact_eigenvalues(kernel, x, weights):
    """Descending eigenvalues of the weighted, centred Gram matrix, and a bound on their error: (n,), float."""
    weights = np.asarray(weights, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        values = gram(kernel, x)
        largest = np.abs(values).max()
        if np.isfinite(largest * largest):
            truth = eigenvalues(centered_gram(values, weights))
            return truth, 64 * EPS * largest * WIDE(weights.sum())
    return many_digits_eigenvalues(kernel, x, weights)


def many_digits_eigenvalues(kernel, x, weights):
    """The same where even 80 bits cancel: centred with 120 digits, and only then rounded."""
    with mpmath.workdps(_DIGITS):
        wide, w = gram(kernel, x, MANY_DIGITS), MANY_DIGITS.rows(weights)
        means = wide @ w / w.sum()
        roots = MANY_DIGITS.sqrt(w)
        centered = roots[:, None] * (wide - means[:, None] - means + means @ w / w.sum()) * roots
        largest, noise = np.abs(centered).max(), np.abs(wide).max() * w.sum() * mpmath.mpf(10) ** (20 - _DIGITS)
        size = largest if largest > 0 else mpmath.mpf(1)
        scaled = np.array([[_wide(entry / size) for entry in row] for row in centered])
        return eigenvalues(scaled) * _wide(size), 64 * EPS * len(w) * _wide(largest) + _wide(noise)


def _wide(number):
    """A number of many digits as an 80-bit float."""
    mantissa, exponent = mpmath.frexp(number)
    high = float(mantissa)
    return np.ldexp(WIDE(high) + WIDE(float(mantissa - high)), int(exponent))


@lru_cache(maxsize=32)
def _remembered(reference, kernel, rows, shape, dtype, weights):
    """One truth serves all methods."""
    return reference(kernel, np.frombuffer(rows, dtype).reshape(shape), np.frombuffer(weights))


def missed(certificate, kernel, x, weights):
    """Which components' true eigenvalues lie outside their intervals: (k,). Cheap arithmetic first."""
    x, weights = np.ascontiguousarray(x), np.asarray(weights, dtype=np.float64)
    for reference in (exact_eigenvalues, many_digits_eigenvalues):
        truth, error = _remembered(reference, kernel, x.tobytes(), x.shape, x.dtype.str, weights.tobytes())
        truth = np.concatenate([truth, np.zeros(max(0, len(certificate) - len(truth)), WIDE)])[: len(certificate)]
        inside = (certificate.lower <= truth - error) & (truth + error <= certificate.upper)
        if inside.all():
            break
    return ~((certificate.lower <= truth + error) & (truth - error <= certificate.upper))
