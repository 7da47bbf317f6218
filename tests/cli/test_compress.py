"""gramless compress: a smaller model file, and nothing lost on the way."""

import json

import numpy as np
import pytest

from gramless import KernelICA, load
from gramless.cli import main


@pytest.fixture
def model(folder, capsys):
    assert (
        main(
            [
                "fit",
                "iris.csv",
                "--label",
                "species",
                "--method",
                "dense",
                "-k",
                "3",
                "--sigma",
                "3",
                "-o",
                "model.gramless",
            ]
        )
        == 0
    )
    capsys.readouterr()
    return folder / "model.gramless"


def test_a_smaller_file_that_says_nearly_the_same(model, folder, irises, capsys):
    assert main(["compress", "model.gramless", "-o", "small.gramless", "--tol", "1e-2"]) == 0
    told = capsys.readouterr().out
    assert "150 points reduced to" in told
    assert "bound" in told
    assert "written to" in told
    small, large = load(folder / "small.gramless"), load(model)
    assert (folder / "small.gramless").stat().st_size < model.stat().st_size
    change = np.abs(small.transform(irises) - large.transform(irises))
    assert (change <= small.compression_.norms[:3] + 1e-12).all()
    assert main(["inspect", "small.gramless"]) == 0
    assert "The compression" in capsys.readouterr().out


def test_limits_and_rows_to_measure_on_as_json(model, folder, capsys):
    assert (
        main(["compress", "model.gramless", "-o", "small.gramless", "--points", "12", "--data", "iris.csv", "--json"])
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["compression"]["points"] == 12
    assert told["compression"]["rows"] == 150
    assert told["bytes"] < told["bytes_before"]
    assert told["replaced"] is False
    assert main(["compress", "model.gramless", "-o", "other.gramless", "--memory", "26kB"]) == 0
    assert (folder / "other.gramless").stat().st_size <= 26_000


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("model.gramless -o model.gramless --force", 3, "is an input"),
        ("model.gramless -o small.csv", 3, ".gramless"),
        ("iris.csv -o small.gramless", 3, "iris.csv"),
        ("model.gramless -o small.gramless --tol 1e-14", 4, "no number of points up to"),
        ("model.gramless -o small.gramless --tol 1e-9 --points 5", 4, "pass --points to accept the change"),
        ("model.gramless -o small.gramless --tol 7", 4, "above 0 and below 1"),
    ],
)
def test_refusals_leave_no_file(model, folder, capsys, words, code, message):
    before = model.read_bytes()
    assert main(["compress", *words.split()]) == code
    assert message in capsys.readouterr().err
    assert model.read_bytes() == before
    assert not (folder / "small.gramless").exists()


def test_an_existing_file_is_replaced_by_force_only(model, folder, capsys):
    target = folder / "small.gramless"
    assert main(["compress", "model.gramless", "-o", "small.gramless", "--points", "5"]) == 0
    before = target.read_bytes()
    assert main(["compress", "model.gramless", "-o", "small.gramless", "--points", "9"]) == 3
    assert "--force" in capsys.readouterr().err
    assert target.read_bytes() == before
    assert main(["compress", "model.gramless", "-o", "small.gramless", "--points", "9", "--force"]) == 0
    assert load(target).compression_.points == 9


def test_a_model_without_points_is_named(folder, irises, capsys):
    KernelICA(random_state=0, n_restarts=0).fit(irises).save(folder / "ica.gramless")
    assert main(["compress", "ica.gramless", "-o", "small.gramless"]) == 3
    assert "KernelICA" in capsys.readouterr().err
