"""The headline results of the README, selected from the results of the benchmarks; missing results are omitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Figures = Mapping[str, Any]


def headline(load: Callable[[str], dict[str, Any] | None]) -> str:
    """A table of one row a benchmark; `load` gives its figures by name, or None."""
    lines = ["| | gramless | the alternative |", "|---|---|---|"]
    machines = set()
    for name, pick in PICKS.items():
        figures = load(name)
        picked = [f"| {' | '.join(cells)} |" for cells in pick(figures)] if figures is not None else []
        lines += picked
        if picked and name != "gpu":
            machines.add(figures["machine"])
    if machines:
        lines += ["", f"Measured on {'; '.join(sorted(machines))}; the GPU is in another machine."]
    return "\n".join(lines)


def _named(figures: Figures, beginning: str) -> Iterator[Figures]:
    """Rows whose name begins so, and which have figures."""
    return (row for row in figures["rows"] if row["name"].startswith(beginning) and "failed" not in row)


def _size(count: float) -> str:
    return f"{count / 1e6:,.0f} MB" if count < 1e9 else f"{count / 1e9:.3g} GB"


def drop_in(figures: Figures) -> Iterator[tuple[str, str, str]]:
    ours, peer = figures["table"].get("gramless", {}), figures["table"].get(figures["fastest_peer"], {})
    if "seconds" in ours and "seconds" in peer:
        yield (
            f"{figures['n']:,} rows x {figures['d']}, {figures['k']} components of a Gaussian",
            f"{ours['seconds']:.3g} s, {_size(ours['peak_bytes'])}",
            f"{figures['fastest_peer']}: {peer['seconds']:.3g} s, {_size(peer['peak_bytes'])}",
        )


def exact(figures: Figures) -> Iterator[tuple[str, str, str]]:
    for row in _named(figures, "MNIST, 60,000 x 784, k = 20"):
        limit = row["name"].rpartition(", ")[2]
        yield (
            f"60,000 images of 784 pixels (MNIST), 20 components, `{limit}`",
            f"{row['seconds']:.3g} s, {_size(row['peak_bytes'])}, certified",
            f"scikit-learn would need {_size(row['peer']['needs_bytes'])}",
        )


def accuracy(figures: Figures) -> Iterator[tuple[str, str, str]]:
    rows = list(_named(figures, "1,000,000 x 20"))
    for row in rows:
        if row.get("tol") == 1e-3:
            peers = [peer for peer in rows if "peer" in peer]
            best = min(peers, key=lambda peer: peer["residual"], default=None)
            yield (
                "1,000,000 rows x 20, 10 components of a Gaussian to 1e-3",
                f"{row['seconds']:.3g} s, certified, true residual {row['residual']:.0e}",
                ""
                if best is None
                else f"{best['peer']}: {best['seconds']:.3g} s, residual {best['residual']:.0e}, unstated",
            )


def explicit(figures: Figures) -> Iterator[tuple[str, str, str]]:
    for row in _named(figures, "Gaussian, d = 2, sigma = 0.5, N = 10,000,000"):
        peer = (
            f"scikit-learn, {figures['peer_rows']:,} rows: {row['peer_seconds']:.3g} s" if row["peer_seconds"] else ""
        )
        yield (
            f"10,000,000 points in the plane, {figures['k']} components of a Gaussian",
            f"{row['seconds']:.3g} s, {_size(row['peak_bytes'])}",
            peer,
        )


def never_slower(figures: Figures) -> Iterator[tuple[str, str, str]]:
    for row in _named(figures, "text, CSR 8,000 x 30,000, cosine"):
        yield (
            "8,000 documents, 30,000 terms (CSR), 10 components of the cosine kernel",
            f"{row['ours']:.3g} s, certified",
            f"scikit-learn: {row['theirs']:.3g} s",
        )


def streams(figures: Figures) -> Iterator[tuple[str, str, str]]:
    for row in _named(figures, "ten components after every 100 of 5,000 rows"):
        yield f"a stream: {row['name'].partition(':')[0]}", row["ours"], f"refitting scikit-learn: {row['theirs']}"


def kmeans(figures: Figures) -> Iterator[tuple[str, str, str]]:
    row = figures["table"].get("Gaussian", {})
    if "peer_seconds" in row:
        yield (
            f"kernel k-means, {figures['n']:,} rows x {figures['d']}, {figures['starts']} initializations",
            f"{row['seconds']:.3g} s, inertia {row['inertia']:.4g}",
            f"tslearn: {row['peer_seconds']:.3g} s, inertia {row['peer_inertia']:.4g}",
        )


def gpu(figures: Figures) -> Iterator[tuple[str, str, str]]:
    for name, row in figures["table"].items():
        if name.startswith("KernelPCA, N=1,000,000, d=64, k=20") and "seconds" in row:
            yield (
                "1,000,000 rows x 64, 20 components, on a GPU",
                f"{row['seconds']:.3g} s, {figures['card']}",
                "",
            )


PICKS: dict[str, Callable[[Figures], Iterator[tuple[str, str, str]]]] = {
    "drop_in": drop_in,
    "accuracy": accuracy,
    "exact": exact,
    "explicit": explicit,
    "never_slower": never_slower,
    "streams": streams,
    "kmeans": kmeans,
    "gpu": gpu,
}
