"""The command ``gramless``. A command imports what it needs when it runs: its help does not wait for SciPy."""

from gramless.cli.program import main

__all__ = ["main"]
