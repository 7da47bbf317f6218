"""Pre-images, learned with a fit: a ridge regression of rows on their components."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gramless.arrays import Array, parse_memory, read_seed
from gramless.fitting.fitted import Fit, in_precision
from gramless.fitting.question import Question
from gramless.spaces import RidgePreimage, RowSample

_SAMPLE = 4096  # maximum number of rows that a model without its training rows stores


def sampled(question: Question, found: Fit, x: Any, weights: Array | None, *, first: bool) -> Fit:
    """The fit with rows of this batch in its sample, for pre-images of models without their training rows."""
    if question.ridge is None or weights is None:
        return found
    _refuse_sparse(x)
    before = None if first else found.sample
    seed = int(read_seed(question.seed).integers(2**31))
    new = RowSample.of(x, weights, sample_size(question, x.shape[1]), seed=[seed, 0 if before is None else before.seen])
    return replace(found, sample=new if before is None else before + new, preimage=None)


def resampled(question: Question, found: Fit, size: int) -> Fit:
    """The fit without its rows, with a sample of at most `size` of them where an inverse transform is learned."""
    sample = found.sample
    if question.ridge is None:
        sample = None
    elif found.x is not None and found.weights is not None:
        seed = int(read_seed(question.seed).integers(2**31))
        sample = RowSample.of(found.x, found.weights, size, seed=[seed, 0])
    return replace(found, x=None, weights=None, sample=sample, preimage=None)


def learn_preimage(question: Question, found: Fit) -> Fit:
    """The fit with a ridge regression of its rows, or of its sample, on their components."""
    if question.ridge is None:
        return found
    if found.x is not None and found.weights is not None:
        _refuse_sparse(found.x)
        x, weights, scores = found.x, found.weights, in_precision(found.scores(), found.x).astype(np.float64)
    elif found.sample is not None:
        x, weights, scores = found.sample.rows, found.sample.weights, found.project(found.sample.rows)
    else:
        return found
    rows = found.scaling(x) if found.scaling.scale is not None else x
    limit = parse_memory(question.memory_limit)
    learnt = RidgePreimage.fit(found.kernel, scores, rows, weights, question.ridge, limit, read_seed(question.seed))
    return replace(found, preimage=learnt)


def _refuse_sparse(x: Any) -> None:
    """Raise for sparse rows: pre-images are dense."""
    if hasattr(x, "toarray"):
        raise ValueError("Inverse transform not implemented for sparse matrices: pass X.toarray().")


def sample_size(question: Question, d: int) -> int:
    """Number of rows with `d` columns that a model without its training rows stores."""
    room = parse_memory(question.memory_limit) // (8 * 8 * d)
    return max(1, min(_SAMPLE, room))
