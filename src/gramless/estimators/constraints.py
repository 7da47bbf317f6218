"""What the parameters that several estimators share may be, as scikit-learn checks it."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from gramless.kernels import Kernel
from gramless.kernels.names import KERNEL_NAMES

#: Of estimators that take a kernel and plan how to work with it; each says itself which `method` there is.
KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(KERNEL_NAMES)), Kernel, callable],
    "gamma": [Interval(Real, 0, None, closed="left"), StrOptions({"scale", "median"}), None],
    "degree": [Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "kernel_params": [dict, None],
    "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
    "random_state": ["random_state"],
    "n_jobs": [None, Integral],
    "device": [str],
}
