"""Hostile rows by the thousand: every kernel, method and dtype, scales and shapes drawn anew each time."""

import time

import numpy as np
from adversaries import INPUTS, KERNELS, METHODS, Refused, complaint, fit


def drawn(rng):
    """A name of rows, of a kernel and of a method, and the rows."""
    name, kernel, method = (str(rng.choice(list(some))) for some in (INPUTS, KERNELS, METHODS))
    x = INPUTS[name](int(rng.integers(2, 14)), int(rng.integers(1, 6)))
    if x.dtype == np.float64:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            x = x * 10.0 ** rng.choice([0, 0, 0, -3, 3, 30, -30, 100]) + rng.choice([0.0, 0.0, 1.0, -1e6])
            x = np.ldexp(x, rng.integers(-2, 3, x.shape)) if rng.random() < 0.2 else x
    if rng.random() < 0.3:
        with np.errstate(over="ignore", under="ignore"):
            x = x.astype(np.float32)
    return name, kernel, method, x


def run(seconds, seed):
    """As many as the time allows. Returns counts, and what went wrong."""
    begun, inputs, models, failures = time.monotonic(), 0, 0, []
    while time.monotonic() - begun < seconds:
        rng = np.random.default_rng([seed, inputs])
        name, kernel, method, x = drawn(rng)
        inputs += 1
        try:
            model = fit(KERNELS[kernel], x, method, k=int(rng.integers(1, 6)))
            wrong = complaint(model, KERNELS[kernel], x)
            models += 1
        except Refused:
            continue
        except Exception as error:  # whatever it is, it is a failure
            wrong = repr(error)
        if wrong:
            failures.append(f"[{seed}, {inputs - 1}] {name}, {kernel}, {method}, {x.shape} {x.dtype}: {wrong}")
    return {"inputs": inputs, "models": models, "failures": failures}
