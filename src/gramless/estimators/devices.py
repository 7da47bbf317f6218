"""What `device` means to an estimator, and torch tensors in and out."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import is_tensor, to_numpy
from gramless.arrays.devices import find_device


def placement(device: str) -> dict[str, Any]:
    """Fields of the problem that say where to work.

    Examples
    --------
    >>> placement("cpu")
    {'device': 'cpu', 'anywhere': False}
    """
    return {"device": find_device(device), "anywhere": device == "auto"}


def to_numpy_rows(x: Any) -> Any:
    """A torch tensor as numpy's array in the host's memory; anything else as it is."""
    return to_numpy(x) if is_tensor(x) else x


def tensor_on(device: str, given: Any, rows: Any) -> Any:
    """`given`, if it is a tensor on `device` already that holds the numbers of `rows` (n, d); else None."""
    if not is_tensor(given) or device == "cpu" or given.device.type != ("cpu" if device == "torch" else "cuda"):
        return None
    return given if str(given.dtype).endswith(str(rows.dtype)) else None


def given_back(values: Any, x: Any) -> Any:
    """`values` as a tensor where `x` is one: on its device; numbers with a fraction in its precision.

    Labels that are not numbers stay as they are.
    """
    if not is_tensor(x) or np.asarray(values).dtype.kind not in "biuf":
        return values
    import torch

    tensor = torch.as_tensor(np.ascontiguousarray(values), device=x.device)
    return tensor.to(x.dtype) if tensor.is_floating_point() and x.is_floating_point() else tensor
