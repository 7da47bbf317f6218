"""``gramless fit`` and ``gramless plan``: a fit, and the plan of a fit without running it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramless.cli import options
from gramless.cli.reading import Reading, reads_tables

if TYPE_CHECKING:
    from gramless.cli.settings import KernelWords


@reads_tables
def fit(
    context: typer.Context,
    data: options.Data,
    output: options.ModelOut = Path("model.gramless"),
    force: options.Force = False,
    kernel: options.Kernel = "gaussian",
    sigma: options.Sigma = "auto",
    gamma: options.Gamma = None,
    degree: options.Degree = 3.0,
    coef0: options.Coef0 = 1.0,
    nu: options.Nu = 1.5,
    components: options.Components = "10",
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    scale: options.Scale = False,
    label: options.Label = None,
    inverse: Annotated[
        bool, typer.Option("--inverse", help="Fit the inverse transform by kernel ridge regression.")
    ] = False,
    method: options.Method = "auto",
    tol: options.Tolerance = 0.0,
    memory: options.Memory = None,
    time_limit: options.TimeLimit = None,
    seed: options.Seed = 0,
    device: Annotated[str, typer.Option(help="Device to compute on: cpu, cuda (GPU) or auto.")] = "cpu",
    forget_rows: Annotated[
        bool, typer.Option("--forget-rows", help="Do not store the training rows in the model.")
    ] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Checkpoint file; rerunning the same command resumes from it.")
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="Take kernel, columns and number of components from another model."),
    ] = None,
    as_json: options.Json = False,
    *,
    reading: Reading,
) -> None:
    """Fit kernel PCA to DATA and write the model to a file."""
    from time import perf_counter
    from warnings import warn

    from gramless.cli.columns import warn_of_dominant
    from gramless.cli.failures import UnusableFileError
    from gramless.cli.files import gap_rows, gaps, load_model, model_target, open_rows, open_rows_of
    from gramless.cli.progress import fit_bar
    from gramless.cli.settings import KernelWords
    from gramless.cli.telling import pairs, tell
    from gramless.estimators.summary import facts, summary_rows

    if like is not None:
        _refuse_beside_like(context, like)
    if checkpoint is not None and os.path.realpath(checkpoint) == os.path.realpath(output):
        raise UnusableFileError(f"-o {output} and --checkpoint {checkpoint} are one file; pass another path for one")
    target = model_target(output, data, like, checkpoint, force=force)
    quiet = context.obj["quiet"]
    words = KernelWords(kernel, sigma, gamma, degree, coef0, nu)
    settings = {"fit_inverse_transform": inverse, "device": device, "keep_data": not forget_rows}
    settings |= {"method": method, "tol": tol, "memory_limit": memory, "random_state": seed, "checkpoint": checkpoint}
    settings |= {"scale_input": scale, "time_limit": time_limit}
    pattern = None if like is None else load_model(like, "KernelPCA")
    if pattern is None:
        source = open_rows(data, reading, columns, label, exclude)
    else:
        source = open_rows_of(pattern, data, reading, columns, label, fresh=True)
    model = _prepared(source, words, components, settings)
    if pattern is not None:
        model.set_params(kernel=pattern.plan_.problem.kernel, gamma=None, n_components=pattern.n_components)
        model.set_params(scale_input=scale or pattern.scale_input)
    if pattern is not None and pattern.scale_input:
        warn(
            f"{like} standardizes its columns, and so will this model, by means of its own: they cannot be merged. "
            "Standardize the data beforehand, or add rows with gramless update",
            stacklevel=1,
        )
    if not model.scale_input:
        warn_of_dominant(source, source.feature_names, "drop it with --exclude {column}, or pass --scale")
    start = perf_counter()
    with fit_bar(quiet):
        model.fit(source)
    seconds = perf_counter() - start
    model.save(target.path)
    told = {**facts(model), **gaps(source), "seconds": round(seconds, 3), **target.facts}
    rows = [*summary_rows(model), *gap_rows(source), ("time", f"{seconds:.2f} s"), target.row]
    tell(told, as_json, pairs(rows))


@reads_tables
def plan(
    context: typer.Context,
    data: options.Data,
    kernel: options.Kernel = "gaussian",
    sigma: options.Sigma = "auto",
    gamma: options.Gamma = None,
    degree: options.Degree = 3.0,
    coef0: options.Coef0 = 1.0,
    nu: options.Nu = 1.5,
    components: options.Components = "10",
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    scale: options.Scale = False,
    label: options.Label = None,
    method: options.Method = "auto",
    tol: options.Tolerance = 0.0,
    memory: options.Memory = None,
    time_limit: options.TimeLimit = None,
    device: Annotated[str, typer.Option(help="Device to compute on: cpu, cuda (GPU) or auto.")] = "cpu",
    as_json: options.Json = False,
    *,
    reading: Reading,
) -> None:
    """Show the estimated cost of each method for DATA, and which one fit would choose. Nothing is computed."""
    from warnings import warn

    from gramless.cli.failures import worded
    from gramless.cli.files import open_rows
    from gramless.cli.progress import fit_bar
    from gramless.cli.settings import KernelWords
    from gramless.cli.telling import tell
    from gramless.errors import MemoryLimitError
    from gramless.report.tables import plan_table

    words = KernelWords(kernel, sigma, gamma, degree, coef0, nu)
    settings = {"method": method, "tol": tol, "memory_limit": memory, "device": device, "scale_input": scale}
    settings["time_limit"] = time_limit
    quiet = context.obj["quiet"]
    source = open_rows(data, reading, columns, label, exclude)
    model = _prepared(source, words, components, settings)
    try:
        with fit_bar(quiet):
            found = model.plan(source)
    except MemoryLimitError as error:
        if error.plan is None:
            raise
        found = error.plan
        warn(worded(str(error)), stacklevel=1)
    tell(_plan_facts(found), as_json, plan_table(found).drawn())


def _prepared(source: Any, words: KernelWords, components: str, settings: dict[str, Any]) -> Any:
    """An estimator for the rows of a source, not fitted yet."""
    from gramless.cli.settings import read_components
    from gramless.estimators import KernelPCA

    wanted = read_components(components)
    parameters = words.parameters(source, wanted, scaled=settings["scale_input"])
    return KernelPCA(wanted, **parameters, **settings)


def _refuse_beside_like(context: typer.Context, like: Path) -> None:
    """Raise for options that --like would ignore."""
    for name in ("kernel", "sigma", "gamma", "degree", "coef0", "nu", "components", "exclude"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = "-k" if name == "components" else f"--{name}"
            raise ValueError(
                f"{option} {context.params[name]} contradicts --like {like}, which takes kernel, columns and number of "
                "components from that model; pass one of them"
            )


def _plan_facts(plan: Any) -> dict[str, Any]:
    candidates = {
        name: {"refusal": estimate.refusal}
        if estimate.refusal
        else {"seconds": estimate.seconds, "bytes": int(estimate.bytes), "error": estimate.error}
        for name, estimate in plan.candidates.items()
    }
    problem = plan.problem
    return {
        "rows": problem.n,
        "columns": problem.d,
        "components": problem.k,
        "kernel": str(problem.kernel),
        "tol": problem.tol,
        "rule": plan.rule or None,
        "memory_limit": problem.memory_limit,
        "chosen": plan.chosen or None,
        "candidates": candidates,
    }
