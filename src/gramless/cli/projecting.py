"""``gramless transform``, ``inverse`` and ``denoise``: a model applied to rows, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from gramless.cli import options
from gramless.cli.reading import Reading, reads_tables

if TYPE_CHECKING:
    from gramless.cli.files import Target


@reads_tables
def transform(
    context: typer.Context,
    model: options.Model,
    data: options.Data,
    output: options.TableOut,
    force: options.Force = False,
    columns: options.Columns = None,
    keep: options.Keep = None,
    as_json: options.Json = False,
    *,
    reading: Reading,
) -> None:
    """Project the rows of DATA onto the components of MODEL."""
    from gramless.cli.files import columns_beside, load_model, open_rows_of, table_target

    target = table_target(output, model, data, force=force)
    fitted = load_model(model, data=data)
    if not hasattr(fitted, "transform"):
        raise ValueError(f"{type(fitted).__name__} has no transform")
    source = open_rows_of(fitted, data, reading, columns)
    beside = columns_beside(data, keep, source, reading)
    _write(context, source, target, list(fitted.get_feature_names_out()), fitted.transform, as_json, beside)


@reads_tables
def inverse(
    context: typer.Context,
    model: options.Model,
    scores: options.Scores,
    output: options.TableOut,
    force: options.Force = False,
    by: options.Preimage = "auto",
    keep: options.Keep = None,
    as_json: options.Json = False,
    *,
    reading: Reading,
) -> None:
    """Compute the pre-images (approximate inverse transform) of SCORES, as written by transform."""
    from gramless.cli.failures import UnusableFileError
    from gramless.cli.files import columns_beside, load_model, open_rows, table_target
    from gramless.cli.settings import read_preimage
    from gramless.data import ReadOptions, column_names

    target = table_target(output, model, scores, force=force)
    fitted = load_model(model, "KernelPCA", scores)
    names = list(fitted.get_feature_names_out())
    there = column_names(scores, ReadOptions.of(reading.options))
    lacking = [] if there is None else [name for name in names if name not in there]
    if lacking:
        raise UnusableFileError(
            f"{scores} lacks the scores {', '.join(lacking[:5])}{', ...' if len(lacking) > 5 else ''}; pass the output "
            "of transform"
        )
    source = open_rows(scores, reading, None if there is None else ",".join(names))  # not the columns of --keep
    if source.n_features != len(fitted.eigenvalues_):
        raise UnusableFileError(
            f"{scores} has {source.n_features} columns, but the model has {len(fitted.eigenvalues_)} components; pass "
            "the "
            "output of transform"
        )
    method = read_preimage(by)
    beside = columns_beside(scores, keep, source, reading)
    _write(
        context, source, target, _inputs(fitted), lambda x: fitted.inverse_transform(x, method=method), as_json, beside
    )


@reads_tables
def denoise(
    context: typer.Context,
    model: options.Model,
    data: options.Data,
    output: options.TableOut,
    force: options.Force = False,
    by: options.Preimage = "auto",
    columns: options.Columns = None,
    keep: options.Keep = None,
    as_json: options.Json = False,
    *,
    reading: Reading,
) -> None:
    """Denoise the rows of DATA: project them onto the components of MODEL and compute the pre-images."""
    from gramless.cli.files import columns_beside, load_model, open_rows_of, table_target
    from gramless.cli.settings import read_preimage

    target = table_target(output, model, data, force=force)
    fitted = load_model(model, "KernelPCA", data)
    source = open_rows_of(fitted, data, reading, columns)
    method = read_preimage(by)
    beside = columns_beside(data, keep, source, reading)
    _write(context, source, target, _inputs(fitted), lambda x: fitted.denoise(x, method=method), as_json, beside)


def _inputs(model: Any) -> list[str]:
    """Names of the input columns."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j + 1}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def _write(
    context: typer.Context,
    source: Any,
    target: Target,
    names: list[str],
    apply: Any,
    as_json: bool,
    beside: dict[str, Any] | None = None,
) -> None:
    from gramless.cli.files import gap_rows, gaps, write_blocks
    from gramless.cli.progress import rows_bar
    from gramless.cli.telling import pairs, tell

    quiet = context.obj["quiet"]
    bars = rows_bar(context.info_name or "", quiet)
    rows = write_blocks(source, target.path, names, apply, bars, source.dtype, beside)
    names = [*(beside or {}), *names]
    told = {"rows": rows, **gaps(source), "columns": names, **target.facts}
    listed = [("rows", f"{rows:,}"), *gap_rows(source), ("columns", str(len(names))), target.row]
    tell(told, as_json, pairs(listed))
