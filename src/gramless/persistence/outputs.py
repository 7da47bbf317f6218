"""Which files may be written to: never an input, and an existing model is replaced by a model of its kind only."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gramless.persistence.file import MOST_HEADER

_OTHER = "pass another path"


def check_output(output: Any, *inputs: Any) -> None:
    """Raise where writing `output` would destroy something else: an input, a model, a checkpoint or a device.

    Parameters
    ----------
    output : str or Path
        An existing table or page at this path may be replaced.
    *inputs : path, source, array or None
        Data, models and checkpoints in use; of an array that is mapped to memory, its file. Links, relative paths and
        the case of letters are no way around, because files are compared and not their names.

    Raises
    ------
    FileExistsError

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.npy"
    >>> np.save(path, np.zeros(3))
    >>> check_output(path, path)
    Traceback (most recent call last):
        ...
    FileExistsError: .../rows.npy is an input, and would be lost; pass another path for the output
    """
    refuse_inputs(output, *inputs)
    found = _content(Path(output))
    if found is not None:
        raise FileExistsError(f"{output} is {found}, and would be lost; {_OTHER} for the output")


def refuse_inputs(output: Any, *inputs: Any) -> None:
    """Raise where `output` is one of the inputs, or lies in a folder that is one."""
    _refuse_empty(output)
    target = Path(output)
    for path in (path for given in inputs for path in _paths(given)):
        if path.is_dir():
            if any(_same(folder, path) for folder in (target, *Path(os.path.realpath(target)).parents)):
                raise FileExistsError(f"{output} lies in the folder {path}, which is an input; {_OTHER} for the output")
        elif _same(target, path):
            raise FileExistsError(f"{output} is an input, and would be lost; {_OTHER} for the output")


def check_model_output(path: Any) -> None:
    """Raise where saving a model to `path` would destroy something else than a model."""
    _check_replaced(path, _MODEL)


def check_onnx_output(path: Any) -> None:
    """Raise where writing an ONNX model to `path` would destroy something else than an ONNX model of gramless."""
    _check_replaced(path, _ONNX)


def _check_replaced(path: Any, kind: str) -> None:
    _refuse_empty(path)
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; pass the path of a file")
    if not target.exists() or (target.is_file() and target.stat().st_size == 0):
        return
    found = _content(target) or f"not {kind}"
    if found != kind:
        raise FileExistsError(f"{path} exists and is {found}; {_OTHER}, or delete the file first")


def _refuse_empty(path: Any) -> None:
    if not str(path):
        raise ValueError("the path of the output is ''; pass the path of a file")


_MODEL, _CHECKPOINT, _ONNX = "a model of gramless", "the checkpoint of a fit", "an ONNX model of gramless"
_ONNX_START = re.compile(rb"\x08.\x12\x08gramless", re.DOTALL)  # the version of the format, the name of the producer


def _content(path: Path) -> str | None:
    """In words, what may not be replaced by a table or a page; None if there is nothing of that kind."""
    if not path.exists():
        return None
    if not path.is_file():
        return "a folder" if path.is_dir() else "a device or a pipe"
    with open(path, "rb") as file:
        start = file.read(16)
        if _ONNX_START.match(start):
            return _ONNX
        file.seek(8)
        length = int.from_bytes(start[:8], "little")
        if length > MOST_HEADER:
            return None
        text = file.read(length)
    try:
        header = json.loads(json.loads(text)["__metadata__"]["gramless"])
        return _CHECKPOINT if header["estimator"] == "checkpoint" else _MODEL
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _paths(given: Any) -> Iterator[Path]:
    """The files or folders that `given` is read from."""
    if isinstance(given, (str, os.PathLike)):
        yield Path(given)
    elif isinstance(given, np.ndarray):
        if isinstance(given, np.memmap) and given.filename is not None:
            yield Path(given.filename)
        elif given.base is not None:
            yield from _paths(given.base)
    elif isinstance(getattr(given, "path", None), (str, os.PathLike)):
        yield Path(given.path)
    elif isinstance(getattr(given, "array", None), np.ndarray):
        yield from _paths(given.array)


def _same(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:  # one of them does not exist
        return False
