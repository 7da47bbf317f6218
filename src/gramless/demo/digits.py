"""Handwritten digits: an embedding, its certificate, and a race against scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn.decomposition
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from gramless.arrays import Array
from gramless.datasets import resampled_digits
from gramless.demo.chapter import Chapter
from gramless.estimators import KernelPCA
from gramless.plots import plot_embedding, plot_spectrum
from gramless.report.tables import Table, certificate_table, plan_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COMPONENTS = 20


def digits_chapter(rows: int = 5000) -> Chapter:
    """Embed the 1797 digits; then time a larger set beside scikit-learn."""
    x, digit = load_digits(return_X_y=True)
    linear = sklearn.decomposition.PCA(2).fit_transform(x)
    kpca = KernelPCA(_COMPONENTS, kernel="rbf", gamma="median", random_state=0).fit(x)
    scores = kpca.transform(x)
    told = [100 * neighbours_agree(z, digit) for z in (linear, scores[:, :2], scores)]
    larger, table, sentence = race(rows)
    return Chapter(
        title="Handwritten digits: components you can trust",
        text=(
            f"1,797 digits of 8 x 8 pixels, a Gaussian as wide as the median distance, {_COMPONENTS} components: "
            f"together they hold {100 * kpca.explained_variance_ratio_.sum():.0f} % of the variance in feature space. "
            "In the plane, kernel PCA looks much like PCA here: a digit has the class of its nearest neighbour in "
            f"{told[0]:.0f} % of cases for PCA and {told[1]:.0f} % for kernel PCA. All {_COMPONENTS} components raise "
            f"that to {told[2]:.0f} %.",
            "What is new is the certificate: every eigenvalue stands in an interval that holds the eigenvalue of the "
            f"exact centred kernel matrix, the widest of them {kpca.certificate_.width.max():.0e} of its eigenvalue. "
            "In the figure the intervals are narrower than the ink.",
            sentence,
        ),
        name="digits",
        figure=digits_figure(linear, scores, digit, kpca),
        caption=(
            "Above: each digit at its first two components, the large numerals at the middle of their class. "
            "Below: eigenvalues (points, left scale) and the variance explained so far (bars, right scale)."
        ),
        tables=(plan_table(larger.plan_), table, certificate_table(kpca.certificate_)),
    )


def race(rows: int) -> tuple[KernelPCA, Table, str]:
    """Fit the same data with gramless and with scikit-learn, one after the other."""
    x = resampled_digits(rows, rng=0)
    ours, our_seconds = timed(lambda: KernelPCA(_COMPONENTS, kernel="rbf", gamma="median", random_state=0).fit(x))
    theirs, their_seconds = timed(
        lambda: sklearn.decomposition.KernelPCA(
            _COMPONENTS, kernel="rbf", gamma=ours.gamma_, eigen_solver="arpack", random_state=0
        ).fit(x)
    )
    difference = float(np.abs(ours.eigenvalues_ - theirs.eigenvalues_).max())
    table = Table(
        title=f"{rows:,} digits, resampled with noise: time to fit",
        header=("library", "seconds", "largest eigenvalue", "error bounds"),
        rows=(
            ("gramless", f"{our_seconds:.2f}", f"{ours.eigenvalues_[0]:.10g}", "yes"),
            ("scikit-learn, arpack", f"{their_seconds:.2f}", f"{theirs.eigenvalues_[0]:.10g}", "no"),
        ),
        note=f"Largest difference of the {_COMPONENTS} eigenvalues: {difference:.1e}. One run each, on this machine.",
        words=("library", "error bounds"),
    )
    sentence = (
        f"On {rows:,} rows, made from the digits by drawing with replacement and adding noise, gramless took "
        f"{our_seconds:.2f} s and scikit-learn's KernelPCA, with ARPACK, {their_seconds:.2f} s. Their eigenvalues "
        f"differ by {difference:.1e} at most, out of {ours.eigenvalues_[0]:.0f}. scikit-learn holds the kernel matrix, "
        f"{8e-6 * rows * rows:.0f} MB here and four times that for twice the rows; gramless need not."
    )
    return ours, table, sentence


def digits_figure(linear: Array, scores: Array, digit: Array, kpca: KernelPCA) -> Figure:
    """PCA's plane, kernel PCA's plane, the spectrum."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.4, 8.6), layout="constrained")
    panels = figure.subplot_mosaic([["linear", "kernel"], ["spectrum", "spectrum"]], height_ratios=[1.6, 1])
    plot_embedding(linear, digit, ax=panels["linear"]).set_title("PCA", size="medium")
    plot_embedding(scores, digit, ax=panels["kernel"]).set_title("kernel PCA", size="medium")
    plot_spectrum(kpca, ax=panels["spectrum"])
    return figure


def neighbours_agree(scores: Array, labels: Array) -> float:
    """Share of rows whose nearest other row has the same label."""
    nearest = NearestNeighbors(n_neighbors=1).fit(scores).kneighbors(return_distance=False)[:, 0]
    return float(np.mean(labels[nearest] == labels))


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What `work` returns, and the seconds it took."""
    start = perf_counter()
    result = work()
    return result, perf_counter() - start
