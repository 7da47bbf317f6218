"""The shape of rows that are images."""

from __future__ import annotations

from math import isqrt


def image_shape(columns: int, shape: tuple[int, int] | None = None) -> tuple[int, int] | None:
    """Height and width of images of `columns` pixels: as given, or a square; None where there is no such square.

    Examples
    --------
    >>> image_shape(64), image_shape(63), image_shape(63, (7, 9))
    ((8, 8), None, (7, 9))
    """
    if shape is not None:
        if shape[0] * shape[1] != columns:
            raise ValueError(
                f"shape={shape[0]} x {shape[1]} is {shape[0] * shape[1]} pixels, but rows have {columns} columns; "
                "pass the height and width of the images"
            )
        return shape
    side = isqrt(columns)
    return (side, side) if side > 3 and side * side == columns else None
