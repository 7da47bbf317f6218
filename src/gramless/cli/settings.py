"""Convert command-line options to parameters of an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

_OBJECTS = ("matern", "epanechnikov")  # kernels that scikit-learn has no name for
_CRITERIA = ("median", "scale", "preimage", "gap")  # criteria of gramless.select_bandwidth
_WORDS = ("auto", *_CRITERIA)
_OPTIONS = {  # that each kernel has
    **dict.fromkeys(("rbf", "laplacian"), ("sigma", "gamma")),
    **dict.fromkeys(("linear", "cosine"), ()),
    "poly": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
    "matern": ("sigma", "nu"),
    "epanechnikov": ("sigma",),
}


@dataclass(frozen=True)
class KernelWords:
    """The command-line options that define the kernel."""

    kernel: str
    sigma: str = "auto"
    gamma: float | None = None
    degree: float = 3.0
    coef0: float = 1.0
    nu: float = 1.5

    def parameters(self, rows: Any, components: Any = 2, *, scaled: bool = False) -> dict[str, Any]:
        """Parameters of an estimator for this kernel.

        The bandwidth may be chosen from `rows`, an array or a source; with `scaled`, after the estimator's scaling.
        """
        from gramless.kernels import Epanechnikov, Gaussian, Manhattan, Matern
        from gramless.kernels.names import KERNEL_NAMES, plain_name

        name = plain_name(self.kernel)
        if name not in (*KERNEL_NAMES, *_OBJECTS) or name == "precomputed":
            known = (*(word for word in KERNEL_NAMES if word != "precomputed"), *_OBJECTS)
            raise ValueError(f"--kernel {self.kernel} is unknown; pass one of {', '.join(known)}")
        if self.gamma is not None and self.sigma != "auto":
            raise ValueError(
                f"--sigma {self.sigma} and --gamma {self.gamma:g} both set the bandwidth; pass one of them"
            )
        self._refuse_options(_OPTIONS[name])
        if name == "matern" and self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(
                f"--nu {self.nu:g} is not one of 0.5, 1.5, 2.5, which have closed forms; in Python, "
                f"KernelPCA(kernel=gramless.kernels.Matern({self.nu:g})) takes any, and is much slower"
            )
        if name in ("linear", "cosine"):
            return {"kernel": name}
        if name in ("poly", "sigmoid"):
            return {"kernel": name, "gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        if self.gamma is not None:
            return {"kernel": name, "gamma": self.gamma}
        patterns: dict[str, Any] = {
            "rbf": Gaussian,
            "laplacian": Manhattan,
            "epanechnikov": Epanechnikov,
            "matern": lambda *width: Matern(self.nu, *width),
        }
        criterion = "median" if self.sigma == "auto" else self.sigma
        if criterion not in _CRITERIA:
            return {"kernel": patterns[name](self._number())}
        if name not in _OBJECTS and criterion in ("median", "scale"):
            return {"kernel": name, "gamma": criterion}
        return {"kernel": _selected(patterns[name](), criterion, rows, components, scaled)}

    def _refuse_options(self, known: Sequence[str]) -> None:
        """Raise for options that the kernel does not have, instead of a fit without them."""
        for option in fields(self):
            value = getattr(self, option.name)
            if value != option.default and option.name not in ("kernel", *known):
                others = [name for name in ("sigma", "gamma") if name in known and option.name in ("sigma", "gamma")]
                remedy = f"pass --{others[0]} instead" if others else "leave it out, or pass another kernel"
                value = value if isinstance(value, str) else f"{value:g}"
                raise ValueError(f"--{option.name} {value} is not a parameter of --kernel {self.kernel}; {remedy}")

    def _number(self) -> float:
        try:
            return float(self.sigma)
        except ValueError:
            raise ValueError(
                f"--sigma {self.sigma} is an invalid bandwidth; pass a number or {', '.join(_WORDS)}"
            ) from None


def _selected(pattern: Any, criterion: str, rows: Any, components: Any, scaled: bool) -> Any:
    """The kernel with the bandwidth chosen from the rows of an array, or from a sample of a source."""
    import numpy as np

    from gramless.data import Block, Look, MemoryRows, Source
    from gramless.estimators import select_bandwidth
    from gramless.report.sample import draw_sample

    seen = draw_sample(rows, count=2000).rows if isinstance(rows, Source) else rows
    if scaled:
        rows = MemoryRows(Block(seen, np.ones(len(seen))))
        seen = rows.moved(rows.survey(Look("scale")).scaling("scale")).block.x
    k = components if isinstance(components, int) else 2
    return select_bandwidth(seen, pattern, criterion, n_components=k).kernel


def read_components(words: str) -> int | float | None:
    """The number of components: an integer, a fraction of the variance, or all.

    Examples
    --------
    >>> read_components("10"), read_components("0.9"), read_components("all")
    (10, 0.9, None)
    """
    if words == "all":
        return None
    try:
        wanted = int(words) if words.lstrip("+-").isdigit() else float(words)
    except ValueError:
        wanted = 0
    if wanted <= 0 or (isinstance(wanted, float) and not wanted < 1):
        raise ValueError(f"-k {words} is an invalid number of components; pass 10, a fraction such as 0.9, or all")
    return wanted


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
        raise ValueError(f"--shape {words} is an invalid image shape; pass height and width as 16x12")
    return int(height), int(width)


def read_preimage(words: str) -> str:
    """The pre-image method of that name."""
    from gramless.estimators.preimages import METHODS

    name = words.replace("-", "_")
    if name not in METHODS:
        raise ValueError(f"--by {words} is unknown; pass {', '.join(METHODS)}")
    return name
