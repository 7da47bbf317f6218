"""``gramless compress``: a model on fewer points."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gramless.cli import options
from gramless.cli.reading import Reading, reads_tables


@reads_tables
def compress(
    model: options.Model,
    output: options.ModelOut,
    force: options.Force = False,
    tol: Annotated[
        float | None,
        typer.Option(help="Maximum RMS change of each output, relative to its standard deviation. Default: 1e-3."),
    ] = None,
    points: Annotated[int | None, typer.Option(min=1, help="Maximum number of points.")] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Maximum size of the output file, e.g. 10MB.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DATA", help="Rows to measure the change on. Default: held-back rows of the fit."),
    ] = None,
    columns: options.Columns = None,
    as_json: options.Json = False,
    *,
    reading: Reading,
) -> None:
    """Write a model on the fewest points that reproduce MODEL, with the change measured and a bound on it."""
    import warnings

    from gramless.cli.failures import UnusableFileError
    from gramless.cli.files import load_model, model_target, open_rows_of
    from gramless.cli.telling import pairs, tell
    from gramless.estimators.summary import facts, summary_rows
    from gramless.report.tables import compression_table

    target = model_target(output, model, data, force=force)
    fitted = load_model(model, None, data)
    if not hasattr(fitted, "compressed"):
        raise UnusableFileError(f"{model} contains a {type(fitted).__name__}, which has no points to compress")
    rows = None
    if data is not None:
        import numpy as np

        rows = np.concatenate(list(open_rows_of(fitted, data, reading, columns).blocks(10_000)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")  # open_rows_of compared them
        smaller = fitted.compressed(tol, n_points=points, memory=memory, X=rows)
    smaller.save(target.path)
    sizes = {"bytes_before": model.stat().st_size, "bytes": target.path.stat().st_size}
    size = f"{sizes['bytes_before'] / 1e6:.3g} MB before, {sizes['bytes'] / 1e6:.3g} MB now"
    table = compression_table(smaller.compression_).drawn()
    tell(
        {**facts(smaller), **sizes, **target.facts},
        as_json,
        table,
        pairs([*summary_rows(smaller), ("size", size), target.row]),
    )
