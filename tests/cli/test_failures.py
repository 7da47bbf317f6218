"""A failure is one line with the remedy and an exit code; a file is whole or not there."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gramless import KernelPCA
from gramless.cli import main

FIT = ["fit", "iris.csv", "--label", "species"]
LIKE = ["fit", "iris.csv", "--like", "model.gramless"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["fit", "none.csv"], 3, "none.csv"),
        (["fit", "none.csv", "--columns", "x,y", "--exclude", "id"], 3, "there is no file or folder none.csv"),
        (
            ["fit", "iris.csv"],
            3,
            "category, or leave out the column. Leave out columns with --exclude species; transform",
        ),
        (["fit", "iris.csv", "--columns", "colour"], 3, "no column 'colour'; it has: sepal_length"),
        (["fit", "iris.csv", "--label", "kind"], 3, "no column 'kind' for --label; it has: sepal_length"),
        ([*FIT, "-o", "model.bin"], 3, "this command writes files .gramless; pass -o model.gramless"),
        ([*FIT, "-o", "none/model.gramless"], 3, "there is no folder none"),
        ([*FIT, "-k", "1000"], 4, "-k 1000 is more than the 150 rows of iris.csv; pass at most 150"),
        (
            [*FIT, "-k", "many"],
            4,
            "-k many is an invalid number of components; pass 10, a fraction such as 0.9, or all",
        ),
        ([*FIT, "--kernel", "rational"], 4, "--kernel rational is unknown; pass one of linear, poly, rbf"),
        ([*FIT, "--seed", "-1"], 2, "Invalid value for '--seed'"),
        ([*FIT, "--gamma", "-1"], 4, "--gamma -1.0 is invalid; pass a float in the range [0.0, inf)\n"),
        ([*FIT, "--missing", "zero"], 4, "--missing zero is invalid; pass one of 'error', 'drop', 'mean', 'median'\n"),
        ([*FIT, "--device", "gpu"], 4, "--device gpu is unknown; pass 'cuda' for a GPU"),
        ([*FIT, "--time-limit", "0"], 4, "--time-limit 0.0 must be a positive number of seconds"),
        ([*FIT, "--sigma", "-1"], 4, "--sigma -1.0 must be positive"),
        (["fit", "iris.csv", "--columns", "0,0"], 3, "column 'sepal_length' is selected 2 times; pass it once"),
        ([*FIT, "--sigma", "wide"], 4, "--sigma wide is an invalid bandwidth; pass a number or auto"),
        (
            [*FIT, "--kernel", "matern", "--gamma", "1"],
            4,
            "--gamma 1 is not a parameter of --kernel matern; pass --sigma",
        ),
        (
            [*FIT, "--kernel", "linear", "--gamma", "2"],
            4,
            "--gamma 2 is not a parameter of --kernel linear; leave it out",
        ),
        ([*FIT, "--kernel", "linear", "--sigma", "gap"], 4, "--sigma gap is not a parameter of --kernel linear"),
        (
            [*FIT, "--kernel", "polynomial", "--sigma", "2"],
            4,
            "--sigma 2 is not a parameter of --kernel polynomial; pass",
        ),
        ([*FIT, "--degree", "5"], 4, "--degree 5 is not a parameter of --kernel gaussian; leave it out"),
        ([*FIT, "--nu", "2.5"], 4, "--nu 2.5 is not a parameter of --kernel gaussian"),
        (
            ["plan", "iris.csv", "--label", "species", "--coef0", "2"],
            4,
            "--coef0 2 is not a parameter of --kernel gaussian",
        ),
        (["cluster", "iris.csv", "--label", "species", "--nu", "2.5", "-o", "c.csv"], 4, "--nu 2.5 is not a parameter"),
        ([*LIKE, "--kernel", "gaussian"], 4, "--kernel gaussian contradicts --like model.gramless"),
        ([*LIKE, "-k", "10"], 4, "-k 10 contradicts --like model.gramless"),
        ([*LIKE, "--exclude", "species"], 4, "--exclude species contradicts --like model.gramless"),
        ([*FIT, "--key", "foo"], 4, "--key foo is for .npz, HDF5 and zarr files, and iris.csv is none"),
        ([*FIT, "--sigma", "10", "--gamma", "3"], 4, "--sigma 10 and --gamma 3 both set the bandwidth"),
        ([*FIT, "--kernel", "matern", "--nu", "3"], 4, "--nu 3 is not one of 0.5, 1.5, 2.5"),
        ([*FIT, "--memory", "1kB"], 4, "increase --memory or reduce -k"),
        ([*FIT, "--method", "fourier"], 4, "is not applicable"),
        (
            [*FIT, "--method", "nope"],
            4,
            "--method nope is invalid; pass one of auto, composite, covariance, cuda,",
        ),
        ([*FIT, "-k", "1.5"], 4, "-k 1.5 is an invalid number of components; pass 10, a fraction such as 0.9, or all"),
        ([*FIT, "-k", "0"], 4, "-k 0 is an invalid number of components"),
        (["transform", "iris.csv", "model.gramless", "-o", "x.csv"], 3, "the model comes first: pass model.gramless"),
        (["denoise", "dots.gramless", "iris.csv", "-o", "x.csv", "--by", "fixed-point"], 4, "by --by auto\n"),
        (["fit"], 2, "see gramless fit --help"),
        (["fit", "iris.csv", "--kernle", "x"], 2, "--kernle"),
        (["explode"], 2, "explode"),
        (["inspect", "none.gramless"], 3, "there is no file none.gramless"),
        (["inspect", "iris.csv"], 3, "iris.csv"),
        (
            ["transform", "model.gramless", "iris.csv", "-o", "scores.xls"],
            3,
            "this command writes files .npy .parquet .csv .npz; pass -o scores.npy",
        ),
        (
            ["transform", "model.gramless", "narrow.npy", "-o", "scores.npy"],
            3,
            "2 columns, but the model was fitted to 4",
        ),
        (["inverse", "model.gramless", "narrow.npy", "-o", "back.npy"], 3, "2 columns, but the model has 3 components"),
        (["denoise", "model.gramless", "iris.csv", "-o", "x.npy", "--by", "magic"], 4, "--by magic is unknown"),
        (["denoise", "model.gramless", "iris.csv", "-o", "x.npy", "--by", "ridge"], 4, "--inverse"),
        (["merge", "model.gramless", "-o", "both.gramless"], 4, "merge needs at least two models"),
        (
            ["merge", "model.gramless", "other.gramless", "-o", "both.gramless"],
            4,
            "again with --sigma 2.23606797749979",
        ),
        (["report", "model.gramless", "iris.csv", "-o", "page.pdf"], 3, "pass -o page.html"),
        (["report", "model.gramless", "iris.csv", "--label", "kind"], 3, "no column 'kind'"),
        (["report", "model.gramless", "iris.csv", "--shape", "big"], 4, "--shape big is an invalid image shape"),
    ],
)
def test_one_line_and_a_code(folder, irises, capsys, words, code, message):
    KernelPCA(3, kernel="rbf", gamma=0.1).fit(irises).save(folder / "model.gramless")
    KernelPCA(3, kernel="rbf", gamma=0.2).fit(irises).save(folder / "other.gramless")
    KernelPCA(3, kernel="poly").fit(irises).save(folder / "dots.gramless")
    np.save(folder / "narrow.npy", irises[:, :2])
    before = {path: path.read_bytes() for path in folder.iterdir()}
    if words[0] == "fit" and len(words) > 1:
        words = [*words, "--force"]
    if words[0] in ("transform", "denoise", "report") and "narrow.npy" not in words:
        words = [*words, "--columns", "0,1,2,3"]
    assert main(words) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.startswith("gramless: ")
    assert printed.err.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_debug_shows_where(folder):
    with pytest.raises(ValueError, match="more than the 150 rows"):
        main([*FIT, "-k", "1000", "--debug"])


def test_warnings_are_lines_and_quiet_has_none(folder, capsys):
    words = [*FIT, "--kernel", "tanh", "--gamma", "0.001", "-k", "2"]
    assert main(words) == 0
    warned = capsys.readouterr().err
    assert warned.startswith("gramless: warning: ")
    assert "not positive semidefinite" in warned
    assert main(["--quiet", *words, "--force"]) == 0
    assert capsys.readouterr().err == ""


def test_too_little_memory_names_what_suffices(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("rows.npy", np.random.default_rng(0).random((4000, 20)))
    assert main(["fit", "rows.npy", "-k", "3", "--memory", "300kB"]) == 4
    message = capsys.readouterr().err
    least = re.search(r"needs --memory (\S+), the minimum", message)[1]
    assert main(["plan", "rows.npy", "-k", "3", "--memory", "300kB", "--json"]) == 0
    printed = capsys.readouterr()
    plan = json.loads(printed.out)
    assert plan["chosen"] is None
    assert all(found["bytes"] > 300_000 for found in plan["candidates"].values() if "bytes" in found)
    assert f"needs --memory {least}, the minimum" in printed.err
    assert main(["fit", "rows.npy", "-k", "3", "--memory", least]) == 0
    number = float(re.match(r"[\d.]+", least)[0])
    assert (
        main(["fit", "rows.npy", "-k", "3", "--memory", least.replace(f"{number:g}", f"{0.9 * number:g}"), "--force"])
        == 4
    )


def test_a_device_that_is_not_there(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main([*FIT, "--device", "cuda"]) == 5
    assert "gramless: --device cuda needs torch" in capsys.readouterr().err


def test_missing_packages_are_named(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    monkeypatch.setitem(sys.modules, "plotly", None)
    assert main(FIT) == 0
    assert main(["report", "model.gramless", "iris.csv"]) == 5
    assert 'pip install ".[plot]"' in capsys.readouterr().err


def start(*words, folder, **more):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "120", "TERM": "xterm"}
    command = [sys.executable, "-m", "gramless", *words]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # children of background jobs would ignore it
    try:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, **more)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal of its own")
def test_ctrl_c_leaves_nothing_half_written(tmp_path):
    """A real process, interrupted while its file is half there; its terminal shows a bar with a rate."""
    rng = np.random.default_rng(0)
    KernelPCA(20, kernel="rbf", gamma=0.1, method="dense").fit(rng.random((600, 6))).save(tmp_path / "model.gramless")
    # so many rows that no machine is done before the key is pressed; a file with a hole, which takes no space
    np.lib.format.open_memmap(tmp_path / "rows.npy", mode="w+", dtype=np.float32, shape=(30_000_000, 6)).flush()
    (tmp_path / "scores.npy").write_bytes(b"the old file")
    before = sorted(path.name for path in tmp_path.iterdir())
    terminal, side = os.openpty()
    process = start(
        "transform", "model.gramless", "rows.npy", "-o", "scores.npy", "--force", folder=tmp_path, stderr=side
    )
    os.close(side)
    try:
        shown = b""
        while b"rows/s" not in shown and process.poll() is None:
            shown += os.read(terminal, 65536)
        half = []
        while not half and process.poll() is None:
            half = [path for path in tmp_path.iterdir() if path.name not in before]
        assert process.poll() is None, shown
        assert len(half) == 1
        process.send_signal(signal.SIGINT)
        while True:
            try:
                more = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                break
            if not more:
                break
            shown += more
        assert process.wait(timeout=600) == 130
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        os.close(terminal)
    assert b"interrupted; nothing was written" in shown
    assert b"Traceback" not in shown
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "scores.npy").read_bytes() == b"the old file"


def test_ctrl_c_during_a_fit_writes_no_model(folder, monkeypatch, capsys):
    def interrupted(self, X, y=None, sample_weight=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(KernelPCA, "fit", interrupted)
    assert main(FIT) == 130
    assert capsys.readouterr().err == "gramless: interrupted; nothing was written\n"
    assert [path.name for path in folder.iterdir()] == ["iris.csv"]


def test_update_says_why_a_model_takes_no_rows(folder, capsys):
    np.save("rows.npy", np.random.default_rng(0).normal(size=(40, 3)))
    assert main(["fit", "rows.npy", "--method", "dense", "-k", "2"]) == 0
    capsys.readouterr()
    assert main(["update", "model.gramless", "rows.npy"]) == 4
    assert "method='dense' needs all rows at once; use fit" in capsys.readouterr().err


def test_a_model_needs_its_own_suffix_in_the_same_folder(folder, capsys):
    np.save("rows.npy", np.ones((4, 2)))
    assert main(["fit", "rows.npy", "-o", "models/mine.bin"]) == 3
    assert f"pass -o {Path('models') / 'mine.gramless'}" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--quiet", "-q"])
def test_options_for_all_commands_come_first(folder, option, capsys):
    assert main(["fit", "iris.csv", option]) == 2
    assert f"{option} goes before the command: gramless {option} fit ..." in capsys.readouterr().err


@pytest.mark.parametrize("components", ["1", "2"])
def test_one_row(folder, components, capsys):
    (folder / "one.csv").write_text("a,b\n1,2\n")
    assert main(["fit", "one.csv", "-k", components]) == 4
    assert "one.csv has 1 row; at least 2 are needed" in capsys.readouterr().err
