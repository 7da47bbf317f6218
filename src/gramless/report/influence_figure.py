"""The influence of input columns, as bars or, where rows are images, as an image."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.report.figures import BLUE, panels, require_plotly, shortened

_MOST = 30


def influence_figure(influence: Array, names: tuple[str, ...], shape: tuple[int, int] | None) -> Any:
    """One bar for each of the 30 most influential columns, or one pixel for each column."""
    go = require_plotly()
    figure = panels(1, 1)
    if shape is not None:
        image = shortened(influence.reshape(shape))
        template = "row %{y}, column %{x}: %{z:.3g}<extra></extra>"
        bar = {"title": {"text": "influence"}, "thickness": 12}
        figure.add_trace(go.Heatmap(z=image, colorscale="Cividis", hovertemplate=template, colorbar=bar))
        figure.update_yaxes(autorange="reversed", scaleanchor="x", constrain="domain", showgrid=False)
        figure.update_xaxes(constrain="domain", showgrid=False)
        figure.update_layout(height=420, margin={"t": 16})
        return figure
    order = np.argsort(-influence, kind="stable")[:_MOST][::-1]
    texts = [escape(names[j]) for j in order]
    places = np.arange(len(order))
    template = "%{text}: %{x:.3g}<extra></extra>"
    figure.add_trace(
        go.Bar(
            x=shortened(influence[order]),
            y=places,
            orientation="h",
            text=texts,
            textposition="none",
            marker={"color": BLUE},
            hovertemplate=template,
        )
    )
    figure.update_xaxes(title_text="influence (fraction of the scores' variance)", rangemode="tozero")
    figure.update_yaxes(tickvals=places, ticktext=texts, showgrid=False, automargin=True)
    figure.update_layout(height=round(110 + 24 * len(order)), margin={"t": 16})
    return figure
