"""What labels are, classes or numbers, and the colour and marker of each class: the same in all figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gramless.arrays import Array
from gramless.plots.canvas import PALETTE

#: Colours of classes: Okabe and Ito's, then four of Tol's muted ones that differ from these in every colour vision.
COLORS = (*PALETTE, "#332288", "#DDCC77", "#882255", "#661100")
#: Markers that figures in the plane and in space both have, by Plotly's names.
MARKERS = ("circle", "square", "diamond", "cross", "circle-open", "square-open", "diamond-open")
#: Viridis without its palest part, for continuous labels.
SCALE = ("#440154", "#482979", "#3e4c8a", "#2f6b8e", "#24868e", "#1fa287", "#3fbc73", "#7fd34e", "#cae11f")
#: From few rows to many, for densities.
DENSITY = ("#c6d4e8", "#7da0cc", "#2f62a8", "#00224e")
OTHERS, MISSING = "#6f7883", "#b6bdc5"  #: greys, for classes that have no colour of their own and for missing labels
MOST = 30  #: classes in a legend
DENSE = 20_000  #: points, more of which are drawn as density


class ClassStyle(NamedTuple):
    """Name, colour and marker of a class."""

    name: str
    color: str
    marker: str

    @property
    def grey(self) -> bool:
        """Whether it stands for rare classes or missing labels."""
        return self.color in (OTHERS, MISSING)


@dataclass(frozen=True, eq=False)
class Coloring:
    """What points are coloured by: nothing, classes, or a continuous quantity.

    Attributes
    ----------
    kind : {"none", "classes", "continuous"}
    values : ndarray of shape (n,), or empty
        Positions in `classes`; for a continuous quantity its values, NaN where missing.
    classes : tuple of ClassStyle
        Classes in their order; then, in grey, rare classes together and missing labels, where there are such.
    span : pair of float
        Smallest and largest value of a continuous quantity.
    title : str
    """

    kind: str = "none"
    values: Array = field(default_factory=lambda: np.empty(0))
    classes: tuple[ClassStyle, ...] = ()
    span: tuple[float, float] = (0.0, 1.0)
    title: str = "label"

    @classmethod
    def of(
        cls, labels: Any, title: str = "label", *, classes: Sequence[Any] | None = None, most: int = MOST
    ) -> Coloring:
        """Decide what labels are.

        Numbers are continuous where one is not an integer or where there are more different ones than colours (11);
        other numbers, and strings, are classes. NaN, infinities, None and empty strings are missing labels; strings
        that are numbers but for missing ones, as in CSV files, count as numbers. More dates or durations than colours
        are numbers of years or days.

        Parameters
        ----------
        labels : array-like of shape (n,), or None
        title : str
        classes : sequence, optional
            All classes, of which `labels` may have only some; with it, labels are classes, and each has the colour and
            marker of its position. Without it, integers from 0 to 10 are their own positions; other classes have the
            positions of their names in order.
        most : int
            With more classes, the most frequent ones keep their names and the others are shown together.

        Examples
        --------
        >>> Coloring.of(["b", "a", "", "b"]).classes[1]
        ClassStyle(name='b', color='#D55E00', marker='square')
        >>> Coloring.of([0.5, 2.0, float("nan")]).kind, Coloring.of([3, 8, 3]).classes[0].color
        ('continuous', '#CC79A7')
        """
        if labels is None:
            return cls(title=title)
        values, present = _read(labels)
        found, codes, counts = np.unique(values[present], return_inverse=True, return_counts=True)
        if classes is None and _continuous(found):
            return cls("continuous", np.where(present, values, np.nan), (), (float(found[0]), float(found[-1])), title)
        names = [_name(value) for value in found]
        often = np.sort(np.argsort(-counts, kind="stable")[:most])
        places = _places(found[often], [names[j] for j in often], classes)
        styles = [
            ClassStyle(names[j], COLORS[place % len(COLORS)], MARKERS[place % len(MARKERS)])
            for j, place in zip(often, places, strict=True)
        ]
        if len(often) < len(names):
            styles.append(ClassStyle(f"{len(names) - len(often)} others", OTHERS, "circle"))
        if not present.all():
            styles.append(ClassStyle("missing", MISSING, "circle"))
        position = np.full(len(names), len(often))
        position[often] = np.arange(len(often))
        chosen = np.full(len(values), len(styles) - 1)
        chosen[present] = position[codes]
        return cls("classes", chosen, tuple(styles), title=title)

    def take(self, rows: Array) -> Coloring:
        """The colouring of some rows, in which every class and value looks as it does among all rows."""
        return self if self.kind == "none" else replace(self, values=self.values[rows])


def _read(labels: Any) -> tuple[Array, Array]:
    """Numbers as float64 or strings, and where they are present."""
    given = np.asarray(labels)
    if given.ndim != 1:
        raise ValueError(f"labels of shape {given.shape} given; pass one label for each row")
    if given.dtype.kind in "iuf":
        values = given.astype(np.float64)
        return values, np.isfinite(values)
    numbers = False
    if given.dtype.kind == "O":
        other = np.array([not isinstance(one, str) for one in given], bool)
        numbers = bool(other.all())
        given = np.where(other & np.isin(given.astype(str), ("None", "nan", "<NA>", "NaT")), "", given.astype(str))
    if given.dtype.kind in "mM":
        present = ~np.isnat(given)
        if len(np.unique(given[present])) <= len(COLORS):
            given = np.where(present, given.astype(str), "")
        elif given.dtype.kind == "M":  # in years, so that a colour bar can be read
            days = (given.astype("datetime64[s]") - np.datetime64("1970", "s")) / np.timedelta64(1, "D")
            return 1970 + days / 365.2425, present
        else:
            return given.astype("timedelta64[s]") / np.timedelta64(1, "D"), present
    texts = np.char.strip(given.astype(str))
    present = texts != ""
    if numbers or (given.dtype.kind == "U" and not present.all()):
        try:
            values = np.where(present, texts, "nan").astype(np.float64)
        except ValueError:
            return texts, present
        return values, np.isfinite(values)
    return texts, present


def _continuous(found: Array) -> bool:
    """Whether different values, sorted, are those of a continuous quantity."""
    numbers = found.dtype.kind == "f" and len(found) > 0
    return numbers and (len(found) > len(COLORS) or bool((found != np.round(found)).any()))


def _name(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)


def _places(found: Array, names: list[str], classes: Sequence[Any] | None) -> list[int]:
    """The positions of classes in the lists of colours and markers."""
    if classes is not None:
        known = [_name(one) for one in np.asarray(classes).tolist()]
        for name in names:
            if name not in known:
                raise ValueError(f"the label {name!r} is not among classes={known[:20]}; pass all classes, or none")
        return [known.index(name) for name in names]
    if found.dtype.kind == "f" and len(found) and found[0] >= 0 and found[-1] < len(COLORS):
        return [int(value) for value in found]
    return list(range(len(names)))
