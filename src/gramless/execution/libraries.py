"""Who works on data where it lies: a library is found by the type of the data, and imported when it is met."""

from __future__ import annotations

import importlib
from typing import Any

#: First word of a type's module, and our module for such data. It has ``open_parts`` and ``map_rows``.
LIBRARIES = {"dask": "gramless.distributed", "dask_expr": "gramless.distributed"}


def library_of(x: Any) -> Any | None:
    """The module that works on data like `x` where it lies; None for data in memory.

    Examples
    --------
    >>> library_of([[1.0, 2.0]]) is None
    True
    """
    name = LIBRARIES.get(type(x).__module__.partition(".")[0])
    return None if name is None else importlib.import_module(name)
