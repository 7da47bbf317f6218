"""The request of a fit, independent of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from gramless.kernels import Kernel, warn_if_indefinite

if TYPE_CHECKING:
    from gramless.data import Survey


class KernelChoice(Protocol):
    """The kernel as it is known before the rows: its bandwidth may depend on them.

    Attributes
    ----------
    precomputed : bool
        Whether the rows are a Gram matrix.
    looks : bool
        Whether the bandwidth is chosen from rows.
    measures : bool
        Whether the bandwidth depends on the variance of all rows.
    """

    @property
    def precomputed(self) -> bool: ...

    @property
    def looks(self) -> bool: ...

    @property
    def measures(self) -> bool: ...

    def warn(self, survey: Survey, names: Any, remedy: str) -> None:
        """Warn where one column dominates the distances from which the bandwidth is chosen."""

    def check_first(self, survey: Survey) -> None:
        """Raise where the first batch of a stream cannot tell the bandwidth that all later batches will have."""

    def of(self, survey: Survey) -> tuple[float, Kernel]:
        """The value of `gamma` for these rows, and the kernel with it."""


@dataclass(frozen=True)
class FixedKernel:
    """A kernel that does not depend on the rows.

    Attributes
    ----------
    kernel : Kernel
    gamma : float
        The value reported as `gamma`.
    warns : bool
        Whether an indefinite kernel raises a warning.
    """

    kernel: Kernel
    gamma: float = 1.0
    warns: bool = True

    precomputed: ClassVar[bool] = False
    looks: ClassVar[bool] = False
    measures: ClassVar[bool] = False

    def warn(self, survey: Survey, names: Any, remedy: str) -> None:
        """No warning: the bandwidth does not depend on distances."""

    def check_first(self, survey: Survey) -> None:
        """No error: the bandwidth does not depend on the first batch."""

    def of(self, survey: Survey) -> tuple[float, Kernel]:
        """The value of `gamma` and the kernel; warns where the kernel is indefinite."""
        if self.warns:
            warn_if_indefinite(self.kernel)
        return self.gamma, self.kernel


@dataclass(frozen=True, eq=False)
class Question:
    """The request of a fit.

    Attributes
    ----------
    kernel : KernelChoice
    count : int
        Number of components; 0 for all, or for a fraction of the variance.
    share : float or None
        Fraction of the variance to explain.
    everything : bool
        Whether all components are requested.
    tol : float or None
        Residual relative to the largest eigenvalue; None: 1e-10, for float32 rows 1e-5.
    strict : bool
        Whether a method that cannot reach `tol` is an error.
    method : str
    solver : str
        ``"auto"``, ``"dense"``, or the name of an eigenvalue solver.
    iterated_power : int or "auto"
        Power iterations of the randomized solver.
    max_iter : int or None
    memory_limit : int, float, str or None
        As the user passed it.
    device : str
        As the user passed it.
    time_limit : float or None
        Seconds that the fit may take.
    moves : {"", "center", "scale"}
        Whether the input is centered, or centered and scaled, before the kernel.
    scalable : bool
        Whether ``"scale"`` is available to the user.
    domain : pair of array-like of shape (d,), or None
    keep_rows : bool
    support : int or None
        Maximum number of points that a stream may store.
    half_life : float or None
        Number of rows after which the weight of a row has halved.
    ridge : float or None
        Ridge parameter of pre-images; None: no pre-images are learned.
    fewest : int or None
        Components of eigenvalue 0 are dropped as long as `fewest` components remain; None: they are not dropped.
    seed : int, RandomState, Generator or None
    """

    kernel: KernelChoice
    count: int
    share: float | None = None
    everything: bool = False
    tol: float | None = None
    strict: bool = False
    method: str = "auto"
    solver: str = "auto"
    iterated_power: int | str = "auto"
    max_iter: int | None = None
    memory_limit: int | float | str | None = None
    device: str = "cpu"
    time_limit: float | None = None
    moves: str = ""
    scalable: bool = False
    domain: Any = None
    keep_rows: bool = True
    support: int | None = None
    half_life: float | None = None
    ridge: float | None = None
    fewest: int | None = None
    seed: Any = None
