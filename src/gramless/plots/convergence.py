"""How the residual of a fit fell, pass by pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from gramless.plots.canvas import axes_or_new, next_style
from gramless.progress import Silent, observed_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Residuals(Silent):
    """Observes a fit and stores the residual after every pass over the Gram matrix.

    Attributes
    ----------
    passes : list of int
    residuals : list of float
        Largest residual of the requested pairs, relative to the largest eigenvalue.
    tol : float
        The tolerance.
    method : str

    Examples
    --------
    >>> from gramless import KernelPCA
    >>> from gramless.datasets import annulus
    >>> from gramless.progress import observed_by
    >>> told = Residuals()
    >>> with observed_by(told):
    ...     _ = KernelPCA(4, kernel="rbf", gamma=1.0, method="tiled").fit(annulus(300, rng=0))
    >>> told.residuals[-1] <= told.tol
    True
    """

    def __init__(self) -> None:
        self.begins("", 0.0)

    def begins(self, method: str, seconds: float) -> None:
        self.method, self.tol = method, 0.0
        self.passes: list[int] = []
        self.residuals: list[float] = []
        self._done = 0

    def passed(self) -> None:
        self._done += 1

    def reached(self, residual: float, tol: float) -> None:
        self.tol = tol
        self.passes.append(self._done)
        self.residuals.append(residual)


class ConvergenceDisplay:
    """Residual of the worst component against passes over the Gram matrix.

    Parameters
    ----------
    passes : sequence of int
    residuals : sequence of float
        Relative to the largest eigenvalue.
    tol : float, default=0
        The tolerance; drawn as a line where it is positive.
    label : str, optional
        For the legend.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from gramless import KernelPCA
    >>> from gramless.datasets import annulus
    >>> from gramless.plots import ConvergenceDisplay
    >>> kpca = KernelPCA(4, kernel="rbf", gamma=1.0, method="tiled")
    >>> ConvergenceDisplay.from_estimator(kpca, annulus(300, rng=0)).ax_.get_xlabel()
    'passes over the Gram matrix'
    """

    ax_: Axes
    figure_: Any

    def __init__(self, passes: Any, residuals: Any, *, tol: float = 0.0, label: str | None = None) -> None:
        self.passes, self.residuals, self.tol, self.label = list(passes), list(residuals), tol, label

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, label: str | None = None, ax: Axes | None = None
    ) -> ConvergenceDisplay:
        """Fit a copy of `estimator` to `X` and draw its residuals; another call with the same `ax` adds a line.

        Raises
        ------
        ValueError
            If the fit reports no residuals: with explicit features, and with solvers other than block Krylov.
        """
        told = Residuals()
        with observed_by(told):
            clone(estimator).fit(X)
        if not told.residuals:
            raise ValueError(
                f"method={told.method!r} with eigen_solver={estimator.eigen_solver!r} does not report residuals; pass "
                "an "
                "estimator with method='tiled' and eigen_solver='block_krylov'"
            )
        return cls(told.passes, told.residuals, tol=told.tol, label=label or told.method).plot(ax)

    def plot(self, ax: Axes | None = None) -> ConvergenceDisplay:
        """Draw, in `ax` or a new figure."""
        ax = axes_or_new(ax, figsize=(5.6, 4.0))
        marks = {text.get_text() for text in ax.texts}
        ax.semilogy(self.passes, self.residuals, label=self.label, **next_style(ax))
        wanted = f"tol {self.tol:.0e}"
        if self.tol > 0 and wanted not in marks:
            ax.axhspan(0.0, self.tol, color="0.92", zorder=0)
            ax.text(0.99, self.tol, wanted, transform=ax.get_yaxis_transform(), ha="right", va="top", size="small")
        ax.set(xlabel="passes over the Gram matrix", ylabel="worst residual / largest eigenvalue")
        ax.locator_params(axis="x", integer=True)
        ax.grid(alpha=0.3)
        if self.label is not None:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
