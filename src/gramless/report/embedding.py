"""The data of the embedding, which the script embedding.js draws."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.plots import component_title
from gramless.report.figures import CONFIG, FEW, MANY, shortened
from gramless.report.page import figure_html, read_asset
from gramless.report.sample import Sample

_COMPONENTS, _COLUMNS, _CLASSES = 8, 24, 30

_CHOICES = """<div class="choices">
<label>across <select id="across"></select></label>
<label>up <select id="up"></select></label>
<label>colour <select id="colour"></select></label>
</div>
"""


def embedding_html(model: Any, sample: Sample, scores: Array, label: str) -> str:
    """Two figures, in the plane and in space, with the choice of components and colours above them."""
    told = json.dumps(_payload(model, sample, scores, label), allow_nan=False, separators=(",", ":"))
    drawn = f"{len(sample.rows):,} of {sample.total:,} rows" if len(sample.rows) < sample.total else "every row"
    plane = figure_html(
        _CHOICES + '<div id="embedding-2d" class="plot"></div>',
        f"Each point is a row ({drawn}): point at it to see which. A click in the legend hides a class, a double click "
        "hides all others; drag to look closer, double-click to come back.",
    )
    space = ""
    if scores.shape[1] > 2:
        space = figure_html(
            '<div id="embedding-3d" class="plot"></div>',
            "The first three components. Drag to turn, scroll to come nearer.",
        )
    data = f'<script type="application/json" id="embedding-data">{_safe(told)}</script>'
    return f"{plane}\n{space}\n{data}\n<script>\n{read_asset('embedding.js')}</script>"


def _payload(model: Any, sample: Sample, scores: Array, label: str) -> dict[str, Any]:
    shown = min(scores.shape[1], _COMPONENTS)
    most_varied = np.argsort(-sample.rows.var(axis=0), kind="stable")[:_COLUMNS]
    columns = [{"name": sample.names[j], "values": shortened(sample.rows[:, j])} for j in sorted(most_varied)]
    classes, measured = _classes(sample.labels, label)
    return {
        "scores": [shortened(scores[:, j]) for j in range(shown)],
        "titles": [component_title(model, j + 1) for j in range(shown)],
        "rows": sample.numbers.tolist(),
        "classes": classes,
        "columns": measured + columns,
        "config": CONFIG,
        "palette": FEW if classes is None or len(classes["names"]) <= len(FEW) else MANY,
    }


def _classes(labels: Array | None, title: str) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Labels as classes; numbers with many different values become one more column to colour by."""
    if labels is None:
        return None, []
    names, codes = np.unique(labels, return_inverse=True)
    if len(names) > _CLASSES and np.issubdtype(labels.dtype, np.number):
        return None, [{"name": title, "values": shortened(labels)}]
    if len(names) > _CLASSES:  # the most frequent ones; the rest together
        frequent = np.argsort(-np.bincount(codes), kind="stable")[: _CLASSES - 1]
        place = np.full(len(names), _CLASSES - 1)
        place[frequent] = np.arange(len(frequent))
        texts = [*(str(names[j]) for j in frequent), f"{len(names) - len(frequent)} others"]
        return {"title": title, "names": texts, "codes": place[codes].tolist()}, []
    return {"title": title, "names": [str(name) for name in names], "codes": codes.tolist()}, []


def _safe(told: str) -> str:
    """JSON escaped so that no string in it can end the script element around it."""
    return told.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
