"""The protocols that fits are written in, for rows in blocks and in parts, and their default: this process."""

from gramless.arrays import Tower
from gramless.execution.ahead import read_ahead
from gramless.execution.checkpoint import Checkpoint
from gramless.execution.libraries import library_of
from gramless.execution.local import LocalRows, block_rows_for
from gramless.execution.local_parts import LocalParts
from gramless.execution.parts import Pairs, Parts, join_in_tree, split_evenly
from gramless.execution.protocol import Block, Rows, Summand

__all__ = [
    "Block",
    "Checkpoint",
    "LocalParts",
    "LocalRows",
    "Pairs",
    "Parts",
    "Rows",
    "Summand",
    "Tower",
    "block_rows_for",
    "join_in_tree",
    "library_of",
    "read_ahead",
    "split_evenly",
]
