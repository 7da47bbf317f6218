"""Sources from array-likes: NumPy arrays, memory maps, CSR matrices, and arrays of HDF5 and zarr."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from gramless.data.formats.registry import Format, formats, made_by
from gramless.data.formats.source import Source, as_floats, check_shape, choose_columns, float_dtype


class ArraySource(Source):
    """Slices of an array-like with ``shape``, ``dtype`` and ``[first:last]``.

    Parameters
    ----------
    array : array-like of shape (n, d)
        A NumPy array, a memory map, an ``h5py.Dataset``, a ``zarr.Array``.
    columns : list of int, optional
    name : str

    Examples
    --------
    >>> source = ArraySource(np.arange(6.0).reshape(3, 2))
    >>> [block.tolist() for block in source.blocks(2)]
    [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    """

    def __init__(self, array: Any, columns: Any = None, name: str = "the array") -> None:
        self.name = name
        self.n_rows, width = check_shape(name, array.shape)
        self.dtype = float_dtype(name, [array.dtype])
        self.array = array
        self._chosen = choose_columns(name, columns, width, None)
        self.n_features = width if self._chosen is None else len(self._chosen)

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        for first in range(start, self.n_rows or 0, rows):
            piece = np.asarray(self.array[first : first + rows])
            yield as_floats(piece if self._chosen is None else piece[:, self._chosen], self.dtype)


class SparseSource(Source):
    """Blocks of a SciPy sparse matrix, themselves CSR.

    Parameters
    ----------
    matrix : sparse matrix or array of shape (n, d)
    columns : list of int, optional
    """

    sparse = True

    def __init__(self, matrix: Any, columns: Any = None) -> None:
        self.name = "the sparse matrix"
        self.n_rows, width = check_shape(self.name, matrix.shape)
        self.dtype = float_dtype(self.name, [matrix.dtype])
        chosen = choose_columns(self.name, columns, width, None)
        rows = scipy.sparse.csr_array(matrix)
        self._rows = rows if chosen is None else rows[:, chosen]
        self.n_features = self._rows.shape[1]

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        for first in range(start, self.n_rows or 0, rows):
            yield self._rows[first : first + rows].astype(self.dtype)


formats.register("array")(
    Format(
        lambda array, columns, key: ArraySource(array, columns),
        accepts=lambda given: (
            isinstance(given, np.ndarray) or made_by(given, "h5py", "Dataset") or made_by(given, "zarr", "Array")
        ),
    )
)
formats.register("sparse")(
    Format(lambda matrix, columns, key: SparseSource(matrix, columns), accepts=scipy.sparse.issparse)
)
