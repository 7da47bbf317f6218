"""Matplotlib, imported when the first figure is drawn and not before."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

#: Okabe and Ito's colors, which are distinguishable with color vision deficiencies.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES = ("-", "--", ":", "-.")
_MARKERS = "os^DvPX"


def require_matplotlib() -> ModuleType:
    """``matplotlib.pyplot``, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'figures need matplotlib, which is not installed; in the folder of gramless, run: pip install ".[plot]"'
        ) from error
    return plt


def axes_or_new(ax: Axes | None, **settings: Any) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    _, new = require_matplotlib().subplots(layout="constrained", **settings)
    return new  # type: ignore[no-any-return]


def pale_viridis() -> Colormap:
    """Viridis mixed with white: still perceptually ordered, and lines and points stand out on it."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    colors = colormaps["viridis"](range(256))
    colors[:, :3] = 0.6 * colors[:, :3] + 0.4
    return ListedColormap(colors, name="pale_viridis")


def next_style(ax: Axes) -> dict[str, Any]:
    """Color, line style and marker for the next line of `ax`, also distinguishable in black-and-white print."""
    number = len(ax.get_lines())
    return {
        "color": PALETTE[number % len(PALETTE)],
        "linestyle": _LINES[number % len(_LINES)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "markersize": 4.5,
    }
