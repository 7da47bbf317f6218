"""The array type used in signatures, and the unit roundoff of a dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def unit_roundoff(dtype: npt.DTypeLike = np.float64) -> float:
    """Largest relative error of one rounding to `dtype`.

    Examples
    --------
    >>> unit_roundoff("float64") == 2.0**-53
    True
    """
    return float(np.finfo(dtype).eps) / 2
