"""Warnings at the line that the reader wrote."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_NOT_THE_READERS = ("gramless", "sklearn", "joblib")  # packages in which nobody looks for the line that was meant


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the line that led here from outside of gramless: the one the reader can change.

    Python shows a warning once for each such line, and not once for all models of a session.

    Parameters
    ----------
    text : str
    category : type
    """
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_READERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
