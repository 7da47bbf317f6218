"""Data with a known shape: the toy sets of the literature, and digits in any number."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array

_CENTERS = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])


def annulus(
    n: int = 400, *, inner: float = 0.5, outer: float = 1.0, rng: np.random.Generator | int | None = None
) -> Array:
    """Points spread evenly over the area between two circles about the origin (Raykar & Ankur, section 5).

    Parameters
    ----------
    n : int
    inner, outer : float
        Radii, ``0 <= inner < outer``.
    rng : Generator, int or None
        Same seed, same points.

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
        raise ValueError(f"inner={inner!r} and outer={outer!r} given; an annulus needs 0 <= inner < outer")
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
        Same seed, same points.

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
        Points in all; the clusters differ by one point at most.
    noise : float
        Standard deviation of each cluster.
    rng : Generator, int or None
        Same seed, same points.

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
    """As many handwritten digits as wanted: scikit-learn's 1797, drawn with replacement, with noise on every pixel.

    The spectrum of a kernel matrix is that of real data, while no two rows are equal.

    Parameters
    ----------
    n : int
    noise : float
        Standard deviation of the Gaussian added to each pixel; pixels go from 0 to 16.
    rng : Generator, int or None
        Same seed, same rows.

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
        raise ValueError(f"n={n!r} points asked for; pass at least 1")
    return n


def _deviation(noise: float) -> float:
    if not noise >= 0:
        raise ValueError(f"noise={noise!r} must not be negative: it is a standard deviation")
    return noise
