"""No command, and no call, replaces its own input; an existing file is replaced only where that was asked for."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import gramless
from gramless import KernelKMeans, KernelPCA
from gramless.cli import main

LOST = "is an input, and would be lost; pass another path for the output"


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A folder with rows.csv, rows.npy, model.gramless, a link to each and a folder of two files."""
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).random((40, 3))
    np.savetxt("rows.csv", x, delimiter=",", header="a,b,c", comments="")
    np.save("rows.npy", x)
    KernelPCA(2, kernel="rbf", gamma=1.0).fit(x).save("model.gramless")
    Path("parts").mkdir()
    np.save("parts/a.npy", x)
    np.save("parts/b.npy", x)
    os.symlink("rows.csv", "link.csv")
    os.link("rows.npy", "hard.npy")
    os.symlink("model.gramless", "link.gramless")
    return x


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        ["transform", "model.gramless", "rows.csv", "-o", "rows.csv"],
        ["transform", "model.gramless", "rows.csv", "-o", "link.csv"],
        ["transform", "model.gramless", "link.csv", "-o", "rows.csv"],
        ["transform", "model.gramless", "rows.csv", "-o", "parts/../rows.csv"],
        ["transform", "model.gramless", "rows.npy", "-o", "hard.npy"],
        ["denoise", "model.gramless", "rows.csv", "-o", "./rows.csv"],
        ["inverse", "model.gramless", "rows.npy", "-o", "rows.npy"],
        ["cluster", "rows.csv", "-o", "rows.csv"],
        ["merge", "model.gramless", "link.gramless", "-o", "model.gramless"],
        ["fit", "rows.csv", "--like", "model.gramless", "-o", "link.gramless"],
    ],
)
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_an_input_is_never_replaced(rows, tmp_path, words, force, capsys):
    before = contents(tmp_path)
    assert main([*words, *force]) == 3
    assert LOST in capsys.readouterr().err
    assert contents(tmp_path) == before


@pytest.mark.parametrize("spelling", ["c.gramless", "./c.gramless", "parts/../c.gramless", "sub/c.gramless", "{}"])
def test_a_checkpoint_is_not_the_output(rows, tmp_path, spelling, capsys):
    os.symlink(tmp_path, "sub")
    words = ["-o", "c.gramless", "--checkpoint", spelling.format(tmp_path / "c.gramless")]
    assert main(["fit", "rows.npy", *words]) == 3
    assert "-o c.gramless and --checkpoint" in capsys.readouterr().err
    assert not Path("c.gramless").exists()


def test_nothing_is_written_into_a_folder_that_is_read(rows, tmp_path, capsys):
    before = contents(tmp_path)
    assert main(["transform", "model.gramless", "parts", "-o", "parts/c.npy"]) == 3
    assert "parts, which is an input; pass another path" in capsys.readouterr().err
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["fit", "rows.csv", "-k", "2"], "model.gramless"),
        (["transform", "model.gramless", "rows.csv"], "out.csv"),
        (["denoise", "model.gramless", "rows.csv"], "out.npy"),
        (["inverse", "model.gramless", "scores.npy"], "out.npy"),
        (["cluster", "rows.csv", "-k", "2"], "out.parquet"),
        (["merge", "model.gramless", "model.gramless"], "two.gramless"),
        (["update", "model.gramless", "rows.csv"], "two.gramless"),
        (["report", "model.gramless", "rows.csv"], "out.html"),
    ],
)
def test_force_replaces_and_says_so(rows, words, output, capsys):
    if words[0] == "report":
        pytest.importorskip("plotly")
    np.save("scores.npy", gramless.load("model.gramless").transform(rows))
    if output == "two.gramless":
        gramless.load("model.gramless").save(output)
    elif output != "model.gramless":
        Path(output).write_bytes(b"the old file")
    old = Path(output).read_bytes()
    command = [*words, "-o", output, "--json"]
    assert main(command) == 3
    assert f"{output} exists; pass --force to replace it, or another path as -o" in capsys.readouterr().err
    assert Path(output).read_bytes() == old
    assert main([*command, "--force"]) == 0
    assert json.loads(capsys.readouterr().out)["replaced"] is True
    assert Path(output).read_bytes() != old
    assert main([word for word in command if word != "--json"] + ["--force"]) == 0
    assert f"{output} (replaced)" in capsys.readouterr().out


@pytest.mark.parametrize("output", [[], ["-o", "model.gramless"], ["-o", "link.gramless"]])
def test_update_in_place_needs_no_force(rows, output, capsys):
    assert main(["update", "model.gramless", "rows.csv", *output]) == 0
    assert main(["inspect", "model.gramless"]) == 0
    assert capsys.readouterr().out.count("80 rows of 3 columns") == 2
    assert Path("link.gramless").is_symlink()


def test_a_file_that_is_no_model_is_not_replaced_by_one(rows, tmp_path, capsys):
    Path("table.gramless").write_bytes(b"a table, in fact")
    before = contents(tmp_path)
    assert main(["fit", "rows.csv", "-o", "table.gramless", "--force"]) == 3
    assert "table.gramless exists and is not a model of gramless" in capsys.readouterr().err
    model = gramless.load("model.gramless")
    for path in ("rows.npy", "link.csv", "table.gramless"):
        with pytest.raises(FileExistsError, match="not a model of gramless; pass another path, or delete"):
            model.save(path)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        model.save("parts")
    with pytest.raises(FileExistsError, match="a device or a pipe"):
        model.save(os.devnull)
    assert contents(tmp_path) == before
    Path("empty").touch()
    for path in ("empty", "link.gramless"):
        model.save(path)
        assert gramless.load(path).n_components == 2


def test_a_checkpoint_is_not_replaced_by_a_model(rows):
    class StopError(Exception):
        pass

    def stop(blocks):
        yield next(blocks)
        raise StopError

    source = gramless.open_source("rows.npy")
    blocks = source.blocks
    source.blocks = lambda *given: stop(blocks(10))
    fit = KernelPCA(2, kernel="linear", checkpoint="begun", memory_limit="1MB")
    with pytest.raises(StopError):
        fit.fit(source)
    assert Path("begun").exists()
    with pytest.raises(FileExistsError, match="the checkpoint of a fit"):
        gramless.load("model.gramless").save("begun")


@pytest.mark.parametrize("out", ["rows.npy", "hard.npy", "parts/../rows.npy"])
@pytest.mark.parametrize("kind", ["path", "source", "dropping", "mapped", "part of the mapped"])
def test_transform_does_not_write_over_its_rows(rows, tmp_path, out, kind):
    model = gramless.load("model.gramless")
    given = {
        "path": "rows.npy",
        "source": gramless.open_source("rows.npy"),
        "dropping": gramless.open_source("rows.npy", missing="drop"),
        "mapped": np.load("rows.npy", mmap_mode="r"),
        "part of the mapped": np.load("rows.npy", mmap_mode="r")[::2],
    }[kind]
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match=LOST):
        model.transform(given, out=out)
    assert contents(tmp_path) == before
    np.testing.assert_array_equal(np.load(model.transform(given, out="scores.npy")), model.transform(given))


def test_a_table_or_a_page_does_not_replace_a_model(rows, tmp_path):
    pytest.importorskip("plotly")
    from gramless.report import write_report

    model = gramless.load("model.gramless")
    for path in ("model.npy", "page.html"):
        model.save(path)
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match="is a model of gramless, and would be lost"):
        model.transform("rows.csv", out="model.npy")
    with pytest.raises(FileExistsError, match="is a model of gramless, and would be lost"):
        write_report(model, "rows.csv", "page.html")
    with pytest.raises(ValueError, match="a report is an HTML file"):
        write_report(model, "rows.csv", "rows.csv")
    assert contents(tmp_path) == before


def test_a_table_is_written_through_a_link(rows):
    os.symlink("target.csv", "pointer.csv")
    model = gramless.load("model.gramless")
    model.transform("rows.npy", out="pointer.csv")
    assert Path("pointer.csv").is_symlink()
    assert Path("target.csv").exists()


@pytest.mark.parametrize("name", ["report.html", "annulus.npy"])
def test_the_demo_replaces_nothing_unasked(rows, tmp_path, name, capsys):
    pytest.importorskip("matplotlib")
    Path(name).write_bytes(b"mine")
    before = contents(tmp_path)
    assert main(["demo", "-o", "."]) == 3
    assert f"{name} exists; pass --force to replace it, or another folder as -o" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_clusters_and_their_model(rows, capsys):
    assert main(["cluster", "rows.csv", "-k", "2", "-o", "c.csv", "--model", "model.gramless"]) == 3
    assert "model.gramless exists" in capsys.readouterr().err
    assert main(["cluster", "rows.csv", "-k", "2", "-o", "c.csv", "--model", "model.gramless", "--force"]) == 0
    assert isinstance(gramless.load("model.gramless"), KernelKMeans)


def test_the_model_of_clusters_is_a_file_too(rows, capsys):
    words = ["cluster", "rows.csv", "-k", "2", "-o", "c.csv", "--model"]
    assert main([*words, "c.bin"]) == 3
    assert "pass --model c.gramless" in capsys.readouterr().err
    assert main([*words, "c.gramless"]) == 0
    assert "c.gramless (replaced)" not in capsys.readouterr().out
    Path("c.csv").unlink()
    assert main([*words, "c.gramless"]) == 3
    assert "c.gramless exists; pass --force to replace it, or another path as --model" in capsys.readouterr().err
    assert main([*words, "c.gramless", "--force"]) == 0
    assert "c.gramless (replaced)" in capsys.readouterr().out
    assert main([*words, "c.gramless", "--force", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["model_output"], told["model_replaced"]) == ("c.gramless", True)


def test_an_empty_path_is_no_folder(rows):
    model = gramless.load("model.gramless")
    for call in (lambda: model.save(""), lambda: model.transform(rows, out="")):
        with pytest.raises(ValueError, match="the path of the output is ''"):
            call()
