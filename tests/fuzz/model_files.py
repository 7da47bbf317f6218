"""Model files: mutated bytes, and headers changed and sealed again."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import harness, trees
from gramless import FormatError, load
from gramless.persistence import read_file, write_file

KEPT = Path(__file__).parents[1] / "persistence" / "kept"


def seeds() -> list[tuple[str, bytes]]:
    """The files that are kept for ever: one of each estimator, and streams."""
    return [(path.name, path.read_bytes()) for path in sorted(KEPT.glob("*.safetensors"))]


@functools.cache
def _answer(name: str) -> Any:
    return _use(load(KEPT / name))


def _use(model: Any) -> Any:
    """What a model says of a few rows."""
    rows = np.random.default_rng(0).standard_normal((4, model.n_features_in_))
    method = "transform" if hasattr(model, "transform") else "score_samples"
    return getattr(model, method)(rows)


def attempt(name: str, data: bytes, path: Path, rng: Any, *, unchanged: bool) -> None:
    """Load the bytes; then a valid file with a header changed at random and sealed again."""
    if rng.integers(2):
        _resealed(name, path, rng)
        return
    try:  # mapped: changed bytes of large arrays may give another answer or an ordinary error, and nothing worse
        _use(load(path))
    except MemoryError:
        raise
    except Exception:
        if unchanged:
            raise
    model = load(path, mmap=False)
    if not unchanged and data != (KEPT / name).read_bytes():
        raise harness.Wrong("a changed file was accepted")
    if not np.array_equal(_use(model), _answer(name), equal_nan=True):
        raise harness.Wrong("another answer")


def _resealed(name: str, path: Path, rng: Any) -> None:
    header, arrays = read_file(KEPT / name)
    changed = trees.change_tree(header, rng) if rng.integers(2) else header
    if changed is header or rng.integers(4) == 0:
        chosen = str(rng.choice(list(arrays)))
        arrays[chosen] = trees.change_array(arrays[chosen], rng)
    try:
        write_file(path, changed, arrays)
    except (ValueError, TypeError, RecursionError):  # no JSON: there is no file to try
        raise FormatError("cannot be written") from None
    model = load(path)
    try:
        _use(model)
        if hasattr(model, "partial_fit"):
            model.partial_fit(np.random.default_rng(0).uniform(-1, 1, (3, model.n_features_in_)))
    except MemoryError:
        raise
    except Exception:
        return  # a model that was made up need not fit the rows: an ordinary error says so


def run(seconds: float, seed: int) -> harness.Counts:
    """Try damaged and deceitful model files for some seconds."""
    return harness.run("fuzz.model_files", seconds, seed)
