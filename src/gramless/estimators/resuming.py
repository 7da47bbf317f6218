"""What makes a fit the same fit, so that a checkpoint of another one is refused."""

from __future__ import annotations

from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from gramless._version import __version__
from gramless.errors import CheckpointError, CheckpointWarning
from gramless.execution import LocalRows
from gramless.persistence.checkpoint import FileCheckpoint, digest, in_words
from gramless.routes.blockwise import Begun, Gathered
from gramless.routes.survey import Survey
from gramless.sources import Source
from gramless.warning import warn

_TASKS: dict[str, tuple[type[Any], type[Any]]] = {"survey": (int, Survey), "moments": (Begun, Gathered)}
_BESIDE = {"checkpoint", "copy_X", "n_jobs", "verbose", "keep_data"}  # parameters that change no sum


def open_checkpoint(model: Any, rows: LocalRows, sample_weight: Any) -> FileCheckpoint | None:
    """The checkpoint of a fit of `model` to `rows`, where it asks for one; refused if it is of another fit."""
    if model.checkpoint is None:
        return None
    identity = {
        f"parameter {name}": in_words(value)
        for name, value in model.get_params(deep=False).items()
        if name not in _BESIDE
    }
    identity |= {f"data: {name}": text for name, text in _identity(rows.source).items()}
    identity["data: rows of a block"] = str(rows.block_rows)
    identity["data: sample_weight"] = _weights_in_words(sample_weight)
    identity["version of gramless"] = __version__
    checkpoint = FileCheckpoint(model.checkpoint, identity)
    if checkpoint.task:
        _refuse_foreign(checkpoint)
    return checkpoint


def _refuse_foreign(checkpoint: FileCheckpoint) -> None:
    """Refuse what no fit of ours has left there."""
    kept, summed = _TASKS.get(checkpoint.task, (NoneType, NoneType))
    if not isinstance(checkpoint.kept, kept) or not all(isinstance(part, summed) for _, part in checkpoint.parts):
        raise CheckpointError(
            f"checkpoint={str(checkpoint.path)!r} holds {checkpoint.task!r}, and no fit does; delete it to begin anew"
        )


def warn_unused(checkpoint: Any, method: str) -> None:
    """Say, before the work begins, that it will not be resumed."""
    warn(
        f"checkpoint={str(checkpoint)!r} has no effect with method {method!r}, whose work is no sum over blocks: when "
        "it is killed, the same call begins anew. Methods with explicit features go on; for any Mercer kernel "
        "method='landmarks' is one",
        CheckpointWarning,
    )


def _identity(source: Source) -> dict[str, str]:
    """What a source is known by: its place, its shape, and of files their sizes and times."""
    words = {
        "columns": str(source.feature_names or source.n_features),
        "rows": str(source.n_rows),
        "type": str(source.dtype),
    }
    if source.drops:
        words["missing"] = "drop"
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
