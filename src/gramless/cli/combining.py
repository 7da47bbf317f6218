"""``gramless update`` and ``gramless merge``: rows added to a model, and models joined."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from gramless.cli import options


def update(
    context: typer.Context,
    model: options.Model,
    data: options.Data,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="MODEL", help="Where to; in place by default.")
    ] = None,
    batch: Annotated[int, typer.Option(min=1, help="Rows taken in at once.")] = 10_000,
    columns: options.Columns = None,
    key: options.Key = None,
    missing: options.Missing = "refuse",
    as_json: options.Json = False,
) -> None:
    """Take the rows of DATA into MODEL, which is then that of all rows it has seen."""
    from gramless.cli.files import check_model_path, load_model, open_rows_of
    from gramless.cli.progress import rows_bar

    target = check_model_path(model if output is None else output)
    fitted = load_model(model, "KernelPCA", data)
    source = open_rows_of(fitted, data, columns, key, missing=missing)
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
    _save(fitted, target, as_json, {"rows_added": done})


def merge(
    models: Annotated[list[Path], typer.Argument(metavar="A B ...", help="Models of one kernel, two or more.")],
    output: options.ModelOut,
    as_json: options.Json = False,
) -> None:
    """Add models fitted apart: the result is the model of all their rows."""
    from gramless.cli.files import check_model_path, load_model

    check_model_path(output)
    if len(models) < 2:
        raise ValueError("merge adds two models or more; pass at least two files")
    merged = load_model(models[0], "KernelPCA")
    for path in models[1:]:
        other = load_model(path, "KernelPCA")
        ours, theirs = merged.plan_.problem.kernel, other.plan_.problem.kernel
        if ours != theirs and type(ours) is type(theirs) and hasattr(ours, "sigma"):
            raise ValueError(f"kernels differ: {ours} and {theirs}; fit {path} again with --sigma {ours.sigma!r}")
        merged = merged.merge(other)
    _save(merged, output, as_json, {"models": [str(path) for path in models]})


def _save(model: Any, output: Path, as_json: bool, more: dict[str, Any]) -> None:
    from gramless.cli.telling import pairs, tell
    from gramless.estimators.summary import facts, summary_rows

    rows = summary_rows(model)  # computes the model of a stream, so that an error leaves the file as it was
    model.save(output)
    tell({**facts(model), **more, "output": str(output)}, as_json, pairs([*rows, ("written to", str(output))]))
