"""Images, and their reconstructions from the components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramless.arrays import Array
from gramless.plots.canvas import require_matplotlib
from gramless.plots.images import image_shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReconstructionDisplay:
    """A gallery: rows of images one above the other, such as noisy images and the same after denoising.

    Parameters
    ----------
    galleries : dict of str to array-like of shape (n_images, height * width)
        What each row of the figure shows, by its name; all of one length.
    shape : pair of int, optional
        Height and width; by default images are square.

    Attributes
    ----------
    axes_ : ndarray of Axes, one for each gallery
    figure_ : Figure

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramless import KernelPCA
    >>> from gramless.plots import ReconstructionDisplay
    >>> X = load_digits().data
    >>> kpca = KernelPCA(30, kernel="rbf", gamma="median").fit(X)
    >>> [ax.get_ylabel() for ax in ReconstructionDisplay.from_estimator(kpca, X[:8]).axes_]
    ['given', '30 components']
    """

    axes_: Array
    figure_: Any

    def __init__(self, galleries: dict[str, Any], *, shape: tuple[int, int] | None = None) -> None:
        self.galleries = {name: np.atleast_2d(np.asarray(rows, dtype=float)) for name, rows in galleries.items()}
        shapes = {rows.shape for rows in self.galleries.values()}
        if len(shapes) != 1:
            raise ValueError(f"galleries of shapes {sorted(shapes)} given; all must show the same images")
        count, pixels = shapes.pop()
        found = image_shape(pixels, shape)
        if found is None:
            raise ValueError(f"rows of {pixels} columns are not square images; pass shape=(height, width)")
        self.count, self.shape = count, found

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        shape: tuple[int, int] | None = None,
        method: str = "auto",
        axes: Any = None,
    ) -> ReconstructionDisplay:
        """Draw the rows of `X` (n_images, height * width) and, below them, ``estimator.denoise(X)``.

        Parameters
        ----------
        estimator : KernelPCA
            Fitted.
        X : array-like of shape (n_images, height * width)
            Ten or so: all are drawn side by side.
        shape : pair of int, optional
            Height and width; by default images are square.
        method : {"auto", "ridge", "fixed_point", "distances"}, default="auto"
            Pre-image method.
        axes : sequence of two Axes, optional
            A new figure by default.
        """
        rows = np.asarray(X, dtype=float)
        restored = estimator.denoise(rows, method=method)
        galleries = {"given": rows, f"{len(estimator.eigenvalues_)} components": restored}
        return cls(galleries, shape=shape).plot(axes)

    def plot(self, axes: Any = None) -> ReconstructionDisplay:
        """Draw, in `axes` (one for each gallery) or a new figure, all on one grey scale."""
        names = list(self.galleries)
        if axes is None:
            width = min(11.0, 0.9 * self.count + 1.2)
            height = (width - 0.8) / self.count * self.shape[0] / self.shape[1] * len(names) + 0.2
            figure = require_matplotlib().figure(figsize=(width, height), layout="constrained")
            axes = [figure.add_subplot(len(names), 1, row + 1) for row in range(len(names))]
        panels: Array = np.asarray(axes, dtype=object).ravel()
        if len(panels) != len(names):
            raise ValueError(f"{len(panels)} axes given for {len(names)} rows of images; pass one per row of images")
        first = self.galleries[names[0]]
        for ax, name in zip(panels, names, strict=True):
            self._draw(ax, name, float(first.min()), float(first.max()))
        self.axes_, self.figure_ = panels, panels[0].figure
        return self

    def _draw(self, ax: Axes, name: str, low: float, high: float) -> None:
        """One strip, a pixel of white between images."""
        height, width = self.shape
        strip = np.full((height, self.count * (width + 1) - 1), np.nan)
        for j, row in enumerate(self.galleries[name]):
            strip[:, j * (width + 1) : j * (width + 1) + width] = row.reshape(self.shape)
        ax.imshow(strip, cmap="gray_r", vmin=low, vmax=high, interpolation="nearest")
        ax.set_ylabel(name)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
