"""The progress of a long fit in a file: after the process was killed, the same call continues from there."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from gramless._version import __version__
from gramless.arrays import Array
from gramless.errors import CheckpointError, FormatError
from gramless.persistence.decoding import Decoder
from gramless.persistence.encoding import Encoder
from gramless.persistence.file import read_file, write_file
from gramless.persistence.types import describe, fits

_MOST_FEATURES = 10**7  # limit for a map that was saved before there were sums of its size
_STATE: dict[str, Any] = {"task": str, "rows": int, "kept": Any, "counts": list[int], "sums": list[Any]}


class FileCheckpoint:
    """A :class:`~gramless.data.Checkpoint` in a file, which is replaced in one step after every block.

    Parameters
    ----------
    path : str or Path
        The fit is resumed from this file if it exists.
    identity : dict of str to str
        Data and parameters of the fit, as strings. A file with another identity is refused.

    Attributes
    ----------
    task, rows, parts
        As in the protocol.
    kept : object
        The object that was given to :meth:`begin`.

    Raises
    ------
    CheckpointError
        If the file is of another fit, whose difference the message names, or not a checkpoint.
    """

    def __init__(self, path: Any, identity: dict[str, str]) -> None:
        self.path, self.identity = Path(path), identity
        self.task, self.rows = "", 0
        self.kept: Any = None
        self.parts: list[tuple[int, Any]] = []
        if not self.path.parent.is_dir():
            raise CheckpointError(f"checkpoint={str(path)!r}: there is no folder {self.path.parent}")
        if self.path.exists():
            self._resume()

    def _resume(self) -> None:
        try:
            header, arrays = read_file(self.path)
        except (ValueError, OSError) as error:
            raise CheckpointError(f"checkpoint={str(self.path)!r} cannot be read: {error}") from error
        if header.get("estimator") != "checkpoint":
            raise CheckpointError(f"checkpoint={str(self.path)!r} is a model file, not a checkpoint")
        was = header.get("identity")
        was = was if isinstance(was, dict) else {}
        for name in sorted({*self.identity, *was}):
            before, now = was.get(name), self.identity.get(name)
            if before != now:
                raise CheckpointError(
                    f"checkpoint={str(self.path)!r} is of another fit: {name} was {before}, and is {now}; pass another "
                    "path, or delete the file to start over"
                )
        try:
            state = Decoder(arrays, most_features=_MOST_FEATURES).expect(header["state"], dict[str, Any], "the state")
            for name, hint in _STATE.items():
                if not fits(state[name], hint):
                    raise FormatError(f"its {name} should be {describe(hint)}")
            self.task, self.rows, self.kept = state["task"], state["rows"], state["kept"]
            self.parts = list(zip(state["counts"], state["sums"], strict=True))
        except (ValueError, KeyError) as error:
            raise CheckpointError(f"checkpoint={str(self.path)!r} cannot be read: {error}") from error

    def begin(self, task: str, kept: Any = None) -> None:
        """Begin a pass; the file keeps the pass before until the first block of this pass is saved."""
        self.task, self.kept, self.parts, self.rows = task, kept, [], 0

    def save(self, parts: list[tuple[int, Any]], rows: int) -> None:
        """Save the sums with one more block added; they are on disk when this returns."""
        self.parts, self.rows = list(parts), rows
        encoder = Encoder()
        state = encoder.encode(
            {
                "task": self.task,
                "rows": rows,
                "kept": self.kept,
                "counts": [count for count, _ in parts],
                "sums": [part for _, part in parts],
            }
        )
        header = {"version": __version__, "estimator": "checkpoint", "identity": self.identity, "state": state}
        write_file(self.path, header, encoder.arrays)

    def done(self) -> None:
        """Delete the file, because the fit is complete."""
        self.path.unlink(missing_ok=True)


def in_words(value: Any) -> str:
    """A value as a string that is the same for equal values; arrays by their digest.

    Examples
    --------
    >>> in_words(0.5), in_words(None)
    ('0.5', 'null')
    """
    encoder = Encoder()
    tree = json.dumps(encoder.encode(value), sort_keys=True)
    return tree if not encoder.arrays else f"{tree} {digest(*encoder.arrays.values())}"


def digest(*arrays: Array) -> str:
    """A short string that differs if the arrays differ."""
    made = hashlib.blake2b(digest_size=12)
    for array in arrays:
        made.update(f"{array.dtype.str} {array.shape}".encode())
        made.update(np.ascontiguousarray(array).data)
    return made.hexdigest()
