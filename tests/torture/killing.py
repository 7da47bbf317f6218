"""`kill -9` at random moments of a stream that is saved after each batch: it goes on, and ends with the same bits."""

import os
import random
import signal
import tempfile
import time
from pathlib import Path

import numpy as np

from gramless import KernelPCA, kernels, load

STREAMS = {
    "merging": {"kernel": kernels.Gaussian(1.5)},
    "bounded": {"kernel": kernels.Gaussian(1.5), "max_support": 40, "forget": 70.0},
    "monomials": {"kernel": kernels.Polynomial(2)},
    "fourier": {"kernel": kernels.Gaussian(2.0), "domain": (-7, 7), "method": "fourier"},
}
BATCHES = 8


def batches():
    return np.array_split(np.random.default_rng(0).standard_normal((240, 2)), BATCHES)


def go_on(name, folder):
    """Take up the stream where the last file left it, and save after each batch; the file's name says how many."""
    known = sorted(Path(folder).glob("after-*.safetensors"))
    model = load(known[-1]) if known else KernelPCA(3, **STREAMS[name])
    done = int(known[-1].stem.split("-")[1]) if known else 0
    for number, batch in enumerate(batches()[done:], done + 1):
        model.partial_fit(batch).save(Path(folder) / f"after-{number:03d}.safetensors")
    return model


def bits(model):
    """All that must not differ."""
    certificate = model.certificate_
    return b"".join(
        part.tobytes()
        for part in (model.eigenvalues_, certificate.lower, certificate.upper, model.transform(batches()[0]))
    )


def kill_stream(name, rng, most):
    """Run the stream in children that are killed, at most `most` of them, and compare.

    Returns
    -------
    kills : int
    same : bool
        Whether it ended with the bits of a stream that nothing happened to.
    """
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        expected = bits(go_on(name, folder))
        usual = time.monotonic() - begun
    kills = 0
    with tempfile.TemporaryDirectory() as folder:
        while kills < most:
            child = os.fork()
            if child == 0:
                try:
                    go_on(name, folder)
                finally:
                    os._exit(0)
            time.sleep(rng.uniform(0, 0.4) * usual)
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            if not os.WIFSIGNALED(status):
                break  # it was through before the signal came
            kills += 1
        return kills, bits(go_on(name, folder)) == expected


def run(kills, seed):
    """Kill so many children in all, a few in each stream. Returns counts, and what went wrong."""
    rng, done, streams, failures = random.Random(seed), 0, 0, []
    while done < kills:
        name = list(STREAMS)[streams % len(STREAMS)]
        some, same = kill_stream(name, rng, most=min(10, kills - done))
        done, streams = done + some, streams + 1
        if not same:
            failures.append(f"stream {name!r} did not go on with the same bits after {some} kills (seed {seed})")
    return {"kills": done, "streams": streams, "failures": failures}
