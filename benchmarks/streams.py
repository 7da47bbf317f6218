"""The claims of streams: cheaper than refitting, than rank-one updates, and endless within a fixed memory.

Three comparisons, each side by side on the same rows, accuracy first.

- Digits with noise, 100 rows at a time up to 5,000, a model of ten components after each: `partial_fit` against
  scikit-learn fitted anew (ARPACK; it also serves as the truth).
- Row-wise updates of all eigenpairs as Hallgren & Northrop write them, against `partial_fit` with all components.
- A million rows in 32 dimensions, twenty Gaussian clusters with variances falling as 1/j, ``max_support=1000``: rate,
  memory from a tenth of the stream to its end, and the angle to a model of landmarks that saw all rows at once.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as PeerKernelPCA

from benchmarks.references.rank_one import RankOneKernelPCA
from gramless import KernelPCA, principal_angles
from gramless.arrays.memory import resident_bytes
from gramless.kernels import Gaussian

K, STEP, SEED = 10, 100, 0
VALUE_ACCURACY, ANGLE_ACCURACY, STREAM_ANGLE = 1e-3, 1.0, 5.0  # relative; degrees; degrees
SUPPORT, CLUSTERS, COLUMNS = 1000, 20, 32


def run(scale: float = 1.0) -> dict[str, Any]:
    """All rows of the table; a `scale` below 1 makes everything smaller, to try it out."""

    def scaled(n: float, least: int) -> int:
        return max(least, int(n * scale) // STEP * STEP)

    rows = [against_refitting(scaled(5000, 500)), against_rank_one(scaled(400, 200))]
    rows += endless(scaled(1e6, 20_000))
    return {"k": K, "support": SUPPORT, "rows": rows}


def row(name: str, ours: str, theirs: str, value: float, bar: str, met: bool) -> dict[str, Any]:
    """One row of the table; printed as it is made."""
    made = {"name": name, "ours": ours, "theirs": theirs, "value": float(value), "bar": bar, "met": bool(met)}
    print(made, flush=True)
    return made


def against_refitting(n: int) -> dict[str, Any]:
    """A model after every 100 rows."""
    rng = np.random.default_rng(SEED)
    digits = load_digits().data
    x = digits[rng.integers(0, len(digits), n)] + rng.standard_normal((n, digits.shape[1]))
    gamma = 1 / (2 * median_distance(x[:1000]) ** 2)
    # one after the other: BLAS threads of the one, which spin for a while, would slow down the other
    stream, ends, values = KernelPCA(K, kernel="rbf", gamma=gamma), range(STEP, n + 1, STEP), []
    begin = time.perf_counter()
    for last in ends:
        values.append(stream.partial_fit(x[last - STEP : last]).eigenvalues_)
    seconds = [time.perf_counter() - begin]
    begin = time.perf_counter()
    peer = PeerKernelPCA(K, kernel="rbf", gamma=gamma, eigen_solver="arpack", random_state=0)
    theirs = [peer.fit(x[:last]).eigenvalues_ for last in ends]
    seconds.append(time.perf_counter() - begin)
    worst = max(float(np.abs(one / other - 1).max()) for one, other in zip(values, theirs, strict=True))
    whole = KernelPCA(K, kernel="rbf", gamma=gamma).fit(x)
    angle = float(np.degrees(principal_angles(stream, whole).max()))
    accurate = worst <= VALUE_ACCURACY and angle <= ANGLE_ACCURACY
    ratio = seconds[1] / seconds[0] if accurate else np.nan
    return row(
        f"ten components after every {STEP} of {n:,} rows: faster than refitting scikit-learn",
        f"{seconds[0]:.2f} s, eigenvalues to {worst:.0e}, angle {angle:.2f} degrees",
        f"{seconds[1]:.2f} s",
        ratio,
        "at least 10",
        accurate and ratio >= 10,
    )


def against_rank_one(n: int) -> dict[str, Any]:
    """All eigenpairs; both against LAPACK on the whole matrix."""
    x = np.random.default_rng(SEED).standard_normal((n, 10))
    kernel = Gaussian(3.0)
    begin = time.perf_counter()
    peer = RankOneKernelPCA(kernel)
    for one in x:
        peer.add(one)
    middle = time.perf_counter()
    stream = KernelPCA(None, kernel=kernel)
    for last in range(STEP, n + 1, STEP):
        values = stream.partial_fit(x[last - STEP : last]).eigenvalues_
    end = time.perf_counter()
    centring = np.eye(n) - 1 / n
    exact = np.linalg.eigvalsh(centring @ kernel(x) @ centring)[::-1]
    errors = [float(np.abs(found[: n - 1] - exact[: n - 1]).max() / exact[0]) for found in (values, peer.values[::-1])]
    ratio = (middle - begin) / (end - middle)
    return row(
        f"all eigenpairs of {n:,} rows: faster than Hallgren & Northrop's rank-one updates",
        f"{end - middle:.2f} s, error {errors[0]:.0e}",
        f"{middle - begin:.2f} s, error {errors[1]:.0e}",
        ratio,
        "at least 1, and as accurate",
        ratio >= 1 and errors[0] <= max(errors[1], 1e-14),
    )


def endless(n: int) -> list[dict[str, Any]]:
    """A stream with bounded support; the rows are made again for the model that sees all of them."""
    sigma = median_distance(next(clusters(2000, 2000)))
    model, memory = KernelPCA(K, kernel=Gaussian(sigma), max_support=SUPPORT, random_state=0), []
    seconds, batch = 0.0, 1000
    for count, x in enumerate(clusters(n, batch)):
        begin = time.perf_counter()
        model.partial_fit(x)
        if count % max(1, n // (20 * batch)) == 0:
            model.transform(x[:10])
            memory.append(resident_bytes())
        seconds += time.perf_counter() - begin
    early = memory[max(1, len(memory) // 10)]
    grown = (max(memory) - early) / early
    whole = np.concatenate(list(clusters(n, batch)))
    landmarks = KernelPCA(K + 1, kernel=Gaussian(sigma), method="landmarks", keep_data=False, random_state=0).fit(whole)
    gap = float(landmarks.eigenvalues_[K - 1] / landmarks.eigenvalues_[K])
    angle = float(np.degrees(principal_angles(model, landmarks.truncate(K)).max()))
    width = float(model.certificate_.width.max())
    name = f"{n:,} rows in {COLUMNS} dimensions, max_support={SUPPORT}"
    return [
        row(
            f"{name}: angle to landmarks fitted to all, degrees",
            f"{n / seconds:,.0f} rows/s, intervals {width:.0e} wide",
            f"gap of eigenvalues {gap:.2f}",
            angle,
            f"at most {STREAM_ANGLE:g}",
            angle <= STREAM_ANGLE and gap >= 1.2,
        ),
        row(
            f"{name}: growth of memory after a tenth of the stream, part",
            f"{max(memory) / 1e6:.0f} MB",
            "",
            grown,
            "at most 0.05",
            grown <= 0.05,
        ),
    ]


def clusters(n: int, batch: int) -> Any:
    """Twenty Gaussian clusters, variances falling as 1/j, in batches; eleven of them are larger: ten components."""
    rng = np.random.default_rng(SEED)
    spread = 1 / np.sqrt(np.arange(1, COLUMNS + 1))
    centres = 2 * rng.standard_normal((CLUSTERS, COLUMNS))
    shares = np.where(np.arange(CLUSTERS) <= K, 1.0, 0.3)
    for _ in range(n // batch):
        labels = rng.choice(CLUSTERS, batch, p=shares / shares.sum())
        yield centres[labels] + rng.standard_normal((batch, COLUMNS)) * spread


def median_distance(x: np.ndarray) -> float:
    squares = (x**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * x @ x.copy().T
    return float(np.sqrt(np.median(distances[np.triu_indices(len(x), 1)]) / 2))
