"""Objects as a tree of JSON values that refers to named arrays."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array
from gramless.eigen import Outcome
from gramless.kernels import FromCallable
from gramless.persistence.classes import CLASSES, field_types, file_name
from gramless.persistence.file import can_hold

#: Levels that a tree may have: a sum of kernels takes one level for each term.
MOST_LEVELS = 100
#: Integers are smaller than this, in modulus.
MOST_INTEGER = 2**64


def texts_size(texts: list[str]) -> int:
    """Bytes of an array of strings, each of which takes as much as the longest."""
    return 4 * len(texts) * max(map(len, texts), default=0)


def most_texts(texts: list[str]) -> int:
    """Bytes that an array of these strings may take: if one is much longer than the others, it is mostly padding."""
    return 2**20 + 64 * sum(map(len, texts))


class Encoder:
    """Turns values into JSON, and gathers their arrays. An object that occurs twice is written once.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.encode({"k": 2, "values": np.arange(2.0)})
    {'dict': [['k', 2], ['values', {'array': '0', 'order': 'C'}]]}
    >>> encoder.arrays
    {'0': array([0., 1.])}
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._known: dict[int, int] = {}
        self._held: list[Any] = []  # kept alive, so that no id is reused
        self._level = 0

    def encode(self, value: Any) -> Any:
        """A tree of JSON values; raises a TypeError that names what cannot be written."""
        if isinstance(value, (float, np.generic)):
            value = self._number(value)
        if isinstance(value, PurePath):
            value = str(value)
        if isinstance(value, int) and abs(value) >= MOST_INTEGER:
            raise TypeError(f"an integer of {value.bit_length()} bits cannot be saved")
        if value is None or isinstance(value, (bool, int, float, str)):
            return str(value) if isinstance(value, str) else value
        if self._level >= MOST_LEVELS:
            raise TypeError(f"more than {MOST_LEVELS} levels of nested objects cannot be saved")
        self._level += 1
        try:
            return self._compound(value)
        finally:
            self._level -= 1

    def _compound(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return {"tuple" if isinstance(value, tuple) else "list": [self.encode(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self._key(key), self.encode(item)] for key, item in value.items()]}
        if isinstance(value, np.dtype):
            return {"dtype": value.name}
        if isinstance(value, Outcome):
            return {"outcome": value.name}
        if isinstance(value, _Special):
            return {"float": value.text}
        if id(value) in self._known:
            return {"same": self._known[id(value)]}
        made = self._shared(value)
        self._known[id(value)] = len(self._held)
        self._held.append(value)
        return made

    def _shared(self, value: Any) -> Any:
        """The tree of an array, a sparse matrix or an object, which may occur in several places."""
        if isinstance(value, np.ndarray):
            return self._array(value)
        if scipy.sparse.issparse(value):
            rows = value.tocsr()
            parts = {name: self._plain(getattr(rows, name)) for name in ("data", "indices", "indptr")}
            matrix = isinstance(value, scipy.sparse.spmatrix)
            return {"csr": parts, "shape": [int(n) for n in rows.shape], "matrix": matrix}
        return self._object(value)

    def _number(self, value: Any) -> Any:
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, (bool, int, str)):
            return plain
        if not isinstance(plain, float):
            raise TypeError(f"{value!r} cannot be saved")
        return plain if np.isfinite(plain) else _Special(repr(plain))

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(f"a dict with the key {key!r} cannot be saved: keys must be strings")
        return key

    def _array(self, value: Array) -> Any:
        if value.dtype.kind in "OU":
            texts = value.ravel().tolist()
            if not all(isinstance(text, str) for text in texts):
                raise TypeError("an array of Python objects cannot be saved")
            if value.dtype.kind == "U" and texts_size(texts) > most_texts(texts):
                raise TypeError("an array of strings, one of which is much longer than the others, cannot be saved")
            return {"texts": texts, "shape": list(value.shape), "object": value.dtype.kind == "O"}
        if value.dtype.kind == "c":
            return {"complex": self._plain(np.stack([value.real, value.imag], axis=-1))}
        return self._plain(value)

    def _plain(self, value: Array) -> Any:
        if not can_hold(value.dtype):
            raise TypeError(f"an array of {value.dtype} cannot be saved")
        fortran = value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous
        name = str(len(self.arrays))
        self.arrays[name] = np.asarray(value.T if fortran else value, order="C")
        return {"array": name, "order": "F" if fortran else "C"}

    def _object(self, value: Any) -> Any:
        cls = type(value)
        name = file_name(cls)
        if CLASSES.get(name) is not cls:
            raise TypeError(_refusal(value))
        return {"class": name, "fields": {name: self.encode(getattr(value, name)) for name in field_types(cls)}}


class _Special:
    """A float that JSON has no number for: an infinity or NaN."""

    def __init__(self, text: str) -> None:
        self.text = text


def _refusal(value: Any) -> str:
    """Why an object cannot be written, and what to do instead."""
    if isinstance(value, FromCallable):
        value = value.function
    if callable(value):
        return (
            f"a function ({value!r}) cannot be saved: files contain data only, and loading one runs no code. Build the "
            "kernel from those of gramless.kernels, or use pickle or joblib where you trust the author of the file"
        )
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return "a random generator cannot be saved: pass an integer, or set it to one before saving"
    return (
        f"an object of type {type(value).__name__} cannot be saved: files contain data only, and loading one runs no "
        "code"
    )
