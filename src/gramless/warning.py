"""Warnings that point at the user's own code."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_NOT_THE_READERS = ("gramless", "sklearn", "joblib")  # packages whose lines are not the user's code


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the line outside of gramless that led here: a line that the user can change.

    Python shows a warning once for each such line, rather than once for all models of a session.

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
