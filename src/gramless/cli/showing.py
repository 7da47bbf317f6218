"""``gramless report``, ``gramless explore`` and ``gramless demo``: HTML pages and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gramless.cli import options
from gramless.cli.reading import Reading, reads_tables


@reads_tables
def report(
    context: typer.Context,
    model: options.Model,
    data: options.Data,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Output file (.html).")] = Path(
        "report.html"
    ),
    force: options.Force = False,
    label: options.Label = None,
    columns: options.Columns = None,
    shape: Annotated[
        str | None, typer.Option(metavar="HxW", help="Rows are images of this height and width, e.g. 16x16.")
    ] = None,
    points: Annotated[int, typer.Option(min=10, help="Maximum number of rows plotted.")] = 4000,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    as_json: options.Json = False,
    *,
    reading: Reading,
) -> None:
    """Write a report on MODEL and DATA as one self-contained HTML file, which needs no network."""
    from gramless.cli.columns import warn_of_dominant
    from gramless.cli.files import labels_beside, load_model, open_rows_of, page_target
    from gramless.cli.progress import fit_bar
    from gramless.cli.settings import read_shape
    from gramless.cli.telling import pairs, tell
    from gramless.report import write_report

    target = page_target(output, model, data, force=force)
    fitted = load_model(model, "KernelPCA", data)
    source = open_rows_of(fitted, data, reading, columns, label)
    if not fitted.scale_input:
        warn_of_dominant(source, source.feature_names, "fit again with --exclude {column}, or --scale")
    labels = labels_beside(data, label, source, reading)
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
    tell({**target.facts, "bytes": size}, as_json, pairs([target.row, ("size", f"{size / 1e6:.1f} MB")]))


@reads_tables
def explore(
    data: options.Data,
    label: options.Label = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    port: Annotated[int, typer.Option(help="Port of the server; 0: any free port.")] = 0,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Open a browser, or only start the server.")] = True,
    *,
    reading: Reading,
) -> None:
    """Serve a page on localhost with a slider for the bandwidth, which updates the plot interactively."""
    from contextlib import suppress

    from gramless.cli.files import labels_beside, open_rows
    from gramless.explorer import serve

    source = open_rows(data, reading, columns, label, exclude)
    labels = labels_beside(data, label, source, reading)
    with suppress(KeyboardInterrupt):  # Ctrl-C is how users stop the server
        serve(source, port, show=show, labels=labels)


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="Output folder.")] = Path("demo"),
    force: options.Force = False,
) -> None:
    """What gramless is for, live on this machine and in under a minute.

    The same call on a thousand points to a million, beside scikit-learn; a real table; a file larger than the memory
    limit; a stream that drifts. Eight lines, and a page.
    """
    from gramless.cli.failures import UnusableFileError
    from gramless.demo import FILES, run

    there = [str(output / name) for name in FILES if (output / name).exists()]
    if there and not force:
        raise UnusableFileError(f"{there[0]} exists; pass --force to replace it, or another folder as -o")
    run(output)
