"""``gramless report``, ``gramless explore`` and ``gramless demo``: HTML pages and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gramless.cli import options


def report(
    context: typer.Context,
    model: options.Model,
    data: options.Data,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The page: .html")] = Path(
        "report.html"
    ),
    label: options.Label = None,
    columns: options.Columns = None,
    key: options.Key = None,
    missing: options.Missing = "refuse",
    shape: Annotated[
        str | None, typer.Option(metavar="HxW", help="Rows are images of this height and width, as 16x16.")
    ] = None,
    points: Annotated[int, typer.Option(min=10, help="Rows at most that are drawn.")] = 4000,
    title: Annotated[str | None, typer.Option(help="Above the page.")] = None,
    as_json: options.Json = False,
) -> None:
    """Write what MODEL found in DATA to one HTML file that opens without a network."""
    from gramless.cli.columns import warn_of_dominant
    from gramless.cli.failures import UnusableFileError
    from gramless.cli.files import check_folder, labels_beside, load_model, open_rows_of
    from gramless.cli.progress import fit_bar
    from gramless.cli.settings import read_shape
    from gramless.cli.telling import pairs, tell
    from gramless.report import write_report

    check_folder(output)
    if output.suffix.lower() not in (".html", ".htm"):
        raise UnusableFileError(f"{output}: a report is a page; pass -o {output.stem}.html")
    fitted = load_model(model, "KernelPCA", data)
    source = open_rows_of(fitted, data, columns, key, label, missing)
    if not fitted.scale_input:
        warn_of_dominant(source, source.feature_names, "fit again with --exclude {column}, or --scale")
    labels = labels_beside(data, label, source)
    with fit_bar(context.obj["quiet"]):
        write_report(
            fitted,
            source,
            output,
            labels=labels,
            label=label or "label",
            title=title or f"Kernel PCA of {data.name}",
            shape=read_shape(shape),
            points=points,
        )
    size = output.stat().st_size
    tell({"output": str(output), "bytes": size}, as_json, pairs([("written to", f"{output} ({size / 1e6:.1f} MB)")]))


def explore(
    data: options.Data,
    label: options.Label = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    key: options.Key = None,
    missing: options.Missing = "refuse",
    port: Annotated[int, typer.Option(help="Of the page; 0: one that is free.")] = 0,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Open a browser, or only serve.")] = True,
) -> None:
    """Serve a page, to this machine only, on which the width of the kernel is moved and the picture follows."""
    from contextlib import suppress

    from gramless.cli.files import labels_beside, open_rows
    from gramless.explorer import serve

    source = open_rows(data, columns, label, key, exclude, missing)
    labels = labels_beside(data, label, source)
    with suppress(KeyboardInterrupt):  # Ctrl-C is how users stop the server
        serve(source, port, show=show, labels=labels)


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="Where figures and page go.")] = Path(
        "demo"
    ),
    rows: Annotated[int, typer.Option(min=100, help="Rows of the comparison with scikit-learn.")] = 5000,
) -> None:
    """Kernel PCA beside PCA on an annulus and on digits: figures, timings, a certificate, a page."""
    from gramless.demo import run

    run(output, rows=rows)
