r"""Random vectors under Chebyshev polynomials of an operator: a bound on its largest eigenvalue, for cheap products.

Let C be positive semidefinite, G Gaussian vectors (n, r) drawn without it, and Z_k = T_k(2 C / a - I) G. On
eigenvectors with eigenvalues up to a, Z_k stays as small as G; where an eigenvalue c exceeds a, its part grows with
T_k(2 c / a - 1). With x = 2 c / a - 1 > 1 and rho = x + sqrt(x^2 - 1),

    rho^k q / 2  <=  T_k(x) \|u^T G\|  <=  \|Z_k\|,

u the eigenvector, and q a number that \|u^T G\| exceeds all but seldom. High degrees bound c closely: the k-th root of
a large number is near 1. The powers that :func:`~gramless.certificates.from_probes` combines cannot reach them, since
the coefficients of Chebyshev polynomials cancel.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramless.arrays import Array, inner, inner_rounding, unit_roundoff
from gramless.certificates.outside import chi2_lower


class ChebyshevProbe:
    """Bounds the largest eigenvalue of an operator without large negative eigenvalues, closer with every product.

    Parameters
    ----------
    product : callable
        Multiplies vectors (n, r) by the operator.
    start : ndarray of shape (n, r)
        Gaussian vectors, projected on the space that the operator acts on.
    top : float
        a, about as large as the largest eigenvalue, or a little larger.
    rounding : float
        Bound on the error of a product with a vector of length 1.
    failure_probability : float
    below : float
        No eigenvalue is smaller than ``-below``.

    Examples
    --------
    >>> values = np.linspace(0, 1, 200)
    >>> start = np.random.default_rng(0).standard_normal((200, 8))
    >>> probe = ChebyshevProbe(lambda v: values[:, None] * v, start, 1.05, 1e-14, 1e-10)
    >>> for _ in range(20):
    ...     bound = probe.advance()
    >>> 1.0 <= bound <= 1.2
    True
    """

    def __init__(
        self,
        product: Callable[[Array], Array],
        start: Array,
        top: float,
        rounding: float,
        failure_probability: float,
        below: float = 0.0,
    ) -> None:
        self._product, self._top = product, top
        self._downward = float(np.arccosh(1 + 2 * below / top))
        n, r = start.shape
        self._before, self._now = np.zeros_like(start), start
        self._sizes = [float(np.linalg.norm(start))]
        self._slip = 4 * rounding / top + 16 * unit_roundoff()
        self._growth = 1 + r * (inner_rounding(n) + 8 * unit_roundoff())
        self._overlap = float(np.sqrt(chi2_lower(r, failure_probability))) - 10 * inner_rounding(n) * self._sizes[0]
        self.bound = float("inf")

    @property
    def degree(self) -> int:
        """Products so far."""
        return len(self._sizes) - 1

    def advance(self) -> float:
        """One more product; the bound after it."""
        following = (2 / self._top) * self._product(self._now) - self._now
        if self.degree:
            following *= 2
            following -= self._before
        self._before, self._now = self._now, following
        gram = inner(following, following)
        if np.isfinite(gram).all():
            largest = float(np.sqrt(max(0.0, np.linalg.eigvalsh(gram)[-1]))) * self._growth
            rho = self._largest_growth(largest)
            self.bound = min(self.bound, self._top * (1 + (rho + 1 / rho) / 2) / 2)
        self._sizes.append(float(np.linalg.norm(following)))
        return self.bound

    def _largest_growth(self, last: float) -> float:
        """The largest rho that the last vectors allow, with the errors of all products carried along.

        The error of product k reaches Z_m through the Chebyshev polynomial U_{m-1-k}, whose values are at most
        (m - k) rho^(m-1-k). The inequality holds up to one value of rho, and not beyond.
        """
        m = len(self._sizes)
        if not self._overlap > 0:
            return float("inf")
        errors = self._slip * np.arange(m, 0, -1) * np.array(self._sizes)

        def possible(log_rho: float) -> bool:
            later = max(log_rho, self._downward) * np.arange(m - 1, -1, -1)
            return bool(self._overlap / 2 <= last * np.exp(-m * log_rho) + float(errors @ np.exp(later - m * log_rho)))

        low, high = 0.0, 1.0
        if not possible(low):
            return 1.0
        while possible(high):
            high *= 2
            if high > 700:
                return float("inf")
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if possible(middle) else (low, middle)
        return float(np.exp(high))
