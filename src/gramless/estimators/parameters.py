"""Parameters that several estimators share: their constraints, and the kernel that they define."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from gramless.bandwidth import NamedKernel
from gramless.fitting.question import FixedKernel, KernelChoice
from gramless.kernels import Kernel, is_precomputed, kernel_from_name
from gramless.kernels.names import KERNEL_NAMES

#: Constraints of estimators with a kernel and a plan; each estimator adds the constraint of its `method`.
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


class MethodNames(StrOptions):  # type: ignore[misc]
    """Names of methods; the message says what methods of other libraries are called here."""

    def __str__(self) -> str:
        return (
            f"{super().__str__()} ('landmarks' is the Nyström method; random Fourier features are not offered, as "
            "'fourier' and 'landmarks' are more accurate for the same time)"
        )


def components_asked(wanted: float | None) -> dict[str, Any]:
    """Fields of a question from a number of components, a fraction of the variance, or None for all components."""
    whole = isinstance(wanted, Integral)
    return {
        "count": int(wanted) if wanted is not None and whole else 0,
        "share": None if wanted is None or whole else float(wanted),
        "everything": wanted is None,
    }


def kernel_choice(model: Any, components: Any = None, ridge: float | None = None) -> KernelChoice:
    """The kernel that the parameters of an estimator define; `components` and `ridge` are for a search for `gamma`."""
    kernel, gamma = model.kernel, model.gamma
    if isinstance(gamma, Real) and not is_precomputed(kernel):
        if isinstance(kernel, str):
            made = kernel_from_name(kernel, gamma=float(gamma), degree=model.degree, coef0=model.coef0)
            return FixedKernel(made, float(gamma))
        if isinstance(kernel, Kernel):
            return FixedKernel(kernel, float(gamma))
    looks = isinstance(gamma, str)
    return NamedKernel(
        kernel,
        gamma,
        model.degree,
        model.coef0,
        model.kernel_params,
        components=components,
        ridge=ridge,
        precomputed=is_precomputed(kernel),
        looks=looks,
        measures=looks and gamma == "scale",
    )
