"""A kernel given by name, object or function, whose bandwidth may be chosen from the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramless.arrays import Array, evenly_spaced
from gramless.bandwidth.rules import gamma_of_variance, resolve_gamma
from gramless.bandwidth.search import bandwidth_of, read_pattern, search_bandwidth
from gramless.data import Survey
from gramless.data.dominance import column_variances, warn_of_column
from gramless.kernels import FromCallable, Kernel, kernel_from_name, warn_if_indefinite
from gramless.kernels.names import plain_name

SEARCHED = ("preimage", "gap")  #: criteria for `gamma` that take a search
CRITERIA = ("median", "scale", *SEARCHED)  #: all criteria for `gamma`
_WITH_GAMMA = ("rbf", "laplacian", "poly", "sigmoid")
_OF_DISTANCES = ("rbf", "laplacian")
_SEARCHED_ROWS = 4096  # rows that a search for a bandwidth fetches from a cluster
FIRST_ROWS = (
    30  #: fewest rows from which a stream chooses its bandwidth: 435 distances, whose median is good to some 10 %
)


@dataclass(frozen=True, eq=False)
class NamedKernel:
    """The parameters of an estimator that define its kernel.

    Attributes
    ----------
    kernel : str, Kernel or callable
    gamma : float, str or None
        A number; None: 1 / d; or a name of `CRITERIA`.
    degree, coef0 : float
    params : dict or None
        Keyword arguments of a callable.
    components : int, float or None
        Number of components for which a search evaluates bandwidths.
    ridge : float or None
        Ridge parameter of the pre-images in a search; None: the best of several.
    precomputed, looks, measures : bool
        See :class:`~gramless.fitting.question.KernelChoice`.
    """

    kernel: Any
    gamma: float | str | None = None
    degree: float = 3
    coef0: float = 1
    params: dict[str, Any] | None = None
    components: int | float | None = None
    ridge: float | None = None
    precomputed: bool = False
    looks: bool = False
    measures: bool = False

    def warn(self, survey: Survey, names: Any, remedy: str) -> None:
        """Warn where one column dominates the distances from which the bandwidth is chosen.

        A `gamma` that is a number or None does not depend on distances, and neither do dot-product kernels.
        """
        named = isinstance(self.kernel, str) and plain_name(self.kernel) in _OF_DISTANCES
        if not (named and self.looks):
            return
        known = survey.variances if survey.remote else None
        variances = column_variances(*survey.sample()) if known is None else known
        warn_of_column(variances, names, f"gamma={self.gamma!r}", remedy)

    def check_first(self, survey: Survey) -> None:
        """Raise where the first batch of a stream cannot tell the bandwidth that all later batches will have."""
        if not (self.looks and isinstance(self.kernel, str) and plain_name(self.kernel) in _WITH_GAMMA):
            return
        rows, weights = survey.sample()
        found = f"{rows.shape[0]} row{'s' * (rows.shape[0] != 1)}"
        if rows.shape[0] >= FIRST_ROWS:
            if column_variances(rows, weights).any():
                return
            found += ", all of them equal"
        raise ValueError(
            f"gamma={self.gamma!r} is chosen from the first batch of a stream and kept, and this batch has {found}; "
            f"begin with at least {FIRST_ROWS} different rows, or pass gamma as a number, for example that of "
            "gramless.select_bandwidth(rows).gamma"
        )

    def of(self, survey: Survey) -> tuple[float, Kernel]:
        """The value of `gamma` for these rows, and the kernel with it; warns where the kernel is indefinite."""
        gamma, d = self.gamma, survey.view.shape[1]
        if gamma is None or self.precomputed:  # scikit-learn's default
            return 1.0 / int(d), self._made(1.0 / int(d))
        if gamma in SEARCHED:
            gamma = self._searched(*survey.sample(), remote=survey.remote)
        elif gamma == "scale" and not survey.complete and survey.variance is not None:
            gamma = gamma_of_variance(survey.variance, d, self.kernel)
        x, weights = survey.sample() if isinstance(gamma, str) else (survey.view, np.ones(0))
        number = resolve_gamma(gamma, x, weights, self.kernel)
        return number, self._made(number)

    def _made(self, gamma: float) -> Kernel:
        kernel = self.kernel
        if isinstance(kernel, str):
            made = kernel_from_name(kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)
        else:
            made = kernel if isinstance(kernel, Kernel) else FromCallable(kernel, self.params or {})
        warn_if_indefinite(made)
        return made

    def _searched(self, x: Any, weights: Array, remote: bool) -> float:
        """The value of `gamma` by a criterion that takes a search."""
        if not isinstance(self.kernel, str) or plain_name(self.kernel) not in _WITH_GAMMA:
            raise ValueError(
                f"gamma={self.gamma!r} is supported for kernel='rbf', 'laplacian', 'poly' or 'sigmoid', but "
                f"kernel={self.kernel!r} was given; for a kernel object use gramless.select_bandwidth"
            )
        if isinstance(self.components, float) or self.components is None:
            raise ValueError(
                f"gamma={self.gamma!r} needs an integer n_components, but n_components={self.components!r} was given"
            )
        if remote:
            chosen = evenly_spaced(x.shape[0], _SEARCHED_ROWS)
            x, weights = x[chosen], weights[chosen]
        pattern, parameter = read_pattern(kernel_from_name(self.kernel, 1.0, self.degree, self.coef0))
        start = bandwidth_of(pattern, parameter, resolve_gamma("median", x, weights, pattern))
        return search_bandwidth(
            pattern,
            parameter,
            str(self.gamma),
            x,
            weights,
            start=start,
            n_components=int(self.components),
            alpha=self.ridge,
        ).gamma
