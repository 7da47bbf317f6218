"""The fit of an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from gramless.arrays import Array, in_range, read_seed
from gramless.data import Scaling
from gramless.eigen import named_solver
from gramless.fitting.methods import Plan, State
from gramless.fitting.model import Model
from gramless.fitting.question import Question
from gramless.kernels import Kernel
from gramless.problem import Request
from gramless.spaces import Compression, Eigenspace, RidgePreimage, RowSample

FLOAT32_ERROR = 1e-6  #: error of projections in float32 that is accepted, relative to the standard deviation


@dataclass(frozen=True, eq=False)
class Projection:
    """Maps rows in the units of the input to components in their precision; small enough to be sent to workers."""

    space: Eigenspace
    scaling: Scaling
    float32: bool = False

    def __call__(self, x: Any) -> Array:
        rows = self.scaling(x)
        dense = isinstance(rows, np.ndarray)
        found = self.space.project_in_float32(rows) if self.float32 and dense else self.space.project(rows)
        return in_precision(found, x)


@dataclass(frozen=True, eq=False)
class Fit:
    """The fitted state of an estimator: a model, or the state of a stream that becomes a model. A fit is immutable.

    Attributes
    ----------
    plan : Plan
    gamma : float
    scaling : Scaling
    dtype : dtype
        Precision of the results.
    model : Model or None
        None in a stream whose model has not been computed yet.
    state : State or None
        State of a stream; None in a fit of all rows at once.
    before : Eigenspace or None
        Eigenspace of the last model computed in a stream: later models take over its signs.
    x, weights : array of shape (n, d), ndarray of shape (n,), or None
        Training rows in the units of the input, where they are kept.
    sample : RowSample or None
        Sample of rows in the units of the input, for pre-images of models without their training rows.
    preimage : RidgePreimage or None
    compression : Compression or None
        What the model has lost, where it was compressed.
    """

    plan: Plan
    gamma: float
    scaling: Scaling
    dtype: Any
    model: Model | None = None
    state: State | None = None
    before: Eigenspace | None = None
    x: Any = None
    weights: Array | None = None
    sample: RowSample | None = None
    preimage: RidgePreimage | None = None
    compression: Compression | None = None

    @property
    def finished(self) -> Model:
        """The model; a stream must have gone through :func:`finish` before."""
        if self.model is None:
            raise ValueError("the model of a stream is made by finish")
        return self.model

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        kernel: Kernel = self.plan.problem.kernel
        return kernel

    def projection(self) -> Projection:
        """The part of the fit that projecting rows needs."""
        return Projection(self.finished.space, self.scaling, self._float32)

    @cached_property
    def _float32(self) -> bool:
        """Whether new rows may be projected in float32: the tolerance of the fit must be larger than the error."""
        return self.plan.problem.tol >= FLOAT32_ERROR and self.finished.space.float32_error() <= FLOAT32_ERROR

    def project(self, x: Any) -> Array:
        """Components (m, k) of rows (m, d) in the units of the input."""
        return self.finished.space.project(self.scaling(x))

    def scores(self) -> Array:
        """Components (n, k) of the training rows: from the eigenvectors, where the model has eigenvectors."""
        if self.weights is None:
            raise ValueError("the training rows were not stored")
        scores = self.finished.scores(self.weights)
        if scores is None:
            return self.project(self.x)
        left_out = np.flatnonzero(self.weights == 0)
        if len(left_out):
            scores[left_out] = self.project(self.x[left_out])
        return scores

    @cached_property
    def eigenvalues(self) -> Array:
        """Eigenvalues (k,) of the centered Gram matrix."""
        return in_range(self.finished.space.scatter, self.dtype, "eigenvalues")

    @cached_property
    def variances(self) -> Array:
        """Eigenvalues divided by the total weight (k,)."""
        space = self.finished.space
        return in_range(space.scatter / space.weight, self.dtype, "variances")

    @cached_property
    def ratios(self) -> Array:
        """Ratios (k,) of the variances to the total variance, which includes the components not kept."""
        space = self.finished.space
        total = space.trace
        if self.kernel.mercer:  # with weights of very different sizes, rounding can put the trace below this sum
            total = max(total, float(space.scatter.sum()))
        ratio = space.scatter / total if total > 0 else np.zeros_like(space.scatter)
        return ratio.astype(self.dtype)


def in_precision(values: Array, x: Any) -> Array:
    """Results in the precision of the input."""
    return in_range(values, x.dtype if x.dtype == np.float32 else np.float64, "components")


def trimmed(question: Question, model: Model) -> Model:
    """The model without components of eigenvalue 0, where the question drops them."""
    if question.fewest is None:
        return model
    return model.truncated(max(question.fewest, int((model.space.scatter > 0).sum())))


def refuse_overflow(model: Model, dtype: Any) -> None:
    """Raise where eigenvalues or variances overflow the precision of the rows."""
    if np.dtype(dtype) != np.float64:
        in_range(model.space.scatter, dtype, "eigenvalues")
        in_range(model.space.scatter / model.space.weight, dtype, "variances")


def make_request(question: Question) -> Request:
    """What is requested of a method in addition to the problem; a time limit starts."""
    solver = named_solver(question.solver, question.iterated_power)
    deadline = None if question.time_limit is None else perf_counter() + question.time_limit
    return Request(read_seed(question.seed), question.share, solver, question.max_iter, deadline)
