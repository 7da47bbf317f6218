"""Directions in feature space, as combinations of the vectors of a span."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gramless.arrays import Array, like
from gramless.spaces import Eigenspace, Span


@dataclass(frozen=True, eq=False)
class Projection:
    """Maps rows to coordinates along some directions.

    Attributes
    ----------
    span : Span
    coefficients : ndarray of shape (p, q)
    offset : ndarray of shape (q,)
        Coordinates of the origin, subtracted.
    """

    span: Span
    coefficients: Array
    offset: Array

    @classmethod
    def along(cls, space: Eigenspace, directions: Array, origin: Array) -> Projection:
        """Directions (r, q) and origin (r,) in the coordinates of an eigenspace, reduced to q columns."""
        return cls(space.span, space.basis @ directions, (space.offset + origin) @ directions)

    def __call__(self, x: Any) -> Array:
        """Coordinates (m, q) of rows `x` (m, d)."""
        products = self.span.dot(x, self.coefficients)
        return products - like(self.offset, products)  # type: ignore[no-any-return]
