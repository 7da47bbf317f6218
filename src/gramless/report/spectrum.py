"""The spectrum with its certified bounds, and the variance explained."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.plots import share_bounds
from gramless.report.figures import BLUE, INK, ORANGE, SAND, panels, require_plotly


def spectrum_figure(model: Any) -> Any:
    """Eigenvalues with their intervals; next to them the widths of the intervals and the bounds on angles."""
    certificate = model.certificate_
    titles = ("eigenvalues with their intervals", "certified accuracy")
    figure = panels(1, 2, subplot_titles=titles, horizontal_spacing=0.11)
    figure.add_trace(_eigenvalues(certificate), 1, 1)
    angle = np.where(certificate.angle < np.pi / 2, certificate.angle, np.nan)
    figure.add_trace(_measure("width / eigenvalue", certificate.width, BLUE, "circle", "solid"), 1, 2)
    figure.add_trace(_measure("angle (radians)", angle, ORANGE, "square", "dot"), 1, 2)
    if (certificate.values > 0).all():
        figure.update_yaxes(type="log", **_magnitudes(certificate.values), row=1, col=1)
    figure.update_yaxes(type="log", dtick=1, exponentformat="power", row=1, col=2)
    figure.update_xaxes(**_numbers(len(certificate.values)))
    figure.update_layout(height=420, showlegend=True, legend={"x": 0.58, "y": 0.98, "bgcolor": "rgba(255,255,255,.7)"})
    return figure


def _numbers(k: int) -> dict[str, Any]:
    """An axis of `k` components: whole numbers, not more of them than can be read, and no component 0."""
    steps = (step * 10**power for power in range(9) for step in (1, 2, 5))
    step = 1 if k <= 20 else next(step for step in steps if k <= 12 * step)
    return {"title_text": "component", "tick0": 0, "dtick": step, "range": [0.4, k + 0.6]}


def _magnitudes(values: Any) -> dict[str, Any]:
    """Ticks of a logarithmic axis: 1, 2, 5, 10, 20, written out; powers of ten where there are many.

    Plotly would write 2 and 5 for 20 and 50.
    """
    if values.max() > 1000 * values.min():
        return {"dtick": 1, "exponentformat": "power"}
    return {"dtick": "D2", "tickformat": "~g"}


def _eigenvalues(certificate: Any) -> Any:
    """Points with error bars; the mouse over a point shows its interval."""
    values, lower, upper = certificate.values, certificate.lower, certificate.upper
    texts = [
        f"component {j}<br>eigenvalue {value:.8g}<br>at least {low:.8g}<br>at most {high:.8g}<br>{kind}"
        for j, (value, low, high, kind) in enumerate(zip(values, lower, upper, certificate.kind, strict=True), start=1)
    ]
    errors = {
        "type": "data",
        "symmetric": False,
        "array": np.maximum(upper - values, 0),
        "arrayminus": np.maximum(values - lower, 0),
        "thickness": 1.6,
        "width": 5,
    }
    return require_plotly().Scatter(
        x=np.arange(1, len(values) + 1),
        y=values,
        mode="markers",
        error_y=errors,
        marker={"size": 8, "color": INK},
        hovertext=texts,
        hoverinfo="text",
        showlegend=False,
    )


def _measure(name: str, measure: Any, color: str, symbol: str, dash: str) -> Any:
    """A curve of the positive, finite values of `measure`."""
    return require_plotly().Scatter(
        x=np.arange(1, len(measure) + 1),
        y=np.where(np.isfinite(measure) & (measure > 0), measure, np.nan),
        mode="lines+markers",
        name=name,
        line={"color": color, "dash": dash},
        marker={"symbol": symbol, "size": 7, "color": color},
    )


def variance_figure(model: Any) -> Any:
    """Explained variance ratio of each component as a bar, cumulative as a line with its certified band."""
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
            name="cumulative",
            mode="lines+markers",
            line={"color": BLUE},
            marker={"size": 7},
            hovertemplate="components 1 to %{x}: %{y:.4g} %<extra></extra>",
        )
    )
    figure.update_xaxes(**_numbers(len(shares)))
    figure.update_yaxes(title_text="explained variance (%)", range=[0, 103])
    legend = {"x": 0.98, "xanchor": "right", "y": 0.5}  # where neither the first bars nor the line's rise are
    figure.update_layout(height=380, showlegend=True, legend=legend, margin={"t": 16})
    return figure
