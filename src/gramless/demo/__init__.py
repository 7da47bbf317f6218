"""A tour in under a minute, ``gramless demo``: what it finds on this machine, in eight lines and on a page."""

from gramless.demo.tour import FILES, run

__all__ = ["FILES", "run"]
