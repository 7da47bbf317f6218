"""The bandwidth that suits rows best, found by trying several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array
from gramless.bandwidth.criteria import Criterion, EigenvalueGap, PreimageError
from gramless.bandwidth.rules import adds_differences
from gramless.kernels import Kernel, kernel_from_name
from gramless.spaces import RowSample
from gramless.tables import html_table, text_table

_LENGTHS = ("sigma", "lengthscale", "width")
_OCTAVES = np.arange(-3, 3.25, 0.5)
_TIE = 1e-9  # relative difference up to which scores count as equal


@dataclass(frozen=True, eq=False)
class Bandwidth:
    """The chosen bandwidth of a kernel, and the candidates with their scores.

    Attributes
    ----------
    kernel : Kernel
        The kernel with the chosen bandwidth, to be passed to an estimator.
    parameter : str
        Name of the bandwidth among the kernel's parameters.
    criterion : str
    candidates : ndarray of shape (m,)
        Values of the parameter that were tried; empty for criteria that need no trial.
    scores : ndarray of shape (m,)
        Score of each candidate: the pre-image error (smaller is better) or the eigenvalue gap (larger is better).

    See Also
    --------
    select_bandwidth : Choose the bandwidth of a kernel from the rows.
    """

    kernel: Kernel
    parameter: str
    criterion: str
    candidates: Array = field(default_factory=lambda: np.empty(0))
    scores: Array = field(default_factory=lambda: np.empty(0))

    @property
    def value(self) -> float:
        """The bandwidth."""
        return float(getattr(self.kernel, self.parameter))

    @property
    def gamma(self) -> float:
        """scikit-learn's gamma: 1 / (2 sigma^2), 1 / sigma for Manhattan distances, or the factor of a dot product."""
        return _gamma_of(self.kernel, self.parameter)

    def __str__(self) -> str:
        title = f"{self.criterion}: {self.parameter}={self.value:.4g} (gamma={self.gamma:.4g})"
        return f"{title}\n{text_table(*self._table())}" if len(self.candidates) else title

    def _repr_html_(self) -> str:
        title = f"<p>{self.criterion}: <b>{self.parameter}={self.value:.4g}</b> (gamma={self.gamma:.4g})</p>"
        return title + html_table(*self._table()) if len(self.candidates) else title

    def _table(self) -> tuple[tuple[str, str, str], list[tuple[str, str, str]]]:
        rows = [
            (f"{value:.4g}", f"{score:.4g}", "chosen" if value == self.value else "")
            for value, score in zip(self.candidates, self.scores, strict=True)
        ]
        return (self.parameter, "gap" if self.criterion == "gap" else "error", ""), rows


def search_bandwidth(
    pattern: Kernel,
    parameter: str,
    criterion: str,
    x: Any,
    weights: Array,
    *,
    start: float,
    n_components: int = 2,
    candidates: Sequence[float] | Array | None = None,
    alpha: float | None = None,
    max_samples: int | None = 500,
) -> Bandwidth:
    """The best of several bandwidths by a criterion that fits each candidate; see :func:`gramless.select_bandwidth`.

    Parameters
    ----------
    pattern : Kernel
        The kernel whose `parameter` is replaced.
    parameter : str
    criterion : {"preimage", "gap"}
    x : ndarray or CSR of shape (n, d)
    weights : ndarray of shape (n,)
    start : float
        The middle of the default candidates; of candidates with equal scores, the nearest to `start` is chosen.
    n_components, candidates, alpha, max_samples
        As for :func:`gramless.select_bandwidth`.
    """
    tried = start * 2.0**_OCTAVES if candidates is None else _read_candidates(candidates)
    rows, shares = _drawn(x, weights, max_samples)
    judge = _criterion(criterion, n_components, alpha, rows)
    kernels = [with_bandwidth(pattern, parameter, value) for value in tried]
    scores = np.array([judge(one, rows, shares) for one in kernels])
    best = _best(scores if judge.smaller_is_better else -scores, np.abs(np.log(tried / start)))
    return Bandwidth(kernels[best], parameter, criterion, tried, scores)


def with_bandwidth(pattern: Any, parameter: str, value: float) -> Kernel:
    """The kernel with another bandwidth."""
    made: Kernel = replace(pattern, **{parameter: float(value)})
    return made


def read_pattern(kernel: Any) -> tuple[Any, str]:
    """A kernel whose bandwidth is to be replaced, and the name of the bandwidth among its parameters."""
    made = kernel_from_name(kernel) if isinstance(kernel, str) else kernel
    for name in (*_LENGTHS, "scale"):
        if isinstance(made, Kernel) and name in getattr(made, "__dataclass_fields__", ()):
            return made, name
    raise ValueError(
        f"kernel={kernel!r} has no bandwidth to choose; pass 'rbf', 'laplacian', 'poly', 'sigmoid', or a kernel with "
        "one, "
        "such as Gaussian() or Matern(nu=1.5)"
    )


def bandwidth_of(pattern: Kernel, parameter: str, gamma: float) -> float:
    """The bandwidth that corresponds to scikit-learn's `gamma`."""
    if adds_differences(pattern):
        return 1.0 / gamma
    return float(np.sqrt(0.5 / gamma)) if parameter in _LENGTHS else gamma


def _gamma_of(kernel: Kernel, parameter: str) -> float:
    value = float(getattr(kernel, parameter))
    if adds_differences(kernel):
        return 1.0 / value
    return 0.5 / value / value if parameter in _LENGTHS else value


def _read_candidates(candidates: Any) -> Array:
    tried = np.asarray(candidates, dtype=np.float64).ravel()
    if not len(tried) or not (np.isfinite(tried) & (tried > 0)).all():
        raise ValueError(f"candidates={candidates!r} must be one or more positive numbers")
    return tried


def _criterion(name: str, n_components: int, alpha: float | None, x: Any) -> Criterion:
    """The criterion of this name; raises where there are too few rows for it."""
    if not isinstance(n_components, (int, np.integer)) or n_components < 1:
        raise ValueError(f"n_components={n_components!r} must be an integer >= 1")
    n = x.shape[0]
    if name == "gap":
        if n <= n_components:
            raise ValueError(
                f"criterion='gap' of n_components={n_components} needs more than {n_components} rows of positive "
                f"weight, but there are {n}; pass criterion='median'"
            )
        return EigenvalueGap(int(n_components))
    if scipy.sparse.issparse(x):
        raise ValueError("criterion='preimage' needs dense rows: pass X.toarray(), or another criterion")
    if n < 2 * PreimageError.folds:
        raise ValueError(
            f"criterion='preimage' holds out a third of the rows and needs {2 * PreimageError.folds} of positive "
            f"weight, but there are {n}; pass criterion='median'"
        )
    return PreimageError(int(n_components)) if alpha is None else PreimageError(int(n_components), (float(alpha),))


def _drawn(x: Any, weights: Array, most: int | None) -> tuple[Any, Array]:
    """At most `most` rows of positive weight, and the weights that they represent."""
    if most is not None and (not isinstance(most, (int, np.integer)) or most < 1):
        raise ValueError(f"max_samples={most!r} must be an integer >= 1, or None")
    numbers = np.arange(x.shape[0])[:, None]
    sample = RowSample.of(numbers, weights, len(numbers) if most is None else int(most))
    return x[sample.rows.ravel()], sample.weights


def _best(costs: Array, far: Array) -> int:
    """Index of the minimum cost; of costs that are equal up to rounding, the index with the minimum `far`."""
    usable = np.where(np.isfinite(costs), costs, np.inf)
    if not np.isfinite(usable).any():
        raise ValueError("no candidate has a finite score: rescale X, or pass other candidates")
    level = usable.min() + _TIE * np.abs(usable[np.isfinite(usable)]).max()
    return int(np.argmin(np.where(usable <= level, far, np.inf)))
