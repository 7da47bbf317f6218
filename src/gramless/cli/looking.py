"""``gramless inspect``: the contents of a model file."""

from __future__ import annotations

from typing import Annotated

import typer

from gramless.cli import options


def inspect(
    model: options.Model,
    plan: Annotated[bool, typer.Option("--plan", help="Also show the plan of the fit.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify all checksums, also those of arrays of 8 MiB and more.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Show the kernel, method, components, explained variance and certificate of MODEL."""
    from gramless.cli.files import load_model
    from gramless.cli.reading import option_words
    from gramless.cli.telling import pairs, tell
    from gramless.estimators.summary import facts, summary_rows
    from gramless.report.tables import certificate_table, compression_table, plan_table

    fitted = load_model(model, mmap=not verify)
    names = getattr(fitted, "feature_names_in_", None)
    told = facts(fitted)
    rows = [(name, told["kernel"] if name == "kernel" else text) for name, text in summary_rows(fitted)]  # all digits
    if "explained_variance_ratio" in told:
        shares = [f"{100 * share:.3g} %" for share in told["explained_variance_ratio"]]
        rows.append(("variance of each", ", ".join(shares[:20]) + (", ..." if len(shares) > 20 else "")))
    if names is not None:
        told["column_names"] = [str(name) for name in names]
        shown = [name or "(no name)" for name in told["column_names"][:12]]
        rows.append(("column names", ", ".join(shown) + (", ..." if len(names) > 12 else "")))
    fills = getattr(fitted, "fill_values_", None)
    if fills is not None:
        told["fill_values"] = fills.tolist()
        listed = ", ".join(f"{value:.4g}" for value in fills[:12]) + (", ..." if len(fills) > 12 else "")
        rows.append(("filled in", f"{listed} for missing values"))
    read = getattr(fitted, "read_options_", None)
    if read is not None:
        told["read_options"] = {"decimal": read.decimal, "thousands": read.thousands, "na_values": list(read.na_values)}
        listed = option_words({name: value for name, value in told["read_options"].items() if value})
        told["read_options"]["kinds"] = list(read.kinds)
        rows += [("CSV files", f"are read with {listed}")] if listed else []
    tables = []
    if hasattr(fitted, "certificate_"):
        tables.append(certificate_table(fitted.certificate_).drawn())
    if hasattr(fitted, "compression_"):
        tables.append(compression_table(fitted.compression_).drawn())
    if plan and hasattr(fitted, "plan_"):
        tables.append(plan_table(fitted.plan_).drawn())
    tell(told, as_json, pairs(rows), *tables)
