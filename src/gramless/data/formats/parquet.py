"""Parquet files, read in batches; only the chosen columns are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gramless.data.formats.registry import Format, formats
from gramless.data.formats.source import (
    Source,
    block_name,
    check_shape,
    choose_columns,
    chosen_names,
    optional_import,
    refuse_columns,
)
from gramless.errors import FormatError

_BATCH = 2**17  # maximum number of rows that pyarrow decodes at a time; blocks are assembled from such batches


class ParquetSource(Source):
    """A ``.parquet`` file of numbers; the index of a pandas data frame is not a column, unless it is chosen by name.

    Parameters
    ----------
    path : Path
    columns : list of str or int, optional
        Columns to read; other columns may have any type.
    """

    def __init__(self, path: Path, columns: Any = None) -> None:
        self.path, self.name = path, str(path)
        self._arrow = optional_import("pyarrow", "Parquet files")
        with self._open() as file:
            metadata, schema = file.metadata, file.schema_arrow
            self._groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        names = tuple(schema.names)
        chosen = choose_columns(self.name, columns, len(names), names)
        self.feature_names = columns_of(schema) if chosen is None else chosen_names(names, chosen) or ()
        self.n_rows, self.n_features = check_shape(self.name, (sum(self._groups), len(self.feature_names)))
        kinds, types = self._arrow.types, {name: schema.field(name).type for name in self.feature_names}
        refuse_columns(
            self.name,
            {
                name: str(kind)
                for name, kind in types.items()
                if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind))
            },
        )
        single = all(schema.field(name).type == self._arrow.float32() for name in self.feature_names)
        self.dtype = np.dtype(np.float32 if single else np.float64)

    def _open(self) -> Any:
        parquet = optional_import("pyarrow.parquet", "Parquet files")
        try:  # the buffer makes pyarrow read page by page, not a whole row group at once
            return parquet.ParquetFile(self.path, buffer_size=2**20, pre_buffer=False)
        except (self._arrow.ArrowException, OSError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise FormatError(f"{self.path} is not a complete Parquet file: {error}") from error

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        group, before = 0, 0
        while group < len(self._groups) and before + self._groups[group] <= start:
            before += self._groups[group]
            group += 1
        drop, row = start - before, start
        with self._open() as file:
            wanted = list(dict.fromkeys(self.feature_names or ()))
            batches = file.iter_batches(min(rows, _BATCH), columns=wanted, row_groups=range(group, len(self._groups)))
            while True:
                try:
                    batch = next(batches, None)
                except (self._arrow.ArrowException, OSError) as error:
                    raise FormatError(f"{self.name}, {block_name(row, rows, self.n_rows)}: damaged: {error}") from error
                if batch is None:
                    break
                if drop < batch.num_rows:
                    block = self._block(batch.slice(drop))
                    row += len(block)
                    yield block
                drop = max(0, drop - batch.num_rows)

    def _block(self, batch: Any) -> Any:
        block = np.empty((batch.num_rows, self.n_features), dtype=self.dtype)
        for j, name in enumerate(self.feature_names or ()):
            block[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
        return block


def columns_of(schema: Any) -> tuple[str, ...]:
    """Names of the columns of a Parquet file, without the index columns of pandas."""
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    return tuple(name for name in schema.names if name not in index)


formats.register("parquet")(
    Format(lambda path, columns, key: ParquetSource(path, columns), (".parquet", ".pq"), keyed=False)
)
