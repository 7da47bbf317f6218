"""Tables of the figures of k-means, discriminants, independent components and denoising."""

from __future__ import annotations

from typing import Any


def kmeans(figures: dict[str, Any]) -> str:
    million = figures["million"]
    lines = [
        f"Kernel k-means, {figures['n']:,} x {figures['d']} (digits with noise), {figures['clusters']} clusters, "
        f"{figures['starts']} initializations; inertia recomputed from the labels with the true distances "
        f"({figures['machine']}, {figures['date']}):",
        "",
        "| | tslearn | inertia | reported inertia | gramless | inertia | ratio |",
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
        f"{million['n']:,} points of two rings in the plane, {million['starts']} initializations: "
        f"{million['seconds']:.1f} s, "
        f"agreement with the rings (adjusted Rand index) {million['agreement']:.4f}.",
    ]
    return "\n".join(lines)


def serving(figures: dict[str, Any]) -> str:
    lines = [
        f"`transform` of rows that no model has seen, medians of {figures['rounds']} runs; change: root mean square of "
        "the worst component, relative to its standard deviation, from the exact scores; in float64: the largest "
        f"change by float32 ({figures['machine']}, {figures['date']}):",
    ]
    for row in figures["table"].values():
        if "failed" in row:
            lines += ["", row["failed"]]
            continue
        lines += [
            "",
            f"{row['name']}, {row['n']:,} x {row['d']}, k = {row['k']}, `compressed({row['tol']:g})` in "
            f"{row['compress_seconds']:.1f} s after a fit of {row['fit_seconds']:.1f} s: {row['times_faster']:.1f} "
            f"times faster; stated change {row['change_stated']:.1e}, bound {row['bound']:.1e}. {row['new']:,} rows:",
            "",
            "| | points | transform | change | file | accuracy of a classifier |",
            "|---|---|---|---|---|---|",
        ]
        for name, one in row["contenders"].items():
            if "failed" in one:
                lines.append(f"| {name} | {one['failed']} | | | | |")
                continue
            size = f"{one['bytes'] / 1e6:.3g} MB" if "bytes" in one else ""
            proved = "" if "within" not in one else ", within the bound" if one["within"] else ", NOT within the bound"
            took, change = f"{1000 * one['seconds']:.0f} ms", f"{one['change']:.1e}{proved}"
            right = f"{one['accuracy']:.2%}" if "accuracy" in one else ""
            lines.append(f"| {name} | {one['points']:,} | {took} | {change} | {size} | {right} |")
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
    columns = ("linear", "auto", "auto, poly", "distances", "ridge, alpha 1", "ridge, alpha 0.01")
    lines = [
        "Mean squared error of an entry after de-noising, each method with its best number of components, which is in "
        "brackets; a Gaussian kernel at the median distance (toy: the paper's) and, for `auto`, also scikit-learn's "
        f"polynomial kernel ({figures['date']}):",
        "",
        "| | noisy | linear PCA | `auto`, Gaussian | `auto`, poly | `distances` | `ridge`, alpha = 1 | alpha = 0.01 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in figures["methods"].items():
        cells = (f"{row[column][0]:.4f} ({row[column][1]})" for column in columns)
        lines.append(f"| {name} | {row['noisy']:.4f} | {' | '.join(cells)} |")
    lines += [
        "",
        f"Squared distance of digits ({figures['data']}, 300 training and 50 test images each) from the true ones "
        "after de-noising, each method at its best, and of the toy of Mika et al.:",
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


def discriminants(figures: dict[str, Any]) -> str:
    lines = [
        f"Errors in %, mean and standard deviation over {figures['splits']} random splits, parameters chosen on "
        "training folds "
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
            f"Faces against non-faces (19 x 19, {area['components']} components each): area under the ROC curve on "
            f"the held-out set {area['kernel']:.3f}, of linear PCA {area['linear']:.3f}.",
        ]
    return "\n".join(lines)
