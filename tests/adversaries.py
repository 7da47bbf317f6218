"""Rows that break numerical code, kernels and settings to break it with: one table for the suite and for torture."""

import numpy as np

from gramless import kernels as k


def _normal(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def _collinear(n, d):
    return np.outer(_normal(n, 1)[:, 0], np.arange(1.0, d + 1))


def _constant_columns(n, d):
    x = _normal(n, d)
    x[:, ::2] = 7.0
    return x


def _all_but_one_equal(n, d):
    x = np.tile(_normal(1, d), (n, 1))
    x[n // 2] += 1.0
    return x


def _simplex(n, d):
    """Corners of a simplex, each twice: one eigenvalue many times over."""
    return np.tile(np.eye(n // 2), (2, 1))[:n]


def _one_outlier(n, d):
    x = _normal(n, d)
    x[0] = 1e9
    return x


#: Rows (n, d) by name.
INPUTS = {
    "plain": _normal,
    "all equal": lambda n, d: np.tile(_normal(1, d), (n, 1)),
    "all zero": lambda n, d: np.zeros((n, d)),
    "all but one equal": _all_but_one_equal,
    "duplicates": lambda n, d: np.tile(_normal(3, d), (-(-n // 3), 1))[:n],
    "collinear": _collinear,
    "one column": lambda n, d: _normal(n, 1),
    "fewer rows than columns": lambda n, d: _normal(4, 9),
    "constant columns": _constant_columns,
    "1e150": lambda n, d: 1e150 * _normal(n, d),
    "1e-150": lambda n, d: 1e-150 * _normal(n, d),
    "denormal": lambda n, d: 5e-324 * np.round(100 * _normal(n, d)),
    "offset 1e8": lambda n, d: 1e8 + _normal(n, d),
    "float32 overflow": lambda n, d: 1e30 * _normal(n, d),
    "mixed scales": lambda n, d: _normal(n, d) * np.logspace(-6, 6, d),
    "repeated eigenvalues": _simplex,
    "one outlier": _one_outlier,
    "integers": lambda n, d: np.random.default_rng(0).integers(-3, 4, (n, d)),
    "booleans": lambda n, d: _normal(n, d) > 0,
    "bytes": lambda n, d: np.random.default_rng(0).integers(0, 256, (n, d)).astype(np.uint8),
}

#: One of each kind, and those that are hard.
KERNELS = {
    "gaussian": k.Gaussian(1.5),
    "gaussian 1e-8": k.Gaussian(1e-8),
    "gaussian 1e8": k.Gaussian(1e8),
    "polynomial": k.Polynomial(3, 1.0, 0.5),
    "polynomial 20": k.Polynomial(20, 1.0, 0.1),
    "linear": k.Linear(),
    "tanh": k.Tanh(0.5, -0.25),
    "epanechnikov": k.Epanechnikov(2.0),
    "laplacian": k.Laplacian(2.0),
    "manhattan": k.Manhattan(4.0),
    "matern": k.Matern(1.5, 2.0),
    "cosine": k.Cosine(),
    "sum": k.Gaussian(1.0) + k.Linear(),
    "product": k.Laplacian(1.0) * k.Polynomial(2, 1.0),
    "scaled": 0.25 * k.Gaussian(2.0),
}
