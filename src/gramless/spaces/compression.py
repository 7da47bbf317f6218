"""What a compressed model has lost: a rigorous bound, the change measured on rows, and the curve of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

import numpy as np

from gramless.arrays import Array
from gramless.tables import html_table, text_table


@dataclass(frozen=True, eq=False)
class Compression:
    r"""How far the outputs of a model on fewer points are from those of the original model.

    An output is f(x) = <f, phi(x)>: a component, a center, a discriminant or a density before it is normalized. With
    f_m its least-squares fit on the points kept, \|f(x) - f_m(x)\| <= \|f - f_m\| sqrt(k(x, x)) for every x.

    Attributes
    ----------
    points_before, points : int
        Number of points before and after.
    tol : float or None
        The tolerance requested; None where the number of points was given.
    names : ndarray of str of shape (q,)
        Names of the outputs: numbers, and ``"mean"`` for the mean of kernel PCA.
    scales : ndarray of shape (q,)
        Standard deviations of the outputs over the rows of the fit, which tolerance and changes are relative to.
    norms : ndarray of shape (q,)
        Upper bounds on the norms of f - f_m, rounding included.
    change : ndarray of shape (q,)
        Root mean square of the change on the rows it was measured on, relative to `scales`.
    largest : ndarray of shape (q,)
        Largest change on these rows, relative to `scales`.
    rows : int
        Number of these rows.
    source : str
        Which rows they are.
    height : float
        The maximum of sqrt(k(x, x)) over the points of the original model.
    curve_points : ndarray of int of shape (g,)
        Numbers of points.
    curve_change, curve_bound : ndarray of shape (g,)
        For these numbers of points, the root mean square change on rows used for the choice, and the norm of f - f_m
        times `height`, without rounding: both relative to `scales`, and of the worst output.
    note : str
        What else there is to know.
    """

    points_before: int
    points: int
    tol: float | None
    names: Array
    scales: Array
    norms: Array
    change: Array
    largest: Array
    rows: int
    source: str
    height: float
    curve_points: Array
    curve_change: Array
    curve_bound: Array
    note: str = ""

    @classmethod
    def none(cls, count: int, names: Array, note: str) -> Compression:
        """Of a model that was left as it is, with `count` coefficients for each output."""
        zero, empty = np.zeros(len(names)), np.zeros(0)
        return cls(
            *(count, count, None, names, zero, zero, zero, zero),
            rows=0,
            source="",
            height=0.0,
            curve_points=np.zeros(0, dtype=np.int64),
            curve_change=empty,
            curve_bound=empty,
            note=note,
        )

    @property
    def bound(self) -> Array:
        """Bounds (q,) on the change at any x with sqrt(k(x, x)) <= ``height``, relative to ``scales``."""
        return relative(self.norms * self.height, self.scales)

    def bounds_at(self, diagonal: Array) -> Array:
        """Bounds (m, q) on the changes of the outputs at rows with k(x, x) = `diagonal` (m,)."""
        return np.sqrt(np.maximum(diagonal, 0.0))[:, None] * self.norms

    def truncated(self, k: int) -> Compression:
        """Of the model with the leading `k` components only."""
        kept = np.r_[: min(k, len(self.names)), len(self.names) - 1 : len(self.names)]
        kept = np.unique(kept) if len(self.names) and self.names[-1] == "mean" else np.arange(min(k, len(self.names)))
        parts = {name: getattr(self, name)[kept] for name in ("names", "scales", "norms", "change", "largest")}
        return replace(self, **parts)

    header = ("output", "scale", "change", "largest", "bound", "norm")

    def table(self) -> list[tuple[str, ...]]:
        """The table, one row of strings for each output."""
        columns = (self.scales, self.change, self.largest, self.bound, self.norms)
        return [
            (str(name), *(f"{column[j]:.3g}" if j < len(column) else "" for column in columns))
            for j, name in enumerate(self.names)
        ]

    def summary(self) -> str:
        """The compression in a sentence."""
        if not self.rows:
            return self.note
        worst, bound = float(self.change.max(initial=0.0)), float(self.bound.max(initial=0.0))
        return (
            f"{self.points_before:,} points reduced to {self.points:,}; outputs change by at most {worst:.1e} of their "
            f"scale (root mean square, {self.rows:,} {self.source}); proved: by at most {bound:.1e} wherever "
            f"sqrt(k(x, x)) <= {self.height:.3g}"
        )

    @property
    def footnote(self) -> str:
        """The numbers of points, and what the columns of the table are."""
        if not self.rows:
            return self.note
        asked = "" if self.tol is None else f" (tol={self.tol:g})"
        return (
            f"{self.points_before:,} points reduced to {self.points:,}{asked}. change, largest: root mean square and "
            f"maximum over {self.rows:,} {self.source}, relative to the scale. bound: proved for every x with "
            f"sqrt(k(x, x)) <= {self.height:.4g}, relative to the scale; elsewhere the norm times sqrt(k(x, x))."
            + (f" {self.note}" if self.note else "")
        )

    def __str__(self) -> str:
        return text_table(self.header, self.table() if self.rows else []) + "\n" + self.footnote

    def _repr_html_(self) -> str:
        return html_table(self.header, self.table() if self.rows else []) + f"<p>{escape(self.footnote)}</p>"


def relative(errors: Array, scales: Array) -> Array:
    """Errors divided by scales; 0 where both are 0, and infinite where only the scale is.

    Examples
    --------
    >>> relative(np.array([1.0, 0.0, 1.0]), np.array([2.0, 0.0, 0.0]))
    array([0.5, 0. , inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(errors == 0, 0.0, errors / scales)
