"""How far an unmixing matrix is from the right one."""

from __future__ import annotations

from typing import Any

import numpy as np


def amari_error(components: Any, mixing: Any) -> float:
    """Amari error of an unmixing matrix: 0 for the right one up to order and scale, at most 100.

    With P = components @ mixing, the mean over rows and columns of sum |P| / max |P| - 1, scaled to 0..100 (Bach &
    Jordan 2002, section 6.1).

    Parameters
    ----------
    components : array-like of shape (m, d)
    mixing : array-like of shape (d, m)

    Examples
    --------
    >>> amari_error([[0.0, 2.0], [-1.0, 0.0]], np.eye(2))
    0.0
    >>> amari_error([[1.0, 1.0], [1.0, -1.0]], np.eye(2))
    100.0
    """
    product = np.abs(np.asarray(components) @ np.asarray(mixing))
    m = len(product)
    if product.shape != (m, m) or m < 2:
        raise ValueError(
            f"components of shape {np.shape(components)} and mixing of shape {np.shape(mixing)} must have a square "
            "product of 2 rows or more"
        )
    rows = product.sum(axis=1) / product.max(axis=1) - 1
    columns = product.sum(axis=0) / product.max(axis=0) - 1
    return float(100 * (rows.sum() + columns.sum()) / (2 * m * (m - 1)))
