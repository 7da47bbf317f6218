"""Kernel k-means against tslearn's: 5,000 digits, Gaussian at the median distance and a kernel that is not normalised.

Both run in this process on the same rows from ten starts. tslearn's inertia is recomputed from its labels with the true
distances in feature space, as it takes k(x, x) and the squared norm of every mean for 1: its own figure is no distance,
and can be negative. Then a million points of two rings in the plane, gramless alone.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from gramless import KernelKMeans
from gramless.bandwidth import resolve_gamma
from gramless.datasets import resampled_digits
from gramless.kernels import Gaussian, Kernel, Polynomial

N, CLUSTERS, STARTS, ROUNDS, MILLION = 5_000, 10, 10, 3, 10**6
LONG_S = 30.0  # tslearn runs once where it takes longer


def run() -> dict[str, Any]:
    x = resampled_digits(N, rng=0)
    gaussian = Gaussian.from_gamma(resolve_gamma("median", x, np.ones(N)))
    cases = {
        "Gaussian": (gaussian, {"kernel": "rbf", "kernel_params": {"gamma": gaussian.gamma}}),
        "polynomial, not normalised": (
            Polynomial(degree=2, c=1.0, scale=1 / 64),
            {"kernel": "poly", "kernel_params": {"degree": 2, "coef0": 1.0, "gamma": 1 / 64}},
        ),
    }
    table = {name: compare(x, *case) for name, case in cases.items()}
    return {"n": N, "d": x.shape[1], "clusters": CLUSTERS, "starts": STARTS, "table": table, "million": million()}


def compare(x: np.ndarray, kernel: Kernel, theirs: dict[str, Any]) -> dict[str, Any]:
    """Seconds and true inertia of both, in turn."""
    gram = kernel(x)
    ours: dict[str, Any] = {"seconds": []}
    peer: dict[str, Any] = {"seconds": []}
    for turn in range(ROUNDS):
        start = time.perf_counter()
        model = KernelKMeans(CLUSTERS, kernel=kernel, n_init=STARTS, random_state=0).fit(x)
        ours["seconds"].append(time.perf_counter() - start)
        ours |= {"inertia": true_inertia(gram, model.labels_), "method": model.method_}
        if turn == 0 or (peer["seconds"] and peer["seconds"][0] < LONG_S):
            peer |= _tslearn(x, gram, theirs, peer["seconds"])
        print(f"{kernel}: {ours['seconds'][-1]:.2f} s, inertia {ours['inertia']:.4f}; tslearn {peer}", flush=True)
    row = {"seconds": median(ours["seconds"]), "inertia": ours["inertia"], "method": ours["method"]}
    if peer["seconds"]:
        row |= {"peer_seconds": median(peer["seconds"]), "peer_inertia": peer["inertia"], "peer_claims": peer["claims"]}
        row |= {
            "times_faster": row["peer_seconds"] / row["seconds"],
            "not_worse": bool(row["inertia"] <= row["peer_inertia"] * (1 + 1e-9)),
        }
    else:
        row["peer_failed"] = peer["failed"]
    return row


def _tslearn(x: np.ndarray, gram: np.ndarray, settings: dict[str, Any], seconds: list[float]) -> dict[str, Any]:
    """One more run of tslearn's; `failed` where there is none."""
    try:
        from tslearn.clustering import KernelKMeans as Theirs
    except ImportError:
        return {"failed": "tslearn is not installed: pip install tslearn"}
    start = time.perf_counter()
    model = Theirs(CLUSTERS, n_init=STARTS, max_iter=300, random_state=0, **settings).fit(x)
    seconds.append(time.perf_counter() - start)
    return {"inertia": true_inertia(gram, model.labels_), "claims": float(model.inertia_)}


def true_inertia(gram: np.ndarray, labels: np.ndarray) -> float:
    """sum_i |phi(x_i) - mean of its cluster|^2: the trace less what the means have."""
    total = float(np.trace(gram))
    for cluster in np.unique(labels):
        members = np.flatnonzero(labels == cluster)
        total -= float(gram[np.ix_(members, members)].sum()) / len(members)
    return total


def million() -> dict[str, Any]:
    """Two rings of a million points in the plane."""
    rng = np.random.default_rng(0)
    ring, angle = np.arange(MILLION) % 2, rng.uniform(0, 2 * np.pi, MILLION)
    x = np.where(ring, 1.0, 0.3)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    x += 0.05 * rng.standard_normal(x.shape)
    start = time.perf_counter()
    model = KernelKMeans(2, kernel=Gaussian(0.4), n_init=4, random_state=0).fit(x)
    seconds = time.perf_counter() - start
    agreement = adjusted_rand_score(ring, model.labels_)
    print(f"{MILLION:,} points: {seconds:.1f} s, {model.method_}, agreement with the rings {agreement:.4f}", flush=True)
    return {"n": MILLION, "seconds": seconds, "starts": 4, "method": model.method_, "agreement": float(agreement)}
