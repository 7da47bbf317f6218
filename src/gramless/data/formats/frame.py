"""Data frames of pandas and polars, read slice by slice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramless.data.formats.registry import Format, formats, made_by
from gramless.data.formats.source import Source, check_shape, choose_columns, chosen_names, refuse_columns


class FrameSource(Source):
    """A pandas or polars data frame whose chosen columns are numeric.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
    columns : list of str or int, optional
    """

    def __init__(self, frame: Any, columns: Any = None) -> None:
        self.name = "the data frame"
        names = tuple(str(name) for name in frame.columns)
        self._chosen = choose_columns(self.name, columns, len(names), names) or list(range(len(names)))
        self._polars = type(frame).__module__.split(".")[0] == "polars"
        self._frame = frame
        self.feature_names = chosen_names(names, self._chosen)
        self.n_rows, self.n_features = check_shape(self.name, (len(frame), len(self._chosen)))
        kinds = {names[i]: str(frame.dtypes[i] if self._polars else frame.dtypes.iloc[i]).lower() for i in self._chosen}
        numeric = ("int", "uint", "float", "bool", "decimal", "double")
        refuse_columns(self.name, {name: kind for name, kind in kinds.items() if not kind.startswith(numeric)})
        self.dtype = np.dtype(np.float32 if set(kinds.values()) == {"float32"} else np.float64)

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        for first in range(start, self.n_rows or 0, rows):
            count = min(rows, (self.n_rows or 0) - first)
            block = np.empty((count, self.n_features), dtype=self.dtype)
            for j, i in enumerate(self._chosen):
                block[:, j] = self._column(i, first, count)
            yield block

    def _column(self, i: int, first: int, count: int) -> Any:
        if self._polars:
            return self._frame.to_series(i).slice(first, count).to_numpy()
        return self._frame.iloc[first : first + count, i].to_numpy(dtype=self.dtype, na_value=np.nan)


formats.register("frame")(
    Format(
        lambda frame, columns, key: FrameSource(frame, columns),
        accepts=lambda given: made_by(given, "pandas", "DataFrame") or made_by(given, "polars", "DataFrame"),
    )
)
