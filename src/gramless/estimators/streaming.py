"""Batches, merging and forgetting: the part of `KernelPCA` that concerns streams."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.metaestimators import available_if

from gramless.arrays import Array, use_threads
from gramless.certificates import Certificate
from gramless.estimators.asking import components_asked, domain_around, make_request, pose_components
from gramless.estimators.columns import refuse_other_source
from gramless.estimators.devices import to_numpy_rows
from gramless.estimators.dominance import SCALE_FIRST, warn_of_width
from gramless.estimators.following import following
from gramless.estimators.merging import can_stream, refuse_to_merge
from gramless.estimators.source_rows import open_rows
from gramless.estimators.undoing import whole_or_nothing
from gramless.kernels import Kernel
from gramless.planning import Plan, carried_on, make_plan
from gramless.problem import Problem
from gramless.progress import observer
from gramless.routes import Fitted, Stream, open_stream, stream_of_fit
from gramless.sources import is_out_of_core
from gramless.spaces import Eigenspace

#: What a model consists of; in a stream it is made when one of these is first asked for.
MODEL: dict[str, Any] = {
    "_fitted": Fitted,
    "_space": Eigenspace,
    "certificate_": Certificate,
    **dict.fromkeys(("eigenvalues_", "explained_variance_", "explained_variance_ratio_"), np.ndarray),
    "passes_": int,
}
#: What `fit` makes anew, and of what types it is.
STREAM_TYPES = {**MODEL, "_stream": Stream, "_before": Eigenspace | None, "_dtype": np.dtype}
STREAM_STATE = tuple(STREAM_TYPES)

#: Methods by what their streams keep; those that keep moments are what they were in `fit`.
_CARRIERS = {"points": "merging", "rows": "refitting"}

_LEAST = 1e-100  # total weight below which an old stream is not scaled down any further: it is nothing by then


class Streaming:
    """Methods of :class:`~gramless.KernelPCA` for rows that come in batches."""

    _sample: Any
    method_: str
    plan_: Plan

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @whole_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Take in a batch of rows: the model is that of all rows so far, and `transform` may be called at any time.

        What is kept depends on the kernel (see ``plan_``): moments of explicit features, where batches in any order
        give the same model, exactly for polynomial kernels, and with ``domain=`` for Gaussian and Matern kernels in
        few dimensions; otherwise the eigenspace of each batch is merged with that of all before, on the rows seen or,
        with ``max_support=``, on a limited number of them. A kernel that is not positive semidefinite keeps its rows
        and is solved when the model is asked for. The model is that of a `fit` up to the signs of its components. A
        `gamma` by name is computed from the first batch.

        Goes on from a `fit`. Where the fit was by products
        with the Gram matrix, its rows are first solved again for as many directions as a stream keeps, which takes
        once or twice as long as the fit took; where that is more than ten minutes, an ``UncertifiedWarning`` says
        that the intervals of the certificate will be wide.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features), path or source
            Any number of rows, one included. Of a file or another source every block is a batch.
        y : ignored
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Of a source with names: the column that has it.

        Returns
        -------
        KernelPCA
            This estimator, ready to transform.
        """
        with following(self, X, y, sample_weight), use_threads(self.n_jobs):
            if is_out_of_core(X):
                rows, goes_on = open_rows(self, X, sample_weight), self._goes_on()
                if goes_on:
                    refuse_other_source(self, rows)
                self._take_blocks(rows, fresh=not goes_on)
            else:
                self._take_batch(X, sample_weight)
        return self

    def _take_batch(self, X: Any, sample_weight: Any) -> None:
        self._goes_on()
        stream: Stream | None = self.__dict__.get("_stream")
        X, weights = self._read_batch(X, sample_weight, reset=stream is None)
        faded, sample = self._faded(weights), self.__dict__.get("_sample")
        if stream is None:
            self._follow(self._open_stream(X, weights), X.dtype)
        else:
            factor = self._fading(stream, X.shape[0])
            observer().begins(self.method_, np.inf)
            older = stream if factor == 1 else stream.scaled(factor)
            self._follow(
                older.add(*_used(self.plan_.problem.kernel, self._rows_for_kernel(X), faded)),
                np.result_type(self._dtype, X),
            )
            self._sample = sample if sample is None or factor == 1 else sample.scaled(factor)
        self._sample_rows(X, faded, first=stream is None)

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    @whole_or_nothing
    def partial_unfit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Take rows out again that `partial_fit` or `fit` took in, with the weights they had then.

        Moments can be subtracted; so this is for streams with explicit features. The rows need not have come as
        one batch. Rounding does not go away again: the certificate keeps it.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        KernelPCA
            This estimator, as if it had never seen these rows.
        """
        if self.forget is not None:
            raise ValueError(
                f"forget={self.forget!r} has changed the weights of old rows: they cannot be taken out again"
            )
        if self.fit_inverse_transform:
            raise ValueError("fit_inverse_transform=True keeps a sample of the rows: they cannot be taken out again")
        with use_threads(self.n_jobs):
            stream = self._as_stream()
            if stream is None:
                raise ValueError("there are no rows to take out: call partial_fit first")
            X, weights = self._read_batch(X, sample_weight, reset=False)
            self._follow(
                stream.remove(*_used(self.plan_.problem.kernel, self._rows_for_kernel(X), weights)), self._dtype
            )
        return self

    def merge(self, other: Any) -> Any:
        """A new model of both data sets together: their moments add, or their eigenspaces are merged.

        Rows that both have seen count twice, and signs of components may differ from those of a `fit`.

        Parameters
        ----------
        other : KernelPCA
            Fitted with the same kernel, to rows of the same width and dtype, by the same method. With ``forget=`` the
            rows of both weigh what they weigh in each.

        Returns
        -------
        KernelPCA

        Raises
        ------
        ValueError
            If the two do not fit; the message says what differs.
        """
        with use_threads(self.n_jobs):
            ours, theirs = refuse_to_merge(self, other)
            merged = copy.copy(self)
            merged._forget()
            merged._follow(ours.merged(theirs), self._dtype)
            if self.fit_inverse_transform and other.fit_inverse_transform:
                merged._sample = self._sample + other._sample
        return merged

    def __getattr__(self, name: str) -> Any:
        """Make the model of a stream when a part of it is asked for."""
        if name in MODEL and self.__dict__.get("_stream") is not None:
            self._conclude()
            return self.__dict__[name]
        return object.__getattribute__(self, name)  # raises again what led here, with its message

    def _conclude(self) -> None:
        problem = replace(self.plan_.problem, k=components_asked(self))
        with use_threads(self.n_jobs):
            fitted = self._stream.conclude(problem, make_request(self), self._before)
        self._set(fitted, self._dtype)

    def _follow(self, stream: Stream, dtype: Any) -> None:
        """Keep a stream; the model it leads to is made when it is asked for."""
        before = self.__dict__.get("_before")
        if "_space" in self.__dict__:
            before = self._space
        self._forget()
        self._stream, self._before, self._dtype = stream, before, np.dtype(dtype)
        carrier: str = _CARRIERS.get(stream.keeps, self.method_)
        if carrier != self.method_:  # a fit goes on as a stream of another method
            self.plan_ = carried_on(self._stream_problem(self.plan_.problem), carrier)
            self.method_ = carrier

    def _goes_on(self) -> bool:
        """Whether there is a stream to go on with; a fit that can is made one, once for all blocks that follow."""
        stream = self._as_stream()
        if stream is not None and self.__dict__.get("_stream") is None:
            self._follow(stream, self._dtype)
        elif stream is None and "_fitted" in self.__dict__:
            self._begin_with_fitted_rows()
            return True
        return stream is not None

    def _begin_with_fitted_rows(self) -> None:
        """A stream of the rows of a fit that left nothing else to go on from."""
        if "X_fit_" not in self.__dict__:
            raise ValueError(
                f"a fit by method={self.method_!r} without its rows (keep_data=False) leaves nothing to go on from; "
                "begin with partial_fit, or fit with keep_data=True"
            )
        X, weights, sample = self.X_fit_, self._weights, self.__dict__.get("_sample")
        self._follow(self._open_stream(self._rows_for_kernel(X), weights, seen=True), X.dtype)
        self._sample = sample

    def _as_stream(self) -> Stream | None:
        """The stream so far: that of earlier batches, or one that goes on from a fit; None where there is none."""
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is None and "_fitted" in self.__dict__ and (self.scale_input or not self.center_input):
            weights = self.__dict__.get("_weights")
            problem = self._stream_problem(self.plan_.problem)
            stream = stream_of_fit(self._fitted, weights, problem, make_request(self))
            if stream is not None:
                self._dtype = self.eigenvalues_.dtype
        return stream

    def _open_stream(self, X: Any, weights: Array, *, seen: bool = False) -> Stream:
        """Choose how to keep rows, from the first batch; the weights of rows `seen` by a fit have faded already."""
        if self.max_support is not None and self.max_support < max(1, components_asked(self)):
            raise ValueError(
                f"max_support={self.max_support} points cannot span "
                f"n_components={components_asked(self)} components; raise max_support"
            )
        self._forget()
        if not seen:
            warn_of_width(self, X, weights, SCALE_FIRST)
        kernel = self._make_kernel(X, weights)
        X, weights = _used(kernel, X, weights if seen else self._faded(weights))
        problem = self._stream_problem(pose_components(self, X, kernel, weights))
        planned = replace(problem, n=max(X.shape[0], 10**6), k=components_asked(self) or 16)
        self.plan_ = make_plan(planned, self.method)
        self.method_ = self.plan_.chosen
        observer().begins(self.method_, np.inf)
        first = replace(planned, k=components_asked(self)) if self.method_ == "merging" else planned
        return open_stream(self.method_, first, X, weights, make_request(self))

    def _stream_problem(self, problem: Problem) -> Problem:
        limit = self.max_support
        forget = problem.forget and limit is None
        return replace(problem, streaming=True, support=limit, forget=forget, k=components_asked(self), sample=None)

    def _read_batch(self, X: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, Array]:
        X, weights = self._read(to_numpy_rows(X), to_numpy_rows(sample_weight), batch=True, reset=reset)
        domain_around(self, self._rows_for_kernel(X))  # refuses rows outside the domain
        there = weights > 0
        return (X, weights) if there.all() else (X[there], weights[there])

    def _faded(self, weights: Array) -> Array:
        """Weights of the rows of a batch at its end: those of weight 0 are not there, and do not count as younger."""
        half_life = self.forget
        if half_life is None:
            return weights
        there = weights > 0
        ages = there.sum() - np.cumsum(there)
        return np.asarray(weights * np.exp2(-ages / half_life))

    def _fading(self, stream: Stream, n: int) -> float:
        """What the weights of a stream are multiplied by when `n` rows have followed."""
        if self.forget is None:
            return 1.0
        return max(float(np.exp2(-n / self.forget)), min(1.0, _LEAST / stream.weight))


def _used(kernel: Kernel, X: Any, weights: Array) -> tuple[Any, Array]:
    """Rows whose weight has not faded to nothing; an image may be as long as its weight is small."""
    there = weights > _LEAST * weights.max()
    if not there.all():
        heights = weights * np.abs(kernel.diagonal(X))  # unless the kernel is positive semidefinite, they bound nothing
        there |= heights > _LEAST * heights.max() if kernel.mercer else weights > 0
    return (X, weights) if there.all() else (X[there], weights[there])
