"""Torture, bounded in time: hostile inputs, faults, files made of noise. Prints what was tried, and every failure."""

import argparse
import random
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent), str(TESTS.parent / "src")]


def parts(seconds, seed):
    """(name, job) pairs: each job runs for its share of the time, or for a fixed number of faults."""
    from fuzz import FUZZERS
    from torture import crowding, drawing, histories, killing, starving

    from benchmarks import certificate_coverage

    yield "hostile inputs", lambda: drawing.run(0.25 * seconds, seed)
    yield "histories", lambda: histories.run(0.2 * seconds, seed)
    yield "certificates", lambda: covered(certificate_coverage.run(seed=seed, seconds=0.25 * seconds))
    yield "threads", lambda: crowding.run(max(1, int(seconds / 100)), seed)
    yield "kill -9", lambda: killing.run(max(4, min(100, int(seconds / 3))), seed)
    yield "little memory", lambda: starving.run(seed)
    for name, fuzz in FUZZERS.items():
        yield f"fuzz {name}", lambda fuzz=fuzz: fuzz(0.3 * seconds / len(FUZZERS), seed)


def covered(figures):
    """The coverage of the certificate as counts; a probabilistic interval may fail once in 1e10."""
    failures = [str(one) for one in figures["violations"]]
    return {"problems": figures["problems"], "failures": failures}


def main():
    parser = argparse.ArgumentParser(prog="make torture", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=None)
    settings = parser.parse_args()
    seed = random.SystemRandom().randrange(2**31) if settings.seed is None else settings.seed
    print(f"seed {seed}, about {settings.seconds:.0f} s; again with: make torture SEED={seed}", flush=True)
    failures, counts = [], {}
    for name, job in parts(settings.seconds, seed):
        found = job()
        wrong = found.pop("failures", [])
        wrong = wrong if isinstance(wrong, list) else found.pop("reports")
        failures += wrong
        for what, count in found.items():
            if isinstance(count, (int, float)):
                counts[what] = counts.get(what, 0) + count
        said = ", ".join(f"{count:,} {what}" for what, count in found.items() if isinstance(count, (int, float)))
        print(f"{name:16} {said}; {len(wrong)} failures", flush=True)
        for text in wrong:
            print(f"    {text}", flush=True)
    inputs = sum(counts.get(what, 0) for what in ("inputs", "histories", "problems", "files", "cases"))
    faults = sum(counts.get(what, 0) for what in ("kills", "children"))
    print(
        f"\ninputs tried: {inputs:,}\nfaults injected: {faults:,}\nprojections in crowds of threads: "
        f"{counts.get('projections', 0):,}\nbytes fuzzed: {counts.get('bytes', 0):,}\nfailures: {len(failures)}"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
