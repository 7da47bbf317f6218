"""Points counted in hexagons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gramless.arrays import Array

_OUTLINE = np.array([[0.5, -1 / 6], [0.5, 1 / 6], [0.0, 1 / 3], [-0.5, 1 / 6], [-0.5, -1 / 6], [0.0, -1 / 3]])


class Hexagons(NamedTuple):
    """Hexagons with points in them.

    Attributes
    ----------
    centers : ndarray of shape (c, 2)
    outline : ndarray of shape (6, 2)
        Corners relative to a center.
    counts : ndarray of shape (c,)
        Number of points in each.
    cell : ndarray of shape (n,)
        The hexagon of each point.
    """

    centers: Array
    outline: Array
    counts: Array
    cell: Array


def hexagons(points: Array, across: int = 64, *, regular: bool = False) -> Hexagons:
    """Count points in hexagons.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
    across : int
        Number of hexagons side by side in a box around the points.
    regular : bool
        Whether hexagons are regular in the units of the points; otherwise in axes that make the box a square.

    Returns
    -------
    Hexagons

    Examples
    --------
    >>> hexagons(np.array([[0.0, 0.0], [0.001, 0.0], [1.0, 1.0]])).counts
    array([2, 1])
    """
    low, extent = points.min(axis=0), np.ptp(points, axis=0)
    extent = np.where((extent == 0) | regular, extent.max() or 1.0, extent)
    step = extent * [1.0, np.sqrt(3.0)] / across
    place = (points - low) / step
    lattices = np.stack([np.round(place), np.floor(place) + 0.5])  # centers of hexagons form two rectangular lattices
    first, second = (place - lattices) ** 2 @ [1.0, 3.0]
    nearest = np.where((first <= second)[:, None], *lattices)
    keys, cell, counts = np.unique(nearest @ [1.0, 1j], return_inverse=True, return_counts=True)
    centers = np.column_stack([keys.real, keys.imag])
    return Hexagons(low + centers * step, _OUTLINE * step, counts, cell)
