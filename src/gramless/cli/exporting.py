"""``gramless export``: a model file as an ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gramless.cli import options


def export(
    model: options.Model,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Output file (.onnx).")],
    force: options.Force = False,
    dtype: Annotated[
        str, typer.Option("--dtype", help="Precision of the file, its input and its results: float64 or float32.")
    ] = "float64",
    as_json: options.Json = False,
) -> None:
    """Write MODEL as an ONNX file, which runs without gramless, and compare its results with those of MODEL."""
    from gramless.cli.files import load_model, onnx_target
    from gramless.cli.telling import pairs, tell
    from gramless.errors import ExportError

    target = onnx_target(output, model, force=force)
    fitted = load_model(model)
    if not hasattr(fitted, "to_onnx"):
        raise ExportError(f"{model} contains a {type(fitted).__name__}, which cannot be written to ONNX")
    agreement = fitted.to_onnx(output, dtype=dtype)
    size = output.stat().st_size
    told = {"dtype": dtype, **agreement.facts(), "bytes": size, **target.facts}
    rows = [("results", str(agreement)), ("size", f"{size / 1e6:.3g} MB"), target.row]
    tell(told, as_json, pairs(rows))
