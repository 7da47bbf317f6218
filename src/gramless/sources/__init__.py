"""Where rows come from: files, frames, arrays and iterators, in blocks; and where results are written to."""

from gramless.sources.arrays import ArraySource, SparseSource
from gramless.sources.base import Source, block_name
from gramless.sources.csv import CsvSource
from gramless.sources.dropping import DroppingSource
from gramless.sources.folder import FolderSource
from gramless.sources.formats import Format, formats
from gramless.sources.frames import FrameSource
from gramless.sources.hierarchical import Hdf5Source, ZarrSource
from gramless.sources.iterators import IteratorSource
from gramless.sources.labels import column_names, read_labels
from gramless.sources.npy import NpySource, NpzSource
from gramless.sources.npz_writer import NpzWriter
from gramless.sources.opening import is_out_of_core, open_source
from gramless.sources.parquet import ParquetSource
from gramless.sources.writers import Writer, open_writer, writers

__all__ = [
    "ArraySource",
    "CsvSource",
    "DroppingSource",
    "FolderSource",
    "Format",
    "FrameSource",
    "Hdf5Source",
    "IteratorSource",
    "NpySource",
    "NpzSource",
    "NpzWriter",
    "ParquetSource",
    "Source",
    "SparseSource",
    "Writer",
    "ZarrSource",
    "block_name",
    "column_names",
    "formats",
    "is_out_of_core",
    "open_source",
    "open_writer",
    "read_labels",
    "writers",
]
