"""The page: controls on the left, plots on the right."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import escape
from typing import Any

import numpy as np

from gramless.bandwidth import CRITERIA
from gramless.explorer.figures import Contours, Embedding, Spectrum
from gramless.explorer.latest import LatestOnly
from gramless.explorer.settings import FAMILIES, Settings
from gramless.explorer.view import View
from gramless.explorer.workbench import Workbench
from gramless.plots import Coloring
from gramless.plots.coloring import DENSITY, MISSING, SCALE
from gramless.plots.contours import one_scale, unit_aspect

OCTAVES = 4.0  #: the range of the slider below and above the median distance
_WIDE = {"sizing_mode": "stretch_width"}
# On narrow screens rows are wrapped; Panel gives a row the sum of the widths that its parts need at least.
_NARROW = "@media (max-width: 760px) {{ :host {{ flex-wrap: wrap; min-width: {} !important; }} }}"
_ROW, _MAIN = _NARROW.format("0"), _NARROW.format("340px")
_EQUAL = ("Equal scales in the embedding", "Equal scales in the contours")
_STYLE = """
body { background: #fff; color: #1d2733; }
h1 { margin: 0; font-size: 1.35rem; color: #00224e; letter-spacing: -.01em; }
"""


class Page:
    """One visitor's page.

    Parameters
    ----------
    workbench : Workbench
    """

    def __init__(self, workbench: Workbench) -> None:
        import panel

        self.workbench = workbench
        self._controls(panel)
        self.embedding, self.spectrum = Embedding(), Spectrum()
        self.contours = (Contours(0), Contours(1))
        self.status = panel.pane.HTML("<p style='margin:0'>loading &hellip;</p>", margin=(14, 10, 4, 10), **_WIDE)
        self.legend = panel.pane.HTML("", **_WIDE)
        self.code = panel.pane.HTML("", width=290)
        self._document = panel.state.curdoc
        self._latest = LatestOnly(self._answers, self._deliver)
        panel.state.onload(self.refresh)  # a page drawn before it is sent loads style sheets from another server

    def _controls(self, panel: Any) -> None:
        table, bench = self.workbench.table, self.workbench
        most, widgets = bench.most_components, panel.widgets
        numbers = list(range(1, min(6, most) + 1))
        self.family = _widget(widgets.Select, label="Kernel", options=list(FAMILIES))
        ends = dict(start=-OCTAVES, end=OCTAVES, step=0.125)
        self.width = _widget(
            widgets.FloatSlider, label="Bandwidth", value=0.0, show_value=False, tooltips=False, **ends
        )
        self.reading = panel.pane.HTML("", margin=(0, 10))
        self.suggest = panel.Row(*(self._suggestion(widgets, name) for name in CRITERIA), margin=(0, 8))
        self.degree = _widget(widgets.IntSlider, label="Degree", start=1, end=6, value=2, visible=False)
        self.count = _widget(widgets.IntSlider, label="Components", start=1, end=most, value=min(6, most))
        self.across = _widget(widgets.Select, label="x axis", options=numbers, value=1, width=125)
        self.up = _widget(widgets.Select, label="y axis", options=numbers, value=min(2, most), width=125)
        self.standardize = widgets.CheckBoxGroup(options=["Standardize the columns"])  # its labels belong to the boxes
        plain = len(table.names) == 2 and one_scale(table.values, unit_aspect(table.values, table.names))
        self.equal = widgets.CheckBoxGroup(options=list(_EQUAL), value=[_EQUAL[1]] if plain else [])
        colors = ["density"] if table.labels is None else ["label", "density"]
        self.color = _widget(widgets.Select, label="Color", options=[*colors, *table.names[:50]])
        for control in (self.family, self.width, self.degree, self.across, self.up, self.standardize):
            control.param.watch(self._changed, "value")
        self.count.param.watch(self._recounted, "value")
        for control in (self.color, self.equal):
            control.param.watch(lambda event: self._redraw(), "value")

    def _suggestion(self, widgets: Any, criterion: str) -> Any:
        """A button that sets the bandwidth by a criterion."""

        def choose(event: Any) -> None:
            try:
                octaves = self.workbench.suggest(self.settings, criterion)
            except Exception as error:  # any error: the page shows it, as it does for views
                self.draw(error)
                return
            self.width.value = float(np.clip(round(8 * octaves) / 8, -OCTAVES, OCTAVES))

        wide = 9 * len(criterion) + 14
        button = _widget(widgets.Button, label=criterion, variant="outline", width=wide, margin=(0, 2))
        button.on_click(choose)
        return button

    @property
    def settings(self) -> Settings:
        """The settings of the controls."""
        return Settings(
            family=self.family.value,
            octaves=float(self.width.value),
            degree=int(self.degree.value),
            k=int(self.count.value),
            across=int(self.across.value),
            up=int(self.up.value),
            standardize=bool(self.standardize.value),
        )

    def refresh(self) -> None:
        """Ask for a view of the present settings."""
        self._latest.ask(self.settings)

    def _answers(self, settings: Settings) -> Iterator[View]:
        if self.workbench.has_draft:
            yield self.workbench.view(settings, draft=True)
        yield self.workbench.view(settings)

    def _deliver(self, answer: View | Exception) -> None:
        if self._document is None:
            self.draw(answer)
        else:  # the only way to change a document from another thread
            self._document.add_next_tick_callback(partial(self.draw, answer))

    def draw(self, answer: View | Exception) -> None:
        """Show a view, or the error."""
        if isinstance(answer, Exception):
            self.status.object = f"<p role='alert' style='color:#b3261e'>{escape(str(answer))}</p>"
            return
        self._view = answer
        times = 2.0**answer.settings.octaves
        self.reading.object = f"<b>{escape(_width(answer))}</b> ({times:.3g} &times; the median)<br>Choose by"
        note = " &middot; <em>preview on a sample; all rows follow</em>" if answer.draft else ""
        self.status.object = f"<p id='summary' style='margin:0'>{escape(answer.summary)}{note}</p>"
        self.code.object = f"<pre id='code' style='{_CODE}'>{escape(answer.code)}</pre>"
        self._redraw()
        self.spectrum.draw(answer)

    def _redraw(self) -> None:
        view: View | None = self.__dict__.get("_view")
        if view is None:
            return
        coloring = self._coloring(view)
        self.embedding.draw(view, coloring, _EQUAL[0] in self.equal.value)
        for contours in self.contours:
            contours.draw(view, coloring, _EQUAL[1] in self.equal.value)
        self.legend.object = f"<div id='legend'>{_legend(coloring)}</div>"

    def _coloring(self, view: View) -> Coloring:
        chosen, table = self.color.value, self.workbench.table
        if chosen == "density":
            return Coloring()
        every = table.coloring if chosen == "label" else table.column(chosen)
        return every.take(self.workbench.numbers(view.draft))

    def _changed(self, event: Any) -> None:
        slider = FAMILIES[self.family.value].slider
        self.width.visible = self.reading.visible = self.suggest.visible = slider == "width"
        self.degree.visible = slider == "degree"
        self.refresh()

    def _recounted(self, event: Any) -> None:
        numbers = list(range(1, int(self.count.value) + 1))
        for control in (self.across, self.up):
            control.value = min(control.value, numbers[-1])
            control.options = numbers
        self.refresh()

    def layout(self) -> Any:
        """The layout of the whole page."""
        import panel

        table = self.workbench.table
        kept = "" if table.seen == len(table.values) else f" of {table.seen:,}"
        title = panel.pane.HTML(
            f"<h1>gramless explorer</h1><p style='margin:.3rem 0 1rem;color:#5b6775'>{escape(table.title)}: "
            f"{len(table.values):,}{kept} rows, {table.values.shape[1]} columns</p>"
        )
        side = panel.Column(
            *(title, self.family, self.width, self.reading, self.suggest, self.degree, self.count),
            *(panel.Row(self.across, self.up), self.standardize, self.color, self.equal, self.code),
            width=310,
        )
        top = panel.Row(self.embedding.figure, self.spectrum.figure, stylesheets=[_ROW], **_WIDE)
        below = panel.Row(*(one.figure for one in self.contours), stylesheets=[_ROW], **_WIDE)
        main = panel.Column(self.status, top, self.legend, below, margin=(0, 0, 0, 10), stylesheets=[_MAIN], **_WIDE)
        return panel.Row(side, main, stylesheets=[_STYLE, _ROW], **_WIDE)


_BEFORE = {"label": "name", "variant": "button_style"}  # the only names before Panel 1.9; removed in 2.0


def _widget(kind: Any, **settings: Any) -> Any:
    """A widget with its settings, by the names that the installed version of Panel has for them."""
    return kind(**{word if word in kind.param else _BEFORE.get(word, word): value for word, value in settings.items()})


def _width(view: View) -> str:
    """Name and value of the kernel's bandwidth, if it has one."""
    names = [name for name in ("sigma", "lengthscale") if hasattr(view.kernel, name)]
    return f"{names[0]} = {getattr(view.kernel, names[0]):g}" if names else ""


_CODE = "background:#f4f6f8;padding:.7rem;border-radius:4px;font-size:.72rem;white-space:pre-wrap"


def _legend(coloring: Coloring) -> str:
    if coloring.kind == "classes":
        return "".join(_chip(style.color, style.name) for style in coloring.classes)
    if coloring.kind == "none":
        return _bar(DENSITY, "few rows", "many")
    low, high = (f"{end:.4g}" for end in coloring.span)
    return _bar(SCALE, low, high) + (_chip(MISSING, "missing") if np.isnan(coloring.values).any() else "")


def _bar(colors: tuple[str, ...], low: str, high: str) -> str:
    bar = f"display:inline-block;width:8rem;height:.7rem;background:linear-gradient(to right, {', '.join(colors)})"
    return f"<span>{escape(low)} <span style='{bar}'></span> {escape(high)}</span>"


def _chip(color: str, name: str) -> str:
    chip = f"display:inline-block;width:.7rem;height:.7rem;margin:0 .3rem 0 .8rem;border-radius:2px;background:{color}"
    return f"<span style='{chip}'></span>{escape(name)}"
