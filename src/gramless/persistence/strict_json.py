"""Strict JSON: input that parsers interpret differently is refused."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from gramless.errors import FormatError


def parse(text: bytes | str) -> Any:
    """The value; a name given twice, ``NaN``, ``Infinity``, invalid UTF-8 and too deep nesting are refused.

    Examples
    --------
    >>> parse(b'{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> parse(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
        ...
    gramless.errors.FormatError: the JSON has the name 'a' twice
    """
    try:
        plain = text.decode("utf-8") if isinstance(text, bytes) else text
        return json.loads(plain, object_pairs_hook=_once, parse_constant=_refuse_constant)
    except FormatError:
        raise
    except RecursionError:
        raise FormatError("the JSON is nested too deeply") from None
    except ValueError as error:  # JSONDecodeError, UnicodeDecodeError, or an integer of 5,000 digits
        raise FormatError(f"this is not JSON: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise FormatError(f"the JSON has the name {twice!r} twice")
    return made


def _refuse_constant(name: str) -> NoReturn:
    raise FormatError(f"the JSON has {name}, which is not a number of JSON")
