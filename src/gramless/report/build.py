"""A fitted model and its data as one HTML file."""

from __future__ import annotations

import warnings
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from gramless._version import __version__
from gramless.arrays import Array
from gramless.errors import PreimageWarning
from gramless.estimators.summary import certified, summary_rows
from gramless.persistence.outputs import check_output
from gramless.persistence.replacing import replacing
from gramless.plots import image_shape
from gramless.report.compression import compression_figure
from gramless.report.contours import contours_html
from gramless.report.embedding import embedding_html
from gramless.report.figures import plot_html, plotly_script, require_plotly
from gramless.report.images import gallery_figure, reconstructions
from gramless.report.influence import column_influence
from gramless.report.influence_figure import influence_figure
from gramless.report.page import Section, figure_html, html_page
from gramless.report.sample import Sample, draw_sample
from gramless.report.spectrum import spectrum_figure, variance_figure
from gramless.report.tables import certificate_table, compression_table, plan_table


def write_report(
    model: Any,
    X: Any,
    path: Any,
    *,
    labels: Any = None,
    label: str = "label",
    title: str = "Kernel PCA report",
    shape: tuple[int, int] | None = None,
    points: int = 4000,
) -> Path:
    """Write the results of a model on its data to one self-contained HTML file.

    Parameters
    ----------
    model : KernelPCA
        Fitted.
    X : array, data frame, path, or anything :func:`gramless.open_source` takes
        The rows to show, of the columns that the model was fitted to. They are read once, in blocks.
    path : str or Path
        An ``.html`` file, written atomically.
    labels : array-like of shape (n_samples,), optional
        Classes, or a continuous quantity, to colour by; :class:`gramless.plots.EmbeddingDisplay` says how these are
        distinguished. Classes have one colour and one marker in all figures; missing labels are grey.
    label : str
        What the labels are called.
    title : str
    shape : pair of int, optional
        Height and width where rows are images; by default rows are images if 16 or more pixels make a square and the
        columns have no names.
    points : int
        Maximum number of rows on the page; of more rows a random sample is shown. Above 20,000: density.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from gramless import KernelPCA
    >>> from gramless.datasets import annulus
    >>> from gramless.report import write_report
    >>> X = annulus(200, rng=0)
    >>> kpca = KernelPCA(4, kernel="rbf", gamma=1.0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(kpca, X, f"{folder}/report.html")
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path}: a report is an HTML file; pass a path that ends in .html")
    check_output(path, X)
    page = build_report(model, X, labels=labels, label=label, title=title, shape=shape, points=points)
    target = Path(path)
    with replacing(target) as file:
        file.write(page.encode("utf-8"))
    return target


def build_report(
    model: Any,
    X: Any,
    *,
    labels: Any = None,
    label: str = "label",
    title: str = "Kernel PCA report",
    shape: tuple[int, int] | None = None,
    points: int = 4000,
) -> str:
    """The page that :func:`write_report` writes."""
    require_plotly()
    if not hasattr(model, "certificate_"):
        raise ValueError(f"a report needs a fitted KernelPCA, not {type(model).__name__}")
    sample = draw_sample(X, labels, label=label, count=points)
    _refuse_other_columns(model, sample)
    pictures = _picture_shape(model, sample, shape)
    with warnings.catch_warnings():  # the names of the columns have been compared already
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        sections = _sections(model, sample, pictures)
    links = "".join(f'<a href="#{section.name}">{escape(section.title)}</a>' for section in sections)
    tiles = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text).replace('(', '(<wbr>')}</dd></div>"
        for name, text in summary_rows(model)
        if name not in ("model", "certificate")
    )
    return html_page(
        title=title,
        lead=f"{sample.total:,} rows of {len(sample.names)} columns: kernel PCA.",
        sections=sections,
        footer=f"Made by gramless {escape(__version__)}. This file is self-contained and works offline.",
        top=f'<dl class="tiles">{tiles}</dl>\n<nav>{links}</nav>',
        head=plotly_script(),
    )


def _sections(model: Any, sample: Sample, pictures: tuple[int, int] | None) -> list[Section]:
    """The sections of the page, those that a reader looks at first at the top."""
    return [
        *_embedding_section(model, sample),
        *_contour_section(model, sample),
        *_image_section(model, sample, pictures),
        _spectrum_section(model),
        *_influence_section(model, sample, pictures),
        _plan_section(model),
        _certificate_section(model),
        *_compression_section(model),
    ]


def _plan_section(model: Any) -> Section:
    text = f"{model.method_!r} was chosen. The cost of every method is estimated in advance; the cheapest one runs."
    return Section("plan", "Plan", (text,), plan_table(model.plan_).html())


def _spectrum_section(model: Any) -> Section:
    k, share = len(model.eigenvalues_), 100 * float(np.sum(model.explained_variance_ratio_))
    text = (
        f"{k} components explain {share:.4g} % of the exact total variance in feature space, which includes the "
        "discarded components.",
        f"Each eigenvalue of the exact centered kernel matrix lies in its interval: {certified(model.certificate_)}. "
        "Relative interval widths are shown on the right.",
    )
    body = figure_html(
        plot_html(spectrum_figure(model), "spectrum-plot"),
        "Left: eigenvalues of the centered kernel matrix, with the interval that contains the true one. Right: width "
        "of "
        "the interval relative to the eigenvalue, and the largest angle between computed and true component.",
    ) + figure_html(
        plot_html(variance_figure(model), "variance-plot"),
        "Explained variance of each component (bars) and cumulative (line, with its certified band).",
    )
    return Section("spectrum", "Spectrum and explained variance", text, body)


def _embedding_section(model: Any, sample: Sample) -> list[Section]:
    scores = _project(model, sample.rows)
    if scores.shape[1] < 2:
        return []
    return [Section("embedding", "Embedding", (), embedding_html(model, sample, scores))]


def _contour_section(model: Any, sample: Sample) -> list[Section]:
    if len(sample.names) != 2 or model.kernel == "precomputed":
        return []
    figure = figure_html(
        contours_html(model, sample),
        "Each panel shows the contour lines of one component over the plane, with the data on top; the "
        "thick line is zero. The percentage is the explained variance.",
    )
    return [Section("components", "Components over the data", (), figure)]


def _image_section(model: Any, sample: Sample, shape: tuple[int, int] | None) -> list[Section]:
    if shape is None or model.kernel == "precomputed":
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PreimageWarning)
            galleries = reconstructions(model, sample)
    except ValueError as error:  # a kernel without pre-images
        return [Section("images", "Images", (f"No images: {error}.",))]
    figure = figure_html(
        plot_html(gallery_figure(galleries, shape), "image-plot"),
        f"Rows as images of {shape[0]} x {shape[1]} pixels, and their reconstructions from k leading components: "
        "projections and their pre-images, the points whose images are nearest.",
    )
    return [Section("images", "Denoised images", (), figure)]


def _influence_section(model: Any, sample: Sample, shape: tuple[int, int] | None) -> list[Section]:
    if model.kernel == "precomputed":
        return []
    influence = column_influence(lambda rows: _project(model, rows), sample.rows)
    text = (
        "How much the scores change when one column of a row is taken from another row: half the mean squared "
        "change, as a fraction of their variance (Jansen's estimate of Sobol's total effect). Dependent columns "
        "share their influence, so the sum may exceed 1."
    )
    figure = plot_html(influence_figure(influence, sample.names, shape), "influence-plot")
    return [Section("influence", "Influence of the columns", (text,), f"<figure>{figure}</figure>")]


def _certificate_section(model: Any) -> Section:
    text = (
        "The j-th largest eigenvalue of the exact centered kernel matrix lies between the bounds of row j: "
        "the bounds are by rank."
    )
    return Section("certificate", "Certificate", (text,), certificate_table(model.certificate_).html())


def _compression_section(model: Any) -> list[Section]:
    found = getattr(model, "compression_", None)
    if found is None:
        return []
    text = f"{found.summary()}. The certificate is that of the original model."
    if not found.rows:
        return [Section("compression", "Compression", (found.note,))]
    figure = figure_html(
        plot_html(compression_figure(found), "compression-plot"),
        "Change of the worst output, relative to its scale, against the number of points: root mean square over rows "
        "used for the choice, and the proved bound on the change of any row.",
    )
    return [Section("compression", "Compression", (text,), figure + compression_table(found).html())]


def _project(model: Any, rows: Array) -> Array:
    return np.asarray(model.transform(rows), dtype=float)


def _refuse_other_columns(model: Any, sample: Sample) -> None:
    if len(sample.names) != model.n_features_in_:
        raise ValueError(
            f"the data have {len(sample.names)} columns, but the model was fitted to {model.n_features_in_}; select "
            "those"
        )
    known = getattr(model, "feature_names_in_", None)
    generic = tuple(f"x{j + 1}" for j in range(len(sample.names)))
    if known is not None and sample.names != generic and tuple(known) != sample.names:
        other = next(ours for ours, theirs in zip(sample.names, known, strict=True) if ours != theirs)
        raise ValueError(f"the column {other!r} is out of order: the model was fitted to {', '.join(known)}")


def _picture_shape(model: Any, sample: Sample, shape: tuple[int, int] | None) -> tuple[int, int] | None:
    """Height and width, if rows are images: as given, or square if the columns have no names."""
    named = hasattr(model, "feature_names_in_") or sample.names[0] != "x1"
    return None if shape is None and named else image_shape(len(sample.names), shape)
