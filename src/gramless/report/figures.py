"""Figures by Plotly: their common style, and their HTML."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array

FONT = {"family": 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif', "color": "#1d2733"}
INK, BLUE, ORANGE, SAND, GRID = "#00224e", "#0072B2", "#D55E00", "#d8d2bb", "#eef1f4"
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "form-action 'none'; base-uri 'none'"
)
#: No logo, and no button that would send the data of a chart to somebody's server.
CONFIG: dict[str, Any] = {
    "responsive": True,
    "displaylogo": False,
    "modeBarButtonsToRemove": ["sendChartToCloud", "sendDataToCloud", "lasso2d", "select2d"],
}


def require_plotly() -> Any:
    """``plotly.graph_objects``, or an error that says how to get it."""
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise ImportError(
            'reports need plotly, which is not installed; in the folder of gramless, run: pip install ".[plot]"'
        ) from error
    return go


def plotly_script() -> str:
    """Plotly's script, to be embedded in the page, and a policy that lets the page load nothing from outside."""
    from plotly.offline import get_plotlyjs

    return f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<script>{get_plotlyjs()}</script>\n'


def panels(rows: int, columns: int, **settings: Any) -> Any:
    """An empty figure of several panels, in the common style."""
    require_plotly()
    from plotly.subplots import make_subplots

    figure = make_subplots(rows, columns, **settings)
    figure.update_layout(
        font=FONT,
        plot_bgcolor="#fff",
        paper_bgcolor="#fff",
        margin={"l": 64, "r": 16, "t": 48, "b": 56},
        showlegend=False,
    )
    figure.update_xaxes(gridcolor=GRID, zeroline=False, linecolor="#aab3bd", ticks="outside", tickcolor="#aab3bd")
    figure.update_yaxes(gridcolor=GRID, zeroline=False, linecolor="#aab3bd", ticks="outside", tickcolor="#aab3bd")
    return figure


def plot_html(figure: Any, name: str) -> str:
    """A figure as a part of a page that has Plotly's script; `name` is its id."""
    import plotly.io

    html: str = plotly.io.to_html(
        figure, full_html=False, include_plotlyjs=False, config=CONFIG, div_id=name, default_width="100%"
    )
    return html


def shortened(values: Any) -> Any:
    """Numbers rounded to a millionth of the largest, which keeps the page small; None for NaN.

    Examples
    --------
    >>> shortened([1234.56789, 0.0123456, float("nan")])
    [1234.568, 0.012, None]
    """
    array: Array = np.asarray(values, dtype=float)
    known = ~np.isnan(array)
    largest = float(np.abs(array[known]).max(initial=0.0))
    if largest > 0 and np.isfinite(largest):
        array = np.round(array, 6 - int(np.floor(np.log10(largest))))
    listed = array.astype(object)
    listed[~known] = None
    return listed.tolist()
