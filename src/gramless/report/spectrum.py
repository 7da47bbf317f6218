"""The spectrum with what is proved of it, and the variance explained."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.plots import share_bounds
from gramless.report.figures import BLUE, INK, ORANGE, SAND, panels, require_plotly


def spectrum_figure(model: Any) -> Any:
    """Eigenvalues in their intervals; beside them how wide the intervals are, and how far components may be turned."""
    go = require_plotly()
    certificate = model.certificate_
    values = np.asarray(certificate.values, dtype=float)
    number = np.arange(1, len(values) + 1)
    titles = ("eigenvalues in their intervals", "what is proved of each")
    figure = panels(1, 2, subplot_titles=titles, horizontal_spacing=0.11)
    texts = [
        f"component {j}<br>eigenvalue {value:.8g}<br>at least {low:.8g}<br>at most {high:.8g}<br>{kind}"
        for j, value, low, high, kind in zip(
            number, values, certificate.lower, certificate.upper, certificate.kind, strict=True
        )
    ]
    errors = {
        "type": "data",
        "symmetric": False,
        "array": np.maximum(certificate.upper - values, 0),
        "arrayminus": np.maximum(values - certificate.lower, 0),
        "thickness": 1.6,
        "width": 5,
    }
    marker = {"size": 8, "color": INK}
    figure.add_trace(
        go.Scatter(
            x=number,
            y=values,
            mode="markers",
            error_y=errors,
            marker=marker,
            hovertext=texts,
            hoverinfo="text",
            showlegend=False,
        ),
        1,
        1,
    )
    for name, measure, color, symbol, dash in (
        ("width / eigenvalue", certificate.width, BLUE, "circle", "solid"),
        (
            "angle (radians)",
            np.where(certificate.angle < np.pi / 2, certificate.angle, np.nan),
            ORANGE,
            "square",
            "dot",
        ),
    ):
        shown = np.where(np.isfinite(measure) & (measure > 0), measure, np.nan)
        line, marker = {"color": color, "dash": dash}, {"symbol": symbol, "size": 7, "color": color}
        figure.add_trace(
            go.Scatter(x=number, y=shown, mode="lines+markers", name=name, line=line, marker=marker, showlegend=True),
            1,
            2,
        )
    if (values > 0).all():
        figure.update_yaxes(type="log", dtick="D2", row=1, col=1)
    figure.update_yaxes(type="log", dtick=1, exponentformat="power", row=1, col=2)
    figure.update_xaxes(title_text="component")
    figure.update_layout(height=420, showlegend=True, legend={"x": 0.58, "y": 0.98, "bgcolor": "rgba(255,255,255,.7)"})
    return figure


def variance_figure(model: Any) -> Any:
    """Share of each component as a bar, of all so far as a line with its certified band."""
    go = require_plotly()
    shares, lower, upper = (100 * part for part in share_bounds(model))
    number = np.arange(1, len(shares) + 1)
    total, low, high = np.cumsum(shares), np.cumsum(lower), np.minimum(np.cumsum(upper), 100.0)
    figure = panels(1, 1)
    figure.add_trace(
        go.Bar(x=number, y=shares, name="each", marker={"color": SAND}, hovertemplate="%{y:.3g} %<extra></extra>")
    )
    band = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    figure.add_trace(go.Scatter(x=number, y=low, **band))
    figure.add_trace(go.Scatter(x=number, y=high, fill="tonexty", fillcolor="rgba(0,114,178,.18)", **band))
    figure.add_trace(
        go.Scatter(
            x=number,
            y=total,
            name="all so far",
            mode="lines+markers",
            line={"color": BLUE},
            marker={"size": 7},
            hovertemplate="components 1 to %{x}: %{y:.4g} %<extra></extra>",
        )
    )
    figure.update_xaxes(title_text="component")
    figure.update_yaxes(title_text="variance explained (%)", range=[0, 103])
    figure.update_layout(height=380, showlegend=True, legend={"x": 0.02, "y": 0.98}, margin={"t": 16})
    return figure
