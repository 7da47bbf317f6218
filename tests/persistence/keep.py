"""Writes the files of tests/persistence/kept: ``python -m persistence.keep`` in tests, once for each format.

Files that are there are never written again: they must load for ever.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from persistence.models import MODELS, answers, fitted

from gramless.persistence import FORMAT, file

#: Models that are kept in the format of large arrays as well.
LARGE = ("pca-dense", "pca-sparse-rows", "stream-merging", "kmeans-points", "discriminant")
FOLDER = Path(__file__).parent / "kept"


def keep() -> None:
    """Write what is missing."""
    for name in MODELS:
        path = FOLDER / f"{FORMAT}-{name}.safetensors"
        if not path.exists():
            model = fitted(name)
            model.save(path)
            np.savez(path.with_suffix(".npz"), **answers(model))
    _keep_large()


def _keep_large() -> None:
    """Write files of the format of large arrays, with arrays that are not."""
    file.LARGE = 64
    for name in LARGE:
        path = FOLDER / f"{file.LARGE_FORMAT}-{name}.safetensors"
        if not path.exists():
            model = fitted(name)
            model.save(path)
            np.savez(path.with_suffix(".npz"), **answers(model))


if __name__ == "__main__":
    keep()
