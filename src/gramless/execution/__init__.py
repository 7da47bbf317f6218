"""The map-reduce protocol that fits are written in, and its default: this process, block after block."""

from gramless.arrays import Tower
from gramless.execution.protocol import Block, Rows, Summand

__all__ = ["Block", "Rows", "Summand", "Tower"]
