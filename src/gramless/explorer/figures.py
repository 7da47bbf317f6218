"""The figures of the page: each takes a view and shows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.explorer.raster import rasterize
from gramless.explorer.view import Extent, View, extent_of, widened
from gramless.plots import Coloring

_INK, _SOFT, _BAR, _CHOSEN = "#1d2733", "#5b6775", "#a9b8ca", "#00224e"


class PointPicture:
    """Points as an image that is drawn again when the visible range or the width of the window changes."""

    def __init__(self, width: int, height: int, opacity: float = 1.0, **settings: Any) -> None:
        from bokeh.events import RangesUpdate
        from bokeh.models import ColumnDataSource, Range1d

        self._size = (width, height)
        self.figure = _figure(width, height, x_range=Range1d(0, 1), y_range=Range1d(0, 1), **settings)
        self._image = ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []})
        self.figure.image_rgba("image", "x", "y", "dw", "dh", source=self._image, global_alpha=opacity)
        self.figure.on_event(RangesUpdate, lambda event: self._paint((event.x0, event.x1, event.y0, event.y1)))
        self.figure.on_change("inner_width", lambda attr, old, new: self._resized((new, self._size[1])))
        self.figure.on_change("inner_height", lambda attr, old, new: self._resized((self._size[0], new)))
        self._points: Array = np.empty((0, 2))
        self._coloring = Coloring()
        self._whole = self._extent = (0.0, 1.0, 0.0, 1.0)
        self._aspect: float | None = None

    def show(self, points: Array, coloring: Coloring, extent: Extent, aspect: float | None = None) -> None:
        """Draw `points` (m, 2), with the axes set to `extent`; `aspect`: of units, in axes that may be wider then."""
        from bokeh.models import BoxZoomTool

        self._points, self._coloring, self._whole, self._aspect = points, coloring, extent, aspect
        for tool in self.figure.select(BoxZoomTool):
            tool.match_aspect = aspect is not None
        self._show_whole()

    def _show_whole(self) -> None:
        extent = self._whole if self._aspect is None else widened(self._whole, self._size, self._aspect)
        self.figure.x_range.update(start=extent[0], end=extent[1])
        self.figure.y_range.update(start=extent[2], end=extent[3])
        self._paint(extent)

    def _resized(self, size: tuple[int, int]) -> None:
        """Draw as many pixels across and up as the browser reports."""
        self._size = (max(size[0], 1), max(size[1], 1))
        if self._aspect is None:
            self._paint(self._extent)
        else:
            self._show_whole()

    def _paint(self, extent: Extent) -> None:
        self._extent = left, right, bottom, top = extent
        picture = rasterize(self._points, extent, self._coloring, self._size)
        self._image.data = {"image": [picture], "x": [left], "y": [bottom], "dw": [right - left], "dh": [top - bottom]}


class Embedding(PointPicture):
    """One component against another."""

    def __init__(self) -> None:
        super().__init__(560, 460, tools="pan,wheel_zoom,box_zoom,reset", active_scroll="wheel_zoom")

    def draw(self, view: View, coloring: Coloring, equal: bool = False) -> None:
        """Show the embedding of a view, with equal scales or filling the figure."""
        settings, shares = view.settings, view.shares
        self.figure.xaxis.axis_label = _axis(settings.across, shares)
        self.figure.yaxis.axis_label = _axis(settings.up, shares)
        self.show(view.scores, coloring, view.extent, 1.0 if equal else None)


class Contours(PointPicture):
    """One component as contour lines over a plane through the data."""

    def __init__(self, which: int) -> None:
        from bokeh.models import ColumnDataSource

        super().__init__(480, 370, opacity=0.6, tools="")
        self._which = which
        self._lines = ColumnDataSource({"xs": [], "ys": [], "width": [], "dash": []})
        self.figure.multi_line(
            "xs", "ys", source=self._lines, line_width="width", line_dash="dash", color="#b3261e", alpha=0.85
        )

    def draw(self, view: View, coloring: Coloring, equal: bool = False) -> None:
        """Show the contours of a view, with equal scales or filling the figure."""
        plane = view.plane
        number = (view.settings.across, view.settings.up)[self._which]
        self.figure.title.text = f"component {number}"
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = plane.names
        self._lines.data = contour_lines(plane.across, plane.up, plane.heights[self._which])
        self.show(plane.points, coloring, extent_of(plane.points, margin=0.12), plane.aspect if equal else None)


class Spectrum:
    """Explained variance ratios, with their intervals; the components of the embedding are highlighted."""

    def __init__(self) -> None:
        from bokeh.models import ColumnDataSource, Range1d

        names = {"y_axis_label": "explained variance (%)", "x_axis_label": "component"}
        self.figure = _figure(400, 460, tools="", x_range=Range1d(0, 1), y_range=Range1d(0, 1), **names)
        self._bars = ColumnDataSource({"number": [], "share": [], "lower": [], "upper": [], "color": []})
        self.figure.vbar("number", 0.75, "share", source=self._bars, color="color")
        self.figure.segment("number", "lower", "number", "upper", source=self._bars, color=_INK, line_width=1.5)
        self.figure.xgrid.visible = False

    def draw(self, view: View) -> None:
        """Show the spectrum of a view."""
        number = np.arange(1, len(view.shares) + 1)
        shown = (view.settings.across, view.settings.up)
        self.figure.title.text = f"{100 * view.shares.sum():.3g} % in {len(number)} components"
        self.figure.x_range.update(start=0.4, end=len(number) + 0.6)
        self.figure.y_range.update(start=0, end=105 * max(float(view.upper.max()), 1e-6))
        self.figure.xaxis.ticker = number.tolist() if len(number) <= 12 else number[::2].tolist()
        self._bars.data = {
            "number": number,
            "share": 100 * view.shares,
            "lower": 100 * view.lower,
            "upper": 100 * view.upper,
            "color": [_CHOSEN if j in shown else _BAR for j in number],
        }


def contour_lines(across: Array, up: Array, heights: Array, count: int = 10) -> dict[str, list[Any]]:
    """Lines of equal height: negative ones dashed, zero thick.

    Parameters
    ----------
    across, up : ndarray of shape (r,)
    heights : ndarray of shape (r, r)
    count : int
        About how many lines.

    Returns
    -------
    dict
        Coordinates ``xs`` and ``ys`` of each line, its ``width`` and its ``dash``.
    """
    from contourpy import contour_generator

    lines: dict[str, list[Any]] = {"xs": [], "ys": [], "width": [], "dash": []}
    low, high = float(heights.min()), float(heights.max())
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        return lines
    generator = contour_generator(x=across, y=up, z=heights)
    step = (high - low) / count
    for level in step * np.arange(np.ceil(low / step), np.floor(high / step) + 1):
        for line in generator.lines(level):
            lines["xs"].append(line[:, 0].tolist())
            lines["ys"].append(line[:, 1].tolist())
            lines["width"].append(2.2 if level == 0 else 1.0)
            lines["dash"].append("dashed" if level < 0 else "solid")
    return lines


def _figure(width: int, height: int, **settings: Any) -> Any:
    """A figure that fills its row, or a fraction of it proportional to `width`, but has at least `width` / 2 pixels."""
    from bokeh.plotting import figure

    room = {"min_width": width // 2, "sizing_mode": "stretch_width", "styles": {"flex": f"{width} 1 0"}}
    made = figure(height=height, **room, toolbar_location="above" if settings.get("tools") else None, **settings)
    made.toolbar.logo = None
    made.title.text_color = made.axis.axis_label_text_color = _INK
    made.axis.axis_label_text_font_style = "normal"
    made.axis.major_label_text_color = _SOFT
    made.axis.axis_line_color = made.axis.major_tick_line_color = "#c3cad3"
    made.axis.minor_tick_line_color = None
    made.grid.grid_line_color = "#eef1f4"
    made.outline_line_color = None
    return made


def _axis(number: int, shares: Array) -> str:
    return f"component {number} ({100 * shares[number - 1]:.2g} %)"
