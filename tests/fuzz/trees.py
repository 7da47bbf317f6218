"""JSON values changed at random: what an attacker would do who then seals the file again."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 3, 10**6, 2**31, 2**62, 2**63, 2**64, -(2**63), 10**300, 0.5, -1e300, 5e-324),
    *("", "0", "1", "float64", "object", "KernelPCA", "Gaussian", "Monomials", "TaylorMap", "os.system", "__class__"),
    *([], {}, [[]], {"float": "nan"}, {"float": "inf"}, {"same": 0}, {"same": -1}, {"array": "0", "order": "F"}),
    *({"list": []}, {"dict": [["a", 1], ["a", 2]]}, {"class": "Linear", "fields": {}}, {"dtype": "float32"}),
    {"class": "Gaussian", "fields": {"sigma": 1e-200}},
    {"class": "Polynomial", "fields": {"degree": 10**6, "c": 1.0, "scale": 1.0}},
    {"texts": ["a", "b" * 5000], "shape": [2], "object": False},
    {"eval": "1"},
)
_DEEP = 2000


def change_tree(tree: Any, rng: Any) -> Any:
    """A copy with one to three places changed."""
    changed = copy.deepcopy(tree)
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(changed))
        holder, key = places[rng.integers(len(places))]
        _change(holder, key, rng)
    return changed


def _places(tree: Any) -> Any:
    """Every (container, key or index) of a tree."""
    stack = [tree]
    while stack:
        holder = stack.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], (dict, list)) and holder[key]:
                stack.append(holder[key])


def _change(holder: Any, key: Any, rng: Any) -> None:
    choice, value = rng.integers(7), holder[key]
    if choice == 0:
        del holder[key]
    elif choice == 1 and isinstance(holder, dict):
        holder[f"{key}_"] = holder.pop(key)
    elif choice == 2 and isinstance(holder, list):
        holder.insert(key, value)
    elif choice == 3:
        for _ in range(int(rng.choice([1, 50, _DEEP]))):
            value = [value] if rng.integers(2) else {"list": [value]}
        holder[key] = value
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and choice < 6:
        holder[key] = [value + 1, -value, value * 2, 0, value * 10**6][rng.integers(5)]
    else:
        holder[key] = copy.deepcopy(_VALUES[rng.integers(len(_VALUES))])


_NUMBERS = (np.nan, np.inf, -np.inf, 1e308, -1e300, 0.0, 5e-324)


def change_array(array: Any, rng: Any) -> Any:
    """A copy with a number, the type, the shape or the order of its entries changed."""
    changed = array.copy()
    choice = rng.integers(7)
    if choice < 2 and array.size and array.dtype.kind == "f":
        changed.reshape(-1)[rng.integers(array.size) if choice else slice(None)] = rng.choice(_NUMBERS)
    elif choice < 2 and array.size and array.dtype.kind == "i":
        changed.reshape(-1)[rng.integers(array.size)] = rng.choice([-1, 0, np.iinfo(array.dtype).max])
    elif choice == 2:
        with np.errstate(invalid="ignore", over="ignore"):
            changed = changed.astype(str(rng.choice(["f4", "f2", "i8", "i1", "u1", "?"])))
    elif choice == 3:
        changed = np.ascontiguousarray(changed.T)
    elif choice == 4:
        changed = changed.reshape(-1)
    elif choice == 5 and array.ndim:
        changed = changed[: rng.integers(len(array) + 1)]
    elif array.ndim:
        changed = np.concatenate([changed, -changed if array.dtype.kind == "f" else changed])
    return changed
