"""Mutation testing: a sample of small wrong changes to what must not be wrong, and which of them no test notices.

The tests of a group of modules are collected once; each mutant runs in a fork, against the tests that reach its line,
the likeliest and quickest first, until one fails. The sample is drawn with the seed that is printed; `--all` takes all.
"""

import argparse
import os
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gramless"
sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(ROOT / "tests")]
os.environ["PYTHONPATH"] = str(ROOT / "src")  # of processes that tests start
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))  # no threads that a fork would lose

_SPACES = [f"tests/spaces/test_{name}.py" for name in ("merge", "bounds", "intervals")]
_FILES = ["tests/persistence", "tests/estimators/test_checkpoint.py"]
#: What is changed, below src/gramless, and the tests that ought to notice; its doctests do so too.
GROUPS = {
    "certificates": ("certificates/*.py", ["tests/certificates"]),
    "merge": ("spaces/merge.py", _SPACES),
    "bounds": ("spaces/bounds.py", _SPACES),
    "features": (
        "features/*.py",
        [
            f"tests/features/test_{name}.py"
            for name in (
                *("base", "pivots", "triangle", "shifted", "stated_errors"),
                *("moments", "monomials", "landmarks", "taylor", "composite", "transfer"),
            )
        ],
    ),
    "fourier": ("features/fourier/*.py", ["tests/features/fourier"]),
    "persistence": (
        "persistence/*.py",
        [*_FILES, "tests/fuzz/test_corpus.py::test_a_hostile_file_is_refused_by_name"],
    ),
}


def drawn(files, settings):
    """(path, mutant) pairs of a group, in the order in which they are tried."""
    from mutation.mutants import mutants

    pairs = [(path, mutant) for path in files for mutant in mutants(path.read_text())]
    if settings.only:
        return [
            (path, mutant)
            for path, mutant in pairs
            if any(f"{path.relative_to(SOURCE)}:{mutant.line}:".endswith(f"{place}:") for place in settings.only)
        ]
    random.Random(settings.seed).shuffle(pairs)
    return pairs if settings.all else pairs[: settings.each]


def main():
    parser = argparse.ArgumentParser(prog="make mutation", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="for each group")
    parser.add_argument("--each", type=int, help="so many mutants of each group at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="FILE:LINE", help="the mutants of these lines")
    parser.add_argument("--tests", nargs="+", help="instead of the group's own")
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)}; default: all")
    settings = parser.parse_args()
    if not set(settings.groups) <= set(GROUPS):
        parser.error(f"groups={settings.groups} must be among {', '.join(GROUPS)}")
    from mutation.trials import Trials

    os.chdir(ROOT)
    table = [f"seed {settings.seed}"]
    for name in settings.groups or GROUPS:
        pattern, tests = GROUPS[name]
        files = sorted(SOURCE.glob(pattern))
        pairs = drawn(files, settings)
        if not pairs:
            continue
        begun = time.process_time() + sum(os.times()[2:4])
        trials = Trials(pairs, float("inf") if settings.all or settings.each or settings.only else settings.seconds)
        code = trials.run([*(settings.tests or tests), *(str(path.relative_to(ROOT)) for path in files)])
        if code:
            print(f"{name}: its tests fail without any change: {', '.join(trials.broken)}")
            return 1
        spent = time.process_time() + sum(os.times()[2:4]) - begun
        table.append(f"{name:14}{trials.summary()}; {spent:.0f} s of processor time")
        print(table[-1], flush=True)
    print("\n".join(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
