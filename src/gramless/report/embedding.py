"""The data of the embedding, which the script embedding.js draws."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.plots import Coloring, component_title
from gramless.plots.coloring import DENSE, DENSITY, MISSING, SCALE
from gramless.report.figures import CONFIG, shortened
from gramless.report.page import figure_html, read_asset
from gramless.report.sample import Sample

_COMPONENTS, _COLUMNS = 8, 24

_CHOICES = """<div class="choices">
<label>x axis <select id="across"></select></label>
<label>y axis <select id="up"></select></label>
<label>color <select id="colour"></select></label>
<label><input type="checkbox" id="equal"> equal scales</label>
</div>
"""


def embedding_html(model: Any, sample: Sample, scores: Array) -> str:
    """Two figures, in the plane and in space, with the choice of components and colours above them."""
    told = json.dumps(_payload(model, sample, scores), allow_nan=False, separators=(",", ":"))
    drawn = f"{len(sample.rows):,} of {sample.total:,} rows" if len(sample.rows) < sample.total else "every row"
    if len(sample.rows) > DENSE:
        point = f"Each square stands for the rows at its place ({drawn}), the darker or larger the more there are"
        point += "; a label's colour is that of the most frequent class or of the mean. Closer up, each point is a row."
    else:
        point = f"Each point is a row ({drawn}): point at it to see which."
    plane = figure_html(
        _CHOICES + '<div id="embedding-2d" class="plot"></div>',
        f"{point} Click in the legend to hide a class, double-click to isolate it; drag to zoom, double-click to "
        "reset.",
    )
    space = ""
    if scores.shape[1] > 2:
        space = figure_html(
            '<div id="embedding-3d" class="plot"></div>',
            "The first three components. Drag to rotate, scroll to zoom.",
        )
    data = f'<script type="application/json" id="embedding-data">{_safe(told)}</script>'
    return f"{plane}\n{space}\n{data}\n<script>\n{read_asset('embedding.js')}</script>"


def _payload(model: Any, sample: Sample, scores: Array) -> dict[str, Any]:
    shown = min(scores.shape[1], _COMPONENTS)
    most_varied = np.argsort(-sample.rows.var(axis=0), kind="stable")[:_COLUMNS]
    columns = [{"name": sample.names[j], "values": shortened(sample.rows[:, j])} for j in sorted(most_varied)]
    coloring = sample.coloring
    if coloring.kind == "continuous":
        columns.insert(0, {"name": coloring.title, "values": shortened(coloring.values)})
    return {
        "scores": [shortened(scores[:, j]) for j in range(shown)],
        "titles": [component_title(model, j + 1) for j in range(shown)],
        "rows": sample.numbers.tolist(),
        "classes": _classes(coloring) if coloring.kind == "classes" else None,
        "columns": columns,
        "continuous": coloring.kind == "continuous",
        "config": CONFIG,
        "scale": SCALE,
        "density": DENSITY,
        "missing": MISSING,
        "dense": DENSE,
    }


def _classes(coloring: Coloring) -> dict[str, Any]:
    return {
        "title": coloring.title,
        "names": [style.name for style in coloring.classes],
        "colors": [style.color for style in coloring.classes],
        "markers": [style.marker for style in coloring.classes],
        "grey": [style.grey for style in coloring.classes],
        "codes": coloring.values.tolist(),
    }


def _safe(told: str) -> str:
    """JSON escaped so that no string in it can end the script element around it."""
    return told.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
