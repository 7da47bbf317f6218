"""A stream that changes: the model notices, raises an alarm, and follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom
from sklearn.decomposition import IncrementalPCA

from gramless.arrays import Array
from gramless.certificates import Certificate
from gramless.demo.chapter import Chapter, Tell, panel, widest
from gramless.estimators import KernelPCA
from gramless.plots.canvas import PALETTE
from gramless.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BATCH = 100  # rows
_WARM, _CALIBRATION, _AFTER = 10, 40, 60  # batches: learnt only; to set the threshold; after the drift
_RARE = 0.01  # share of rows above the threshold without drift
_CHANCE = 1e-3  # a batch without drift raises an alarm at most so often
_HALF_LIFE = 2000  # rows
_COMPONENTS = 20
_FOLLOWS, _LEFT, _LINEAR = "kernel PCA, following", "kernel PCA, left as it was", "linear PCA"

CODE = """\
import numpy as np
from gramless import KernelPCA

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 20_000)
late = np.arange(20_000) >= 15_000  # from here on the second harmonic comes 1 radian later
waves = [np.cos(angle), np.sin(angle), np.cos(2 * angle + late), np.sin(2 * angle + late)]
batches = np.array_split(np.transpose(waves) + rng.normal(scale=0.15, size=(20_000, 4)), 200)

stream = KernelPCA(20, kernel="rbf", gamma=0.25, max_support=300, forget=2_000).partial_fit(batches[0])
for X in batches[1:]:
    error = stream.reconstruction_error(X).mean()  # rises at the drift, and falls as the model follows
    stream.partial_fit(X)
"""


@dataclass(frozen=True)
class Watch:
    """Counts of rows above a monitor's threshold, batch by batch after the calibration, and when it raised an alarm.

    Attributes
    ----------
    counts : ndarray of int
    least : int
        A batch with so many rows above the threshold raises an alarm.
    drift : int
        Index of the first batch after the drift.
    """

    counts: Array
    least: int
    drift: int

    @property
    def false_alarms(self) -> int:
        """Alarms before the drift."""
        return int((self.counts[: self.drift] >= self.least).sum())

    @property
    def delay(self) -> int | None:
        """Rows from the drift to the end of the batch that raised the first alarm; None if none did."""
        alarms = np.flatnonzero(self.counts[self.drift :] >= self.least)
        return int(_BATCH * (alarms[0] + 1)) if len(alarms) else None

    @property
    def settled(self) -> int:
        """Rows from the drift to the end of the last batch that raised an alarm."""
        alarms = np.flatnonzero(self.counts[self.drift :] >= self.least)
        return int(_BATCH * (alarms[-1] + 1)) if len(alarms) else 0


def readings(n: int, phase: float, rng: np.random.Generator) -> Array:
    """Two harmonics of a turning machine, the second one later by `phase`, seen by four sensors.

    Whatever the phase, the columns have mean 0, equal variances and no correlation.
    """
    angle = rng.uniform(0, 2 * np.pi, n)
    waves = [np.cos(angle), np.sin(angle), np.cos(2 * angle + phase), np.sin(2 * angle + phase)]
    return np.transpose(waves) + rng.normal(scale=0.15, size=(n, 4))


def stream_chapter(tell: Tell, quiet: int = 100) -> Chapter:
    """Watch a stream that drifts after `quiet` batches with a threshold and without drift."""
    watches, certificate = watched(tell, quiet)
    kernel, linear = watches[_FOLLOWS], watches[_LINEAR]
    noticed = (
        "not noticed" if kernel.delay is None else f"noticed in {kernel.delay:,} rows, followed in {kernel.settled:,}"
    )
    blind = "linear PCA saw nothing" if linear.delay is None else f"linear PCA noticed in {linear.delay:,}"
    return Chapter(
        name="stream",
        title="A stream that drifts: noticed, and followed",
        headline="Drift " + noticed.partition(",")[0],
        lines=(
            f"Drift {noticed}; {blind}.",
            f"{kernel.false_alarms} false alarms in {quiet} batches. Widest interval {widest(certificate)}.",
        ),
        text=_text(watches, quiet),
        code=CODE,
        certificate=certificate,
        figures=(_counts(watches), _shapes()),
        captions=(
            f"Rows of each batch of {_BATCH} whose error is above the threshold. At {kernel.least} of them, the dotted "
            "line, there is an alarm. The drift begins at the vertical line.",
            "First column against third, before the drift and after: another curve, with the same mean, the same "
            "variances and no correlation.",
        ),
        tables=(_table(watches, quiet),),
    )


def watched(tell: Tell, quiet: int) -> tuple[dict[str, Watch], Certificate]:
    """Three monitors of one stream: a model that follows, the same left as it was at the drift, and linear PCA."""
    rng = np.random.default_rng(0)
    stream = KernelPCA(_COMPONENTS, kernel="rbf", gamma=0.25, max_support=300, forget=_HALF_LIFE, random_state=0)
    linear = IncrementalPCA(2)
    drift = _WARM + _CALIBRATION + quiet
    errors: dict[str, list[Array]] = {_FOLLOWS: [], _LEFT: [], _LINEAR: []}
    for number in range(drift + _AFTER):
        if number % 20 == 0:
            tell(f"a stream, {_BATCH * number:,} of {_BATCH * (drift + _AFTER):,} rows")
        x = readings(_BATCH, float(number >= drift), rng)
        if _WARM <= number <= drift:
            left = stream.truncate(_COMPONENTS)
        if number >= _WARM:
            errors[_FOLLOWS].append(stream.reconstruction_error(x))
            errors[_LEFT].append(left.reconstruction_error(x))
            errors[_LINEAR].append(np.square(x - linear.inverse_transform(linear.transform(x))).sum(axis=1))
        stream.partial_fit(x)
        linear.partial_fit(x)
    return {name: watch(np.array(found), quiet) for name, found in errors.items()}, stream.certificate_


def watch(errors: Array, quiet: int) -> Watch:
    """Threshold and counts of a monitor from its errors, of shape (batches, rows)."""
    threshold = np.quantile(errors[:_CALIBRATION], 1 - _RARE)
    least = int(binom.isf(_CHANCE, _BATCH, _RARE)) + 1
    return Watch((errors[_CALIBRATION:] > threshold).sum(axis=1), least, quiet)


def _text(watches: dict[str, Watch], quiet: int) -> tuple[str, ...]:
    kernel = watches[_FOLLOWS]
    chance = float(binom.sf(kernel.least - 1, _BATCH, _RARE))
    found = (
        "No batch raised an alarm." if kernel.delay is None else f"The first alarm came {kernel.delay:,} rows after it."
    )
    return (
        "Four sensors on a turning machine see two harmonics. Then the second harmonic comes one radian later. Means, "
        "variances and correlations of the columns stay as they were, so that linear PCA cannot notice, whatever its "
        "number of components. Kernel components describe the curve on which the readings lie.",
        f"The model learns batch by batch, keeps 300 points, and forgets with a half-life of {_HALF_LIFE:,} rows. "
        "Before it learns a batch, reconstruction_error says how far each row is from its components. The threshold is "
        f"the 99 % quantile of {_BATCH * _CALIBRATION:,} rows; a batch with {kernel.least} or more of its {_BATCH} "
        f"rows above it raises an alarm, which without drift has a probability of {chance:.1e} per batch if rows are "
        "independent.",
        f"In {quiet} batches before the drift there were {kernel.false_alarms} false alarms. {found} After "
        f"{kernel.settled:,} rows the model had followed: the last alarm was over. The same model, left as it was at "
        "the drift, goes on raising alarms.",
    )


def _table(watches: dict[str, Watch], quiet: int) -> Table:
    rows = [
        (
            name,
            f"{one.false_alarms} of {quiet}",
            "never" if one.delay is None else f"{one.delay:,}",
            f"{(one.counts[quiet:] >= one.least).sum()} of {_AFTER}",
        )
        for name, one in watches.items()
    ]
    return Table(
        title="Three monitors of the same stream",
        header=("monitor", "false alarms", "rows until the first alarm", "batches with an alarm after the drift"),
        rows=rows,
        note="Each with a threshold of its own, set by the same rule.",
        words=("monitor",),
        strong=(0,),
    )


def _counts(watches: dict[str, Watch]) -> Figure:
    figure = panel()
    ax = figure.subplots()
    styles = zip(watches.items(), ((PALETTE[0], "-"), (PALETTE[3], "-"), (PALETTE[1], "--")), strict=True)
    for (name, one), (color, style) in reversed(list(styles)):
        ax.plot(_BATCH * np.arange(len(one.counts)), one.counts, style, color=color, linewidth=1.2, label=name)
    ax.axhline(one.least, color="black", linestyle=":", linewidth=1)
    ax.axvline(_BATCH * one.drift, color="0.5", linewidth=1)
    ax.set(xlabel="rows since the threshold was set", ylabel=f"of {_BATCH} rows, above the threshold")
    ax.legend(frameon=False, loc="upper left", fontsize=9)
    return figure


def _shapes() -> Figure:
    figure = panel()
    rng = np.random.default_rng(1)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, name, phase, color in zip(axes, ("before", "after"), (0.0, 1.0), (PALETTE[0], PALETTE[1]), strict=True):
        x = readings(600, phase, rng)
        ax.plot(x[:, 0], x[:, 2], ".", color=color, markersize=3)
        ax.set(title=name, xlabel="column 1", aspect="equal")
    axes[0].set_ylabel("column 3")
    return figure
