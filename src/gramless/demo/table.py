"""Real tables: a linear classifier on kernel components and on linear ones, in nested cross-validation."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from gramless.arrays import Array
from gramless.bandwidth.rules import resolve_gamma
from gramless.demo.chapter import Chapter, Tell, panel, widest
from gramless.estimators import KernelPCA
from gramless.plots.canvas import PALETTE
from gramless.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLES: dict[str, Callable[..., Any]] = {
    "digits": load_digits,
    "breast cancer": load_breast_cancer,
    "wine": load_wine,
    "iris": load_iris,
}
_ONE_UNIT = ("digits",)  # tables whose columns have the same unit, as pixels have
_FOLDS = 5
_BANDWIDTHS = (0.5, 1.0)  # in median distances
_NUMBERS = (10, 30, 100, 300)  # of components, as far as there are so many
_CLASSIFIERS = ((True, 0.01), (True, 0.1), (False, 0.1), (False, 1.0), (False, 10.0))  # variances made 1?, C

CODE = """\
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from gramless import KernelPCA

X, y = load_digits(return_X_y=True)
components = KernelPCA(300, kernel="rbf", gamma="median")
model = make_pipeline(components, StandardScaler(), LogisticRegression(C=0.1))
print(cross_val_score(model, X, y, cv=5))
print(components.fit(X).certificate_)
"""


@dataclass(frozen=True)
class Outcome:
    """Components of one kind on the training rows of a fold, and their mistakes on the rows held out.

    Attributes
    ----------
    model : KernelPCA or PCA
    numbers : tuple of int
        Numbers of components that were tried.
    mistakes : tuple of int
        With each of `numbers`.
    chosen : int
        The number of components that the inner split chose, as an index into `numbers`.
    """

    model: Any
    numbers: tuple[int, ...]
    mistakes: tuple[int, ...]
    chosen: int


@dataclass(frozen=True)
class Comparison:
    """Both kinds of components on the same folds."""

    name: str
    sizes: Array
    linear: tuple[Outcome, ...]
    kernel: tuple[Outcome, ...]

    @property
    def mistakes(self) -> Array:
        """Of linear and of kernel components in each fold, on rows that no choice has seen; of shape (2, folds)."""
        return np.array([[fold.mistakes[fold.chosen] for fold in kind] for kind in (self.linear, self.kernel)])

    @property
    def accuracy(self) -> Array:
        """In percent, of shape (2, folds)."""
        shares: Array = 100 * (1 - self.mistakes / self.sizes)
        return shares

    @property
    def gain(self) -> tuple[float, float]:
        """Percentage points that kernel components gain: mean and standard deviation over the folds."""
        gains = self.accuracy[1] - self.accuracy[0]
        return round(float(gains.mean()), 1) + 0.0, float(gains.std(ddof=1))  # + 0.0: no minus zero


def table_chapter(tell: Tell, names: Sequence[str] = tuple(TABLES)) -> Chapter:
    """Compare on every table; the first is shown in full."""
    found = []
    for name in names:
        tell(f"{name}: linear and kernel components in {_FOLDS} folds")
        found.append(compared(name, *TABLES[name](return_X_y=True)))
    first = found[0]
    certificate = max((fold.model.certificate_ for fold in first.kernel), key=lambda one: float(one.width.max()))
    linear, kernel = (int(count) for count in first.mistakes.sum(axis=1))
    gain, spread = first.gain
    return Chapter(
        name="table",
        title="A real table: what linear components cannot do",
        headline=f"{kernel} mistakes in {first.sizes.sum():,} {first.name}, not {linear}",
        lines=(
            f"{first.sizes.sum():,} {first.name}: {kernel} mistakes with kernel components, {linear} with linear,",
            f"{gain:+.1f} ± {spread:.1f} points in {_FOLDS} folds. Widest interval {widest(certificate)}.",
        ),
        text=_text(first, found),
        code=CODE,
        certificate=certificate,
        figures=(_folds(first), _numbers(first)),
        captions=(
            f"Accuracy on the {_FOLDS} held-out parts of the {first.name}; a line joins the results of one part.",
            "Accuracy on held-out rows against the number of components, averaged over the folds, with standard "
            "deviations. Linear components end with the columns of the table. The number that counts is chosen "
            "inside each fold.",
        ),
        tables=(_results(found),),
    )


def compared(name: str, x: Array, y: Array) -> Comparison:
    """Outcomes of both kinds of components; columns get variance 1 unless they have the same unit."""
    folds = list(StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(x, y))

    def both(fold: tuple[Array, Array]) -> tuple[Outcome, Outcome]:
        training, held_out = fold
        scale = x[training].std() if name in _ONE_UNIT else x[training].std(axis=0)
        rows = x[training] / scale, y[training], x[held_out] / scale, y[held_out]
        return outcome(*rows, bandwidths=(None,)), outcome(*rows, bandwidths=_BANDWIDTHS)

    with threadpool_limits(1), ThreadPoolExecutor(os.cpu_count()) as pool:  # a fold a thread: the problems are small
        linear, kernel = zip(*pool.map(both, folds), strict=True)
    return Comparison(name, np.array([len(held_out) for _, held_out in folds]), linear, kernel)


def outcome(x: Array, y: Array, new: Array, truth: Array, *, bandwidths: Sequence[float | None]) -> Outcome:
    """Choose all that is chosen on a part of the training rows, fit to all of them, count mistakes on new rows."""
    inner, check, inner_y, check_y = train_test_split(x, y, test_size=0.25, stratify=y, random_state=0)
    tried = []
    for bandwidth in bandwidths:
        model = components(bandwidth, inner)
        z, z_check = model.transform(inner), model.transform(check)
        for j, number in enumerate(numbers_of(z)):
            for settings in _CLASSIFIERS:
                classifier = trained(z[:, :number], inner_y, *settings)
                loss = log_loss(check_y, classifier.predict_proba(z_check[:, :number]), labels=classifier.classes_)
                tried.append((loss, j, settings, bandwidth))
    _, chosen, settings, bandwidth = min(tried, key=lambda one: one[0])
    model = components(bandwidth, x)
    z, z_new = model.transform(x), model.transform(new)
    numbers = numbers_of(z)
    guesses = [trained(z[:, :number], y, *settings).predict(z_new[:, :number]) for number in numbers]
    return Outcome(model, numbers, tuple(int((guess != truth).sum()) for guess in guesses), chosen)


def components(bandwidth: float | None, x: Array) -> Any:
    """As many components as are ever asked for: linear ones (None), or of a Gaussian of so many median distances."""
    most = min(_NUMBERS[-1], len(x) - 1)
    if bandwidth is None:
        return PCA(min(most, x.shape[1])).fit(x)
    gamma = resolve_gamma("median", x, np.ones(len(x))) / bandwidth**2
    return KernelPCA(most, kernel="rbf", gamma=gamma, random_state=0, n_jobs=1).fit(x)


def numbers_of(scores: Array) -> tuple[int, ...]:
    """Numbers of components to try; the largest is all there are."""
    return (*(number for number in _NUMBERS if number < scores.shape[1]), scores.shape[1])


def trained(scores: Array, y: Array, standardize: bool, penalty: float) -> Any:
    """A logistic regression on components, as they are or with variance 1."""
    scale = StandardScaler(with_std=standardize)
    return make_pipeline(scale, LogisticRegression(C=penalty, max_iter=1000, tol=1e-3)).fit(scores, y)


def _text(first: Comparison, found: Sequence[Comparison]) -> tuple[str, ...]:
    linear, kernel = first.accuracy.mean(axis=1)
    gain, spread = first.gain
    others = [f"{one.name} ({one.gain[0]:+.1f} ± {one.gain[1]:.1f})" for one in found[1:]]
    text = [
        f"A logistic regression on components, for the {first.sizes.sum():,} {first.name} that come with scikit-learn: "
        f"{linear:.1f} % right on linear components, {kernel:.1f} % on those of a Gaussian kernel. The gain is "
        f"{gain:.1f} ± {spread:.1f} percentage points (mean and standard deviation over {_FOLDS} folds).",
        "Every figure is of rows that were held out. Bandwidth, number of components, their scaling and the penalty of "
        "the classifier were chosen for each kind, and in each fold, on a part of the training rows alone.",
    ]
    if others:
        text.append(
            f"Not every table gains: {first.name} is shown first because it does. In the same manner, in percentage "
            f"points: {', '.join(others)}. The candidates for bandwidth, number and penalty were drawn up with these "
            "tables at hand, for both kinds of components; read the counts as an example, not as a benchmark."
        )
    return tuple(text)


def _results(found: Sequence[Comparison]) -> Table:
    rows = []
    for one in found:
        (linear, kernel), (gain, spread) = one.accuracy.mean(axis=1), one.gain
        counts = one.mistakes.sum(axis=1)
        verdict = "clear" if gain > 2 * spread / np.sqrt(_FOLDS) else "none, within the spread"
        rows.append(
            (
                one.name,
                f"{one.sizes.sum():,}",
                *(f"{share:.1f} % ({count} wrong)" for share, count in ((linear, counts[0]), (kernel, counts[1]))),
                f"{gain:+.1f} ± {spread:.1f}",
                verdict,
            )
        )
    return Table(
        title="Held-out accuracy of a logistic regression",
        header=("table", "rows", "linear components", "kernel components", "gain", "advantage"),
        rows=rows,
        note=f"Gain: mean and standard deviation over {_FOLDS} folds. Clear: more than two standard errors above 0.",
        words=("table", "advantage"),
        strong=(0,),
    )


def _folds(one: Comparison) -> Figure:
    figure = panel()
    ax = figure.subplots()
    for pair in one.accuracy.T:
        ax.plot([0, 1], pair, "-", color="0.7", zorder=1)
    for j, (color, marker) in enumerate(((PALETTE[1], "s"), (PALETTE[0], "o"))):
        ax.plot([j] * len(one.sizes), one.accuracy[j], marker, color=color, zorder=2)
    ax.set(xlim=(-0.4, 1.4), xticks=[0, 1], xticklabels=["linear", "kernel"], ylabel="held-out accuracy (%)")
    ax.grid(axis="y", alpha=0.3)
    return figure


def _numbers(one: Comparison) -> Figure:
    figure = panel()
    ax = figure.subplots()
    for name, kind, style, color in (
        ("linear", one.linear, "s-", PALETTE[1]),
        ("kernel", one.kernel, "o-", PALETTE[0]),
    ):
        shares = 100 * (1 - np.array([fold.mistakes for fold in kind]) / one.sizes[:, None])
        ax.errorbar(
            kind[0].numbers, shares.mean(axis=0), shares.std(axis=0, ddof=1), fmt=style, color=color, label=name
        )
    ax.set(xscale="log", xlabel="components", ylabel="held-out accuracy (%)")
    ax.set_xticks(kind[0].numbers, [str(number) for number in kind[0].numbers], minor=False)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, loc="lower right")
    return figure
