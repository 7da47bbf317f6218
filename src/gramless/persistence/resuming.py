"""The checkpoint of a fit: what makes a fit the same fit, so that a checkpoint of another one is refused."""

from __future__ import annotations

from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from gramless._version import __version__
from gramless.data import FileRows, Source
from gramless.data.survey import Tally
from gramless.errors import CheckpointError
from gramless.fitting import Begun
from gramless.fitting.methods.moments import Gathered
from gramless.persistence.checkpoint import FileCheckpoint, digest, in_words

_TASKS: dict[str, tuple[type[Any], type[Any]]] = {"survey": (int, Tally), "moments": (Begun, Gathered)}
_BESIDE = {"checkpoint", "copy_X", "n_jobs", "verbose", "keep_data"}  # parameters that change no sum


def open_checkpoint(path: Any, parameters: dict[str, Any], rows: FileRows, sample_weight: Any) -> FileCheckpoint:
    """The checkpoint of a fit with these parameters to `rows`; refused if it is of another fit."""
    identity = {f"parameter {name}": in_words(value) for name, value in parameters.items() if name not in _BESIDE}
    identity |= {f"data: {name}": text for name, text in _identity(rows.source).items()}
    identity["data: rows of a block"] = str(rows.block_rows)
    identity["data: sample_weight"] = _weights_in_words(sample_weight)
    identity["version of gramless"] = __version__
    checkpoint = FileCheckpoint(path, identity)
    if checkpoint.task:
        _refuse_foreign(checkpoint)
    return checkpoint


def _refuse_foreign(checkpoint: FileCheckpoint) -> None:
    """Refuse what no fit of ours has left there."""
    kept, summed = _TASKS.get(checkpoint.task, (NoneType, NoneType))
    if not isinstance(checkpoint.kept, kept) or not all(isinstance(part, summed) for _, part in checkpoint.parts):
        raise CheckpointError(
            f"checkpoint={str(checkpoint.path)!r} contains the unknown task {checkpoint.task!r}; delete it to start "
            "over"
        )


def _identity(source: Source) -> dict[str, str]:
    """What a source is known by: its place, its shape, and of files their sizes and times."""
    words = {
        "columns": str(source.feature_names or source.n_features),
        "rows": str(source.n_rows),
        "type": str(source.dtype),
    }
    if source.reading:
        words["reading"] = source.reading
    path: Path | None = getattr(source, "path", None)
    if path is None:
        array = getattr(source, "array", None)
        words["name"] = source.name
        if isinstance(array, np.ndarray):
            words["content"] = digest(np.ascontiguousarray(array))
        return words
    path = Path(path).resolve()
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    states = [(str(file.relative_to(path.parent)), file.stat()) for file in files]
    words["name"] = str(path)
    words["size"] = str(sum(state.st_size for _, state in states))
    listed = np.array([(state.st_size, state.st_mtime_ns) for _, state in states], dtype=np.int64)
    names = np.frombuffer("\n".join(name for name, _ in states).encode(), dtype=np.uint8)
    words["files, their sizes and times"] = digest(listed, names)
    return words


def _weights_in_words(sample_weight: Any) -> str:
    if sample_weight is None or isinstance(sample_weight, str):
        return repr(sample_weight)
    return digest(np.ascontiguousarray(sample_weight, dtype=np.float64))
