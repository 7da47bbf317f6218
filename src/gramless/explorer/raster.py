"""Any number of points as a picture of fixed size, by datashader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.explorer.view import Extent

#: Colours that colour-blind readers, too, can distinguish (Okabe & Ito; then Tol's muted ones).
COLORS = (
    *("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#f0e442", "#000000"),
    *("#882255", "#117733", "#999933", "#332288"),
)
DENSITY = ("#c6d4e8", "#7da0cc", "#2f62a8", "#00224e")
MEANS = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")


@dataclass(frozen=True, eq=False)
class Coloring:
    """What points are coloured by: their density alone, classes, or numbers.

    Attributes
    ----------
    kind : {"density", "classes", "numbers"}
    values : ndarray of shape (m,) or None
        Codes of classes, or numbers.
    names : tuple of str
        Names of the classes; for numbers, the least and the largest.
    """

    kind: str = "density"
    values: Array | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, labels: Any) -> Coloring:
        """Classes where there are at most twelve different labels or they are strings, numbers otherwise.

        Examples
        --------
        >>> Coloring.of(np.array(["b", "a", "b"])).names, Coloring.of(np.linspace(0, 1, 50)).kind
        (('a', 'b'), 'numbers')
        """
        if labels is None:
            return cls()
        given = np.asarray(labels)
        texts = given.dtype.kind not in "fiub"
        names, codes = np.unique(given.astype(str) if texts else given, return_inverse=True)
        if not texts and len(names) > len(COLORS):
            return cls("numbers", given.astype(np.float64), (f"{names[0]:.4g}", f"{names[-1]:.4g}"))
        if len(names) > len(COLORS):  # the most frequent ones, and all others together
            often = np.sort(np.argsort(-np.bincount(codes), kind="stable")[: len(COLORS) - 1])
            place = np.full(len(names), len(often))
            place[often] = np.arange(len(often))
            return cls("classes", place[codes], (*names[often].tolist(), "others"))
        return cls("classes", codes, tuple(str(name) if texts else f"{name:g}" for name in names))


def rasterize(points: Array, extent: Extent, coloring: Coloring, size: tuple[int, int] = (560, 480)) -> Array:
    """A picture of points.

    Parameters
    ----------
    points : ndarray of shape (m, 2)
    extent : tuple
        Left, right, bottom, top of what is shown.
    coloring : Coloring
        Colouring of these points.
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
        names = [str(j) for j in range(len(coloring.names))]
        frame["color"] = pandas.Categorical.from_codes(coloring.values, names)
        counts = canvas.points(frame, "across", "up", shader.count_cat("color"))
        image = transfer.shade(counts, color_key=dict(zip(names, COLORS, strict=False)), how="eq_hist", min_alpha=160)
    elif coloring.kind == "numbers":
        frame["color"] = coloring.values
        span = (float(np.min(coloring.values)), float(np.max(coloring.values)))  # type: ignore[arg-type]
        means = canvas.points(frame, "across", "up", shader.mean("color"))
        image = transfer.shade(means, cmap=list(MEANS), how="linear", span=span)
    else:
        counts = canvas.points(frame, "across", "up", shader.count())
        image = transfer.shade(counts, cmap=list(DENSITY), how="eq_hist")
    thick = transfer.spread(image, px=2) if len(points) <= 5_000 else transfer.spread(image, px=1)
    shown = thick if len(points) <= 50_000 else image
    return np.ascontiguousarray(shown.to_numpy(), dtype=np.uint32)


def warm_up(coloring: Coloring) -> None:
    """Let datashader compile the code for pictures of this colouring, which takes seconds, once."""
    colors = Coloring(coloring.kind, None if coloring.values is None else coloring.values[:2], coloring.names)
    rasterize(np.zeros((2, 2)), (-1.0, 1.0, -1.0, 1.0), colors, (8, 8))


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
