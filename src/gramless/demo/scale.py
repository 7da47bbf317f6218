"""The same call on 10^3 to 10^6 points, beside scikit-learn as far as that gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn.decomposition
from sklearn.datasets import make_swiss_roll

from gramless.arrays import Array
from gramless.arrays.memory import free_memory, readable_bytes
from gramless.certificates import Certificate
from gramless.demo.chapter import Chapter, Tell, panel, seconds_text, widest
from gramless.demo.child import Measured, measure
from gramless.estimators import KernelPCA
from gramless.plots.canvas import PALETTE
from gramless.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000)
_SETTINGS: dict[str, Any] = {"n_components": 10, "kernel": "rbf", "gamma": 0.01}
_OURS_S = 60.0

CODE = """\
from sklearn.datasets import make_swiss_roll
from gramless import KernelPCA

X, _ = make_swiss_roll(1_000_000, noise=0.3, random_state=0)
kpca = KernelPCA(10, kernel="rbf", gamma=0.01).fit(X)
print(kpca.certificate_)
"""


@dataclass(frozen=True)
class Solved:
    """What is kept of a fit."""

    eigenvalues: Array
    method: str = ""
    certificate: Certificate | None = None


def roll(n: int) -> Array:
    """Points of a Swiss roll in three dimensions."""
    points: Array = make_swiss_roll(n, noise=0.3, random_state=0)[0]
    return points


def fit_ours(n: int) -> Callable[[], Solved]:
    """A fit of gramless to `n` points."""
    x = roll(n)

    def fit() -> Solved:
        model = KernelPCA(**_SETTINGS, random_state=0).fit(x)
        return Solved(model.eigenvalues_, model.method_, model.certificate_)

    return fit


def fit_peer(n: int) -> Callable[[], Solved]:
    """A fit of scikit-learn to `n` points, by the faster of its two exact solvers."""
    x = roll(n)
    model = sklearn.decomposition.KernelPCA(**_SETTINGS, eigen_solver="arpack", random_state=0)
    return lambda: Solved(model.fit(x).eigenvalues_)


def matrix_bytes(n: int) -> int:
    """Bytes of a Gram matrix."""
    return 8 * n * n


def scale_chapter(tell: Tell, sizes: Sequence[int] = SIZES, peer_limit_s: float = 6.0) -> Chapter:
    """Fit every size with gramless, then with scikit-learn up to the size at which it fails."""
    ours = _race(tell, "gramless", fit_ours, sizes, _OURS_S)
    if ours[-1].failure:
        raise RuntimeError(f"gramless on {sizes[len(ours) - 1]:,} points: {ours[-1].failure}")
    fitting = [n for n in sizes if matrix_bytes(n) < free_memory()]
    peer = _race(tell, "scikit-learn", fit_peer, fitting, peer_limit_s) if fitting else []
    if len(fitting) < len(sizes) and not (peer and peer[-1].failure):
        n = sizes[len(fitting)]
        reason = f"needs {readable_bytes(matrix_bytes(n))}, {readable_bytes(free_memory())} are free"
        peer.append(Measured(failure=reason))
    done = [found for found in peer if not found.failure]
    certificate = ours[-1].value.certificate
    return Chapter(
        name="scale",
        title=f"{sizes[0]:,} to {sizes[-1]:,} points: the same call",
        headline=f"{sizes[-1]:,} points in {seconds_text(ours[-1].seconds)}",
        lines=_lines(sizes, ours, peer, done),
        text=_text(sizes, ours, peer, done),
        code=CODE.replace("1_000_000", f"{sizes[-1]:_}"),
        certificate=certificate,
        figures=(_curve(sizes, ours, peer, "seconds"), _curve(sizes, ours, peer, "megabytes")),
        captions=(
            "Time of a fit against the number of points, both scales logarithmic. The dashed line was not measured: it "
            "goes on from scikit-learn's last fit with the square of the number of points.",
            "Memory that a fit takes on top of the process and its data. The dashed line was not measured: it is the "
            "Gram matrix, 8 bytes for each pair of points.",
        ),
        tables=(_table(sizes, ours, peer),),
    )


def _race(tell: Tell, who: str, task: Callable[[int], Any], sizes: Sequence[int], limit_s: float) -> list[Measured]:
    found: list[Measured] = []
    tell(f"{who}, {sizes[0]:,} points")
    for result in measure(task, sizes, limit_s):
        found.append(result)
        if len(found) < len(sizes):
            tell(f"{who}, {sizes[len(found)]:,} points")
    return found


def _lines(
    sizes: Sequence[int], ours: Sequence[Measured], peer: Sequence[Measured], done: Sequence[Measured]
) -> tuple[str, str]:
    first = f"{sizes[-1]:,} points: {_cost(ours[-1])}."
    second = f"Widest interval {widest(ours[-1].value.certificate)}."
    failed = bool(peer and peer[-1].failure)
    if done:
        first += f" scikit-learn: {sizes[len(done) - 1]:,} in {_cost(done[-1])}{';' if failed else '.'}"
    if failed:
        second = f"{'' if done else 'scikit-learn: '}{sizes[len(peer) - 1]:,} {peer[-1].failure}. {second}"
    return first, second


def _cost(found: Measured) -> str:
    memory = "" if found.peak_bytes is None else f", {readable_bytes(found.peak_bytes)}"
    return seconds_text(found.seconds) + memory


def _text(
    sizes: Sequence[int], ours: Sequence[Measured], peer: Sequence[Measured], done: Sequence[Measured]
) -> tuple[str, ...]:
    text = [
        "Ten components of a Gaussian kernel, of points on a Swiss roll in three dimensions. The call is the same from "
        f"{sizes[0]:,} points to {sizes[-1]:,}; the method is not: "
        f"{', '.join(dict.fromkeys(found.value.method for found in ours))}, each where its estimated cost is least.",
    ]
    if done:
        pairs = zip(ours, done, strict=False)
        apart = max(np.abs(a.value.eigenvalues / b.value.eigenvalues - 1).max() for a, b in pairs)
        text.append(
            f"scikit-learn's KernelPCA ran with ARPACK, its faster exact solver for few components. As far as it gets, "
            f"the eigenvalues agree: the largest relative difference is {apart:.0e}."
        )
        quicker = [n for n, a, b in zip(sizes, ours, done, strict=False) if b.seconds < a.seconds]
        if quicker:
            text[-1] += f" It was the quicker one with {' and '.join(f'{n:,}' for n in quicker)} points."
    if peer and peer[-1].failure:
        n = sizes[len(peer) - 1]
        words = f"With {n:,} points the outcome was: {peer[-1].failure}. Larger sizes were not tried."
        if done:
            guess = done[-1].seconds * (sizes[-1] / sizes[len(done) - 1]) ** 2
            words += (
                f" Extrapolated from its last fit, {sizes[-1]:,} points would take {seconds_text(guess)} and "
                f"{readable_bytes(matrix_bytes(sizes[-1]))}."
            )
        text.append(words)
    text.append(
        "Few columns are what makes this quick: explicit features of the kernel replace the matrix. With many columns "
        "rows are compared with each other, or with landmarks, which takes longer: BENCHMARKS.md has figures for both."
    )
    return tuple(text)


def _table(sizes: Sequence[int], ours: Sequence[Measured], peer: Sequence[Measured]) -> Table:
    rows = []
    for j, n in enumerate(sizes):
        other = peer[j] if j < len(peer) else Measured(failure="not tried")
        rows.append(
            (
                f"{n:,}",
                ours[j].value.method,
                seconds_text(ours[j].seconds),
                _memory(ours[j]),
                f"{ours[j].value.certificate.width.max():.0e}",
                other.failure or seconds_text(other.seconds),
                _memory(other),
            )
        )
    return Table(
        title="Time and memory of each fit",
        header=("points", "method", "gramless", "memory", "widest interval", "scikit-learn", "its memory"),
        rows=rows,
        note="One run each, in a process of its own. Memory: growth of the peak over what the process held before.",
        words=("method",),
    )


def _memory(found: Measured) -> str:
    return "-" if found.peak_bytes is None else readable_bytes(found.peak_bytes)


def _curve(sizes: Sequence[int], ours: Sequence[Measured], peer: Sequence[Measured], what: str) -> Figure:
    """Seconds or megabytes against the number of points."""
    figure = panel()
    ax = figure.subplots()
    done = [found for found in peer if not found.failure]
    ax.loglog(sizes, [getattr(found, what) for found in ours], "o-", color=PALETTE[0], label="gramless")
    if done:
        measured = [getattr(found, what) for found in done]
        ax.loglog(sizes[: len(done)], measured, "s-", color=PALETTE[1], label="scikit-learn")
        beyond = np.array(sizes[len(done) - 1 :], dtype=np.float64)
        squares = (beyond / beyond[0]) ** 2
        dashed = measured[-1] * squares if what == "seconds" else matrix_bytes(1) * beyond**2 / 1e6
        ax.loglog(beyond, dashed, "--", color=PALETTE[1], label="scikit-learn, extrapolated")
        if len(done) < len(peer):
            ax.plot(beyond[1], dashed[1], "x", color=PALETTE[1], markersize=9, markeredgewidth=2)
            ax.annotate(_short(peer[-1].failure), (beyond[1], dashed[1]), (10, -4), textcoords="offset points", size=9)
    ax.set(xlabel="points", ylabel="seconds" if what == "seconds" else "memory (MB)")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, loc="upper left", fontsize=9)
    return figure


def _short(failure: str) -> str:
    return failure.partition(",")[0]
