"""A file larger than the memory that the fit may take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from gramless.arrays import Array
from gramless.arrays.memory import parse_memory, readable_bytes
from gramless.data import open_writer
from gramless.demo.chapter import Chapter, Tell, panel, seconds_text, widest
from gramless.demo.child import measure
from gramless.demo.scale import Solved, matrix_bytes
from gramless.estimators import KernelPCA
from gramless.plots.canvas import PALETTE
from gramless.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LIMIT = "64MB"
_BLOCK = 500_000
_MOST_S = 120.0

CODE = """\
import numpy as np
from gramless import KernelPCA

np.save("points.npy", np.random.default_rng(0).random((12_500_000, 2)))  # or a file of yours
kpca = KernelPCA(10, kernel="rbf", gamma=2.0, memory_limit="64MB").fit("points.npy")
print(kpca.certificate_)
kpca.transform("points.npy", out="scores.npy")
"""


def fit_file(path: Path) -> Callable[[], Solved]:
    """A fit to the rows of a file, within the limit."""

    def fit() -> Solved:
        model = KernelPCA(10, kernel="rbf", gamma=2.0, memory_limit=_LIMIT, random_state=0).fit(path)
        return Solved(model.eigenvalues_, model.method_, model.certificate_)

    return fit


def file_chapter(tell: Tell, folder: Path, rows: int = 12_500_000) -> Chapter:
    """Write points to a file in `folder`, fit them from there in another process, delete the file."""
    with TemporaryDirectory(dir=folder) as scratch:
        small, path = Path(scratch) / "small.npy", Path(scratch) / "points.npy"
        tell(f"writing {rows:,} points to a file")
        for name, count in ((small, 1000), (path, rows)):
            _write(name, count)
        size = path.stat().st_size
        tell(f"fitting {readable_bytes(size)} within {_LIMIT}")
        _, found = measure(fit_file, (small, path), _MOST_S)
    if found.failure:
        raise RuntimeError(f"gramless on a file of {readable_bytes(size)}: {found.failure}")
    limit = parse_memory(_LIMIT)
    used = "an unknown part" if found.peak_bytes is None else readable_bytes(found.peak_bytes)
    certificate = found.value.certificate
    return Chapter(
        name="file",
        title=f"A file of {readable_bytes(size)} within {readable_bytes(limit)}",
        headline=f"{readable_bytes(size)} with {used} of memory",
        lines=(
            f"{readable_bytes(size)} in {seconds_text(found.seconds)}, {used} of {readable_bytes(limit)} allowed; "
            f"widest {widest(certificate)}.",
        ),
        text=(
            f"{rows:,} points in the plane, in a .npy file of {readable_bytes(size)}; the fit may take "
            f"{readable_bytes(limit)}. The file is read in blocks, the next one while one is summed. In "
            f"{seconds_text(found.seconds)} the fit had read it twice, {rows / found.seconds / 1e6:.1f} million points "
            f"a second. Peak memory of the process grew by {used}.",
            f"The Gram matrix of these points would take {matrix_bytes(rows) / 1e12:,.6g} TB. Parquet, CSV, HDF5 and "
            "zarr files are read in the same way, and transform writes from file to file.",
        ),
        code=CODE.replace("12_500_000", f"{rows:_}"),
        certificate=certificate,
        figures=(_bars(size, limit, found.megabytes), _spectrum(found.value.eigenvalues)),
        captions=(
            "The file, the limit given to the fit, and the memory it took.",
            "The ten eigenvalues, as shares of the largest. Their intervals are narrower than the ink.",
        ),
        tables=(
            Table(
                title="One fit",
                header=("points", "file", "memory limit", "memory taken", "time", "method"),
                rows=(
                    (
                        f"{rows:,}",
                        readable_bytes(size),
                        readable_bytes(limit),
                        used,
                        seconds_text(found.seconds),
                        found.value.method,
                    ),
                ),
                note="In a process of its own. Memory: growth of the peak over what the process held before.",
                words=("method",),
            ),
        ),
    )


def _write(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    with open_writer(path, ["x", "y"]) as writer:
        for first in range(0, rows, _BLOCK):
            writer.write(rng.random((min(_BLOCK, rows - first), 2)))


def _bars(size: float, limit: float, used: float) -> Figure:
    figure = panel(height=2.6)
    ax = figure.subplots()
    names = ["memory taken", "memory limit", "file"]
    bars = ax.barh(names, [used, limit / 1e6, size / 1e6], color=[PALETTE[0], "0.75", PALETTE[1]])
    ax.bar_label(bars, fmt=lambda count: f"{count:.0f} MB", padding=4)
    ax.set(xlabel="MB", xlim=(0, 1.2 * max(size, limit) / 1e6))
    return figure


def _spectrum(eigenvalues: Array) -> Figure:
    figure = panel(height=2.6)
    ax = figure.subplots()
    ax.semilogy(np.arange(1, len(eigenvalues) + 1), eigenvalues / eigenvalues[0], "o-", color=PALETTE[0])
    ax.set(xlabel="component", ylabel="eigenvalue / largest")
    ax.grid(alpha=0.3)
    return figure
