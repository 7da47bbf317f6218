"""Objects as a tree of JSON values that refers to named arrays, and back."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array
from gramless.eigen import Outcome
from gramless.persistence.classes import CLASSES, field_names


class Encoder:
    """Turns values into JSON, and gathers their arrays. What occurs twice is written once.

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
        self._held: list[Any] = []  # so that no id is used twice

    def encode(self, value: Any) -> Any:
        """A tree of JSON values; raises a TypeError that names what cannot be written."""
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, (float, np.generic)):
            return self._number(value)
        if isinstance(value, PurePath):
            return str(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if scipy.sparse.issparse(value):
            rows = scipy.sparse.csr_array(value)
            parts = {name: self._array(getattr(rows, name)) for name in ("data", "indices", "indptr")}
            return {"csr": parts, "shape": list(rows.shape)}
        if isinstance(value, (list, tuple)):
            return {type(value).__name__: [self.encode(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self._key(key), self.encode(item)] for key, item in value.items()]}
        if isinstance(value, np.dtype):
            return {"dtype": value.name}
        if isinstance(value, Outcome):
            return {"outcome": value.name}
        return self._object(value)

    def _number(self, value: Any) -> Any:
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, (bool, int, str)):
            return plain
        if not isinstance(plain, float):
            raise TypeError(f"{value!r} cannot be saved")
        return plain if np.isfinite(plain) else {"float": repr(plain)}

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(f"a dict with the key {key!r} cannot be saved: keys must be texts")
        return key

    def _array(self, value: Array) -> Any:
        if value.dtype.kind in "OU":
            texts = value.ravel().tolist()
            if not all(isinstance(text, str) for text in texts):
                raise TypeError("an array of Python objects cannot be saved")
            return {"texts": texts, "shape": list(value.shape), "object": value.dtype.kind == "O"}
        if value.dtype.kind == "c":
            pair = np.stack([value.real, value.imag], axis=-1)
            return {"complex": self._array(pair)}
        if value.dtype.kind not in "bfiu":
            raise TypeError(f"an array of {value.dtype} cannot be saved")
        fortran = value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous
        name = str(len(self.arrays))
        self.arrays[name] = np.ascontiguousarray(value.T if fortran else value)
        return {"array": name, "order": "F" if fortran else "C"}

    def _object(self, value: Any) -> Any:
        cls = type(value)
        if CLASSES.get(cls.__name__) is not cls:
            what = f"a function ({value!r})" if callable(value) else f"an object of type {cls.__name__}"
            raise TypeError(f"{what} cannot be saved: files hold data only, and loading one runs no code")
        if id(value) in self._known:
            return {"same": self._known[id(value)]}
        made = {"class": cls.__name__, "fields": {name: self.encode(getattr(value, name)) for name in field_names(cls)}}
        self._known[id(value)] = len(self._held)
        self._held.append(value)
        return made


class Decoder:
    """Turns a tree back into values; everything unknown is refused by name.

    Parameters
    ----------
    arrays : dict of str to ndarray
    """

    def __init__(self, arrays: dict[str, Array]) -> None:
        self._arrays = arrays
        self._made: list[Any] = []

    def decode(self, tree: Any) -> Any:
        """The value; raises a ValueError that names what is not understood."""
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        if not isinstance(tree, dict):
            raise ValueError(f"the file holds {tree!r} where a value was expected")
        for kind in ("float", "array", "texts", "complex", "csr", "list", "tuple", "dict", "dtype", "outcome", "class"):
            if kind in tree:
                return getattr(self, f"_{kind}")(tree)
        if "same" in tree and isinstance(tree["same"], int) and 0 <= tree["same"] < len(self._made):
            return self._made[tree["same"]]
        raise ValueError(f"the file holds a value of an unknown kind: {sorted(tree)}")

    def _float(self, tree: Any) -> float:
        if tree["float"] not in ("inf", "-inf", "nan"):
            raise ValueError(f"{tree['float']!r} is not a number")
        return float(tree["float"])

    def _array(self, tree: Any) -> Array:
        if tree["array"] not in self._arrays:
            raise ValueError(f"the file lacks the array {tree['array']!r}")
        array = self._arrays[tree["array"]]
        return array.T if tree["order"] == "F" else array

    def _texts(self, tree: Any) -> Array:
        return np.array(tree["texts"], dtype=object if tree["object"] else np.str_).reshape(tree["shape"])

    def _complex(self, tree: Any) -> Array:
        pair = self._array(tree["complex"])
        return np.asarray(pair[..., 0] + 1j * pair[..., 1])

    def _csr(self, tree: Any) -> Any:
        data, indices, indptr = (self._array(tree["csr"][name]) for name in ("data", "indices", "indptr"))
        return scipy.sparse.csr_array((data, indices, indptr), shape=tuple(tree["shape"]))

    def _list(self, tree: Any) -> list[Any]:
        return [self.decode(item) for item in tree["list"]]

    def _tuple(self, tree: Any) -> tuple[Any, ...]:
        return tuple(self.decode(item) for item in tree["tuple"])

    def _dict(self, tree: Any) -> dict[str, Any]:
        return {key: self.decode(item) for key, item in tree["dict"]}

    def _dtype(self, tree: Any) -> Any:
        if tree["dtype"] not in ("float64", "float32"):
            raise ValueError(f"the file has the dtype {tree['dtype']!r}; known: float64, float32")
        return np.dtype(tree["dtype"])

    def _outcome(self, tree: Any) -> Outcome:
        if tree["outcome"] not in Outcome.__members__:
            raise ValueError(f"the file has the outcome {tree['outcome']!r}, which this version does not know")
        return Outcome[tree["outcome"]]

    def _class(self, tree: Any) -> Any:
        cls = CLASSES.get(tree["class"])
        if cls is None:
            raise ValueError(f"the file holds {tree['class']!r}, which this version of gramless does not know")
        unknown = set(tree["fields"]) ^ set(field_names(cls))
        if unknown:
            raise ValueError(
                f"the file was written by another version: {tree['class']} differs in the field {sorted(unknown)[0]!r}"
            )
        made = cls(**{name: self.decode(item) for name, item in tree["fields"].items()})
        self._made.append(made)
        return made
