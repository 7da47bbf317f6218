"""`kill -9` at random moments of a stream that is saved after each batch, or of a fit with a checkpoint: same bits."""

import os
import random
import signal
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np

from gramless import KernelPCA, kernels, load
from gramless.estimators import checking as source_rows

STREAMS = {
    "merging": {"kernel": kernels.Gaussian(1.5)},
    "bounded": {"kernel": kernels.Gaussian(1.5), "max_support": 40, "forget": 70.0},
    "monomials": {"kernel": kernels.Polynomial(2)},
    "fourier": {"kernel": kernels.Gaussian(2.0), "domain": (-7, 7), "method": "fourier"},
}
FITS = {
    "moments": {"kernel": kernels.Gaussian(1.5), "method": "fourier"},
    "polynomial": {"kernel": kernels.Polynomial(3, 1.0)},
}
BATCHES = 8
BLOCK = 512  # rows, so that a fit of few has several blocks


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


def fit_on(name, folder):
    """A fit that writes down how far it is, and goes on from there."""
    x = np.random.default_rng(0).standard_normal((6000, 2))
    return KernelPCA(3, **FITS[name], checkpoint=Path(folder) / "checkpoint", n_jobs=1, random_state=0).fit(x)


def bits(model):
    """All that must not differ."""
    certificate = model.certificate_
    return b"".join(
        part.tobytes()
        for part in (model.eigenvalues_, certificate.lower, certificate.upper, model.transform(batches()[0]))
    )


@cache
def undisturbed(job, name):
    """The bits that must come out, and how many seconds that took."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        return bits(job(name, folder)), time.monotonic() - begun


def kill_job(job, name, rng, most):
    """Run `job` (`go_on` or `fit_on`) in children that are killed, at most `most` of them, and compare.

    Returns
    -------
    kills : int
    same : bool
        Whether it ended with the bits of one that nothing happened to.
    """
    expected, usual = undisturbed(job, name)
    kills = 0
    with tempfile.TemporaryDirectory() as folder:
        while kills < most:
            child = os.fork()
            if child == 0:
                try:
                    job(name, folder)
                finally:
                    os._exit(0)
            time.sleep(rng.uniform(0, 0.4) * usual)
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            if not os.WIFSIGNALED(status):
                break  # it was through before the signal came
            kills += 1
        return kills, bits(job(name, folder)) == expected


def run(kills, seed):
    """Kill so many children in all, a few in each job. Returns counts, and what went wrong."""
    rng, done, jobs, failures = random.Random(seed), 0, 0, []
    choices = [(go_on, name) for name in STREAMS] + [(fit_on, name) for name in FITS]
    usual, source_rows.block_rows_for = source_rows.block_rows_for, lambda n_features, limit=None: BLOCK
    try:
        while done < kills and jobs < 10 * kills:
            job, name = choices[jobs % len(choices)]
            some, same = kill_job(job, name, rng, most=min(4, kills - done))
            done, jobs = done + some, jobs + 1
            if not same:
                failures.append(f"{job.__name__}({name!r}): other bits after {some} kills (seed {seed})")
    finally:
        source_rows.block_rows_for = usual
    return {"kills": done, "jobs": jobs, "failures": failures}
