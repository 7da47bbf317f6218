"""Components over the plane, for data of two columns (Raykar & Ankur, figures 1 and 2)."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from gramless.plots import component_heights, component_title
from gramless.report.figures import panels, require_plotly, shortened
from gramless.report.sample import Sample

_PER_ROW, _MOST, _POINTS, _GRID = 3, 9, 500, 80
_PALE = [[0.0, "#b5a3bd"], [0.25, "#a6b6cc"], [0.5, "#a4cdcb"], [0.75, "#b5e2b8"], [1.0, "#fcf3a3"]]


def contour_figure(model: Any, sample: Sample) -> Any:
    """A panel for each of the leading components; the line of value 0 is thick."""
    go = require_plotly()
    points = sample.first(_POINTS).rows
    grid = component_heights(model, sample.rows, _GRID)
    count = min(grid.heights.shape[2], _MOST)
    columns = min(count, _PER_ROW)
    rows = -(-count // columns)
    titles = [component_title(model, j + 1) for j in range(count)]
    figure = panels(rows, columns, subplot_titles=titles, horizontal_spacing=0.05, vertical_spacing=0.26 / rows)
    for j in range(count):
        place = {"row": j // columns + 1, "col": j % columns + 1}
        heights = shortened(grid.heights[:, :, j])
        where = {"x": shortened(grid.across), "y": shortened(grid.up), "z": heights, "showscale": False}
        soft = {"colorscale": _PALE, "ncontours": 14, "line": {"width": 0.7, "color": "#4a5560"}}
        template = "x %{x:.4g}<br>y %{y:.4g}<br>component %{z:.4g}<extra></extra>"
        figure.add_trace(go.Contour(**where, **soft, hovertemplate=template), **place)
        if np.ptp(grid.heights[:, :, j]) > 0:
            zero = {"start": 0, "end": 0, "size": 1, "coloring": "none"}
            line = {"width": 2.6, "color": "#1d2733"}
            figure.add_trace(go.Contour(**where, contours=zero, line=line, hoverinfo="skip"), **place)
        marker = {"size": 3.2, "color": "#000", "line": {"width": 0.5, "color": "#fff"}}
        x, y = (shortened(points[:, axis]) for axis in (0, 1))
        figure.add_trace(go.Scatter(x=x, y=y, mode="markers", marker=marker, hoverinfo="skip"), **place)
    width = float(np.ptp(grid.across))
    figure.update_layout(height=round(70 + rows * (50 + 310 * min(1.6, np.ptp(grid.up) / width))))
    figure.update_xaxes(showgrid=False, range=[grid.across[0], grid.across[-1]])
    figure.update_yaxes(showgrid=False, range=[grid.up[0], grid.up[-1]])
    for column in range(columns):
        figure.update_xaxes(title_text=escape(sample.names[0]), row=rows, col=column + 1)
    for row in range(rows):
        figure.update_yaxes(title_text=escape(sample.names[1]), row=row + 1, col=1)
    return figure
