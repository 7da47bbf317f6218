"""``gramless transform``, ``inverse`` and ``denoise``: a model applied to rows, block by block."""

from __future__ import annotations

from typing import Any

import typer

from gramless.cli import options


def transform(
    context: typer.Context,
    model: options.Model,
    data: options.Data,
    output: options.TableOut,
    columns: options.Columns = None,
    key: options.Key = None,
    keep: options.Keep = None,
    missing: options.Missing = "refuse",
    as_json: options.Json = False,
) -> None:
    """Project the rows of DATA on the components of MODEL."""
    from gramless.cli.files import check_table_path, columns_beside, load_model, open_rows_of

    check_table_path(output)
    fitted = load_model(model, data=data)
    if not hasattr(fitted, "transform"):
        raise ValueError(f"{type(fitted).__name__} has no transform")
    source = open_rows_of(fitted, data, columns, key, missing=missing)
    beside = columns_beside(data, keep, source)
    _write(context, source, output, list(fitted.get_feature_names_out()), fitted.transform, as_json, beside)


def inverse(
    context: typer.Context,
    model: options.Model,
    scores: options.Scores,
    output: options.TableOut,
    by: options.Preimage = "auto",
    key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Find inputs whose components are SCORES, as transform wrote them."""
    from gramless.cli.failures import UnusableFileError
    from gramless.cli.files import check_table_path, load_model, open_rows
    from gramless.cli.settings import read_preimage
    from gramless.data import column_names

    check_table_path(output)
    fitted = load_model(model, "KernelPCA", scores)
    names = list(fitted.get_feature_names_out())
    named = set(names) <= set(column_names(scores) or ())  # transform --keep writes further columns
    source = open_rows(scores, ",".join(names) if named else None, key=key)
    if source.n_features != len(fitted.eigenvalues_):
        raise UnusableFileError(
            f"{scores} has {source.n_features} columns, the model {len(fitted.eigenvalues_)} components; pass what "
            "transform wrote"
        )
    method = read_preimage(by, fitted)
    _write(context, source, output, _inputs(fitted), lambda x: fitted.inverse_transform(x, method=method), as_json)


def denoise(
    context: typer.Context,
    model: options.Model,
    data: options.Data,
    output: options.TableOut,
    by: options.Preimage = "auto",
    columns: options.Columns = None,
    key: options.Key = None,
    missing: options.Missing = "refuse",
    as_json: options.Json = False,
) -> None:
    """Keep of the rows of DATA what the components of MODEL hold: project, and come back."""
    from gramless.cli.files import check_table_path, load_model, open_rows_of
    from gramless.cli.settings import read_preimage

    check_table_path(output)
    fitted = load_model(model, "KernelPCA", data)
    source = open_rows_of(fitted, data, columns, key, missing=missing)
    method = read_preimage(by, fitted)
    _write(context, source, output, _inputs(fitted), lambda x: fitted.denoise(x, method=method), as_json)


def _inputs(model: Any) -> list[str]:
    """Names of the input columns."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j + 1}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def _write(
    context: typer.Context,
    source: Any,
    output: Any,
    names: list[str],
    apply: Any,
    as_json: bool,
    beside: dict[str, Any] | None = None,
) -> None:
    from gramless.cli.files import write_blocks
    from gramless.cli.progress import rows_bar
    from gramless.cli.telling import pairs, tell

    quiet = context.obj["quiet"]
    bars = rows_bar(context.info_name or "", quiet)
    rows = write_blocks(source, output, names, apply, bars, source.dtype, beside)
    names = [*(beside or {}), *names]
    told = {"rows": rows, "columns": names, "output": str(output)}
    tell(told, as_json, pairs([("rows", f"{rows:,}"), ("columns", str(len(names))), ("written to", str(output))]))
