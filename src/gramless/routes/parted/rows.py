"""Rows in parts that can be counted, and looked at a few at a time, from here."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.execution import Block, Parts, join_in_tree
from gramless.routes.parted.survey import survey_parts
from gramless.routes.survey import Survey

_LISTED = 10**7
_SAMPLE = 2**17


class PartedRows:
    """Rows (n, d) that stay where they are; an array of row numbers as index brings these rows here.

    Parameters
    ----------
    parts : Parts
        Of :class:`~gramless.execution.Block`.
    feature_names : tuple of str, optional
    listed : int
        Rows up to which every single one has a number and a weight here.
    sample : int
        Rows that stand for all, where there are more.

    Attributes
    ----------
    parts : Parts
        Of :class:`~gramless.execution.Block`, none of them empty.
    lengths : list of int
    shape : tuple of (n, d)
    dtype : dtype
    box : Box
    mean : ndarray of shape (d,)
        By weight.
    variance : float
        Weighted variance of all entries together, columns not told apart.
    variances : ndarray of shape (d,)
        Of the columns, by weight.
    weight : float
        Sum of the weights.
    positive : int
        Rows of positive weight.
    even : bool
        Whether all weights are 1.

    Examples
    --------
    >>> from gramless.execution import LocalParts
    >>> x = np.arange(10.0).reshape(5, 2)
    >>> rows = PartedRows(LocalParts([Block(0, 0, x[:3], np.ones(3)), Block(1, 3, x[3:], np.ones(2))]))
    >>> rows.shape, rows[[4, 0]].tolist()
    ((5, 2), [[8.0, 9.0], [0.0, 1.0]])
    """

    name: str = "the partitions"
    restartable: bool = True
    sparse: bool = False

    def __init__(
        self, parts: Parts, feature_names: tuple[str, ...] | None = None, listed: int = _LISTED, sample: int = _SAMPLE
    ) -> None:
        self._listed, self._sample = listed, sample
        surveys = [survey for survey in survey_parts(parts) if survey.rows]
        if not surveys:
            raise ValueError("Found array with 0 sample(s) while a minimum of 2 is required: every partition is empty")
        self.parts = parts if len(surveys) == len(parts) else parts.chosen([survey.number for survey in surveys])
        self.lengths = [survey.rows for survey in surveys]
        self._starts = np.concatenate([[0], np.cumsum(self.lengths)])
        whole: Survey = join_in_tree([part.survey for part in surveys], partial(reduce, operator.add))
        self.box, self.mean, self.weight = whole.box, whole.mean, whole.weight
        self.variance = whole.variance if whole.weight > 0 else 0.0
        self.variances = whole.squares / whole.weight if whole.weight > 0 else np.zeros_like(whole.squares)
        self.shape = (whole.rows, len(whole.mean))
        self.n_features = len(whole.mean)
        self.n_rows: int | None = whole.rows
        self.feature_names: tuple[str, ...] | None = feature_names
        self.dtype: Any = np.result_type(*[survey.dtype for survey in surveys])
        self.positive = sum(survey.positive for survey in surveys)
        self.even = all(survey.even for survey in surveys)

    def map_reduce(self, work: Callable[[Block], Any], task: str = "") -> Any:
        """See :class:`gramless.execution.Rows`; every block knows its first row."""
        return self.parts.reduce(placed_work, work, each=self._starts[:-1].tolist())

    def __getitem__(self, rows: Any) -> Array:
        rows = np.asarray(rows)
        owners = np.searchsorted(self._starts, rows, side="right") - 1
        only = np.unique(owners)
        places = [np.flatnonzero(owners == owner) for owner in only]
        wanted = [rows[place] - self._starts[owner] for owner, place in zip(only, places, strict=True)]
        out = np.empty((len(rows), self.shape[1]), dtype=self.dtype)
        pieces = self.parts.map(rows_of, each=wanted, only=only.tolist())
        for place, piece in zip(places, pieces, strict=True):
            out[place] = piece
        return out

    def gathered(self) -> Array:
        """All rows, here: (n, d)."""
        return np.concatenate(self.parts.map(all_rows_of)).astype(self.dtype, copy=False)

    @cached_property
    def weights(self) -> Array:
        """Of all rows, here: (n,)."""
        return np.ones(self.shape[0]) if self.even else np.concatenate(self.parts.map(weights_of))

    def view(self) -> tuple[Any, Array]:
        """Rows (m, d) that can be asked for one by one, and their weights (m,): all, or a sample of very many."""
        n = self.shape[0]
        if n <= self._listed:
            return self, self.weights
        chosen = np.linspace(0, n - 1, self._sample).astype(int)
        owners = np.searchsorted(self._starts, chosen, side="right") - 1
        wanted = [chosen[owners == i] - self._starts[i] for i in range(len(self.lengths))]
        pairs = self.parts.map(weighted_rows_of, each=wanted)
        weights = np.concatenate([weights for _, weights in pairs])
        return np.concatenate([x for x, _ in pairs]), weights * (self.weight / max(float(weights.sum()), 1e-300))

    def split(self, v: Array) -> list[Array]:
        """An array (n, ...) of values by row, part by part."""
        return np.split(v, self._starts[1:-1])


def placed_work(part: Block, work: Callable[[Block], Any], first: int) -> Any:
    """Work on a block that knows where it begins."""
    return work(replace(part, first=first))


def rows_of(part: Block, rows: Array) -> Array:
    """Some of the rows."""
    return np.asarray(part.x[rows])


def all_rows_of(part: Block) -> Array:
    """The rows."""
    return np.asarray(part.x)


def weights_of(part: Block) -> Array:
    """The weights."""
    return part.weights


def weighted_rows_of(part: Block, rows: Array) -> tuple[Array, Array]:
    """Some of the rows, and their weights."""
    return part.x[rows], part.weights[rows]
