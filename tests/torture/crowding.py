"""Sixteen threads project with one model while another learns on: nobody sees a half-made model or another's."""

import threading

import numpy as np

from gramless import KernelPCA, kernels

THREADS = 16
MODELS = {
    "merging": {"kernel": kernels.Gaussian(1.5)},
    "monomials": {"kernel": kernels.Polynomial(2)},
    "fourier": {"kernel": kernels.Gaussian(2.0), "domain": (-7, 7), "method": "fourier"},
    "landmarks": {"kernel": kernels.Gaussian(1.5), "method": "landmarks"},
}


def near(found, expected):
    """Equal up to rounding: arrays lie at other addresses, and LAPACK may have fewer threads while others hold it."""
    return np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()


def crowd(name, seed, turns):
    """Returns how many projections there were, and what differed from the same work done by one thread."""
    rng = np.random.default_rng(seed)
    batches = list(rng.standard_normal((turns, 40, 2)))
    shared, other = (KernelPCA(3, **MODELS[name]).partial_fit(batches[0]) for _ in range(2))
    expected = KernelPCA(3, **MODELS[name]).partial_fit(batches[0]).transform(batches[-1])
    alone = KernelPCA(3, **MODELS[name])
    for batch in batches:
        alone.partial_fit(batch)
    failures, count, ready = [], [0] * THREADS, threading.Barrier(THREADS + 1)

    def project(i):
        ready.wait()  # all ask for the model at once, before it is made
        for _ in range(turns):
            try:
                found = shared.transform(batches[-1])
            except Exception as error:  # whatever it is, it is a failure
                failures.append(f"{name}: transform in a thread: {error!r} (seed {seed})")
                return
            if not near(found, expected):
                failures.append(f"{name}: a thread got another model (seed {seed})")
            count[i] += 1

    threads = [threading.Thread(target=project, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    ready.wait()
    for batch in batches[1:]:
        other.partial_fit(batch)
    for thread in threads:
        thread.join()
    if not near(other.transform(batches[0]), alone.transform(batches[0])):
        failures.append(f"{name}: the model that learnt on differs from the same alone (seed {seed})")
    return {"projections": sum(count), "failures": failures}


def run(rounds, seed):
    """So many rounds of every model."""
    found = [crowd(name, seed + turn, 4) for turn in range(rounds) for name in MODELS]
    return {
        "projections": sum(one["projections"] for one in found),
        "failures": [text for one in found for text in one["failures"]],
    }
