"""Leading eigenpairs of a scatter, with bounds: from the dense matrix if it is small, else from products with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from gramless.arrays import (
    Array,
    inner,
    inner_rounding,
    leading_eigenpairs,
    one_blas_thread,
    orthonormalize,
    unit_roundoff,
)
from gramless.certificates import FAILURE_PROBABILITY, ChebyshevProbe, Outside, certify, from_frobenius
from gramless.features.base import Spectrum
from gramless.features.fourier.scatter import ToeplitzScatter

DENSE = 400  # unknowns up to which LAPACK is faster for ten components; above 4000 it never is
_PROBES = 4  # few, to a high degree: a product with one vector costs a quarter of one with four
_DEGREE = 48  # of the polynomial of the scatter that is applied to the probes, at most
_TRIED = 4  # products between two certificates


def is_dense(unknowns: int, k: int) -> bool:
    """Whether LAPACK is the faster way to k pairs."""
    return unknowns <= DENSE or 4 * k >= unknowns or (unknowns <= 4000 and 20 * k >= unknowns)


def leading_pairs(scatter: ToeplitzScatter, k: int, tol: float, error: float, rng: np.random.Generator) -> Spectrum:
    """The `k` leading eigenpairs of the exact scatter, from which `scatter` differs by at most `error`."""
    unknowns = scatter.shape[0]
    if is_dense(unknowns, k + 1):
        return _dense(scatter, k, error)
    with one_blas_thread():  # thin vectors: more threads only wait for each other
        return _iterated(scatter, k, tol, error, rng)


def _iterated(scatter: ToeplitzScatter, k: int, tol: float, error: float, rng: np.random.Generator) -> Spectrum:
    found = _Ritz.of(scatter, _basis(scatter, k, tol, rng))
    slack = error + scatter.error + found.rounding
    # the exact scatter is positive semidefinite: no eigenvalue outside the basis exceeds the rest of the trace
    left = max(0.0, scatter.trace - float(found.values.sum())) + (len(found.values) + 1) * slack
    outside = Outside(rigorous=min(left, from_frobenius(scatter.frobenius2, found.values, found.coupling, slack)))
    certificate = certify(found.values, found.coupling, outside, k + 1, slack)
    probe = None
    while certificate.upper[k - 1] - found.values[k - 1] > tol * found.values[0] + 2 * slack:
        probe = probe or _probe(scatter, found, outside.rigorous, error, rng)
        if probe is None or probe.degree >= _DEGREE:
            break
        for _ in range(_TRIED):
            outside = outside.tightened(probable=probe.advance() + error)
        certificate = certify(found.values, found.coupling, outside, k + 1, slack)
    return Spectrum(
        values=found.values[:k],
        axes=scatter.to_hartley(found.vectors[:, :k]),
        lower=certificate.lower,
        upper=certificate.upper,
        residual=np.linalg.norm(found.coupling[:, :k], axis=0) + slack,
        kind="probabilistic" if (certificate.kind == "probabilistic").any() else "rigorous",
    )


def _dense(scatter: ToeplitzScatter, k: int, error: float) -> Spectrum:
    unknowns = scatter.shape[0]
    wanted = min(k + 1, unknowns)
    values, axes = leading_eigenpairs(scatter.to_dense(), wanted)
    slack = error + 40 * unknowns * unit_roundoff() * max(values[0], 0.0)
    padded = np.zeros(k + 1)
    padded[:wanted] = values
    full = np.zeros((unknowns, k))
    full[:, : min(k, unknowns)] = axes[:, :k]
    return Spectrum(padded[:k], full, padded - slack, padded + slack, np.full(k, slack))


def _basis(scatter: ToeplitzScatter, k: int, tol: float, rng: np.random.Generator) -> Array:
    """Approximate leading eigenvectors (D, p), k + 1 and a few more, by ARPACK."""
    unknowns = scatter.shape[0]
    extra = k + 1 + max(5, k // 3)
    size = np.sqrt(scatter.frobenius2)
    start = rng.standard_normal(unknowns)
    fill = rng.standard_normal((unknowns, extra))
    if not size > 1e-14 * scatter.weight * scatter.grid.peak:
        return fill
    # ARPACK's tolerance is relative to each eigenvalue; the shift makes it relative to the largest
    shifted = LinearOperator(scatter.shape, matvec=lambda a: scatter @ a.ravel() + size * a.ravel(), dtype=np.float64)
    precision = max(0.05 * tol * size / max(scatter.trace, size), 2 * np.finfo(float).eps)
    try:
        vectors = eigsh(shifted, extra, which="LA", tol=precision, v0=start, ncv=min(unknowns, 2 * extra + 10))[1]
    except ArpackNoConvergence as stopped:  # the certificate bounds the error of these vectors
        vectors = np.hstack([stopped.eigenvectors, fill])[:, :extra]
    except ArpackError:
        vectors = fill
    return np.asarray(vectors)


@dataclass(frozen=True)
class _Ritz:
    """Ritz pairs of a basis: values (p,) descending, vectors (D, p), coupling F with residuals P F, P orthonormal."""

    values: Array
    vectors: Array
    coupling: Array
    rounding: float

    @classmethod
    def of(cls, scatter: ToeplitzScatter, block: Array) -> _Ritz:
        basis = orthonormalize(block)[0]
        products = scatter @ basis
        small = inner(basis, products)
        values, turn = np.linalg.eigh((small + small.T) / 2)
        values, turn = values[::-1], turn[:, ::-1]
        vectors, products = basis @ turn, products @ turn
        coupling = orthonormalize(products - vectors * values, vectors, drop=0.0)[1]
        n, p = basis.shape
        skew = float(np.linalg.norm(inner(vectors, vectors) - np.eye(p))) + p * inner_rounding(n)
        size = float(np.linalg.norm(values))
        return cls(values, vectors, coupling, (np.sqrt(p) * inner_rounding(n) + 3 * skew) * size)


def _probe(
    scatter: ToeplitzScatter, found: _Ritz, bound: float, error: float, rng: np.random.Generator
) -> ChebyshevProbe | None:
    """Random vectors outside the basis; their polynomials are small up to the last Ritz value. None where that is 0."""
    vectors = found.vectors

    def off(block: Array) -> Array:
        for _ in range(2):
            block = block - vectors @ inner(vectors, block)
        return block

    top, rounding = min(float(found.values[-1]), bound), scatter.error + found.rounding
    if not top > 1e3 * (error + rounding):
        return None
    start = off(rng.standard_normal((len(vectors), _PROBES)))
    return ChebyshevProbe(lambda v: off(scatter @ v), start, top, rounding, FAILURE_PROBABILITY, below=error)
