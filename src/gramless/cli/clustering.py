"""``gramless cluster``: kernel k-means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gramless.cli import options


def cluster(
    context: typer.Context,
    data: options.Data,
    output: options.TableOut,
    clusters: Annotated[int, typer.Option("-k", "--clusters", min=1, help="How many.")] = 8,
    kernel: options.Kernel = "gaussian",
    sigma: options.Sigma = "auto",
    gamma: options.Gamma = None,
    degree: options.Degree = 3.0,
    coef0: options.Coef0 = 1.0,
    nu: options.Nu = 1.5,
    starts: Annotated[int, typer.Option(min=1, help="Starts, of which the best is kept.")] = 10,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    scale: options.Scale = False,
    label: options.Label = None,
    key: options.Key = None,
    keep: options.Keep = None,
    missing: options.Missing = "refuse",
    method: options.Method = "auto",
    memory: options.Memory = None,
    seed: options.Seed = 0,
    model_output: Annotated[
        Path | None, typer.Option("--model", metavar="MODEL", help="Where the model goes, too: .gramless")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Divide the rows of DATA into clusters by kernel k-means, and write the number of each row's cluster."""
    import numpy as np

    from gramless.cli.columns import warn_of_dominant
    from gramless.cli.files import check_model_path, check_table_path, columns_beside, open_rows
    from gramless.cli.progress import fit_bar
    from gramless.cli.settings import KernelWords
    from gramless.cli.telling import pairs, tell
    from gramless.data import open_writer
    from gramless.estimators import KernelKMeans
    from gramless.estimators.summary import facts, summary_rows

    check_table_path(output)
    if model_output is not None:
        check_model_path(model_output)
    quiet = context.obj["quiet"]
    source = open_rows(data, columns, label, key, exclude, missing)
    beside = columns_beside(data, keep, source)
    settings = KernelWords(kernel, sigma, gamma, degree, coef0, nu).parameters(source, scaled=scale)
    settings |= {"n_init": starts, "method": method, "memory_limit": memory, "random_state": seed}
    model = KernelKMeans(clusters, scale_input=scale, **settings)
    if not scale:
        warn_of_dominant(source, source.feature_names, "leave it out with --exclude {column}, or --scale")
    with fit_bar(quiet):
        model.fit(source)
    if model_output is not None:
        model.save(model_output)
    with open_writer(output, ["cluster"], np.int64, beside) as writer:
        writer.write(model.labels_[:, None])
    sizes = np.bincount(model.labels_, minlength=clusters).tolist()
    told = {**facts(model), "sizes": sizes, "output": str(output)}
    listed = ", ".join(f"{size:,}" for size in sizes)
    tell(told, as_json, pairs([*summary_rows(model), ("sizes", listed), ("written to", str(output))]))
