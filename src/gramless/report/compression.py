"""The change of a model against the number of its points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramless.report.figures import BLUE, INK, ORANGE, panels, require_plotly

if TYPE_CHECKING:
    from gramless.spaces import Compression


def compression_figure(compression: Compression) -> Any:
    """Measured change and bound for each number of points that was tried; a vertical line at the number chosen."""
    figure = panels(1, 1)
    for name, values, color, dash in (
        ("measured change", compression.curve_change, BLUE, "solid"),
        ("bound", compression.curve_bound, ORANGE, "dot"),
    ):
        figure.add_trace(
            require_plotly().Scatter(
                x=compression.curve_points,
                y=np.where(np.isfinite(values) & (values > 0), values, np.nan),
                mode="lines+markers",
                name=name,
                line={"color": color, "dash": dash},
                hovertemplate="%{x} points: %{y:.2e}<extra></extra>",
            )
        )
    if compression.tol is not None:
        figure.add_hline(y=compression.tol, line={"color": INK, "width": 1, "dash": "dash"})
    figure.add_vline(x=compression.points, line={"color": INK, "width": 1})
    figure.update_xaxes(type="log", title_text="points")
    figure.update_yaxes(type="log", title_text="change / scale", exponentformat="power")
    figure.update_layout(height=420, showlegend=True)
    return figure
