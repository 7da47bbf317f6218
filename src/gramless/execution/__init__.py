"""The map-reduce protocol that fits are written in, and its default: this process, block after block."""

from gramless.arrays import Tower
from gramless.execution.ahead import read_ahead
from gramless.execution.checkpoint import Checkpoint
from gramless.execution.local import LocalRows, block_rows_for
from gramless.execution.protocol import Block, Rows, Summand

__all__ = ["Block", "Checkpoint", "LocalRows", "Rows", "Summand", "Tower", "block_rows_for", "read_ahead"]
