"""The command ``gramless``. Commands import their dependencies when they run: ``--help`` does not load SciPy."""

from gramless.cli.program import main

__all__ = ["main"]
