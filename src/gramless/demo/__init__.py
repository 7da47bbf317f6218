"""A tour in under a minute: ``python -m gramless.demo`` prints what it does and writes a page to look at."""

from gramless.demo.tour import run

__all__ = ["run"]
