"""Sources of other packages: any object with the attributes of a source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramless.data.formats.source import Source, as_floats, choose_columns, chosen_names

_NEEDED = ("blocks", "n_features", "n_rows", "restartable")


def looks_like_source(given: Any) -> bool:
    """Whether `given` has ``blocks(rows)``, ``n_features``, ``n_rows`` and ``restartable``."""
    return not isinstance(given, type) and all(hasattr(given, name) for name in _NEEDED)


class ForeignSource(Source):
    """An object with ``blocks(rows)``, ``n_features``, ``n_rows`` and ``restartable``, checked like any other source.

    Parameters
    ----------
    given : object
        May also have ``name``, ``feature_names`` and ``dtype``, and a second argument ``start`` of ``blocks``.
    columns : list of str or int, optional
    """

    callers_own = True

    def __init__(self, given: Any, columns: Any = None) -> None:
        self.name = str(getattr(given, "name", type(given).__name__))
        names = getattr(given, "feature_names", None)
        names = None if names is None else tuple(names)
        self._given = given
        self._chosen = choose_columns(self.name, columns, int(given.n_features), names)
        self.n_features = int(given.n_features) if self._chosen is None else len(self._chosen)
        self.n_rows, self.restartable = given.n_rows, bool(given.restartable)
        self.feature_names = chosen_names(names, self._chosen)
        self.dtype = np.dtype(getattr(given, "dtype", np.float64))
        self.sparse = bool(getattr(given, "sparse", False))

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        for block in self._given.blocks(rows, start) if start else self._given.blocks(rows):
            chosen = block if self._chosen is None else block[:, self._chosen]
            yield chosen.astype(self.dtype) if self.sparse else as_floats(chosen, self.dtype)
