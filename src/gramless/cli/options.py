"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="Data: .csv, .tsv (also .gz), .parquet, .npy or a folder of these; .npz, .h5, .zarr"
    ),
]
Scores = Annotated[Path, typer.Argument(metavar="SCORES", help="Scores, as written by transform.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file written by fit (.gramless).")]
ModelOut = Annotated[Path, typer.Option("-o", "--output", metavar="MODEL", help="Output model file (.gramless).")]
TableOut = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE", help="Output file: .csv, .parquet, .npy or .npz.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")]
Columns = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Columns to use, by name or 0-based index. Default: all.")
]
Exclude = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Columns to drop, such as row indices, by name or index.")
]
Scale = Annotated[
    bool, typer.Option("--scale", help="Standardize columns to zero mean and unit variance; stored in the model.")
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column of class labels, not used as input; in .npz files the name of an array."
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Pass-through columns, numbers or strings, written before the results."),
]
Kernel = Annotated[
    str,
    typer.Option(
        "--kernel", help="gaussian (or rbf), linear, polynomial, laplacian, matern, cosine, tanh or epanechnikov."
    ),
]
Sigma = Annotated[
    str,
    typer.Option(
        metavar="BANDWIDTH", help="Kernel bandwidth: a number, auto or median (heuristic), scale, preimage or gap."
    ),
]
Gamma = Annotated[
    float | None,
    typer.Option(help="Instead of --sigma: gaussian exp(-gamma |x-y|^2), laplacian; scales x.y: polynomial, tanh."),
]
Degree = Annotated[float, typer.Option(help="Degree of the polynomial kernel.")]
Coef0 = Annotated[float, typer.Option(help="Constant term of the polynomial and tanh kernels.")]
Nu = Annotated[float, typer.Option(help="Smoothness of the Matern kernel: 0.5, 1.5 or 2.5.")]
Components = Annotated[
    str,
    typer.Option("-k", "--components", metavar="K", help="Number; below 1: fraction of variance to explain; or all."),
]
Method = Annotated[str, typer.Option(help="Method; auto: the cheapest one that is applicable, see gramless plan.")]
Tolerance = Annotated[
    float, typer.Option("--tol", help="Residual tolerance, relative to the largest eigenvalue; 0: 1e-10.")
]
Memory = Annotated[
    str | None,
    typer.Option("--memory", metavar="SIZE", help="Memory limit of a fit, in addition to the data, e.g. 2GB."),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        "--time-limit",
        metavar="TIME",
        help="Time limit of a fit, e.g. 90s or 5min: the most accurate result within it.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed, for reproducible results.")]
Preimage = Annotated[str, typer.Option("--by", help="Pre-image method: auto, ridge, fixed_point or distances.")]
Json = Annotated[bool, typer.Option("--json", help="Print the output as one JSON object.")]
