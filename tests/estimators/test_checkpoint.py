"""A fit that is killed goes on where it was, reads no finished block again, and gives the same bits."""

import os
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import gramless.estimators.checking as source_rows
from gramless import CheckpointError, CheckpointWarning, KernelPCA, load
from gramless.kernels import Gaussian
from gramless.persistence import read_file
from gramless.persistence.checkpoint import FileCheckpoint

ROWS = np.random.default_rng(0).random((4000, 2))
CHILD = textwrap.dedent(
    """
    import os, signal, sys
    import numpy as np
    import gramless.estimators.checking as source_rows
    from gramless import KernelPCA

    source_rows.block_rows_for = lambda n_features, limit=None: 256
    data, log, model, die_after, settings = sys.argv[1:]
    x = np.load(data)

    class Source:
        restartable, n_features, n_rows, name = True, 2, len(x), "rows"

        def blocks(self, rows, start=0):
            for first in range(start, len(x), rows):
                done = sum(1 for _ in open(log))
                if done == int(die_after):
                    os.kill(os.getpid(), signal.SIGKILL)
                with open(log, "a") as file:
                    print(first, file=file)
                yield x[first : first + rows]

    KernelPCA(3, **eval(settings), checkpoint=model + ".checkpoint", n_jobs=1).fit(Source()).save(model)
    """
)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(source_rows, "block_rows_for", lambda n_features, limit=None: 256)


def _run(folder, settings, die_after):
    """Fit in another process, which kills itself when so many blocks have been read; its exit code."""
    log = folder / "log"
    log.touch()
    arguments = [folder / "x.npy", log, folder / "model", die_after, repr(settings)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CHILD, *map(str, arguments)]
    return subprocess.run(command, env=environment, timeout=300, check=False).returncode


@pytest.mark.parametrize(
    ("settings", "deaths"),
    [
        ({"kernel": "rbf", "gamma": 3.0}, (5, 24)),  # in the first look at the rows, and in the moments
        ({"kernel": "poly", "degree": 3}, (9,)),
        pytest.param(
            {"kernel": "rbf", "gamma": 0.3, "method": "landmarks", "fit_inverse_transform": True},
            (3, 30),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_killed_fit_goes_on_with_the_same_bits(tmp_path, settings, deaths, small_blocks):
    np.save(tmp_path / "x.npy", ROWS)
    for death in deaths:
        assert _run(tmp_path, settings, death) == -signal.SIGKILL
        assert (tmp_path / "model.checkpoint").exists()
    assert _run(tmp_path, settings, -1) == 0
    assert not (tmp_path / "model.checkpoint").exists()
    whole = Failing(ROWS, -1)
    ours, theirs = load(tmp_path / "model"), KernelPCA(3, **settings, n_jobs=1).fit(whole)
    read = (tmp_path / "log").read_text().split()
    # a block that was read ahead, and not yet in the sums, is read again: one for each death
    assert len(read) <= len(whole.begun) + len(deaths)
    np.testing.assert_array_equal(ours.eigenvalues_, theirs.eigenvalues_)
    np.testing.assert_array_equal(ours.transform(ROWS), theirs.transform(ROWS))
    np.testing.assert_array_equal(ours.certificate_.upper, theirs.certificate_.upper)


class Broken(Exception):
    pass


class Failing:
    """Rows that cannot be read beyond a block, the first time."""

    restartable, n_features, name = True, 2, "rows"

    def __init__(self, x, stop):
        self.x, self.stop, self.n_rows, self.begun = x, stop, len(x), []

    def blocks(self, rows, start=0):
        for first in range(start, len(self.x), rows):
            if first // rows == self.stop:
                self.stop = -1
                raise Broken
            self.begun.append(first // rows)
            yield self.x[first : first + rows]


class FailingLater(Failing):
    """Rows that cannot be read once so many blocks have been."""

    def blocks(self, rows, start=0):
        for first in range(start, len(self.x), rows):
            if len(self.begun) == self.stop:
                raise Broken
            self.begun.append(first // rows)
            yield self.x[first : first + rows]


@pytest.fixture
def begun(tmp_path, small_blocks):
    path = tmp_path / "fit.checkpoint"
    source = Failing(ROWS, 7)
    model = KernelPCA(3, kernel="poly", degree=2, checkpoint=path)
    with pytest.raises(Broken):
        model.fit(source)
    return path, source, model


def test_the_same_call_after_an_error_reads_only_what_is_left(begun):
    path, source, model = begun
    source.begun.clear()
    model.fit(source)
    assert source.begun == [7, 8, 9, 10, 11, 12, 13, 14, 15]
    assert not path.exists()
    np.testing.assert_array_equal(
        model.eigenvalues_, KernelPCA(3, kernel="poly", degree=2).fit(Failing(ROWS, -1)).eigenvalues_
    )


@pytest.mark.parametrize("moved", [{"scale_input": True}, {"center_input": True}], ids=str)
@pytest.mark.parametrize("stop", [7, 23])  # in the first look at the rows, and in the moments
def test_rows_that_are_moved_and_scaled_go_on_by_the_same_amounts(tmp_path, small_blocks, moved, stop):
    x = ROWS * [1.0, 100.0] + 3.0
    settings = dict(kernel="poly", degree=2, gamma=0.5, fit_inverse_transform=True, alpha=1e6, random_state=0, **moved)
    model = KernelPCA(3, checkpoint=tmp_path / "c", **settings)
    source = Failing(x, -1)
    whole = KernelPCA(3, **settings).fit(source)
    assert len(source.begun) == 32  # two passes, so that each stop lies in one of its own
    with pytest.raises(Broken):
        model.fit(FailingLater(x, stop))
    resumed = KernelPCA(3, checkpoint=tmp_path / "c", **settings).fit(Failing(x, -1))
    np.testing.assert_array_equal(resumed.eigenvalues_, whole.eigenvalues_)
    np.testing.assert_array_equal(resumed.transform(x), whole.transform(x))
    scores = whole.transform(x[:5])
    np.testing.assert_array_equal(resumed.inverse_transform(scores), whole.inverse_transform(scores))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"degree": 4}, "parameter degree was 2, and is 4"),
        ({"kernel": Gaussian(1.0)}, "parameter kernel was"),
        ({"gamma": 0.25}, "parameter gamma was null, and is 0.25"),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused_by_name(begun, change, message):
    path, source, model = begun
    with pytest.raises(CheckpointError, match=f"is of another fit: {message}"):
        model.set_params(**change).fit(source)
    assert path.exists()


def test_a_checkpoint_of_other_data_is_refused_by_name(begun, tmp_path):
    path, _, model = begun
    with pytest.raises(CheckpointError, match="data: rows was 4000, and is 3999"):
        model.fit(Failing(ROWS[1:], -1))
    with pytest.raises(CheckpointError, match="data: sample_weight was None, and is"):
        model.fit(Failing(ROWS, -1), sample_weight=np.ones(4000))
    with pytest.raises(CheckpointError, match="data: "):
        model.fit(ROWS)
    model.fit(Failing(ROWS, -1)).save(path)
    with pytest.raises(CheckpointError, match="is a model file"):
        model.fit(Failing(ROWS, -1))
    path.write_bytes(b"damaged")
    with pytest.raises(CheckpointError, match="cannot be read"):
        model.fit(Failing(ROWS, -1))
    with pytest.raises(CheckpointError, match="there is no folder"):
        model.set_params(checkpoint=tmp_path / "no" / "where").fit(Failing(ROWS, -1))


@pytest.mark.parametrize(
    ("task", "kept", "part"),
    [("moments", 3, None), ("moments", None, 1.0), ("survey", None, None), ("guesses", None, None)],
)
def test_a_checkpoint_that_no_fit_has_left_is_refused(begun, task, kept, part):
    path, source, model = begun
    file = FileCheckpoint(path, read_file(path)[0]["identity"])
    file.begin(task, kept if kept is not None or task == "survey" else file.kept)
    file.save([(1, part)] if part is not None else [], 256)
    with pytest.raises(CheckpointError, match=f"contains the unknown task '{task}'; delete it"):
        model.fit(source)


@pytest.mark.parametrize("rows", [-256, 0, 10**12])
def test_a_checkpoint_whose_blocks_have_other_rows_is_refused(begun, rows):
    path, source, model = begun
    file = FileCheckpoint(path, read_file(path)[0]["identity"])
    file.save(file.parts, rows)
    with pytest.raises(CheckpointError, match=rf"7 blocks with {rows} rows; delete it"):
        model.fit(source)


def test_a_file_that_changed_since_is_refused(tmp_path, small_blocks):
    path = tmp_path / "x.npy"
    np.save(path, ROWS)
    model = KernelPCA(3, kernel="poly", checkpoint=tmp_path / "c")
    bad = ROWS.copy()
    bad[3900] = np.nan
    np.save(path, bad)
    with pytest.raises(ValueError, match="row 3900"):
        model.fit(path)
    os.utime(path, ns=(0, 0))
    with pytest.raises(CheckpointError, match="files, their sizes and times"):
        model.fit(path)


def test_arrays_may_have_a_checkpoint_and_functions_may_not(tmp_path):
    plain = KernelPCA(3, kernel="poly").fit(ROWS)
    kept = KernelPCA(3, kernel="poly", checkpoint=str(tmp_path / "c")).fit(ROWS)
    np.testing.assert_allclose(kept.eigenvalues_, plain.eigenvalues_, rtol=1e-12)
    with pytest.raises(TypeError, match=r"a function .* cannot be saved"):
        KernelPCA(3, kernel=lambda x, y: x @ y, checkpoint=str(tmp_path / "c")).fit(ROWS)
    with pytest.raises(ValueError, match="needs a method that sums over blocks"):
        KernelPCA(3, kernel="rbf", checkpoint=str(tmp_path / "c")).fit(iter([ROWS]))


@pytest.mark.parametrize("method", ["tiled", "dense"])
def test_a_method_that_keeps_none_says_so(tmp_path, method):
    model = KernelPCA(3, kernel=Gaussian(0.5), method=method, checkpoint=tmp_path / "c", n_jobs=1)
    with pytest.warns(CheckpointWarning, match=f"has no effect with method '{method}'"):
        model.fit(ROWS[:300])
    assert not (tmp_path / "c").exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error", CheckpointWarning)
        model.set_params(method="landmarks").fit(ROWS[:300])
