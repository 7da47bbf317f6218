"""The settings of the controls of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gramless.kernels import Cosine, Gaussian, Kernel, Linear, Matern, Polynomial


@dataclass(frozen=True)
class Family:
    """Kernels that differ in at most one parameter, which has a slider.

    Attributes
    ----------
    slider : {"width", "degree", ""}
        The parameter, "width" being the bandwidth; "" for kernels without parameters.
    make : callable
        From (bandwidth, degree, scale) to a kernel; `scale` multiplies dot products, so that they are of size one.
    """

    slider: str
    make: Callable[[float, int, float], Kernel]


#: Kernels of the page, by name.
FAMILIES: dict[str, Family] = {
    "Gaussian": Family("width", lambda width, degree, scale: Gaussian(sigma=width)),
    "Matérn 5/2": Family("width", lambda width, degree, scale: Matern(nu=2.5, lengthscale=width)),
    "Matérn 3/2": Family("width", lambda width, degree, scale: Matern(nu=1.5, lengthscale=width)),
    "Matérn 1/2": Family("width", lambda width, degree, scale: Matern(nu=0.5, lengthscale=width)),
    "polynomial": Family("degree", lambda width, degree, scale: Polynomial(degree=degree, c=1.0, scale=scale)),
    "cosine": Family("", lambda width, degree, scale: Cosine()),
    "linear": Family("", lambda width, degree, scale: Linear()),
}


@dataclass(frozen=True)
class Settings:
    """Everything that a picture depends on.

    Attributes
    ----------
    family : str
        A name in ``FAMILIES``.
    octaves : float
        The bandwidth is 2 to this power, times the median distance of two rows.
    degree : int
        Degree of the polynomial.
    k : int
        Number of components.
    across, up : int
        Which components are the axes of the embedding, counted from 1.
    standardize : bool
        Whether every column is divided by its standard deviation first.

    Examples
    --------
    >>> Settings(octaves=-1.0).kernel(median=2.0, scale=1.0)
    Gaussian(sigma=1.0)
    """

    family: str = "Gaussian"
    octaves: float = 0.0
    degree: int = 2
    k: int = 6
    across: int = 1
    up: int = 2
    standardize: bool = False

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise ValueError(f"family={self.family!r} is invalid; pass one of {', '.join(FAMILIES)}")
        if self.k < 1:
            raise ValueError(f"k={self.k} is invalid; pass at least 1")
        for name in ("across", "up"):
            number = getattr(self, name)
            if not 1 <= number <= self.k:
                raise ValueError(f"{name}={number} is not among the components, 1 to {self.k}")

    def kernel(self, median: float, scale: float) -> Kernel:
        """The kernel, for rows with this median distance and scale of dot products, both to four digits."""
        return FAMILIES[self.family].make(shortened(median * 2.0**self.octaves), self.degree, shortened(scale))

    @property
    def asks(self) -> tuple[object, ...]:
        """The settings that a fit depends on: equal ones show the same model."""
        slider = FAMILIES[self.family].slider
        value = self.octaves if slider == "width" else self.degree if slider == "degree" else None
        return self.family, value, self.k, self.standardize


def shortened(value: float) -> float:
    """A number rounded to four digits: the page computes with the number that it shows.

    Examples
    --------
    >>> shortened(0.123456)
    0.1235
    """
    return float(f"{value:.4g}")
