"""Rows that are images, and their reconstructions from the components."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.report.figures import panels, require_plotly, shortened
from gramless.report.sample import Sample

_SHOWN = 10


def reconstructions(model: Any, sample: Sample) -> dict[str, Array]:
    """Some rows, and their reconstructions from a quarter of the components and from all of them."""
    rows = _of_every_label(sample)
    k = len(model.eigenvalues_)
    found = {"given": rows}
    if k >= 8:
        found[f"k = {k // 4}"] = model.truncate(k // 4).denoise(rows)
    found[f"k = {k}"] = model.denoise(rows)
    return found


def gallery_figure(galleries: dict[str, Array], shape: tuple[int, int]) -> Any:
    """Galleries one above the other, each a strip of images on one grey scale."""
    go = require_plotly()
    height, width = shape
    count = len(next(iter(galleries.values())))
    first = galleries["given"]
    figure = panels(len(galleries), 1, vertical_spacing=0.03)
    for row, (name, images) in enumerate(galleries.items(), start=1):
        strip = np.full((height, count * (width + 1) - 1), np.nan)
        for j, image in enumerate(images):
            strip[:, j * (width + 1) : j * (width + 1) + width] = image.reshape(shape)
        figure.add_trace(
            go.Heatmap(
                z=shortened(strip),
                colorscale="Greys",
                zmin=float(first.min()),
                zmax=float(first.max()),
                showscale=False,
                hoverongaps=False,
                hovertemplate="%{z:.3g}<extra></extra>",
            ),
            row,
            1,
        )
        figure.update_yaxes(
            title_text=name, autorange="reversed", scaleanchor=f"x{row if row > 1 else ''}", row=row, col=1
        )
    hidden = {"showticklabels": False, "ticks": "", "showgrid": False, "showline": False}
    figure.update_xaxes(**hidden, constrain="domain")
    figure.update_yaxes(**hidden)
    strip_height = 980 * height / (count * (width + 1))
    figure.update_layout(height=round(40 + len(galleries) * (strip_height + 14)), margin={"t": 12, "b": 12})
    return figure


def _of_every_label(sample: Sample) -> Array:
    """Ten rows, of as many different labels as there are."""
    if sample.coloring.kind != "classes":
        return sample.first(_SHOWN).rows
    codes = sample.coloring.values
    turn = np.zeros(len(codes), dtype=int)  # number of rows with the same label before each row
    for code in range(codes.max() + 1):
        members = np.flatnonzero(codes == code)
        turn[members] = np.arange(len(members))
    chosen = np.lexsort((codes, turn))[:_SHOWN]
    rows: Array = sample.rows[chosen]
    return rows
