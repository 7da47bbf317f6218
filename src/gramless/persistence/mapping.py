"""Arrays of a file mapped to memory: their bytes are read when they are used, and may leave memory again."""

from __future__ import annotations

import math
import os
from mmap import ACCESS_READ, mmap
from typing import Any, BinaryIO

import numpy as np

from gramless.arrays import Array
from gramless.errors import FormatError


def can_map() -> bool:
    """Whether files are mapped on this system: not on Windows, where a mapped file cannot be replaced."""
    return os.name != "nt"


def map_file(file: BinaryIO, size: int) -> mmap:
    """The first `size` bytes of a file, read-only; they remain when the file is closed, replaced or deleted.

    Raises
    ------
    FormatError
        If the file has fewer bytes.
    """
    try:
        return mmap(file.fileno(), size, access=ACCESS_READ)
    except ValueError:
        raise FormatError("it was truncated while it was read") from None


def mapped_array(whole: mmap, dtype: np.dtype[Any], shape: tuple[int, ...], place: int) -> Array:
    """An array, read-only, that starts `place` bytes after the start of a mapped file.

    It is a plain ndarray and not an ``np.memmap``: a pickle of it contains its numbers and not the name of a file,
    which may be another file by the time that the pickle is loaded.
    """
    return np.frombuffer(whole, dtype, math.prod(shape), place).reshape(shape)
