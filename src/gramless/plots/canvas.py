"""Matplotlib, imported when the first figure is drawn and not before."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap


def require_matplotlib() -> ModuleType:
    """``matplotlib.pyplot``, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("figures need matplotlib, which is not installed; run: pip install gramless[plot]") from error
    return plt


def axes_or_new(ax: Axes | None, **settings: Any) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    _, new = require_matplotlib().subplots(layout="constrained", **settings)
    return new  # type: ignore[no-any-return]


def pale_viridis() -> Colormap:
    """Viridis mixed with white: as orderly to the eye, and lines and points stand out on it."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    colors = colormaps["viridis"](range(256))
    colors[:, :3] = 0.6 * colors[:, :3] + 0.4
    return ListedColormap(colors, name="pale_viridis")
