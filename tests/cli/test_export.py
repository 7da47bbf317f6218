"""``gramless export``, and ``gramless inspect --verify``."""

import json

import numpy as np
import pytest

from gramless.cli import main
from gramless.persistence import file

onnxruntime = pytest.importorskip("onnxruntime", reason='ONNX files need onnx: pip install ".[onnx]"')


@pytest.fixture
def model(folder):
    assert main(["fit", "iris.csv", "--label", "species", "--scale", "-k", "3", "-o", "model.gramless"]) == 0
    assert main(["transform", "model.gramless", "iris.csv", "-o", "scores.npy"]) == 0
    return folder


@pytest.mark.parametrize(("dtype", "precision"), [("float64", 1e-10), ("float32", 1e-4)])
def test_a_model_file_becomes_an_onnx_file(model, irises, dtype, precision, capsys):
    capsys.readouterr()
    assert main(["export", "model.gramless", "-o", "model.onnx", "--dtype", dtype, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["dtype"] == dtype
    assert told["rows"] == 150
    assert told["difference"] < precision
    assert told["replaced"] is False
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"X": irises.astype(dtype)})
    np.testing.assert_allclose(scores, np.load("scores.npy"), rtol=0, atol=precision)
    names = session.get_modelmeta().custom_metadata_map["gramless.feature_names"]
    assert json.loads(names) == ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    assert main(["export", "model.gramless", "-o", "model.onnx", "--force"]) == 0
    assert "differs by" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["model.gramless", "-o", "model.txt"], 3, "writes files .onnx; pass -o model.onnx"),
        (["missing.gramless", "-o", "model.onnx"], 3, "there is no file missing.gramless"),
        (["iris.csv", "-o", "model.onnx"], 3, "iris.csv: it is not a gramless model file"),
        (["model.gramless", "-o", "there.onnx"], 3, "there.onnx exists; pass --force"),
        (["model.gramless", "-o", "there.onnx", "--force"], 3, "is not an ONNX model of gramless"),
        (["model.gramless", "-o", "model.onnx", "--dtype", "half"], 4, "--dtype half is invalid; pass 'float64'"),
    ],
)
def test_refusals(model, words, code, message, capsys):
    (model / "there.onnx").write_text("mine")
    assert main(["export", *words]) == code
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (model / "model.onnx").exists()
    assert (model / "there.onnx").read_text() == "mine"


def test_inspect_can_verify_arrays_that_loading_only_maps(model, monkeypatch, capsys):
    monkeypatch.setattr(file, "LARGE", 1)
    assert main(["fit", "iris.csv", "--label", "species", "-k", "2", "-o", "mapped.gramless"]) == 0
    assert main(["inspect", "mapped.gramless", "--verify"]) == 0
    data = bytearray((model / "mapped.gramless").read_bytes())
    data[8 + int.from_bytes(data[:8], "little") + 5] ^= 1
    (model / "mapped.gramless").write_bytes(data)
    assert main(["inspect", "mapped.gramless"]) == 0
    capsys.readouterr()
    assert main(["inspect", "mapped.gramless", "--verify"]) == 3
    assert "checksum does not match" in capsys.readouterr().err
