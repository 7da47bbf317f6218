"""Components over the plane, for data of two columns (Raykar & Ankur, figures 1 and 2)."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from gramless.plots import ClassStyle, component_heights, component_title
from gramless.plots.contours import one_scale, unit_aspect
from gramless.report.figures import panels, plot_html, require_plotly, shortened
from gramless.report.page import read_asset
from gramless.report.sample import Sample

_MOST, _POINTS, _GRID = 9, 500, 80
_PALE = [[0.0, "#b5a3bd"], [0.25, "#a6b6cc"], [0.5, "#a4cdcb"], [0.75, "#b5e2b8"], [1.0, "#fcf3a3"]]
_CHOICE = """<div class="choices">
<label><input type="checkbox" id="contour-equal"> equal scales</label>
</div>
"""


def contours_html(model: Any, sample: Sample) -> str:
    """The figure, and above it the choice of equal scales."""
    plot = plot_html(contour_figure(model, sample), "contour-plot")
    return f"{_CHOICE}{plot}\n<script>\n{read_asset('contours.js')}</script>"


def contour_figure(model: Any, sample: Sample) -> Any:
    """A panel for each of the leading components, which contours.js arranges; the line of value 0 is thick."""
    go = require_plotly()
    points = _points(sample.first(_POINTS))
    grid = component_heights(model, sample.rows, _GRID)
    count = min(grid.heights.shape[2], _MOST)
    figure = panels(1, count, subplot_titles=[component_title(model, j + 1) for j in range(count)])
    for j in range(count):
        place = {"row": 1, "col": j + 1}
        heights = shortened(grid.heights[:, :, j])
        where = {"x": shortened(grid.across), "y": shortened(grid.up), "z": heights, "showscale": False}
        soft = {"colorscale": _PALE, "ncontours": 14, "line": {"width": 0.7, "color": "#4a5560"}}
        template = "x %{x:.4g}<br>y %{y:.4g}<br>component %{z:.4g}<extra></extra>"
        figure.add_trace(go.Contour(**where, **soft, hovertemplate=template), **place)
        if np.ptp(grid.heights[:, :, j]) > 0:
            zero = {"start": 0, "end": 0, "size": 1, "coloring": "none"}
            line = {"width": 2.6, "color": "#1d2733"}
            figure.add_trace(go.Contour(**where, contours=zero, line=line, hoverinfo="skip"), **place)
        for trace in points:
            figure.add_trace(trace, **place)
    aspect = unit_aspect(sample.rows, sample.names)
    shape = aspect * float(np.ptp(grid.up) / np.ptp(grid.across))
    names, equal = [escape(name) for name in sample.names], one_scale(sample.rows, aspect)
    figure.update_layout(meta={"aspect": aspect, "shape": shape, "equal": equal, "names": names})
    figure.update_xaxes(showgrid=False, constrain="domain", range=[grid.across[0], grid.across[-1]])
    figure.update_yaxes(showgrid=False, constrain="domain", range=[grid.up[0], grid.up[-1]])
    return figure


def _points(sample: Sample) -> list[Any]:
    """The rows, those of a class in its colour and with its marker; one trace for each class that is there."""
    go = require_plotly()
    coloring = sample.coloring
    styles = coloring.classes or (ClassStyle("rows", "#000", "circle"),)
    codes = coloring.values if coloring.classes else np.zeros(len(sample.rows))
    traces = []
    for j, style in reversed(list(enumerate(styles))):  # grey ones first, below all others
        x, y = (shortened(sample.rows[codes == j, axis]) for axis in (0, 1))
        edge = {"width": 1.0 if style.marker.endswith("-open") else 0.5, "color": "#fff"}
        marker = {"size": 4.5 if coloring.classes else 3.2, "color": style.color, "symbol": style.marker, "line": edge}
        if x:
            name = escape(style.name)
            traces.append(go.Scatter(x=x, y=y, name=name, mode="markers", marker=marker, hoverinfo="skip"))
    return traces
