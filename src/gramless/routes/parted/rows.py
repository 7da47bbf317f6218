"""Rows in parts that can be counted, and looked at a few at a time, from here."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.execution import Part, Parts
from gramless.features import Box
from gramless.routes.parted.survey import Survey, survey_parts

_LISTED = 10**7  # rows up to which every single one has a number here; of more, a sample stands for all
_SAMPLE = 2**17


class PartedRows:
    """Rows (n, d) that stay where they are; an array of row numbers as index brings these rows here.

    Attributes
    ----------
    parts : Parts
        Of :class:`~gramless.execution.Part`, none of them empty.
    lengths : list of int
    shape : tuple of (n, d)
    dtype : dtype
    box : Box
    weight : float
        Sum of the weights.
    even : bool
        Whether all weights are 1.

    Examples
    --------
    >>> from gramless.execution import LocalParts
    >>> x = np.arange(10.0).reshape(5, 2)
    >>> rows = PartedRows(LocalParts([Part(x[:3], np.ones(3), 0), Part(x[3:], np.ones(2), 1)]))
    >>> rows.shape, rows[[4, 0]].tolist()
    ((5, 2), [[8.0, 9.0], [0.0, 1.0]])
    """

    def __init__(self, parts: Parts) -> None:
        surveys = [survey for survey in survey_parts(parts) if survey.rows]
        if not surveys:
            raise ValueError("Found array with 0 sample(s) while a minimum of 2 is required: every partition is empty")
        self.parts = parts if len(surveys) == len(parts) else parts.chosen([survey.number for survey in surveys])
        self._surveys: list[Survey] = surveys
        self.lengths = [survey.rows for survey in surveys]
        self._starts = np.concatenate([[0], np.cumsum(self.lengths)])
        boxes = [survey.box for survey in surveys if survey.box is not None]
        low, high = np.min([box.low for box in boxes], axis=0), np.max([box.high for box in boxes], axis=0)
        self.shape = (int(self._starts[-1]), len(low))
        self.dtype = np.result_type(*[survey.dtype for survey in surveys])
        self.box = Box(low, high)
        self.weight = float(sum(survey.weight for survey in surveys))
        self.positive = sum(survey.positive for survey in surveys)
        self.even = all(survey.even for survey in surveys)

    @cached_property
    def mean(self) -> Array:
        """By weight: (d,)."""
        weights = np.array([survey.weight for survey in self._surveys])
        return np.asarray(weights @ np.array([survey.mean for survey in self._surveys]) / max(self.weight, 1e-300))

    @property
    def variance(self) -> float:
        """Weighted variance of all entries together, columns not told apart."""
        d, center = self.shape[1], float(self.mean.mean())
        about = [s.spread + s.weight * float(np.square(s.mean - center).sum()) for s in self._surveys]
        return sum(about) / (self.weight * d)

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
        if n <= _LISTED:
            return self, self.weights
        chosen = np.linspace(0, n - 1, _SAMPLE).astype(int)
        owners = np.searchsorted(self._starts, chosen, side="right") - 1
        wanted = [chosen[owners == i] - self._starts[i] for i in range(len(self.lengths))]
        pairs = self.parts.map(weighted_rows_of, each=wanted)
        weights = np.concatenate([weights for _, weights in pairs])
        return np.concatenate([x for x, _ in pairs]), weights * (self.weight / max(float(weights.sum()), 1e-300))

    def split(self, v: Array) -> list[Array]:
        """An array (n, ...) of values by row, part by part."""
        return np.split(v, self._starts[1:-1])


def rows_of(part: Part, rows: Array) -> Array:
    """Some of the rows."""
    return part.x[rows]


def all_rows_of(part: Part) -> Array:
    """The rows."""
    return part.x


def weights_of(part: Part) -> Array:
    """The weights."""
    return part.weights


def weighted_rows_of(part: Part, rows: Array) -> tuple[Array, Array]:
    """Some of the rows, and their weights."""
    return part.x[rows], part.weights[rows]
