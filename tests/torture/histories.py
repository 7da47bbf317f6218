"""Lives of models: fits, batches, merges and files in any order, with weights of any size. The certificate holds."""

import os
import re
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from adversaries import KERNELS
from extended import many_digits_eigenvalues

from gramless import KernelPCA, kernels, load

#: Why something may be refused: the reason, or the remedy, must be said.
SAYS_WHY = re.compile(
    r"is not applicable|significant negative eigenvalues|rescale|standardize|sample_weight sums to|Increase tol|"
    r"dtypes differ|features differ|max_support|minimum of 2|outside domain|needs domain|n_components=|"
    r"overflow float32|different boxes or landmarks|is too small for|stores nothing that could be added|"
    r"cannot be continued|partial_fit is not available|no method is applicable"
)
_BASES = [KERNELS[name] for name in ("gaussian", "polynomial", "linear", "tanh", "laplacian", "manhattan", "matern")]


def _kernel(rng):
    """One kernel, a sum or a product of two, or one in a unit of any size."""
    one, other = (_BASES[i] for i in rng.integers(len(_BASES), size=2))
    unit = float(10.0 ** rng.uniform(-90, 90))
    return [one, one, one + other, one * other, unit * one, kernels.Epanechnikov(3.0)][rng.integers(6)]


def _rows(rng, n, d):
    x = rng.standard_normal((n, d))
    x = [x, np.round(x), np.tile(x[:1], (n, 1)) + 1e-9 * x, x * np.logspace(0, -9, d), 0 * x][rng.integers(5)]
    x = x * 10 ** rng.uniform(-2, 1.5) + rng.choice([0.0, 0.0, 1.0, 1e3])
    return x.astype(np.float32) if rng.random() < 0.3 else x


def _weights(rng, n):
    """Positive, 0, far apart, or all tiny or huge; at least one counts."""
    spans = [(0, 0), (0, 0), (-300, 0), (-12, 12), (0, 90), (-90, -80)]
    weights = 10 ** rng.uniform(*spans[rng.integers(len(spans))], n) * (rng.random(n) < rng.choice([1.0, 1.0, 0.6]))
    weights[rng.integers(n)] = 10.0 ** rng.choice([0, 0, -80, 80])
    return weights


class History:
    """One model and all that happened to it, drawn; the same for the same seed."""

    def __init__(self, rng):
        self.rng, self.d, self.kernel = rng, int(rng.integers(1, 4)), _kernel(rng)
        settings = {"max_support": int(rng.integers(7, 12)), "remove_zero_eig": True, "domain": (-1500, 1500)}
        settings |= {"keep_data": False, "tol": float(rng.choice([1e-8, 1e-3, 0.5]))}
        chosen = {name: value for name, value in settings.items() if rng.random() < 0.15}
        self.make = partial(KernelPCA, rng.choice([1, 2, 6, None, 0.8]), kernel=self.kernel, random_state=0, **chosen)
        self.make = partial(self.make, memory_limit="200MB")
        self.x, self.weights, self.events = [], [], [str(self.kernel), str(chosen)]

    def batch(self, n):
        if self.x and self.rng.random() < 0.2:
            n = len(self.x[-1])
            return self.x[-1], _weights(self.rng, n)  # the same rows again
        return _rows(self.rng, n, self.d), _weights(self.rng, n)

    def live(self):
        """Let it happen; returns the model."""
        model = self.make()
        for _ in range(int(self.rng.integers(1, 5))):
            event = str(self.rng.choice(["partial_fit", "partial_fit", "merge", "load"])) if self.x else "first"
            x, weights = self.batch(int(self.rng.choice([1, 2, 3, 9])))
            self.events.append(f"{event} {x.shape} {x.dtype} {weights.min():.0e}..{weights.max():.0e}")
            if event == "load":
                model = _through_a_file(model)
                continue
            if event == "merge":
                model = model.merge(self._begun(self.make(), x, weights))
            elif event == "partial_fit":
                model.partial_fit(x, sample_weight=weights)
            else:
                self._begun(model, x, weights)
            self.x.append(x)
            self.weights.append(weights)
        return model

    def _begun(self, model, x, weights):
        begin = model.fit if self.rng.random() < 0.5 and len(x) > 1 else model.partial_fit
        return begin(x, sample_weight=weights)


def _through_a_file(model):
    descriptor, path = tempfile.mkstemp()
    os.close(descriptor)
    try:
        model.save(path)
        return load(path)
    finally:
        Path(path).unlink()


def complaint(history, model):
    """What is wrong with a model; empty where nothing is."""
    certificate = model.certificate_
    found = np.array([certificate.lower, certificate.upper, certificate.values, certificate.angle])
    x, weights = np.concatenate([part.astype(float) for part in history.x]), np.concatenate(history.weights)
    if np.isnan(found).any() or not np.isfinite(model.transform(x)).all():
        return f"not a number: {found}"
    if history.kernel.mercer and model.explained_variance_ratio_.sum() > 1 + 1e-4:
        return f"shares of the variance: {model.explained_variance_ratio_}"
    truth, error = many_digits_eigenvalues(history.kernel, x, weights)
    truth = np.append(truth, np.zeros(len(certificate)))[: len(certificate)]
    outside = (truth + error < certificate.lower) | (truth - error > certificate.upper)
    return f"{truth[outside]} are outside {certificate.lower} .. {certificate.upper}" if outside.any() else ""


def run(seconds, seed, most=float("inf")):
    """As many as the time allows, and no more than `most`. Returns counts, and what went wrong."""
    begun, tried, models, failures = time.monotonic(), 0, 0, []
    while time.monotonic() - begun < seconds and tried < most:
        history = History(np.random.default_rng([seed, tried]))
        tried += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wrong = complaint(history, history.live())
            models += 1
        except (ValueError, AttributeError, MemoryError) as error:
            told = f"{error} {error.__cause__}"  # scikit-learn gives the reason of a missing method as its cause
            wrong = "" if SAYS_WHY.search(told) else repr(error)
        except Exception as error:  # whatever else it is, it is a failure
            wrong = repr(error)
        if wrong:
            failures.append(f"[{seed}, {tried - 1}] {'; '.join(history.events)}: {wrong}")
    return {"histories": tried, "models": models, "failures": failures}
