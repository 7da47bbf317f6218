"""The rates live in :mod:`gramless.machine`, below the feature maps, which need them too."""

from gramless.machine import Machine

__all__ = ["Machine"]
