"""Write the results in benchmarks/results into BENCHMARKS.md, the README and docs/settings.rst, between markers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchmarks.family import denoising, discriminants, ica, kmeans, serving
from benchmarks.headline import headline
from benchmarks.results import load
from benchmarks.settings import with_settings

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "BENCHMARKS.md", ROOT / "README.md")
SETTINGS = ROOT / "docs" / "settings.rst"


def write_figures() -> None:
    """Write all available results to their places."""
    for page in PAGES:
        page.write_text(with_figures(page.read_text(encoding="utf-8")), encoding="utf-8")
    SETTINGS.write_text(with_settings(SETTINGS.read_text(encoding="utf-8"), load), encoding="utf-8")


def with_figures(text: str) -> str:
    """Replace the text between ``<!-- figures: NAME -->`` and ``<!-- end -->``."""
    blocks = {"headline": headline(load)}
    for name, render in RENDER.items():
        figures = load(name)
        if figures is not None:
            blocks[name] = render(figures)
    for name, block in blocks.items():
        whole = f"<!-- figures: {name} -->\n{block}\n<!-- end -->"
        text = re.sub(rf"<!-- figures: {name} -->.*?<!-- end -->", lambda _, whole=whole: whole, text, flags=re.S)
    return text


def drop_in(figures: dict[str, Any]) -> str:
    lines = [
        f"{figures['n']:,} x {figures['d']} (digits resampled with noise), Gaussian kernel, bandwidth by the median "
        "heuristic, "
        f"k = {figures['k']}, residuals {figures['tol']:.0e}; medians of {figures['rounds']} runs, each in its "
        f"own process ({figures['machine']}, {figures['date']}):",
        "",
        "| | time | peak memory | residual | intervals |",
        "|---|---|---|---|---|",
    ]
    for name, row in figures["table"].items():
        if "failed" in row:
            lines.append(f"| {name} | {row['failed']} | | | |")
            continue
        proved = f"{'/'.join(row['kind'])}, widest {row['width']:.0e}" if row.get("width") else "none"
        time = f"{row['seconds']:.2f} s"
        memory = f"{row['peak_bytes'] / 1e6:.0f} MB"
        if "times_faster" in row:
            time += f" ({row['times_faster']:.1f} times faster)"
            memory += f" (1/{1 / row['memory_part']:.0f})"
        lines.append(f"| {name} | {time} | {memory} | {row['residual']:.0e} | {proved} |")
    return "\n".join(lines)


def accuracy(figures: dict[str, Any]) -> str:
    lines = [
        "Gaussian kernel, bandwidth by the median heuristic unless noted; the true residual is that of 2,000 rows of "
        "the exact "
        "matrix in float64, relative to the largest eigenvalue; one run each, in one process "
        f"({figures['machine']}, {figures['date']}):",
        "",
        "| | tol | time | planned | method | certified intervals | true residual | target | met |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in figures["rows"]:
        if "failed" in row:
            lines.append(f"| {row['name']} | {row['failed']} | | | | | | | |")
            continue
        if "peer" in row:
            cells = (row["name"], "none", f"{row['seconds']:.3g} s", "", row["peer"], "none", f"{row['residual']:.0e}")
            lines.append(f"| {' | '.join(cells)} | | |")
            continue
        tol = row["tol"] if isinstance(row["tol"], str) else f"{row['tol']:.0e}"
        if isinstance(row["tol"], str):
            tol += f" ({row['planned_tol']:.0e})"
        more = f", {row['sweeps']:.2g} sweeps" if "sweeps" in row else ""
        more += f", {row['faster']:.1f} times faster" if "faster" in row else ""
        more += f", fourier at 1e-8: {row['best']:.3g} s" if "best" in row else ""
        met = "" if "met" not in row else "yes" if row["met"] else "no"
        lines.append(
            f"| {row['name']} | {tol} | {row['seconds']:.3g} s{more} | {row['planned']:.2g} s | {row['method']} | "
            f"{row['width']:.0e} {'/'.join(row['kind'])} | {row['residual']:.0e} | {row.get('bar', '')} | {met} |"
        )
    return "\n".join(lines)


def explicit(figures: dict[str, Any]) -> str:
    lines = [
        "![Time of a fit against the number of rows, gramless and scikit-learn](docs/_static/growth.png)",
        "",
        f"Uniform points in the unit cube, k = {figures['k']}, eigenvalues or residuals accurate to "
        f"{figures['accuracy']:.0e}; scikit-learn's fastest accurate solver on {figures['peer_rows']:,} rows; "
        f"medians of {figures['rounds']} runs (one, where it takes more than {figures['long_s']:.0f} s), each in its "
        f"own process ({figures['machine']}, {figures['date']}):",
        "",
        "| | method | time | peak memory | scikit-learn | ratio | target | met |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in figures["rows"]:
        if "failed" in row:
            lines.append(f"| {row['name']} | | {row['failed']} | | | | {row['bar']} | no |")
            continue
        peer = f"{row['peer_seconds']:.2f} s" if row["peer_seconds"] else ""
        lines.append(
            f"| {row['name']} | {row['method']} | {row['seconds']:.3g} s | {row['peak_bytes'] / 1e6:.0f} MB | {peer} | "
            f"{row['ratio']:.3g} | {row['bar']} | {'yes' if row['met'] else 'no'} |"
        )
    return "\n".join(lines)


def exact(figures: dict[str, Any]) -> str:
    lines = [
        "Gaussian kernel, bandwidth by the median heuristic unless noted; residuals of the exact matrix, in float64, "
        "meet the "
        f"tolerance; scikit-learn's fastest solver that also meets it; medians of {figures['rounds']} runs (one, where "
        f"it takes more than {figures['long_s']:.0f} s), each in its own process ({figures['machine']}, "
        f"{figures['date']}):",
        "",
        "| | time | peak memory | passes | widest interval | scikit-learn | result | target | met |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in figures["rows"]:
        end = f"| {row['bar']} | {'yes' if row['met'] else 'no'} |"
        if "failed" in row:
            lines.append(f"| {row['name']} | {row['failed']} | | | | | {end}")
            continue
        peer, figure = "", f"{row['figure']:.2g}" if "figure" in row else ""
        if "seconds" in row["peer"]:
            one = row["peer"]
            peer = f"{one['solver']}: {one['seconds']:.1f} s, {one['peak_bytes'] / 1e6:,.0f} MB"
        elif "needs_bytes" in row["peer"]:
            peer = f"would need {row['peer']['needs_bytes'] / 1e9:.0f} GB"
        kind = "/".join(row["kind"])
        lines.append(
            f"| {row['name']} | {row['seconds']:.3g} s | {row['peak_bytes'] / 1e6:,.0f} MB | {row['passes']} | "
            f"{row['width']:.0e} {kind} | {peer} | {figure} {end}"
        )
    rates = [
        f"{rate['sweep']:.0f} of {rate['gemm']:.0f} GFLOP/s ({rate['dtype']}, d = {rate['d']})"
        for rate in figures["rates"]
    ]
    lines += ["", f"One sweep over the tiles against matrix products on the same threads: {'; '.join(rates)}."]
    return "\n".join(lines)


def streams(figures: dict[str, Any]) -> str:
    lines = [
        f"Streams, side by side in one process ({figures['machine']}, {figures['date']}):",
        "",
        "| | gramless | peer | ratio or result | target | met |",
        "|---|---|---|---|---|---|",
    ]
    for row in figures["rows"]:
        lines.append(
            f"| {row['name']} | {row['ours']} | {row['theirs']} | {row['value']:.3g} | {row['bar']} | "
            f"{'yes' if row['met'] else 'no'} |"
        )
    return "\n".join(lines)


def sources(figures: dict[str, Any]) -> str:
    sizes = ", ".join(f".{suffix} {size / 1e9:.2g} GB" for suffix, size in figures["file_bytes"].items())
    lines = [
        f"{figures['n']:,} uniform points in the unit square ({sizes}, in the system's cache as far as they fit), "
        f"Gaussian kernel, sigma = {figures['sigma']}, k = {figures['k']}; fitted from memory in "
        f"{figures['memory_seconds']:.3g} s; each fit in its own process ({figures['machine']}, {figures['date']}):",
        "",
        "| | method | time | peak memory | eigenvalues agree to | rate relative to memory | target | met |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in figures["rows"]:
        lines.append(
            f"| {row['name']} | {row['method']} | {row['seconds']:.3g} s | {row['peak_bytes'] / 1e6:.0f} MB | "
            f"{row['error']:.0e} | {row['rate']:.2f} times | at least 0.5, within 1 GB | "
            f"{'yes' if row['met'] else 'no'} |"
        )
    return "\n".join(lines)


def planner_grid(figures: dict[str, Any]) -> str:
    wrong = len(figures["wrong"])
    return (
        f"{figures['problems']} problems (uniform points, 10^3 to 10^6 rows, 1 to 64 columns, four "
        f"bandwidths, three tolerances), each run by every method that may be the fastest: in {figures['judged']} a "
        "fit takes "
        f"over 50 ms (and the fastest less than {figures['limit_s']:.0f} s, which excludes {figures['too_long']}); the "
        f"chosen method was more than twice as slow as the fastest in {wrong} of them, at worst {figures['worst']:.1f} "
        f"times, and {figures['missed']} fits missed their tolerance ({figures['machine']}, {figures['date']})."
    )


def gpu(figures: dict[str, Any]) -> str:
    lines = [
        f"{figures['card']}, torch {figures['torch']}, medians; errors against float64 rows; K V is the product of the "
        f"Gaussian kernel matrix with 32 vectors ({figures['date']}):",
        "",
        "| | gramless | error | torch float32, tiled | GPyTorch |",
        "|---|---|---|---|---|",
    ]
    for name, row in figures["table"].items():
        if "gramless" in row:
            peers = [
                f"{row[peer]['ms']:.0f} ms ({row[peer]['error']:.0e})" if peer in row else ""
                for peer in ("torch float32, tiled", "GPyTorch")
            ]
            ours = row["gramless"]
            lines.append(f"| {name} | {ours['ms']:.1f} ms | {ours['error']:.0e} | {' | '.join(peers)} |")
        elif "cpu_s" in row:
            peer = f"gramless on its CPU: {row['cpu_s']:.1f} s"
            lines.append(f"| {name} | {row['seconds']:.2f} s | {row['apart']:.0e} from the CPU | {peer} | |")
        else:
            width = f"residual {row['residual']:.0e}, intervals {row['certificate_width']:.0e} of the largest"
            peer = f"scikit-learn on its CPU: {row['scikit-learn_s']:.1f} s" if "scikit-learn_s" in row else ""
            lines.append(f"| {name} | {row['seconds']:.2f} s | {width} | {peer} | |")
    return "\n".join(lines)


def certificate_coverage(figures: dict[str, Any]) -> str:
    rigorous = sum(one["rigorous"] for one in figures["violations"])
    lines = [
        f"{figures['problems']:,} random problems (seed {figures['seed']}; kernels, spectra, methods, solvers, "
        "precisions, weights and tolerances), reference in 80 bits or 120 digits, "
        f"in float64 for hundreds of rows: a true eigenvalue lay outside a rigorous interval in {rigorous} of them, "
        f"outside a probabilistic one in {len(figures['violations']) - rigorous} "
        f"({figures['machine']}, {figures['date']}):",
        "",
        "| method | problems | refused, with a reason | probabilistic | components | median width / eigenvalue |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in figures["methods"].items():
        lines.append(
            f"| {name} | {row['problems']} | {row['refused']} | {row['probabilistic']} | {row['components']} | "
            f"{row['median_width']:.0e} |"
        )
    return "\n".join(lines)


def never_slower(figures: dict[str, Any]) -> str:
    rows = figures["rows"]
    shown = [row for row in rows if row["aim"] != 1 or row["ratio"] < 1 or not row["name"][0].isdigit()]
    lines = [
        f"{len(rows)} calls, both libraries with default parameters, alternating in one process, medians; a call "
        "counts as slower"
        f" when three measurements agree. The median ratio is {figures['median']:.1f}; {figures['slower']} calls are "
        f"slower than scikit-learn's ({figures['machine']}, {figures['date']}). All of these, and those with a "
        "specific "
        "target:",
        "",
        "| call | gramless | scikit-learn | ratio | target | met |",
        "|---|---|---|---|---|---|",
    ]
    for row in shown:
        met = "yes" if row["ratio"] >= row["aim"] else "**no**"
        times = (f"{t:.3g} s" if (t := row[who]) >= 1 else f"{1e3 * t:.3g} ms" for who in ("ours", "theirs"))
        lines.append(f"| {row['name']} | {' | '.join(times)} | {row['ratio']:.2f} | {row['aim']:g} | {met} |")
    return "\n".join(lines)


def dask_cluster(figures: dict[str, Any]) -> str:
    lines = [
        f"{figures['partitions']} partitions stored on the workers, one thread each; medians of {figures['rounds']} "
        f"runs ({figures['machine']}, {figures['date']}):",
        "",
        "| | one process | 1 worker | 2 workers | 1 worker / 2 workers | difference of eigenvalues, relative to the "
        "largest |",
        "|---|---|---|---|---|---|",
    ]
    for row in figures["rows"]:
        if "failed" in row:
            lines.append(f"| {row['name']} | | | | | {row['failed']} |")
            continue
        alone = "" if row["alone_seconds"] is None else f"{row['alone_seconds']:.2f} s"
        lines.append(
            f"| {row['name']} | {alone} | {row['seconds_1']:.2f} s | {row['seconds_2']:.2f} s | {row['ratio']:.2f} | "
            f"{row['apart']:.0e} |"
        )
    return "\n".join(lines)


def scaling(figures: dict[str, Any]) -> str:
    cluster = figures["cluster"]
    lines = [
        f"Overhead of Dask's scheduler per task {cluster['task'] * 1e3:.2g} ms, transfer between two workers of one "
        "machine "
        f"{cluster['network'] / 1e9:.2g} GB/s; rows per second are those of one thread, the tree adds the "
        f"moments of {figures['partitions']:,} partitions ({figures['machine']}, {figures['date']}):",
        "",
        "| map | features | rows per second | size of the moments | tree | error |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in figures["maps"].items():
        lines.append(
            f"| {name} | {row['features']:,} | {row['rate']:,.0f} | {row['bytes'] / 1e6:.2g} MB | "
            f"{row['tree_seconds']:.2g} s | {row['off']:.0e} |"
        )
    return "\n".join(lines)


def portable(figures: dict[str, Any]) -> str:
    row, load = figures["row"], figures["load"]
    lines = [
        f"One row through a model of {row['points']:,} points x {row['columns']}, Gaussian kernel, 10 components; "
        f"medians of {figures['calls']:,} calls, the three in turn ({figures['machine']}, {figures['date']}):",
        "",
        "| | one row | slowest in a hundred | difference | file |",
        "|---|---|---|---|---|",
    ]
    for name, cells in row["table"].items():
        time = f"{cells['microseconds']:.0f} µs"
        time += f" ({cells['times_faster']:.1f} times faster)" if "bytes" in cells else ""
        difference = f"{cells['difference']:.0e}" if "bytes" in cells else ""
        file = f"{cells['bytes'] / 1e6:.2f} MB" if "bytes" in cells else ""
        lines.append(f"| {name} | {time} | {cells['slow']:.0f} µs | {difference} | {file} |")
    lines += [
        "",
        f"`gramless.load` of a model of {load['rows']:,} points x {load['columns']} ({load['bytes'] / 1e6:.0f} MB) and "
        f"its first row; medians of {figures['rounds']} processes each, in turn, bitwise the same scores:",
        "",
        "| | load | load and first row | memory of its own |",
        "|---|---|---|---|",
    ]
    for name, words in (("whole", "read whole, `mmap=False`"), ("mapped", "mapped, the default")):
        cells = load["table"][name]
        part = f" (1/{1 / load['fraction']:.1f})" if name == "mapped" else ""
        memory = f"{cells['kilobytes'] / 1e3:.0f} MB"
        lines.append(f"| {words} | {cells['load']:.3f} s | {cells['total']:.3f} s{part} | {memory} |")
    return "\n".join(lines)


RENDER = {
    "drop_in": drop_in,
    "accuracy": accuracy,
    "exact": exact,
    "explicit": explicit,
    "planner_grid": planner_grid,
    "streams": streams,
    "sources": sources,
    "dask_cluster": dask_cluster,
    "scaling": scaling,
    "kmeans": kmeans,
    "discriminants": discriminants,
    "ica": ica,
    "denoising": denoising,
    "portable": portable,
    "serving": serving,
    "gpu": gpu,
    "certificate_coverage": certificate_coverage,
    "never_slower": never_slower,
}
