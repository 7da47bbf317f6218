"""Any number of points as a picture of fixed size, by datashader."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.explorer.view import Extent
from gramless.plots import Coloring
from gramless.plots.coloring import DENSITY, MISSING, SCALE


def rasterize(points: Array, extent: Extent, coloring: Coloring, size: tuple[int, int] = (560, 480)) -> Array:
    """A picture of points.

    Parameters
    ----------
    points : ndarray of shape (m, 2)
    extent : tuple
        Left, right, bottom, top of what is shown.
    coloring : Coloring
        Coloring of these points.
    size : tuple of int
        Pixels across and up.

    Returns
    -------
    ndarray of shape (up, across) of uint32
        Red, green, blue and opacity, a byte each; the first row is the lowest. Counts of points are shown by rank, so
        that both dense regions and single points remain visible.
    """
    shader, transfer, pandas = _libraries()
    frame = pandas.DataFrame({"across": points[:, 0], "up": points[:, 1]})
    left, right, bottom, top = extent
    canvas = shader.Canvas(*size, x_range=(left, right), y_range=(bottom, top))
    if coloring.kind == "classes":
        names = [str(j) for j in range(len(coloring.classes))]
        colors = {name: style.color for name, style in zip(names, coloring.classes, strict=True)}
        frame["color"] = pandas.Categorical.from_codes(coloring.values, names)
        counts = canvas.points(frame, "across", "up", shader.count_cat("color"))
        image = transfer.shade(counts, color_key=colors, how="eq_hist", min_alpha=160)
    elif coloring.kind == "continuous":
        frame["color"] = coloring.values
        image = transfer.shade(
            canvas.points(frame, "across", "up", shader.mean("color")),
            cmap=list(SCALE),
            how="linear",
            span=coloring.span,
        )
        missing = canvas.points(frame[frame["color"].isna()], "across", "up", shader.any())
        image = transfer.stack(transfer.shade(missing, cmap=[MISSING]), image)
    else:
        counts = canvas.points(frame, "across", "up", shader.count())
        image = transfer.shade(counts, cmap=list(DENSITY), how="eq_hist")
    thick = transfer.spread(image, px=2) if len(points) <= 5_000 else transfer.spread(image, px=1)
    shown = thick if len(points) <= 50_000 else image
    return np.ascontiguousarray(shown.to_numpy(), dtype=np.uint32)


def warm_up(coloring: Coloring) -> None:
    """Let datashader compile the code for pictures of this colouring, which takes seconds, once."""
    rasterize(np.zeros((2, 2)), (-1.0, 1.0, -1.0, 1.0), coloring.take(np.array([0, -1])), (8, 8))


def _libraries() -> tuple[Any, Any, Any]:
    try:
        import datashader
        import pandas
        from datashader import transfer_functions
    except ImportError as error:
        raise ImportError(
            'the explorer needs datashader; in the folder of gramless, run: pip install ".[explorer]"'
        ) from error
    return datashader, transfer_functions, pandas
