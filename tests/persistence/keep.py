"""Writes the files of tests/persistence/kept: ``python -m persistence.keep`` in tests, once for each format.

Files that are there are never written again: they must load for ever.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from persistence.models import MODELS, answers, fitted

from gramless.persistence import FORMAT

FOLDER = Path(__file__).parent / "kept"


def keep() -> None:
    """Write what is missing."""
    for name in MODELS:
        path = FOLDER / f"{FORMAT}-{name}.safetensors"
        if not path.exists():
            model = fitted(name)
            model.save(path)
            np.savez(path.with_suffix(".npz"), **answers(model))


if __name__ == "__main__":
    keep()
