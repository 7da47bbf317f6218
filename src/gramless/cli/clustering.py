"""``gramless cluster``: kernel k-means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gramless.cli import options
from gramless.cli.reading import Reading, reads_tables


@reads_tables
def cluster(
    context: typer.Context,
    data: options.Data,
    output: options.TableOut,
    force: options.Force = False,
    clusters: Annotated[int, typer.Option("-k", "--clusters", min=1, help="Number of clusters.")] = 8,
    kernel: options.Kernel = "gaussian",
    sigma: options.Sigma = "auto",
    gamma: options.Gamma = None,
    degree: options.Degree = 3.0,
    coef0: options.Coef0 = 1.0,
    nu: options.Nu = 1.5,
    starts: Annotated[int, typer.Option(min=1, help="Number of initializations; the best result is used.")] = 10,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    scale: options.Scale = False,
    label: options.Label = None,
    keep: options.Keep = None,
    method: options.Method = "auto",
    memory: options.Memory = None,
    seed: options.Seed = 0,
    model_output: Annotated[
        Path | None, typer.Option("--model", metavar="MODEL", help="Also save the model to this .gramless file.")
    ] = None,
    as_json: options.Json = False,
    *,
    reading: Reading,
) -> None:
    """Cluster the rows of DATA by kernel k-means and write the label of each row."""
    import numpy as np

    from gramless.cli.columns import warn_of_dominant
    from gramless.cli.files import columns_beside, gap_rows, gaps, model_target, open_rows, table_target
    from gramless.cli.progress import fit_bar
    from gramless.cli.settings import KernelWords
    from gramless.cli.telling import pairs, tell
    from gramless.data import open_writer
    from gramless.estimators import KernelKMeans
    from gramless.estimators.summary import facts, summary_rows

    target = table_target(output, data, force=force)
    saved = None if model_output is None else model_target(model_output, data, force=force, option="--model")
    quiet = context.obj["quiet"]
    source = open_rows(data, reading, columns, label, exclude)
    beside = columns_beside(data, keep, source, reading)
    settings = KernelWords(kernel, sigma, gamma, degree, coef0, nu).parameters(source, scaled=scale)
    settings |= {"n_init": starts, "method": method, "memory_limit": memory, "random_state": seed}
    model = KernelKMeans(clusters, scale_input=scale, **settings)
    if not scale:
        warn_of_dominant(source, source.feature_names, "drop it with --exclude {column}, or pass --scale")
    with fit_bar(quiet):
        model.fit(source)
    if model_output is not None:
        model.save(model_output)
    with open_writer(output, ["cluster"], np.int64, beside) as writer:
        writer.write(model.labels_[:, None])
    sizes = np.bincount(model.labels_, minlength=clusters).tolist()
    told = {**facts(model), **gaps(source), "sizes": sizes, **target.facts}
    if saved is not None:
        told |= {"model_output": str(saved.path), "model_replaced": saved.replaced}
    listed = ", ".join(f"{size:,}" for size in sizes)
    rows = [*summary_rows(model), *gap_rows(source), ("sizes", listed), target.row]
    rows += [] if saved is None else [("model file", saved.row[1])]
    tell(told, as_json, pairs(rows))
