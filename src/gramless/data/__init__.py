"""Rows in memory, in files or on a cluster; and files that rows are written to."""

from gramless.arrays import Tower
from gramless.data.ahead import read_ahead
from gramless.data.checkpoint import Checkpoint
from gramless.data.cluster import ClusterRows, RowView
from gramless.data.file import FileRows, affordable_rows, block_rows_for
from gramless.data.formats import (
    ArraySource,
    CsvSource,
    DroppingSource,
    FillingSource,
    FolderSource,
    Format,
    FrameSource,
    Hdf5Source,
    IteratorSource,
    NpySource,
    NpzSource,
    ParquetSource,
    ReadOptions,
    Source,
    SparseSource,
    ZarrSource,
    block_name,
)
from gramless.data.labels import column_names, read_labels
from gramless.data.memory import MemoryRows
from gramless.data.open import is_out_of_core, library_of, open_source
from gramless.data.parts import LocalParts, Pairs, Parts, join_in_tree, split_evenly
from gramless.data.rows import Block, Place, Rows, Summand
from gramless.data.scaling import Scaling
from gramless.data.survey import Look, Survey
from gramless.data.writers import NpzWriter, Writer, open_writer, writers

__all__ = [
    "ArraySource",
    "Block",
    "Checkpoint",
    "ClusterRows",
    "CsvSource",
    "DroppingSource",
    "FileRows",
    "FillingSource",
    "FolderSource",
    "Format",
    "FrameSource",
    "Hdf5Source",
    "IteratorSource",
    "LocalParts",
    "Look",
    "MemoryRows",
    "NpySource",
    "NpzSource",
    "NpzWriter",
    "Pairs",
    "ParquetSource",
    "Parts",
    "Place",
    "ReadOptions",
    "RowView",
    "Rows",
    "Scaling",
    "Source",
    "SparseSource",
    "Summand",
    "Survey",
    "Tower",
    "Writer",
    "ZarrSource",
    "affordable_rows",
    "block_name",
    "block_rows_for",
    "column_names",
    "is_out_of_core",
    "join_in_tree",
    "library_of",
    "open_source",
    "open_writer",
    "read_ahead",
    "read_labels",
    "split_evenly",
    "writers",
]
