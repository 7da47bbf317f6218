"""Rows that break numerical code, and what must hold of a model of them: one table for the suite and for torture."""

import re
import warnings

import numpy as np
from extended import missed

from gramless import IndefiniteKernelWarning, KernelPCA, MemoryLimitError, UncertifiedWarning
from gramless import kernels as k
from gramless.eigen import NotConvergedWarning
from gramless.fitting.methods import methods

#: Every way to fit; what runs on a GPU has tests of its own.
METHODS = [name for name in methods if name != "cuda"]
#: These take rows in batches.
STREAMS = ("merging", "refitting")


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


#: What an error has to say: what does not work, or what to do about it.
_SAYS_WHY = re.compile(
    r"rescale|scale (it|the data)|significant negative eigenvalues|astype\('float64'\)|too large for dtype\('float32'\)"
)


class Refused(Exception):
    """The method does not take this kernel or this data, and says so before it begins."""


def fit(kernel, x, method="auto", k=4, **settings):
    """A model of rows `x`, in two batches where `method` takes rows so, with its warnings as `noise`.

    Raises
    ------
    Refused
        Where there is a reason not to try.
    """
    settings = {"memory_limit": "300MB", **settings}  # the same verdict on every machine, and no thousands of features
    model = KernelPCA(min(k, len(x)), kernel=kernel, method=method, random_state=0, **settings)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", RuntimeWarning)
        for expected in (IndefiniteKernelWarning, UncertifiedWarning, NotConvergedWarning):
            warnings.simplefilter("ignore", expected)
        try:
            if method in STREAMS:
                for batch in np.array_split(x, 2):
                    model.partial_fit(batch)
                assert model.certificate_ is not None  # the model is made now
            else:
                model.fit(x)
            model.scores = model.transform(x)
        except MemoryLimitError as error:
            raise Refused(str(error)) from error
        except ValueError as error:
            if "is not applicable" in str(error) or _SAYS_WHY.search(str(error)):
                raise Refused(str(error)) from error
            raise
    model.noise = [str(warning.message) for warning in seen]
    return model


def complaint(model, kernel, x):
    """What is wrong with a model of rows `x`; empty where nothing is."""
    if model.noise:
        return f"warnings: {model.noise}"
    certificate, scores = model.certificate_, model.scores.astype(np.float64)
    lower, upper, values = certificate.lower, certificate.upper, certificate.values
    if np.isnan([lower, upper, values]).any() or not np.isfinite(scores).all():
        return f"not a number: {values}, {lower}, {upper}"
    outside = missed(certificate, kernel, x, np.ones(len(x)))
    if outside.any():
        return f"the true eigenvalues {np.flatnonzero(outside)} are outside {lower} .. {upper}"
    slack = 1e-9 * np.abs(values).max(initial=0)
    if (values < lower - slack).any() or (values > upper + slack).any():
        return f"the eigenvalues {values} are outside their own intervals {lower} .. {upper}"
    grain = 1e-4 if model.eigenvalues_.dtype == np.float32 else 1e-6
    width = upper - lower
    sure = width <= grain * values.max(initial=0)
    if (np.abs((scores**2).sum(axis=0) - values)[sure] > (10 * grain * values.max(initial=0) + width)[sure]).any():
        return f"the rows project to variances {(scores**2).sum(axis=0)}, not {values}"
    return ""
