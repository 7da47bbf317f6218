"""What a fit is asked for: nothing of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from gramless.kernels import Kernel, warn_if_indefinite

if TYPE_CHECKING:
    from gramless.data import Survey


class KernelChoice(Protocol):
    """The kernel, as far as it is known before the rows are: its bandwidth may depend on them.

    Attributes
    ----------
    precomputed : bool
        Whether the rows are a Gram matrix.
    looks : bool
        Whether the bandwidth is chosen by looking at rows.
    measures : bool
        Whether the variance of all rows is needed for it.
    """

    @property
    def precomputed(self) -> bool: ...

    @property
    def looks(self) -> bool: ...

    @property
    def measures(self) -> bool: ...

    def warn(self, survey: Survey, names: Any, remedy: str) -> None:
        """Warn where one column dominates the distances that the bandwidth is chosen from."""

    def of(self, survey: Survey) -> tuple[float, Kernel]:
        """The number that `gamma` stands for, and the kernel."""


@dataclass(frozen=True)
class FixedKernel:
    """A kernel that does not depend on the rows.

    Attributes
    ----------
    kernel : Kernel
    gamma : float
        The number that is told as its `gamma`.
    warns : bool
        Whether an indefinite kernel warns.
    """

    kernel: Kernel
    gamma: float = 1.0
    warns: bool = True

    precomputed: ClassVar[bool] = False
    looks: ClassVar[bool] = False
    measures: ClassVar[bool] = False

    def warn(self, survey: Survey, names: Any, remedy: str) -> None:
        """Nothing is chosen."""

    def of(self, survey: Survey) -> tuple[float, Kernel]:
        """The kernel; an indefinite one warns."""
        if self.warns:
            warn_if_indefinite(self.kernel)
        return self.gamma, self.kernel


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of rows.

    Attributes
    ----------
    kernel : KernelChoice
    count : int
        Components asked for; 0 for all, or for a share of the variance.
    share : float or None
        Part of the variance that is asked for.
    everything : bool
        Whether all components are asked for.
    tol : float or None
        Residual relative to the largest eigenvalue; None: 1e-10, for float32 rows 1e-5.
    strict : bool
        Whether a method that cannot reach `tol` is an error.
    method : str
    solver : str
        ``"auto"``, ``"dense"``, or the name of an eigenvalue solver.
    iterated_power : int or "auto"
        Of the randomized solver.
    max_iter : int or None
    memory_limit : int, float, str or None
        As the user passed it.
    device : str
        As the user passed it.
    moves : {"", "center", "scale"}
        What is done to the input before the kernel sees it.
    scalable : bool
        Whether the user could have asked for ``"scale"``.
    domain : pair of array-like of shape (d,), or None
    keep_rows : bool
    support : int or None
        Points a stream may keep.
    half_life : float or None
        In rows.
    ridge : float or None
        Of pre-images; None: none are learnt.
    fewest : int or None
        Components of eigenvalue 0 are dropped, but for so many in all; None: they are kept.
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
    moves: str = ""
    scalable: bool = False
    domain: Any = None
    keep_rows: bool = True
    support: int | None = None
    half_life: float | None = None
    ridge: float | None = None
    fewest: int | None = None
    seed: Any = None
