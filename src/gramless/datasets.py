"""Data with a known shape: toy data sets of the literature, and any number of handwritten digits."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array

_CENTERS = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])


def annulus(
    n: int = 400, *, inner: float = 0.5, outer: float = 1.0, rng: np.random.Generator | int | None = None
) -> Array:
    """Points uniform in the area between two circles about the origin (Raykar & Ankur, section 5).

    Parameters
    ----------
    n : int
    inner, outer : float
        Radii, ``0 <= inner < outer``.
    rng : Generator, int or None
        Seed; pass an int for reproducible output.

    Returns
    -------
    ndarray of shape (n, 2)

    Examples
    --------
    >>> x = annulus(100, inner=0.5, outer=1.0, rng=0)
    >>> radius = np.linalg.norm(x, axis=1)
    >>> x.shape, bool((radius >= 0.5).all()), bool((radius <= 1.0).all())
    ((100, 2), True, True)
    """
    if not 0 <= inner < outer:
        raise ValueError(f"inner={inner!r} and outer={outer!r} are invalid; an annulus needs 0 <= inner < outer")
    random = np.random.default_rng(rng)
    radius = np.sqrt(random.uniform(inner**2, outer**2, _count(n)))  # area grows with the square of the radius
    angle = random.uniform(0, 2 * np.pi, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def parabola(n: int = 100, *, noise: float = 0.2, rng: np.random.Generator | int | None = None) -> Array:
    """Points near y = x^2, x uniform in [-1, 1] (Schölkopf, Smola & Müller, figure 2; Fasel, slide 26).

    Parameters
    ----------
    n : int
    noise : float
        Standard deviation of the Gaussian added to y.
    rng : Generator, int or None
        Seed; pass an int for reproducible output.

    Returns
    -------
    ndarray of shape (n, 2)

    Examples
    --------
    >>> x, y = parabola(5, noise=0.0, rng=0).T
    >>> bool((y == x**2).all())
    True
    """
    random = np.random.default_rng(rng)
    x = random.uniform(-1, 1, _count(n))
    return np.column_stack([x, x**2 + _deviation(noise) * random.standard_normal(n)])


def three_clusters(
    n: int = 90, *, noise: float = 0.1, rng: np.random.Generator | int | None = None
) -> tuple[Array, Array]:
    """Three round Gaussian clusters in the plane (Schölkopf, Smola & Müller, figure 3; Fasel, slide 27).

    Parameters
    ----------
    n : int
        Total number of points; the sizes of the clusters differ by one point at most.
    noise : float
        Standard deviation of each cluster.
    rng : Generator, int or None
        Seed; pass an int for reproducible output.

    Returns
    -------
    x : ndarray of shape (n, 2)
    cluster : ndarray of int of shape (n,)
        0, 1 or 2.

    Examples
    --------
    >>> x, cluster = three_clusters(90, rng=0)
    >>> x.shape, np.bincount(cluster)
    ((90, 2), array([30, 30, 30]))
    """
    random = np.random.default_rng(rng)
    cluster = np.sort(np.arange(_count(n)) % 3)
    return _CENTERS[cluster] + _deviation(noise) * random.standard_normal((n, 2)), cluster


def resampled_digits(n: int, *, noise: float = 1.0, rng: np.random.Generator | int | None = None) -> Array:
    """Any number of handwritten digits: scikit-learn's 1797, sampled with replacement, with noise on every pixel.

    The spectrum of the kernel matrix is like that of real data, while no two rows are equal.

    Parameters
    ----------
    n : int
    noise : float
        Standard deviation of the Gaussian added to each pixel; pixels go from 0 to 16.
    rng : Generator, int or None
        Seed; pass an int for reproducible output.

    Returns
    -------
    ndarray of shape (n, 64)

    Examples
    --------
    >>> resampled_digits(5000, rng=0).shape
    (5000, 64)
    """
    from sklearn.datasets import load_digits

    random = np.random.default_rng(rng)
    digits = load_digits().data
    drawn: Array = digits[random.integers(len(digits), size=_count(n))]
    return drawn + _deviation(noise) * random.standard_normal(drawn.shape)


def _count(n: int) -> int:
    if n < 1:
        raise ValueError(f"n={n!r} is invalid; pass at least 1")
    return n


def _deviation(noise: float) -> float:
    if not noise >= 0:
        raise ValueError(f"noise={noise!r} must not be negative: it is a standard deviation")
    return noise


def independent_source(name: str, n: int, *, rng: np.random.Generator | int | None = None) -> Array:
    """A signal of one of the 18 densities by which Bach & Jordan (2002, figure 5) compare methods of ICA.

    Parameters
    ----------
    name : str
        A letter from a to r. a, d: Student's t of 3 and 5 degrees of freedom; b: double exponential; c: uniform;
        e: exponential; f: two double exponentials; g-i, j-l: two Gaussians, symmetric and not, with two modes ever less
        distinct; m-o, p-r: four Gaussians, likewise.
    n : int
    rng : Generator, int or None
        Seed; pass an int for reproducible output.

    Returns
    -------
    ndarray of shape (n,)
        Drawn from a density with mean 0 and variance 1.

    Examples
    --------
    >>> bool(np.abs(independent_source("c", 100, rng=0)).max() <= np.sqrt(3))
    True
    """
    random = np.random.default_rng(rng)
    _count(n)
    if name in ("a", "d"):
        freedom = 3 if name == "a" else 5
        return np.asarray(random.standard_t(freedom, n) / np.sqrt(freedom / (freedom - 2)))
    if name == "b":
        return np.asarray(random.laplace(scale=np.sqrt(0.5), size=n))
    if name == "c":
        return np.asarray(random.uniform(-np.sqrt(3), np.sqrt(3), n))
    if name == "e":
        return np.asarray(random.exponential(size=n) - 1)
    if name not in _MIXTURES:
        raise ValueError(f"name={name!r} is not one of the 18 densities; pass a letter from 'a' to 'r'")
    shares, means, deviations = (np.array(column, dtype=np.float64) for column in _MIXTURES[name])
    shares = shares / shares.sum()
    part = random.choice(len(shares), size=n, p=shares)
    noise = random.laplace(scale=np.sqrt(0.5), size=n) if name == "f" else random.standard_normal(n)
    mean = float(shares @ means)
    variance = float(shares @ (means**2 + deviations**2)) - mean**2
    return np.asarray((means[part] + deviations[part] * noise - mean) / np.sqrt(variance))


_MIXTURES = {  # shares, means and standard deviations of the components of a mixture
    "f": ((1, 1), (-1, 1), (0.5, 0.5)),
    "g": ((1, 1), (-0.5, 0.5), (0.15, 0.15)),
    "h": ((1, 1), (-0.5, 0.5), (0.4, 0.4)),
    "i": ((1, 1), (-0.5, 0.5), (0.5, 0.5)),
    "j": ((1, 3), (-0.5, 0.5), (0.15, 0.15)),
    "k": ((1, 2), (-0.7, 0.5), (0.4, 0.4)),
    "l": ((1, 2), (-0.7, 0.5), (0.5, 0.5)),
    "m": ((1, 2, 2, 1), (-1, -0.33, 0.33, 1), (0.16, 0.16, 0.16, 0.16)),
    "n": ((1, 2, 2, 1), (-1, -0.2, 0.2, 1), (0.2, 0.3, 0.3, 0.2)),
    "o": ((1, 2, 2, 1), (-0.7, -0.2, 0.2, 0.7), (0.2, 0.3, 0.3, 0.2)),
    "p": ((1, 1, 2, 1), (-1, 0.3, -0.3, 1.1), (0.2, 0.2, 0.2, 0.2)),
    "q": ((1, 3, 2, 0.5), (-1, -0.2, 0.3, 1), (0.2, 0.3, 0.2, 0.2)),
    "r": ((1, 2, 2, 1), (-0.8, -0.2, 0.2, 0.5), (0.22, 0.3, 0.3, 0.2)),
}
