"""Formats of rows, one module each: a source class that yields rows in pieces, registered with its file suffixes."""

from gramless.data.formats.array import ArraySource, SparseSource
from gramless.data.formats.delimited import CsvSource
from gramless.data.formats.folder import FolderSource
from gramless.data.formats.frame import FrameSource
from gramless.data.formats.hierarchical import Hdf5Source, ZarrSource
from gramless.data.formats.iterator import IteratorSource
from gramless.data.formats.missing import DroppingSource, FillingSource
from gramless.data.formats.npy import NpySource, NpzSource
from gramless.data.formats.parquet import ParquetSource
from gramless.data.formats.read_options import ReadOptions
from gramless.data.formats.registry import Format, formats
from gramless.data.formats.source import Source, block_name

__all__ = [
    "ArraySource",
    "CsvSource",
    "DroppingSource",
    "FillingSource",
    "FolderSource",
    "Format",
    "FrameSource",
    "Hdf5Source",
    "IteratorSource",
    "NpySource",
    "NpzSource",
    "ParquetSource",
    "ReadOptions",
    "Source",
    "SparseSource",
    "ZarrSource",
    "block_name",
    "formats",
]
