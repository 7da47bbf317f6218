"""Run every benchmark, keep its figures in benchmarks/results and write them into BENCHMARKS.md and the README."""

from __future__ import annotations

import argparse

from benchmarks import (
    accuracy,
    certificate_coverage,
    dask_cluster,
    denoising,
    discriminants,
    drop_in,
    exact,
    explicit,
    ica,
    kmeans,
    never_slower,
    planner_grid,
    portable,
    scaling,
    serving,
    sources,
    streams,
)
from benchmarks.readme import write_figures
from benchmarks.results import save

BENCHMARKS = {
    "drop_in": drop_in.run,
    "accuracy": accuracy.run,
    "exact": exact.run,
    "never_slower": never_slower.run,
    "explicit": explicit.run,
    "planner_grid": planner_grid.run,
    "streams": streams.run,
    "sources": sources.run,
    "dask_cluster": dask_cluster.run,
    "scaling": scaling.run,
    "kmeans": kmeans.run,
    "discriminants": discriminants.run,
    "ica": ica.run,
    "denoising": denoising.run,
    "portable": portable.run,
    "serving": serving.run,
    "certificate_coverage": certificate_coverage.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], help="which ones; default: all")
    for name in parser.parse_args().names or BENCHMARKS:
        print(f"== {name}", flush=True)
        save(name, BENCHMARKS[name]())
    write_figures()


if __name__ == "__main__":
    main()
