"""``gramless update`` and ``gramless merge``: rows added to a model, and models joined."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramless.cli import options
from gramless.cli.reading import Reading, reads_tables

if TYPE_CHECKING:
    from gramless.cli.files import Target


@reads_tables
def update(
    context: typer.Context,
    model: options.Model,
    data: options.Data,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="MODEL", help="Output file; by default MODEL is updated in place."),
    ] = None,
    force: options.Force = False,
    batch: Annotated[int, typer.Option(min=1, help="Number of rows per batch.")] = 10_000,
    columns: options.Columns = None,
    as_json: options.Json = False,
    *,
    reading: Reading,
) -> None:
    """Update MODEL incrementally with the rows of DATA (online learning): the result is the model of all rows."""
    from gramless.cli.files import Target, gap_rows, gaps, load_model, model_target, open_rows_of
    from gramless.cli.progress import rows_bar

    if output is None or (output.exists() and model.exists() and output.samefile(model)):
        target = Target(model, replaced=True)
    else:
        target = model_target(output, data, force=force)
    fitted = load_model(model, "KernelPCA", data)
    source = open_rows_of(fitted, data, reading, columns)
    names = getattr(fitted, "feature_names_in_", None)
    done = 0
    with warnings.catch_warnings(), rows_bar("update", context.obj["quiet"]) as bar:
        warnings.filterwarnings("ignore", message="X does not have valid feature names")  # open_rows_of compared them
        for block in source.blocks(batch):
            fitted.partial_fit(block)
            done += block.shape[0]
            bar.advance(done, source.n_rows)
    if names is not None:
        fitted.feature_names_in_ = names
    _save(fitted, target, as_json, {"rows_added": done, **gaps(source)}, gap_rows(source))


def merge(
    models: Annotated[list[Path], typer.Argument(metavar="A B ...", help="Two or more models with the same kernel.")],
    output: options.ModelOut,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Merge models that were fitted separately: the result is the model of all their rows."""
    from gramless.cli.files import load_model, model_target

    target = model_target(output, *models, force=force)
    if len(models) < 2:
        raise ValueError("merge needs at least two models; pass two or more files")
    merged = load_model(models[0], "KernelPCA")
    for path in models[1:]:
        other = load_model(path, "KernelPCA")
        ours, theirs = merged.plan_.problem.kernel, other.plan_.problem.kernel
        if ours != theirs and type(ours) is type(theirs) and hasattr(ours, "sigma"):
            raise ValueError(f"kernels differ: {ours} and {theirs}; fit {path} again with --sigma {ours.sigma!r}")
        merged = merged.merge(other)
    _save(merged, target, as_json, {"models": [str(path) for path in models]})


def _save(
    model: Any, target: Target, as_json: bool, more: dict[str, Any], rows: Sequence[tuple[str, str]] = ()
) -> None:
    from gramless.cli.telling import pairs, tell
    from gramless.estimators.summary import facts, summary_rows

    rows = [*summary_rows(model), *rows]  # computes the model of a stream, so that an error leaves the file as it was
    model.save(target.path)
    tell({**facts(model), **more, **target.facts}, as_json, pairs([*rows, target.row]))
