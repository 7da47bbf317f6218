"""Mutation testing: a sample of small wrong changes to what must not be wrong, and which of them no test notices.

Each mutant runs in a fork of a process that has imported all but gramless, against the quick tests of its module, until
the first failure. `--all` takes every mutant; the default is a sample, drawn with the seed that is printed.
"""

import argparse
import importlib
import importlib.abc
import importlib.util
import os
import random
import select
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(ROOT / "tests")]

#: Module, below src/gramless, and the quick tests that are its own.
TARGETS = {
    "certificates/angles.py": ["tests/certificates"],
    "certificates/inertia.py": ["tests/certificates"],
    "certificates/interval.py": ["tests/certificates"],
    "certificates/outside.py": ["tests/certificates"],
    "certificates/psd_residual.py": ["tests/certificates"],
    "certificates/quadrature.py": ["tests/certificates"],
    "spaces/merge.py": ["tests/spaces/test_merge.py"],
    "features/moments.py": ["tests/features/test_moments.py", "tests/features/test_landmarks.py"],
    "features/rows.py": ["tests/features/test_moments.py", "tests/features/test_landmarks.py"],
    "features/triangle.py": ["tests/features/test_landmarks.py"],
    "features/pivots.py": ["tests/features/test_landmarks.py"],
    "features/landmarks.py": ["tests/features/test_landmarks.py"],
    "features/taylor.py": ["tests/features/test_taylor.py"],
    "features/monomials.py": ["tests/features/test_monomials.py"],
    "features/shifted.py": ["tests/features/test_monomials.py"],
    "features/hankel.py": ["tests/features/test_monomials.py"],
    "features/compress.py": ["tests/features/test_monomials.py"],
    "features/composite.py": ["tests/features/test_composite.py"],
    "features/transfer.py": ["tests/features/test_transfer.py"],
    "features/fourier/grid.py": ["tests/features/test_fourier.py", "tests/features/test_axis.py"],
    "features/fourier/axis.py": ["tests/features/test_fourier.py", "tests/features/test_axis.py"],
    "features/fourier/toeplitz.py": ["tests/features/test_fourier.py"],
    "features/fourier/scatter.py": ["tests/features/test_fourier.py"],
    "persistence/checkpoint.py": ["tests/estimators/test_checkpoint.py"],
    "persistence/consistency.py": ["tests/persistence/test_decoding.py", "tests/persistence/test_files.py"],
    "persistence/decoding.py": ["tests/persistence/test_decoding.py", "tests/persistence/test_files.py"],
    "persistence/encoding.py": ["tests/persistence/test_files.py"],
    "persistence/file.py": ["tests/persistence/test_container.py", "tests/persistence/test_files.py"],
}


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Serves one module from changed source."""

    def __init__(self, name, source, path):
        self.name, self.source, self.path = name, source, path

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self, origin=str(self.path)) if name == self.name else None

    def exec_module(self, module):
        module.__file__ = str(self.path)
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)


def survives(name, source, path, tests, limit):
    """Whether all tests pass with the changed module; a run that takes longer than `limit` seconds has noticed it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setpgid(0, 0)
        code = 1
        try:
            code = run_tests(Mutated(name, source, path), tests)
        finally:
            os.write(writing, bytes([code != 0]))
            os._exit(0)
    os.close(writing)
    there, _, _ = select.select([reading], [], [], limit)
    failed = os.read(reading, 1) if there else b"\x01"
    os.close(reading)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return failed == b"\x00"


def run_tests(finder, tests):
    """The exit code of pytest, quietly."""
    import pytest

    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    sys.meta_path.insert(0, finder)
    os.chdir(ROOT)
    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]))


def main():
    parser = argparse.ArgumentParser(prog="make mutation", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("modules", nargs="*", help="parts of the names of modules; default: all")
    settings = parser.parse_args()
    os.environ.setdefault("GRAMLESS_EXAMPLES", "8")  # of Hypothesis': a mutant is gone at the first
    for heavy in ("numpy", "scipy.linalg", "scipy.special", "sklearn.base", "hypothesis", "pytest", "mpmath"):
        importlib.import_module(heavy)
    from mutation.mutants import mutants

    targets = {
        path: tests
        for path, tests in TARGETS.items()
        if not settings.modules or any(m in path for m in settings.modules)
    }
    drawn = [(path, mutant) for path in targets for mutant in mutants((ROOT / "src/gramless" / path).read_text())]
    print(f"seed {settings.seed}: {len(drawn)} mutants in {len(targets)} modules", flush=True)
    random.Random(settings.seed).shuffle(drawn)
    begun, usual, killed, survived = time.monotonic(), {}, {}, {}
    for path, mutant in drawn:
        if not settings.all and time.monotonic() - begun > settings.seconds:
            break
        file = ROOT / "src/gramless" / path
        name = "gramless." + path.removesuffix(".py").replace("/", ".")
        if path not in usual:  # how long the tests take when nothing is wrong
            start = time.monotonic()
            if not survives(name, file.read_text(), file, targets[path], 1200):
                print(f"{path}: its tests fail without any change", flush=True)
                return 1
            usual[path] = time.monotonic() - start
        if survives(name, mutant.source, file, targets[path], 60 + 20 * usual[path]):
            survived.setdefault(path, []).append(mutant)
            print(f"survived: {path}:{mutant.line}: {mutant.change}", flush=True)
        else:
            killed[path] = killed.get(path, 0) + 1
    for path in targets:
        alive = len(survived.get(path, []))
        print(f"{path:32} {killed.get(path, 0) + alive:4} tried, {alive:3} survived", flush=True)
    total, alive = sum(killed.values()), sum(map(len, survived.values()))
    print(f"tried {total + alive} of {len(drawn)}; {alive} survived", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
