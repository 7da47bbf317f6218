"""What a fit would do, before it does it."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from gramless.arrays import use_threads
from gramless.estimators.asking import pose_components
from gramless.estimators.devices import to_numpy_rows
from gramless.estimators.source_rows import open_rows
from gramless.planning import Plan, make_plan
from gramless.sources import is_out_of_core


class Planned:
    """The plan of a kernel PCA, without the work."""

    def plan(self: Any, X: Any, sample_weight: Any = None) -> Plan:
        """What each method would cost for X, and which one `fit` would take. Nothing is run, and this is not changed.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features), path or source
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        Plan

        Examples
        --------
        >>> import numpy as np
        >>> from gramless import KernelPCA
        >>> X = np.random.default_rng(0).random((500, 2))
        >>> kpca = KernelPCA(5, kernel="rbf", gamma="median")
        >>> kpca.plan(X).chosen == kpca.fit(X).method_
        True
        """
        asked = clone(self).set_params(checkpoint=None)
        with use_threads(asked.n_jobs):
            if is_out_of_core(X):
                rows = open_rows(asked, X, sample_weight)
                found: Plan = asked._plan_single_pass(rows) or asked._plan_surveyed(asked._survey(rows)[0])
                return found
            x, weights = asked._read(to_numpy_rows(X), to_numpy_rows(sample_weight))
            weights = asked._faded(weights)
            seen = asked._rows_for_kernel(x, weights, fitting=True)
            kernel = asked._make_kernel(seen if asked.scale_input else x, weights)
            problem = pose_components(asked, seen, kernel, weights)
            return make_plan(problem, asked.method)
