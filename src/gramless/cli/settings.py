"""From the words of the command line to the parameters of an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_NAMES = {"gaussian": "rbf", "polynomial": "poly", "tanh": "sigmoid", "linear": "linear", "cosine": "cosine"}
_ALSO = {"rbf": "gaussian", "poly": "polynomial", "sigmoid": "tanh"}
_OBJECTS = ("laplacian", "matern", "epanechnikov")


@dataclass(frozen=True)
class KernelWords:
    """What was said of the kernel."""

    kernel: str
    sigma: str = "auto"
    gamma: float | None = None
    degree: float = 3.0
    coef0: float = 1.0
    nu: float = 1.5

    def parameters(self, rows: Any) -> dict[str, Any]:
        """Parameters of an estimator for this kernel; `rows` (n, d) are looked at where the width is theirs."""
        from gramless.kernels import Epanechnikov, Gaussian, Laplacian, Matern

        name = _ALSO.get(self.kernel, self.kernel)
        if name not in _NAMES and name not in _OBJECTS:
            raise ValueError(f"--kernel {self.kernel} is not known; pass one of {', '.join((*_NAMES, *_OBJECTS))}")
        if name in _OBJECTS:
            if self.gamma is not None:
                raise ValueError(f"--gamma is not for the {name} kernel; pass its width as --sigma")
            width = self._width(rows)
            if name == "matern":
                return {"kernel": Matern(self.nu, width)}
            return {"kernel": Laplacian(width) if name == "laplacian" else Epanechnikov(width)}
        if name == "gaussian" and self.gamma is None:
            words = {"auto": "median", "median": "median", "scale": "scale"}
            if self.sigma in words:
                return {"kernel": "rbf", "gamma": words[self.sigma]}
            return {"kernel": Gaussian(self._number())}
        shape = {"degree": self.degree, "coef0": self.coef0} if name in ("polynomial", "tanh") else {}
        return {"kernel": _NAMES[name], "gamma": self.gamma, **shape}

    def _width(self, rows: Any) -> float:
        """The width: as given, or the median distance, or d times the variance of the rows, like a Gaussian's."""
        from gramless.estimators.bandwidth import resolve_gamma

        if self.sigma in ("auto", "median", "scale"):
            word = "scale" if self.sigma == "scale" else "median"
            return float(np.sqrt(0.5 / resolve_gamma(word, rows, np.ones(rows.shape[0]))))
        return self._number()

    def _number(self) -> float:
        try:
            return float(self.sigma)
        except ValueError:
            raise ValueError(f"--sigma {self.sigma} is no width; pass a number, auto or scale") from None


def read_components(words: str) -> int | float | None:
    """How many components: a number, a share of the variance, or all.

    Examples
    --------
    >>> read_components("10"), read_components("0.9"), read_components("all")
    (10, 0.9, None)
    """
    if words == "all":
        return None
    try:
        return int(words) if words.lstrip("+-").isdigit() else float(words)
    except ValueError:
        raise ValueError(f"-k {words} is no number of components; pass 10, a share such as 0.9, or all") from None


def read_shape(words: str | None) -> tuple[int, int] | None:
    """Height and width of images.

    Examples
    --------
    >>> read_shape("16x12")
    (16, 12)
    """
    if words is None:
        return None
    height, _, width = words.partition("x")
    if not (height.isdigit() and width.isdigit()):
        raise ValueError(f"--shape {words} is no height and width; pass them as 16x12")
    return int(height), int(width)


def read_preimage(words: str, model: Any) -> str:
    """The method of pre-images that was named, or the one that suits the model."""
    from gramless.estimators.preimages import METHODS, available_preimage

    name = words.replace("-", "_")
    if name != "auto" and name not in METHODS:
        raise ValueError(f"--by {words} is not known; pass auto, {', '.join(METHODS)}")
    return available_preimage(model) if name == "auto" else name
