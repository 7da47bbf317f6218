"""Names of kernels: scikit-learn's, and a second name for some of them."""

from __future__ import annotations

from collections.abc import Callable

from gramless.errors import IndefiniteKernelWarning
from gramless.kernels.base import Kernel
from gramless.kernels.cosine import Cosine
from gramless.kernels.gaussian import Gaussian
from gramless.kernels.linear import Linear
from gramless.kernels.manhattan import Manhattan
from gramless.kernels.polynomial import Polynomial
from gramless.kernels.precomputed import Precomputed
from gramless.kernels.tanh import Tanh
from gramless.warning import warn

_MAKERS: dict[str, Callable[[float, float, float], Kernel]] = {
    "linear": lambda gamma, degree, coef0: Linear(),
    "poly": lambda gamma, degree, coef0: Polynomial(degree=degree, c=coef0, scale=gamma),
    "rbf": lambda gamma, degree, coef0: Gaussian.from_gamma(gamma),
    "laplacian": lambda gamma, degree, coef0: Manhattan.from_gamma(gamma),
    "sigmoid": lambda gamma, degree, coef0: Tanh(scale=gamma, b=coef0),
    "cosine": lambda gamma, degree, coef0: Cosine(),
    "precomputed": lambda gamma, degree, coef0: Precomputed(),
}
_ALSO = {"gaussian": "rbf", "polynomial": "poly", "tanh": "sigmoid"}

#: Every string that estimators and the command line accept as a kernel.
KERNEL_NAMES = (*_MAKERS, *_ALSO)


def plain_name(name: str) -> str:
    """scikit-learn's name for a kernel that has two names.

    Examples
    --------
    >>> plain_name("gaussian"), plain_name("cosine")
    ('rbf', 'cosine')
    """
    return _ALSO.get(name, name)


def kernel_from_name(name: str, gamma: float = 1.0, degree: float = 3, coef0: float = 1.0) -> Kernel:
    """The kernel that scikit-learn calls `name`; as in scikit-learn, parameters the kernel does not have are ignored.

    ``"laplacian"`` is scikit-learn's ``laplacian_kernel``, exp(-gamma |x - y|_1); the kernel of the Euclidean distance
    is :class:`~gramless.kernels.Laplacian`. ``"gaussian"``, ``"polynomial"`` and ``"tanh"`` are other names for
    ``"rbf"``, ``"poly"`` and ``"sigmoid"``.

    Examples
    --------
    >>> kernel_from_name("poly", gamma=0.5, degree=2)
    Polynomial(degree=2, c=1.0, scale=0.5)
    """
    if name not in KERNEL_NAMES:
        raise ValueError(f"kernel={name!r} is invalid; pass a kernel object or one of: {', '.join(KERNEL_NAMES)}")
    return _MAKERS[plain_name(name)](gamma, degree, coef0)


def is_precomputed(kernel: object) -> bool:
    """Whether `kernel`, a name or an object, says that the rows are a Gram matrix."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def warn_if_indefinite(kernel: Kernel) -> None:
    """Warn of a kernel that is known not to be positive semidefinite."""
    if kernel.mercer is False:
        warn(
            f"{kernel} is not positive semidefinite: variances may be negative, and components then do not exist. "
            "The requested ones are checked.",
            IndefiniteKernelWarning,
        )
