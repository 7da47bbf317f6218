"""What a fit tells of its progress, and to whom; nothing of it changes a result."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from gramless import KernelPCA
from gramless.datasets import resampled_digits
from gramless.progress import Silent, observed_by

DIGITS = {"n_components": 5, "kernel": "rbf", "gamma": "median", "method": "tiled", "tol": 1e-8, "random_state": 0}
PLANE = {"n_components": 5, "kernel": "rbf", "gamma": 2.0, "random_state": 0}


class Record(Silent):
    """Writes everything down."""

    def __init__(self):
        self.methods, self.passes, self.residuals, self.rows = [], 0, [], []
        self.open = False

    def begins(self, method, seconds):
        self.methods.append((method, seconds))

    def passing(self):
        assert not self.open
        self.open = True

    def passed(self):
        assert self.open
        self.open = False
        self.passes += 1

    def reached(self, residual, tol):
        self.residuals.append(residual)
        self.tol = tol

    def summed(self, rows, total):
        self.rows.append((rows, total))


def bits(model):
    certificate = model.certificate_
    return [model.eigenvalues_, model.eigenvectors_, certificate.lower, certificate.upper, certificate.angle]


def assert_same_bits(one, other):
    for a, b in zip(bits(one), bits(other), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.fixture(scope="module")
def digits():
    return resampled_digits(1500, rng=0)


def test_every_pass_is_told_and_residuals_fall_to_the_tolerance(digits):
    record = Record()
    with observed_by(record):
        model = KernelPCA(**DIGITS).fit(digits)
    assert record.methods == [("tiled", model.plan_.candidates["tiled"].seconds)]
    assert record.passes == model.passes_ > 3
    assert record.tol == 1e-8
    assert record.residuals[-1] <= 1e-8 < record.residuals[0]
    assert_same_bits(model, KernelPCA(**DIGITS).fit(digits))


@pytest.mark.parametrize("solver", ["lanczos", "arpack", "subspace"])
def test_every_solver_tells_its_passes(digits, solver):
    record = Record()
    with observed_by(record):
        model = KernelPCA(3, kernel="rbf", gamma="median", tol=1e-6, eigen_solver=solver, random_state=0).fit(digits)
    assert record.passes == model.passes_ > 3


@pytest.mark.parametrize("method", ["fourier", "taylor", "landmarks", "monomials", "covariance"])
def test_explicit_methods_tell_all_rows(method):
    x = np.random.default_rng(0).random((9000, 2))
    kernel = {"monomials": "poly", "covariance": "linear"}.get(method, "rbf")
    settings = {**PLANE, "kernel": kernel, "method": method, "tol": 1e-3, "n_components": 2}
    record = Record()
    with observed_by(record):
        model = KernelPCA(**settings).fit(x)
    rows = [rows for rows, _ in record.rows]
    assert rows == sorted(rows)
    assert record.rows[-1] == (9000, 9000)
    assert_same_bits(model, KernelPCA(**settings).fit(x))


def test_silent_by_default(digits, capfd):
    KernelPCA(**DIGITS).fit(digits)
    KernelPCA(**DIGITS, verbose=1).fit(digits[:500])  # done in less than two seconds
    out, err = capfd.readouterr()
    assert out == ""
    assert err == ""


def test_verbose_says_passes_residual_and_times(digits, capfd):
    spoken = KernelPCA(**DIGITS, verbose=2).fit(digits)
    out, err = capfd.readouterr()
    assert out == ""
    assert re.search(r"KernelPCA tiled: 1 pass, .*elapsed", err)
    assert re.search(r"\d passes, residual \d\.\de-\d\d \(tol 1\.0e-08\), \d+\.\d s elapsed, about \d+\.\d s left", err)
    assert f"{spoken.passes_} passes" in err.splitlines()[-1]
    assert_same_bits(spoken, KernelPCA(**DIGITS).fit(digits))


def test_verbose_says_rows(capfd):
    x = np.random.default_rng(0).random((5000, 2))
    stream = KernelPCA(**PLANE, domain=(0, 1), verbose=2).partial_fit(x).partial_fit(x)
    lines = capfd.readouterr().err.splitlines()
    assert sum(f"KernelPCA {stream.method_}: 100 % of 5,000 rows" in line for line in lines) >= 2


def test_a_long_fit_shows_a_line_on_a_terminal():
    """Two seconds pass inside a callable kernel; a pseudo-terminal sees the line, and it goes on being drawn."""
    pty = pytest.importorskip("pty")
    code = (
        "import time, numpy as np\n"
        "from gramless import KernelPCA\n"
        "def slow(a, b):\n"
        "    time.sleep(0.004)\n"
        "    return float(a @ b)\n"
        "KernelPCA(2, kernel=slow, verbose=1).fit(np.random.default_rng(0).random((40, 3)))\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", "COLUMNS": "200"}
    child = subprocess.Popen([sys.executable, "-c", code], stderr=theirs, env=environment)
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 4096):
            seen += piece
    except OSError:  # how Linux says that the other side has closed
        pass
    finally:
        os.close(ours)
    assert child.wait(timeout=60) == 0
    assert seen.count(b"elapsed") >= 2
    assert b"KernelPCA dense" in seen


@pytest.mark.parametrize("verbose", [1, 2])
def test_an_interrupt_is_not_swallowed(digits, verbose, capfd):
    class Impatient(Silent):
        def passed(self):
            raise KeyboardInterrupt

    with observed_by(Impatient()), pytest.raises(KeyboardInterrupt):
        KernelPCA(**DIGITS, verbose=verbose).fit(digits)


def test_callbacks_are_told_every_pass(digits):
    pytest.importorskip("sklearn.callback")
    events = []

    class Follower:
        def setup(self, estimator, context):
            events.append("setup")

        def teardown(self, estimator, context):
            events.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            events.append(("begin", context.task_name))

        def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
            events.append(("end", context.task_name, metadata))
            if context.task_name == "fit":
                assert fitted_estimator.transform(digits[:3]).shape == (3, 5)

    model = KernelPCA(**DIGITS).set_callbacks(Follower()).fit(digits)
    assert events[0] == "setup"
    assert events[1] == ("begin", "fit")
    assert events[-2][:2] == ("end", "fit")
    assert events[-1] == "teardown"
    passes = [event[2] for event in events if event[:2] == ("end", "pass")]
    assert [one["passes"] for one in passes] == list(range(1, model.passes_ + 1))
    assert passes[-1]["residual"] <= passes[-1]["tol"] == 1e-8
    assert events.count(("begin", "pass")) == model.passes_
    assert_same_bits(model, KernelPCA(**DIGITS).fit(digits))


def test_scikit_learns_progress_bar(capsys):
    callback = pytest.importorskip("sklearn.callback")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x = np.random.default_rng(0).random((5000, 2))
    make_pipeline(StandardScaler(), KernelPCA(**PLANE)).set_callbacks(callback.ProgressBar(2)).fit(x)
    shown = capsys.readouterr().out
    assert "KernelPCA - rows" in shown
    assert "100%" in shown
