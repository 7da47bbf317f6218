"""The estimated cost of each method, and the method chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gramless.plots.canvas import PALETTE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gramless.fitting.methods import Plan


class PlanDisplay:
    """The plan as bars: estimated seconds of each method, and why a method was not chosen.

    Parameters
    ----------
    plan : Plan

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from gramless import KernelPCA
    >>> from gramless.datasets import annulus
    >>> from gramless.plots import PlanDisplay
    >>> kpca = KernelPCA(4, kernel="rbf", gamma=1.0).fit(annulus(100, rng=0))
    >>> PlanDisplay.from_estimator(kpca).ax_.get_xlabel()
    'estimated seconds'
    """

    ax_: Axes
    figure_: Any

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> PlanDisplay:
        """Draw the plan of a fitted estimator that has one."""
        if not hasattr(estimator, "plan_"):
            raise ValueError(f"{type(estimator).__name__} has no plan_; pass a fitted estimator of gramless")
        return cls(estimator.plan_).plot(ax)

    def plot(self, ax: Axes | None = None) -> PlanDisplay:
        """Draw, in `ax` or a new figure; methods that do not apply are named with the reason."""
        rows = sorted(zip(self.plan.rows(), self.plan.candidates.items(), strict=True), key=_order)
        able = [estimate.seconds for _, (_, estimate) in rows if not estimate.refusal]
        least, most = 0.5 * min(able), max(able)
        ax = axes_or_new(ax, figsize=(8.4, 0.36 * len(rows) + 0.9))
        for place, (texts, (name, estimate)) in enumerate(rows):
            if estimate.refusal:
                ax.text(least * 1.1, place, texts[-1], va="center", size="small", color="0.4", style="italic")
                continue
            chosen = name == self.plan.chosen
            ax.barh(
                place,
                estimate.seconds - least,
                left=least,
                height=0.62,
                color=PALETTE[0] if chosen else "0.86",
                edgecolor=PALETTE[0] if chosen else "0.55",
                hatch="" if chosen else "///",
                linewidth=0.8,
            )
            text = f"{estimate.seconds:.2g} s, {texts[2]}, error {texts[3]}: {texts[-1]}"
            ax.text(
                estimate.seconds * 1.12, place, text, va="center", size="small", weight="bold" if chosen else "normal"
            )
        ax.set(
            xscale="log",
            xlabel="estimated seconds",
            xlim=(least, most * max(100.0, most / least)),
            ylim=(len(rows) - 0.4, -0.6),
        )
        ax.set_yticks(range(len(rows)), [name for _, (name, _) in rows])
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _order(row: Any) -> tuple[bool, float]:
    """The fastest method first, methods that do not apply last."""
    _, (_, estimate) = row
    return bool(estimate.refusal), estimate.seconds
