"""Write the figures kept in benchmarks/results into the README, between their markers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchmarks.results import load

README = Path(__file__).parent.parent / "README.md"


def write_figures() -> None:
    """Replace what stands between ``<!-- figures: NAME -->`` and ``<!-- end -->``."""
    text = README.read_text(encoding="utf-8")
    for name, render in RENDER.items():
        figures = load(name)
        if figures is not None:
            block = f"<!-- figures: {name} -->\n{render(figures)}\n<!-- end -->"
            text = re.sub(rf"<!-- figures: {name} -->.*?<!-- end -->", lambda _, block=block: block, text, flags=re.S)
    README.write_text(text, encoding="utf-8")


def drop_in(figures: dict[str, Any]) -> str:
    lines = [
        f"{figures['n']:,} x {figures['d']} (digits resampled with noise), Gaussian at the median distance, "
        f"k = {figures['k']}, residuals {figures['tol']:.0e}; medians of {figures['rounds']} runs, each in its "
        f"own process ({figures['machine']}, {figures['date']}):",
        "",
        "| | time | peak memory | residual reached | intervals |",
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


def explicit(figures: dict[str, Any]) -> str:
    lines = [
        "![Time of a fit against the number of rows, gramless and scikit-learn](docs/_static/growth.png)",
        "",
        f"Uniform points in the unit cube, k = {figures['k']}, eigenvalues or residuals good to "
        f"{figures['accuracy']:.0e}; scikit-learn's fastest accurate solver on {figures['peer_rows']:,} rows; "
        f"medians of {figures['rounds']} runs (one, where it takes more than {figures['long_s']:.0f} s), each in its "
        f"own process ({figures['machine']}, {figures['date']}):",
        "",
        "| | method | time | peak memory | scikit-learn | ratio | aim | met |",
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
        "Gaussian at the median distance unless said otherwise; residuals of the exact matrix, in float64, meet the "
        f"tolerance; scikit-learn's fastest solver that does so too; medians of {figures['rounds']} runs (one, where "
        f"it takes more than {figures['long_s']:.0f} s), each in its own process ({figures['machine']}, "
        f"{figures['date']}):",
        "",
        "| | time | peak memory | passes | widest interval | scikit-learn | figure | aim | met |",
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
        "| | gramless | peer | ratio or figure | aim | met |",
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
        f"Gaussian of sigma = {figures['sigma']}, k = {figures['k']}; fitted from memory in "
        f"{figures['memory_seconds']:.3g} s; each fit in its own process ({figures['machine']}, {figures['date']}):",
        "",
        "| | method | time | peak memory | eigenvalues agree to | rate of points in memory | aim | met |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in figures["rows"]:
        lines.append(
            f"| {row['name']} | {row['method']} | {row['seconds']:.3g} s | {row['peak_bytes'] / 1e6:.0f} MB | "
            f"{row['error']:.0e} | {row['rate']:.2f} times | at least 0.5, within 1 GB | "
            f"{'yes' if row['met'] else 'no'} |"
        )
    return "\n".join(lines)


def kmeans(figures: dict[str, Any]) -> str:
    million = figures["million"]
    lines = [
        f"Kernel k-means, {figures['n']:,} x {figures['d']} (digits with noise), {figures['clusters']} clusters, "
        f"{figures['starts']} starts; inertia recomputed from the labels with the true distances "
        f"({figures['machine']}, {figures['date']}):",
        "",
        "| | tslearn | inertia | it reports | gramless | inertia | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in figures["table"].items():
        peer = (
            f"{row['peer_failed']} | | "
            if "peer_failed" in row
            else (f"{row['peer_seconds']:.1f} s | {row['peer_inertia']:.6g} | {row['peer_claims']:.6g} ")
        )
        ratio = f"{row['times_faster']:.0f}" if "times_faster" in row else ""
        lines.append(f"| {name} | {peer}| {row['seconds']:.2f} s | {row['inertia']:.6g} | {ratio} |")
    lines += [
        "",
        f"{million['n']:,} points of two rings in the plane, {million['starts']} starts: {million['seconds']:.1f} s, "
        f"agreement with the rings (adjusted Rand index) {million['agreement']:.4f}.",
    ]
    return "\n".join(lines)


def ica(figures: dict[str, Any]) -> str:
    lines = [
        f"Amari error (0 to 100) over two sources of each of 18 densities, {figures['samples']:,} samples, "
        f"{figures['rounds']} mixtures each, all methods on the same data in one run ({figures['machine']}, "
        f"{figures['date']}):",
        "",
        "| | median | mean | worst density | time |",
        "|---|---|---|---|---|",
    ]
    for name, row in figures["table"].items():
        worst = max(row["densities"], key=row["densities"].__getitem__)
        lines.append(
            f"| {name} | {row['median']:.2f} | {row['mean']:.2f} | {row['densities'][worst]:.1f} ({worst}) | "
            f"{1000 * row['seconds']:.0f} ms |"
        )
    return "\n".join(lines)


def denoising(figures: dict[str, Any]) -> str:
    lines = [
        f"Mean squared error of digits ({figures['data']}, 300 training and 50 test images each) after de-noising, "
        f"each method at its best, and of the toy of Mika et al. ({figures['date']}):",
        "",
        "| | linear PCA | kernel PCA | ratio |",
        "|---|---|---|---|",
    ]
    for name, row in figures["digits"].items():
        lines.append(
            f"| {name} | {row['linear']:.1f} ({row['linear_components']} components) | {row['kernel']:.1f} "
            f"({row['kernel_components']}, {row['preimage']}) | {row['ratio']:.2f} |"
        )
    for deviation, ratios in figures["toy"].items():
        lines.append(f"| toy, s = {deviation}, 1 to 9 components | | | {ratios[0]:.1f} to {ratios[-1]:.1f} |")
    return "\n".join(lines)


def planner_grid(figures: dict[str, Any]) -> str:
    wrong = len(figures["wrong"])
    return (
        f"Is the plan right? {figures['problems']} problems (uniform points, 10^3 to 10^6 rows, 1 to 64 columns, four "
        f"widths, three tolerances), each run by every method that may be the best: in {figures['judged']} a fit takes "
        f"over 50 ms (and the best less than {figures['limit_s']:.0f} s, which leaves out {figures['too_long']}); the "
        f"chosen method was more than twice as slow as the best in {wrong} of them, at worst {figures['worst']:.1f} "
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
        f"{figures['problems']:,} drawn problems (seed {figures['seed']}; kernels, spectra, methods, solvers, "
        "precisions, weights and tolerances), truth in 80 bits or 120 digits: a true eigenvalue lay outside a rigorous "
        f"interval in {rigorous} of them, outside a probabilistic one in {len(figures['violations']) - rigorous} "
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


def discriminants(figures: dict[str, Any]) -> str:
    lines = [
        f"Errors in %, mean and deviation over {figures['splits']} random splits, parameters chosen on training folds "
        f"({figures['machine']}, {figures['date']}):",
        "",
        "| | LDA | kernel LDA | kernel better in |",
        "|---|---|---|---|",
    ]
    for key, name in (("usps", "USPS digits, 1,000 for training"), ("olivetti_faces", "Olivetti faces, 200")):
        row = figures[key]
        if "failed" in row:
            lines.append(f"| {name} | {row['failed']} | | |")
            continue
        lda, klda = (f"{row[who]['mean']:.2f} ± {row[who]['deviation']:.2f}" for who in ("lda", "klda"))
        lines.append(f"| {name} | {lda} | {klda} | {row['klda_better_in']} of {figures['splits']} splits |")
    area = figures["cbcl_faces_19x19"]
    if "failed" not in area:
        lines += [
            "",
            f"Faces against anything else (19 x 19, {area['components']} components each): area under the ROC curve on "
            f"the held-out set {area['kernel']:.3f}, of linear PCA {area['linear']:.3f}.",
        ]
    return "\n".join(lines)


def dask_cluster(figures: dict[str, Any]) -> str:
    lines = [
        f"{figures['partitions']} partitions that lie on the workers, one thread each; medians of {figures['rounds']} "
        f"runs ({figures['machine']}, {figures['date']}):",
        "",
        "| | one process | 1 worker | 2 workers | 1 worker / 2 workers | eigenvalues apart, of the largest |",
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


RENDER = {
    "drop_in": drop_in,
    "exact": exact,
    "explicit": explicit,
    "planner_grid": planner_grid,
    "streams": streams,
    "sources": sources,
    "dask_cluster": dask_cluster,
    "kmeans": kmeans,
    "discriminants": discriminants,
    "ica": ica,
    "denoising": denoising,
    "gpu": gpu,
    "certificate_coverage": certificate_coverage,
}
