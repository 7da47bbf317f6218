"""Decoding: from a tree of JSON values and arrays back to objects, with every part checked first."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array
from gramless.eigen import Outcome
from gramless.errors import FormatError
from gramless.persistence.classes import CLASSES, field_types, required_fields
from gramless.persistence.consistency import check, refuse_features
from gramless.persistence.encoding import MOST_INTEGER, MOST_LEVELS, most_texts, texts_size
from gramless.persistence.types import describe, fits

_KEYS = {
    **{frozenset({kind}): kind for kind in ("float", "complex", "list", "tuple", "dict", "dtype", "outcome", "same")},
    frozenset({"array", "order"}): "array",
    frozenset({"texts", "shape", "object"}): "texts",
    frozenset({"csr", "shape", "matrix"}): "csr",
    frozenset({"class", "fields"}): "class",
}


class Decoder:
    """Turns trees back into values; an error names whatever is unknown.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Each array is used once, so that no object takes more memory than the file has bytes for it.
    most_features : int, optional
        Maximum number of features of a map; by default as many as there are numbers in the arrays.

    Examples
    --------
    >>> Decoder({"0": np.arange(2.0)}).decode({"list": [{"array": "0", "order": "C"}, {"float": "inf"}]})
    [array([0., 1.]), inf]
    """

    def __init__(self, arrays: dict[str, Array], most_features: int | None = None) -> None:
        self._arrays = dict(arrays)
        self._most = sum(array.size for array in arrays.values()) if most_features is None else most_features
        self._made: list[Any] = []
        self._level = 0

    def decode(self, tree: Any) -> Any:
        """The value; raises a FormatError that names what is not understood."""
        if isinstance(tree, int) and abs(tree) >= MOST_INTEGER:
            raise FormatError(f"it has an integer of {tree.bit_length()} bits")
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        kind = _KEYS.get(frozenset(tree)) if isinstance(tree, dict) else None
        if kind is None:
            what = sorted(tree) if isinstance(tree, dict) else tree
            raise FormatError(f"it contains a value of an unknown kind: {_short(what)}")
        if self._level >= MOST_LEVELS:
            raise FormatError(f"it has more than {MOST_LEVELS} levels of nested objects")
        self._level += 1
        made = getattr(self, f"_{kind}")(tree)
        self._level -= 1
        if kind in ("array", "texts", "complex", "csr", "class"):
            self._made.append(made)
        return made

    def expect(self, tree: Any, hint: Any, name: str) -> Any:
        """The value, which must be of the type `hint`."""
        value = self.decode(tree)
        if not fits(value, hint):
            raise FormatError(f"{name} is {_short(value)}, expected {describe(hint)}")
        return value

    def finish(self) -> None:
        """Refuse arrays that nothing refers to."""
        if self._arrays:
            raise FormatError(f"it has the array {next(iter(self._arrays))!r}, which nothing refers to")

    def _same(self, tree: Any) -> Any:
        number = tree["same"]
        if type(number) is not int or not 0 <= number < len(self._made):
            raise FormatError(f"it refers to the object {_short(number)}, which is not there")
        return self._made[number]

    def _float(self, tree: Any) -> float:
        if tree["float"] not in ("inf", "-inf", "nan"):
            raise FormatError(f"{_short(tree['float'])} is not a number")
        return float(tree["float"])

    def _array(self, tree: Any) -> Array:
        name, order = tree["array"], tree["order"]
        if not isinstance(name, str) or name not in self._arrays or order not in ("C", "F"):
            raise FormatError(f"the array {_short(name)} is not there, or was used before")
        array = self._arrays.pop(name)
        return array.T if order == "F" else array

    def _plain(self, tree: Any) -> Array:
        if not isinstance(tree, dict) or set(tree) != {"array", "order"}:
            raise FormatError(f"it contains {_short(tree)} where an array was expected")
        return self._array(tree)

    def _texts(self, tree: Any) -> Array:
        texts, shape = tree["texts"], tree["shape"]
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise FormatError(f"it contains {_short(texts)} where strings were expected")
        if not tree["object"] and texts_size(texts) > most_texts(texts):
            raise FormatError("one of its strings is much longer than the others")
        self._whole(shape)
        return np.array(texts, dtype=object if tree["object"] else np.str_).reshape(shape)

    def _complex(self, tree: Any) -> Array:
        pair = self._plain(tree["complex"])
        if pair.ndim < 1 or pair.shape[-1] != 2 or pair.dtype not in (np.float64, np.float32):
            raise FormatError(f"complex numbers are stored as an array of shape {pair.shape} and type {pair.dtype}")
        return np.ascontiguousarray(pair).view(np.result_type(pair, 1j))[..., 0]

    def _csr(self, tree: Any) -> Any:
        parts, shape = tree["csr"], tree["shape"]
        if not isinstance(parts, dict) or set(parts) != {"data", "indices", "indptr"}:
            raise FormatError(f"a sparse matrix consists of {_short(parts)}")
        data, indices, indptr = (self._plain(parts[name]) for name in ("data", "indices", "indptr"))
        self._whole(shape)
        if len(shape) != 2 or indptr.shape != (shape[0] + 1,) or indices.dtype.kind + indptr.dtype.kind != "ii":
            raise FormatError(f"a sparse matrix of shape {_short(shape)} has {indptr.size} ends of rows")
        if data.ndim != 1 or indices.shape != data.shape or indptr[0] != 0 or indptr[-1] != data.size:
            raise FormatError("the entries of a sparse matrix do not fill its rows")
        if (np.diff(indptr) < 0).any() or (data.size and not 0 <= indices.min() <= indices.max() < shape[1]):
            raise FormatError("an entry of a sparse matrix lies outside it")
        made = scipy.sparse.csr_matrix if tree["matrix"] is True else scipy.sparse.csr_array
        return made((data, indices, indptr), shape=tuple(shape))

    def _list(self, tree: Any) -> list[Any]:
        return [self.decode(item) for item in self._items(tree["list"])]

    def _tuple(self, tree: Any) -> tuple[Any, ...]:
        return tuple(self.decode(item) for item in self._items(tree["tuple"]))

    def _dict(self, tree: Any) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for item in self._items(tree["dict"]):
            if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str) or item[0] in made:
                raise FormatError(f"it contains {_short(item)} where a name and a value were expected, each name once")
            made[item[0]] = self.decode(item[1])
        return made

    def _dtype(self, tree: Any) -> Any:
        if tree["dtype"] not in ("float64", "float32"):
            raise FormatError(f"it has the dtype {_short(tree['dtype'])}; known: float64, float32")
        return np.dtype(tree["dtype"])

    def _outcome(self, tree: Any) -> Outcome:
        if not isinstance(tree["outcome"], str) or tree["outcome"] not in Outcome.__members__:
            raise FormatError(f"it has the outcome {_short(tree['outcome'])}, which is unknown to this version")
        return Outcome[tree["outcome"]]

    def _class(self, tree: Any) -> Any:
        name, parts = tree["class"], tree["fields"]
        cls = CLASSES.get(name) if isinstance(name, str) else None
        if cls is None or not isinstance(parts, dict):
            raise FormatError(f"it contains {_short(name)}, which is unknown to this version of gramless")
        types = field_types(cls)
        for field in parts:
            if field not in types:
                raise FormatError(f"{name} has the field {_short(field)}, which is unknown to this version of gramless")
        for field in required_fields(cls) - parts.keys():
            raise FormatError(f"{name} lacks the field {field!r}")
        values = {field: self.expect(item, types[field], f"{field} of {name}") for field, item in parts.items()}
        refuse_features(cls, values, self._most)
        made = cls(**values)
        check(made)
        return made

    def _items(self, items: Any) -> list[Any]:
        if not isinstance(items, list):
            raise FormatError(f"it contains {_short(items)} where a list was expected")
        return items

    def _whole(self, shape: Any) -> None:
        if not isinstance(shape, list) or not all(type(n) is int and 0 <= n < 2**62 for n in shape):
            raise FormatError(f"it has an array of shape {_short(shape)}")


def _short(value: Any) -> str:
    """A value as a message shows it."""
    text = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
