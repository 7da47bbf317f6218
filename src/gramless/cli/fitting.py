"""``gramless fit`` and ``gramless plan``: the same question, answered and not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramless.cli import options

if TYPE_CHECKING:
    from gramless.cli.settings import KernelWords


def fit(
    context: typer.Context,
    data: options.Data,
    output: options.ModelOut = Path("model.gramless"),
    kernel: options.Kernel = "gaussian",
    sigma: options.Sigma = "auto",
    gamma: options.Gamma = None,
    degree: options.Degree = 3.0,
    coef0: options.Coef0 = 1.0,
    nu: options.Nu = 1.5,
    components: options.Components = "10",
    columns: options.Columns = None,
    label: options.Label = None,
    key: options.Key = None,
    inverse: Annotated[bool, typer.Option("--inverse", help="Learn the way back by ridge regression.")] = False,
    method: options.Method = "auto",
    tol: options.Tolerance = 0.0,
    memory: options.Memory = None,
    seed: options.Seed = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
    forget_rows: Annotated[bool, typer.Option("--forget-rows", help="Keep no rows in the model.")] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="How far the fit has come; the same command goes on from there.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Find the leading components of DATA and write the model to a file."""
    from time import perf_counter

    from gramless.cli.files import check_model_path, keep_names
    from gramless.cli.progress import fit_bar
    from gramless.cli.settings import KernelWords
    from gramless.cli.telling import pairs, tell
    from gramless.estimators.summary import facts, summary_rows

    check_model_path(output)
    quiet = context.obj["quiet"]
    words = KernelWords(kernel, sigma, gamma, degree, coef0, nu)
    settings = {"fit_inverse_transform": inverse, "device": device, "keep_data": not forget_rows}
    settings |= {"method": method, "tol": tol, "memory_limit": memory, "random_state": seed, "checkpoint": checkpoint}
    source, rows, model = _prepared(data, columns, label, key, words, components, settings, quiet)
    start = perf_counter()
    with fit_bar(quiet):
        model.fit(rows)
    seconds = perf_counter() - start
    keep_names(model, source)
    model.save(output)
    told = {**facts(model), "seconds": round(seconds, 3), "output": str(output)}
    tell(told, as_json, pairs([*summary_rows(model), ("time", f"{seconds:.2f} s"), ("written to", str(output))]))


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
    label: options.Label = None,
    key: options.Key = None,
    method: options.Method = "auto",
    tol: options.Tolerance = 0.0,
    memory: options.Memory = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
    as_json: options.Json = False,
) -> None:
    """Show what each method would cost for DATA, and which one fit would take. Nothing is run."""
    from gramless.cli.progress import fit_bar
    from gramless.cli.settings import KernelWords
    from gramless.cli.telling import tell
    from gramless.report.tables import plan_table

    words = KernelWords(kernel, sigma, gamma, degree, coef0, nu)
    settings = {"method": method, "tol": tol, "memory_limit": memory, "device": device}
    quiet = context.obj["quiet"]
    _, rows, model = _prepared(data, columns, label, key, words, components, settings, quiet)
    with fit_bar(quiet):
        found = model.plan(rows)
    tell(_plan_facts(found), as_json, plan_table(found).drawn())


def _prepared(
    data: Path,
    columns: str | None,
    label: str | None,
    key: str | None,
    words: KernelWords,
    components: str,
    settings: dict[str, Any],
    quiet: bool,
) -> tuple[Any, Any, Any]:
    """The source, its rows, and an estimator for them that is not fitted."""
    from gramless.cli.files import open_rows, read_rows
    from gramless.cli.progress import rows_bar
    from gramless.cli.settings import read_components
    from gramless.estimators import KernelPCA

    wanted = read_components(components)
    source = open_rows(data, columns, label, key)
    rows = (
        source if settings.get("checkpoint") else read_rows(source, settings["memory_limit"], rows_bar("read", quiet))
    )
    return source, rows, KernelPCA(wanted, **words.parameters(rows, wanted), **settings)


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
        "memory_limit": problem.memory_limit,
        "chosen": plan.chosen,
        "candidates": candidates,
    }
