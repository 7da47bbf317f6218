"""Is the plan right? Over a grid of problems, the chosen method against every other that reaches the tolerance.

Candidates are run unless their estimate is ten times the least one, or more than the limit: those cannot be the best by
any error the estimates were seen to make. Ratios are of measured times; runs under 50 ms are not judged.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gramless import KernelPCA
from gramless.kernels import Gaussian

SIZES = (10**3, 10**4, 10**5, 10**6)
COLUMNS = (1, 2, 3, 5, 10, 64)
WIDTHS = (0.02, 0.1, 0.5, 5.0)
TOLERANCES = (1e-3, 1e-6, 1e-9)
K = 10


def judge(n: int, d: int, width: float, tol: float, limit_s: float, verbose: bool) -> dict[str, Any]:
    """Run one problem by every method that may be the best."""
    x = np.random.default_rng(0).random((n, d))
    model = KernelPCA(K, kernel=Gaussian(width * np.sqrt(d)), tol=tol, random_state=0)
    case = {"n": n, "d": d, "width": width, "tol": tol}
    try:
        plan = model.plan(x)
    except ValueError as error:
        return {**case, "outcome": f"refused: {error}"}
    able = {
        name: e
        for name, e in plan.candidates.items()
        if not e.refusal and e.error <= tol and e.bytes <= plan.problem.memory_limit
    }
    least = min(e.seconds for e in able.values())
    if least > limit_s:
        return {**case, "outcome": f"not run: {plan.chosen} would take {least:.0f} s"}
    times: dict[str, float] = {}
    missed = []
    for name, estimate in able.items():
        if estimate.seconds > min(max(10 * least, 0.5), max(limit_s, least)):
            continue
        seconds, reached = fit_by(model, name, x)
        if reached:
            times[name] = seconds
        else:
            missed.append(name)
        if verbose:
            end = "" if reached else ", missed tol"
            print(f"    {name}: estimated {estimate.seconds:.3g} s, took {seconds:.3g} s{end}")
    if plan.chosen not in times:
        return {**case, "outcome": "missed", "chosen": plan.chosen, "times": times, "missed": missed}
    best = min(times, key=lambda name: times[name])
    ratio = times[plan.chosen] / times[best]
    case |= {"outcome": "run", "chosen": plan.chosen, "best": best, "ratio": ratio}
    return {**case, "times": times, "missed": missed}


def fit_by(model: KernelPCA, method: str, x: np.ndarray) -> tuple[float, bool]:
    """Best of up to three fits, and whether the tolerance was proved."""
    best, reached = np.inf, True
    for _ in range(3):
        fitted = KernelPCA(**{**model.get_params(), "method": method, "copy_X": False})
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                fitted.fit(x)
            except (ValueError, MemoryError):
                return time.perf_counter() - start, False
        best = min(best, time.perf_counter() - start)
        reached = fitted._fit.finished.outcome.ok
        if best > 0.5:
            break
    return best, reached


def run(
    scale: float = 1.0,
    *,
    sizes: Sequence[int] = SIZES,
    columns: Sequence[int] = COLUMNS,
    limit_s: float = 6.0,
    verbose: bool = False,
) -> dict[str, Any]:
    """The whole grid; a `scale` below 1 leaves out the large sizes."""
    sizes = [n for n in sizes if n <= scale * max(sizes)]
    results = []
    for n, d, width, tol in itertools.product(sizes, columns, WIDTHS, TOLERANCES):
        result = judge(n, d, width, tol, limit_s, verbose)
        results.append(result)
        shown = {key: value for key, value in result.items() if key not in ("n", "d", "width", "tol")}
        print(f"N={n} d={d} sigma/diameter={width} tol={tol:.0e}: {shown}", flush=True)
    judged = [r for r in results if r["outcome"] == "run" and r["times"][r["chosen"]] > 0.05]
    wrong = [r for r in judged if r["ratio"] > 2]
    figures = {
        "k": K,
        "limit_s": limit_s,
        "problems": len(results),
        "judged": len(judged),
        "too_long": sum(r["outcome"].startswith("not run") for r in results),
        "too_short": sum(r["outcome"] == "run" for r in results) - len(judged),
        "missed": sum(r["outcome"] == "missed" for r in results),
        "worst": max((r["ratio"] for r in judged), default=1.0),
        "wrong": [{key: r[key] for key in ("n", "d", "width", "tol", "chosen", "best", "ratio")} for r in wrong],
    }
    print(figures)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=6.0, help="seconds a single fit may be estimated at")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--columns", type=int, nargs="*", default=COLUMNS)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    run(sizes=arguments.sizes, columns=arguments.columns, limit_s=arguments.limit, verbose=arguments.verbose)


if __name__ == "__main__":
    main()
