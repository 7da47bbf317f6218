"""Checks that a value from a file has the type that its field is annotated with."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from gramless.persistence.classes import IMPLEMENTATIONS


def fits(value: Any, hint: Any) -> bool:
    """Whether `value` is of the type `hint`, as annotations write it; nothing is converted.

    Examples
    --------
    >>> fits(3, float), fits(True, float), fits("3", float | None), fits((1, 2), tuple[int, ...])
    (True, False, False, True)
    """
    if hint is Any:
        return True
    if hint is None or hint is NoneType:
        return value is None
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if origin in (list, tuple, dict):
        return _fits_collection(value, origin, parts)
    if hint is np.ndarray or origin is np.ndarray:
        return isinstance(value, np.ndarray)
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, IMPLEMENTATIONS.get(hint.__name__, hint))


def _fits_collection(value: Any, origin: Any, parts: tuple[Any, ...]) -> bool:
    if not isinstance(value, origin):
        return False
    if isinstance(value, Mapping):
        return all(fits(name, parts[0]) and fits(item, parts[1]) for name, item in value.items())
    if origin is tuple and parts[-1] is not Ellipsis:
        return len(value) == len(parts) and all(map(fits, value, parts))
    return all(fits(item, parts[0]) for item in value)


def describe(hint: Any) -> str:
    """A type as a message names it."""
    parts = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(describe(part) for part in parts)
    return (
        "None"
        if hint in (None, NoneType)
        else "an array"
        if hint is np.ndarray
        else getattr(hint, "__name__", str(hint))
    )
