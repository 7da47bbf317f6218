"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="Rows: .csv .tsv (.gz too) .parquet .npy or a folder of such; .npz .h5 .zarr"),
]
Scores = Annotated[Path, typer.Argument(metavar="SCORES", help="Components, as transform wrote them.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by fit: .gramless")]
ModelOut = Annotated[Path, typer.Option("-o", "--output", metavar="MODEL", help="Where the model goes: .gramless")]
TableOut = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE", help="Where rows go: .csv .parquet .npy .npz")
]
Columns = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Columns to use, by name or by number from 0. All by default.")
]
Exclude = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Columns not to use, such as numbers of rows, by name or number.")
]
Scale = Annotated[
    bool, typer.Option("--scale", help="Centre columns and divide them by their deviation; the model keeps both.")
]
Label = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="A column of classes, not used as input; in .npz files the name of an array."),
]
Key = Annotated[
    str | None, typer.Option(metavar="NAME", help="Which array holds the rows, where a file has several tables.")
]
Keep = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Columns of DATA, texts too, to write before the results.")
]
Missing = Annotated[
    str, typer.Option(metavar="WHAT", help="Rows that have a value missing: refuse, or drop to leave them out.")
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
        metavar="WIDTH", help="Width of the kernel: a number, auto or median (distance), scale, preimage, gap."
    ),
]
Gamma = Annotated[
    float | None,
    typer.Option(help="Instead of --sigma: gaussian exp(-gamma |x-y|^2), laplacian; factor of x.y: polynomial, tanh."),
]
Degree = Annotated[float, typer.Option(help="Of the polynomial kernel.")]
Coef0 = Annotated[float, typer.Option(help="Constant of the polynomial and tanh kernels.")]
Nu = Annotated[float, typer.Option(help="Smoothness of the Matern kernel: 0.5, 1.5 or 2.5.")]
Components = Annotated[
    str, typer.Option("-k", "--components", metavar="K", help="How many; below 1: the share of variance; or all.")
]
Method = Annotated[str, typer.Option(help="How to work; auto: the cheapest that serves, see gramless plan.")]
Tolerance = Annotated[float, typer.Option("--tol", help="Residual wanted, of the largest eigenvalue; 0: 1e-10.")]
Memory = Annotated[
    str | None, typer.Option("--memory", metavar="SIZE", help="What a fit may take on top of the data, as 2GB.")
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        "--time-limit", metavar="TIME", help="What a fit may take, as 90s or 5min: the best answer within it."
    ),
]
Seed = Annotated[int, typer.Option(help="Same seed, same result.")]
Preimage = Annotated[str, typer.Option("--by", help="How pre-images are found: auto, ridge, fixed_point or distances.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
