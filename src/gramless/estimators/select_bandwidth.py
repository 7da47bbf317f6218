"""Which width a kernel should have for given data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array

from gramless.arrays import Array, refuse_weights
from gramless.estimators.bandwidth import adds_differences, gamma_of_variance, resolve_gamma
from gramless.estimators.criteria import Criterion, EigenvalueGap, PreimageError
from gramless.estimators.reading import read_weights
from gramless.execution import LocalRows, block_rows_for
from gramless.kernels import Kernel, kernel_from_name
from gramless.kernels.names import plain_name
from gramless.routes.survey import Survey, SurveyOf
from gramless.sources import is_out_of_core, open_source
from gramless.spaces import RowSample
from gramless.tables import html_table, text_table

SEARCHED = ("preimage", "gap")
CRITERIA = ("median", "scale", *SEARCHED)
_WITH_GAMMA = ("rbf", "laplacian", "poly", "sigmoid")
_LENGTHS = ("sigma", "lengthscale", "width")
_OCTAVES = np.arange(-3, 3.25, 0.5)
_LEAST = 1000  # rows of a source that are looked at
_TIE = 1e-9  # scores that differ by less say nothing


@dataclass(frozen=True, eq=False)
class Bandwidth:
    """A width for a kernel, and what it was chosen from.

    Attributes
    ----------
    kernel : Kernel
        With that width: pass it to an estimator.
    parameter : str
        Name of the width among the kernel's parameters.
    criterion : str
    candidates : ndarray of shape (m,)
        Values of the parameter that were tried; empty for criteria that need no trial.
    scores : ndarray of shape (m,)
        Of each candidate: the pre-image error (smaller is better) or the eigenvalue gap (larger is better).
    """

    kernel: Kernel
    parameter: str
    criterion: str
    candidates: Array = field(default_factory=lambda: np.empty(0))
    scores: Array = field(default_factory=lambda: np.empty(0))

    @property
    def value(self) -> float:
        """The width."""
        return float(getattr(self.kernel, self.parameter))

    @property
    def gamma(self) -> float:
        """scikit-learn's gamma: 1 / (2 width^2), 1 / width of its Laplacian, the factor of a dot product."""
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


def select_bandwidth(
    X: Any,
    kernel: Any = "rbf",
    criterion: str = "median",
    *,
    n_components: int = 2,
    candidates: Sequence[float] | Array | None = None,
    alpha: float | None = None,
    sample_weight: Any = None,
    max_samples: int | None = 500,
) -> Bandwidth:
    r"""Choose the width of a kernel.

    Parameters
    ----------
    X : {array-like, CSR} of shape (n_samples, n_features), path or source
        Files and other sources (:func:`gramless.open_source`) are read once: ``"scale"`` is the variance of all rows,
        the other criteria look at a sample that is drawn on the way.
    kernel : {"rbf", "laplacian", "poly", "sigmoid"} or Kernel, default="rbf"
        Its other parameters stay as they are. What is chosen is ``sigma``, ``lengthscale`` or ``width`` of a kernel of
        the distance, and ``scale``, which multiplies the dot product, of the polynomial and tanh kernels.
    criterion : {"median", "scale", "preimage", "gap"}, default="median"
        ``"median"``: the median distance of two different rows (of at most 1,000 of them), a sum of absolute
        differences for ``"laplacian"``. ``"scale"``: the root of
        half the total variance, scikit-learn's ``gamma="scale"``; one pass over the rows. ``"preimage"``: the least
        mean squared distance between held-out rows and their pre-images, in three folds: what a grid search with
        :meth:`KernelPCA.score` finds. ``"gap"``: the largest distance between eigenvalues `n_components` and
        `n_components` + 1, relative to the kernel: the components that a second sample of the data would turn the
        least (Zwald & Blanchard 2005).
    n_components : int, default=2
        For ``"preimage"`` and ``"gap"``, which are about so many components.
    candidates : array-like of shape (m,), default=None
        Widths to try with these two. None: from an eighth to eight times the median distance, in half octaves.
    alpha : float, default=None
        Ridge of the pre-images. None: for each candidate the best of 1e-6, 1e-4, 1e-2 and 1, since the ridge that suits
        a kernel depends on its width.
    sample_weight : array-like of shape (n_samples,), default=None
        A row of weight 0 is not there. Weight 2 equals the row twice (but for the folds of ``"preimage"``).
    max_samples : int or None, default=500
        Rows that ``"preimage"`` and ``"gap"`` look at, drawn in proportion to their weights; None: all. For the gap, a
        pass over all rows for each candidate is enough where the kernel has explicit features.

    Returns
    -------
    Bandwidth

    Examples
    --------
    >>> from gramless import KernelPCA, select_bandwidth
    >>> from gramless.datasets import annulus
    >>> X = annulus(300, rng=0)
    >>> chosen = select_bandwidth(X, "rbf", "gap", n_components=2)
    >>> bool(0.3 < chosen.value < 1.5)
    True
    >>> kpca = KernelPCA(2, kernel=chosen.kernel).fit(X)
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion={criterion!r} is not known; pass one of {', '.join(map(repr, CRITERIA))}")
    pattern, parameter = _read_pattern(kernel)
    first: float | str = criterion if criterion not in SEARCHED else "median"
    if is_out_of_core(X):
        survey = _survey(X, sample_weight, max_samples)
        refuse_weights(survey.weight)
        X, weights = survey.sample.rows, survey.sample.weights
        if criterion == "scale":  # of all rows
            first = gamma_of_variance(survey.variance, len(survey.mean), pattern)
    else:
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
        weights = read_weights(sample_weight, X)
    start = _value_of(pattern, parameter, resolve_gamma(first, X, weights, pattern))
    if criterion not in SEARCHED:
        return Bandwidth(replace(pattern, **{parameter: start}), parameter, criterion)
    tried = start * 2.0**_OCTAVES if candidates is None else _read_candidates(candidates)
    rows, shares = _drawn(X, weights, max_samples)
    judge = _criterion(criterion, n_components, alpha, rows)
    kernels = [replace(pattern, **{parameter: float(value)}) for value in tried]
    scores = np.array([judge(one, rows, shares) for one in kernels])
    best = _best(scores if judge.smaller_is_better else -scores, np.abs(np.log(tried / start)))
    return Bandwidth(kernels[best], parameter, criterion, tried, scores)


def searched_gamma(model: Any, x: Any, weights: Array) -> float | None:
    """The number for an estimator's `gamma` where it names a criterion that takes a search; None where it does not."""
    if not isinstance(model.gamma, str) or model.gamma not in SEARCHED:
        return None
    if not isinstance(model.kernel, str) or plain_name(model.kernel) not in _WITH_GAMMA:
        raise ValueError(
            f"gamma={model.gamma!r} chooses for kernel='rbf', 'laplacian', 'poly' or 'sigmoid', and "
            f"kernel={model.kernel!r} was given; for a kernel object use gramless.select_bandwidth"
        )
    if isinstance(model.n_components, float) or model.n_components is None:
        raise ValueError(
            f"gamma={model.gamma!r} needs n_components as a number, and n_components={model.n_components!r} was given"
        )
    pattern = kernel_from_name(model.kernel, 1.0, model.degree, model.coef0)
    alpha = model.alpha if model.fit_inverse_transform else None
    k = int(model.n_components)
    return select_bandwidth(x, pattern, model.gamma, n_components=k, alpha=alpha, sample_weight=weights).gamma


def _read_pattern(kernel: Any) -> tuple[Any, str]:
    """A kernel whose width is to be replaced, and the name of that parameter."""
    made = kernel_from_name(kernel) if isinstance(kernel, str) else kernel
    for name in (*_LENGTHS, "scale"):
        if isinstance(made, Kernel) and name in getattr(made, "__dataclass_fields__", ()):
            return made, name
    raise ValueError(
        f"kernel={kernel!r} has no width to choose; pass 'rbf', 'laplacian', 'poly', 'sigmoid', or a kernel with one, "
        "such as Gaussian() or Matern(nu=1.5)"
    )


def _value_of(pattern: Kernel, parameter: str, gamma: float) -> float:
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
        raise ValueError(f"candidates={candidates!r} must be positive numbers, at least one")
    return tried


def _criterion(name: str, n_components: int, alpha: float | None, x: Any) -> Criterion:
    """The judge of the candidates, if there are rows enough for it."""
    if not isinstance(n_components, (int, np.integer)) or n_components < 1:
        raise ValueError(f"n_components={n_components!r} must be a whole number, 1 or more")
    n = x.shape[0]
    if name == "gap":
        if n <= n_components:
            raise ValueError(
                f"criterion='gap' of n_components={n_components} needs more than {n_components} rows of positive "
                f"weight, and has {n}; pass criterion='median'"
            )
        return EigenvalueGap(int(n_components))
    if scipy.sparse.issparse(x):
        raise ValueError("criterion='preimage' needs dense rows: pass X.toarray(), or another criterion")
    if n < 2 * PreimageError.folds:
        raise ValueError(
            f"criterion='preimage' holds out a third of the rows and needs {2 * PreimageError.folds} of positive "
            f"weight, and has {n}; pass criterion='median'"
        )
    return PreimageError(int(n_components)) if alpha is None else PreimageError(int(n_components), (float(alpha),))


def _survey(x: Any, sample_weight: Any, most: int | None) -> Survey:
    """One pass over a source: the variance of all rows, and a sample of them."""
    if most is None:
        raise ValueError("max_samples=None asks for all rows of a source at once; pass a number, or an array")
    source = open_source(x)
    if source.sparse:
        raise ValueError(f"{source.name} is sparse: pass its rows as one CSR matrix")
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    rows = LocalRows(source, block_rows_for(source.n_features, None), weights)
    return rows.map_reduce(SurveyOf(max(_LEAST, int(most)), measures=True))


def _drawn(x: Any, weights: Array, most: int | None) -> tuple[Any, Array]:
    """Rows of positive weight, at most so many, and the weights they stand for."""
    if most is not None and (not isinstance(most, (int, np.integer)) or most < 1):
        raise ValueError(f"max_samples={most!r} must be a whole number, 1 or more, or None")
    numbers = np.arange(x.shape[0])[:, None]
    sample = RowSample.of(numbers, weights, len(numbers) if most is None else int(most))
    return x[sample.rows.ravel()], sample.weights


def _best(costs: Array, far: Array) -> int:
    """The least cost; of those that are equal but for rounding, the one nearest to the median distance."""
    usable = np.where(np.isfinite(costs), costs, np.inf)
    if not np.isfinite(usable).any():
        raise ValueError("no candidate has a finite score: rescale X, or pass other candidates")
    level = usable.min() + _TIE * np.abs(usable[np.isfinite(usable)]).max()
    return int(np.argmin(np.where(usable <= level, far, np.inf)))
