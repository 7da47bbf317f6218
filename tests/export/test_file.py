"""ONNX files: what is in them, what they replace, and models that cannot be written."""

import errno
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from persistence.models import MODELS, answers, fitted

from gramless import (
    BiasedDiscriminantAnalysis,
    ExportError,
    KernelDiscriminantAnalysis,
    KernelKMeans,
    KernelPCA,
    SeriesDensity,
    load,
)
from gramless.errors import GramlessError
from gramless.export import graph
from gramless.kernels import Gaussian, Matern

onnx = pytest.importorskip("onnx", reason='ONNX files need onnx: pip install ".[onnx]"')
onnxruntime = pytest.importorskip("onnxruntime", reason="files are run in onnxruntime")
X = np.random.default_rng(0).standard_normal((60, 3))


def session_of(path):
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def metadata(path):
    found = session_of(path).get_modelmeta()
    assert found.producer_name == "gramless"
    return {name.removeprefix("gramless."): text for name, text in found.custom_metadata_map.items()}


@pytest.fixture(scope="module")
def model():
    return KernelPCA(2, kernel="rbf", scale_input=True).fit(X)


@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("density")])
def test_every_sort_of_model(name, tmp_path):
    model = fitted(name)
    agreement = model.to_onnx(tmp_path / "model.onnx")
    assert agreement.rows >= 8
    assert agreement.difference < 1e-8
    session = session_of(tmp_path / "model.onnx")
    assert {output.name for output in session.get_outputs()} == (
        {"predict"} if name.startswith("kmeans") else {*answers(model)} - {"upper", "inverse_transform"}
    )
    model.save(tmp_path / "model")
    load(tmp_path / "model").to_onnx(tmp_path / "again.onnx")
    assert (tmp_path / "again.onnx").read_bytes() == (tmp_path / "model.onnx").read_bytes()


def test_operators_are_those_of_opset_13(model, tmp_path):
    model.to_onnx(tmp_path / "model.onnx")
    made = onnx.load(tmp_path / "model.onnx")
    onnx.checker.check_model(made, full_check=True)
    assert [(entry.domain, entry.version) for entry in made.opset_import] == [("", 13)]
    assert made.ir_version == 7
    (given,) = made.graph.input
    first, second = given.type.tensor_type.shape.dim
    assert (first.dim_param, second.dim_value) == ("rows", 3)


def test_metadata_has_certificate_names_and_measured_precision(tmp_path):
    pandas = pytest.importorskip("pandas")
    model = KernelPCA(2, kernel=Gaussian(1.5), method="dense").fit(pandas.DataFrame(X, columns=["a", "b", "ü"]))
    agreement = model.to_onnx(tmp_path / "model.onnx")
    found = metadata(tmp_path / "model.onnx")
    assert found["estimator"] == "KernelPCA"
    assert found["kernel"] == "Gaussian(sigma=1.5)"
    assert found["method"] == "dense"
    assert found["dtype"] == "float64"
    assert json.loads(found["feature_names"]) == ["a", "b", "ü"]
    certificate = json.loads(found["certificate"])
    assert certificate["upper"] == model.certificate_.upper.tolist()
    assert certificate["kind"] == model.certificate_.kind.tolist()
    measured = json.loads(found["agreement"])
    assert measured["difference"] == agreement.difference < 1e-12
    assert measured["rows"] == agreement.rows == 60
    assert measured["runtime"] == f"onnxruntime {onnxruntime.__version__}"


def test_rows_to_compare_on_can_be_given(model, tmp_path):
    assert model.to_onnx(tmp_path / "model.onnx", X[:7] + 0.1).rows == 7
    with pytest.raises(ValueError, match="features"):
        model.to_onnx(tmp_path / "model.onnx", X[:, :2])


@pytest.mark.parametrize(
    "classes", [np.array(["no", "yes"]), np.array([3, 7]), np.array([False, True]), np.array([0.0, 1.0])]
)
def test_labels_keep_their_type(classes, tmp_path):
    y = classes[(X[:, 0] > 0).astype(int)]
    for estimator in (KernelDiscriminantAnalysis(n_coordinates=5), BiasedDiscriminantAnalysis(n_coordinates=5)):
        model = estimator.fit(X, y)
        model.to_onnx(tmp_path / "model.onnx", dtype="float32")
        (found,) = session_of(tmp_path / "model.onnx").run(["predict"], {"X": X.astype(np.float32)})
        expected = model.predict(X.astype(np.float32))
        np.testing.assert_array_equal(found, expected)
        assert type(found.tolist()[0]) is type(expected.tolist()[0])
        assert json.loads(metadata(tmp_path / "model.onnx")["classes"]) == classes.tolist()


def test_fewer_discriminants_are_returned_than_predict_uses(tmp_path):
    y = np.arange(60) % 4
    model = KernelDiscriminantAnalysis(n_components=1, n_coordinates=8, priors=[0.0, 0.5, 0.25, 0.25]).fit(X, y)
    model.to_onnx(tmp_path / "model.onnx")
    names = ["transform", "predict_proba", "decision_function", "predict"]
    found = dict(zip(names, session_of(tmp_path / "model.onnx").run(names, {"X": X}), strict=True))
    assert found["transform"].shape == (60, 1)
    assert found["decision_function"].shape == (60, 4)
    for name, values in found.items():
        np.testing.assert_allclose(values, getattr(model, name)(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelPCA(2, kernel=lambda a, b: float(a @ b)), "a function .* cannot be written .* gramless.kernels"),
        (KernelPCA(2, kernel=Matern(2.0, 1.0)), "Bessel function.* pass nu=0.5, 1.5, 2.5 or inf"),
        (KernelKMeans(2, kernel=Matern(2.0, 1.0) + Gaussian(1.0)), "Bessel function"),
    ],
)
def test_what_operators_do_not_express_is_refused_by_name(model, message, tmp_path):
    with pytest.raises(ExportError, match=message):
        model.fit(X).to_onnx(tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_matern_kernels_of_any_smoothness_can_be_written_with_fourier_features(tmp_path):
    model = KernelPCA(2, kernel=Matern(2.0, 1.0), method="fourier", tol=1e-3).fit(X[:, :1])
    assert model.to_onnx(tmp_path / "model.onnx").difference < 1e-4  # the accuracy of the fast transforms in Python


def test_an_error_of_export_is_a_value_error():
    assert issubclass(ExportError, ValueError)
    assert issubclass(ExportError, GramlessError)
    assert not hasattr(SeriesDensity, "to_onnx")


def test_a_file_beyond_two_gigabytes_is_refused(model, tmp_path, monkeypatch):
    monkeypatch.setattr(graph, "MOST", 1000)
    with pytest.raises(ExportError, match=r"more than 2 GB.*method='landmarks'.*dtype='float32'"):
        model.to_onnx(tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_float32_that_is_not_accurate_enough_is_refused(tmp_path):
    """Far from the origin, float32 does not have the digits of a polynomial kernel."""
    model = KernelPCA(2, kernel="poly", degree=3, method="monomials").fit(X + 1e6)
    with pytest.raises(ExportError, match=r"in float32 is not accurate enough: it differs by .*; pass dtype='float64'"):
        model.to_onnx(tmp_path / "model.onnx", dtype="float32")
    with pytest.raises(ExportError, match="exceed float32; pass dtype='float64'"):
        KernelPCA(2, kernel="poly", method="dense").fit(X * 1e15).to_onnx(tmp_path / "model.onnx", dtype="float32")
    assert list(tmp_path.iterdir()) == []
    scaled = KernelPCA(2, kernel="poly", degree=3, method="monomials", scale_input=True).fit(X + 1e6)
    assert scaled.to_onnx(tmp_path / "model.onnx", dtype="float32").difference < 1e-5


@pytest.mark.parametrize("dtype", ["float16", "double32", None, int])
def test_other_precisions_are_refused(model, dtype, tmp_path):
    with pytest.raises(ValueError, match=r"dtype=.* is invalid; pass 'float64' or 'float32'"):
        model.to_onnx(tmp_path / "model.onnx", dtype=dtype)


def test_a_model_that_is_not_fitted(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        KernelPCA(2).to_onnx(tmp_path / "model.onnx")


def test_only_an_onnx_model_of_gramless_is_replaced(model, tmp_path):
    path = tmp_path / "model.onnx"
    model.to_onnx(path)
    before = path.read_bytes()
    model.truncate(1).to_onnx(path)
    assert path.read_bytes() != before
    (tmp_path / "notes").write_text("mine")
    model.save(tmp_path / "model.gramless")
    other = onnx.load(path)
    other.producer_name = "another"
    onnx.save(other, tmp_path / "other.onnx")
    for name, message in (
        ("notes", "is not an ONNX model of gramless"),
        ("model.gramless", "is a model of gramless"),
        ("other.onnx", "is not an ONNX model of gramless"),
    ):
        kept = (tmp_path / name).read_bytes()
        with pytest.raises(FileExistsError, match=message):
            model.to_onnx(tmp_path / name)
        assert (tmp_path / name).read_bytes() == kept
    with pytest.raises(IsADirectoryError):
        model.to_onnx(tmp_path)
    with pytest.raises(FileExistsError, match="is an ONNX model of gramless"):
        model.save(path)
    with pytest.raises(FileExistsError, match="is an ONNX model of gramless"):
        model.transform(X, out=path.rename(tmp_path / "scores.npy"))


def test_an_error_leaves_the_old_file(model, tmp_path, monkeypatch):
    path = tmp_path / "model.onnx"
    model.to_onnx(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        model.truncate(1).to_onnx(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
import json, numpy as np
from gramless import KernelPCA
model = KernelPCA(2, kernel="rbf").fit(np.random.default_rng(0).standard_normal((30, 2)))
try:
    print(model.to_onnx(sys.argv[2]))
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("onnxruntime", "not compared: onnxruntime is not installed"),
        ("onnx", 'ONNX files need onnx, which is not installed; in the folder of gramless, run: pip install ".[onnx]"'),
    ],
)
def test_without_a_package(package, said, tmp_path):
    path = tmp_path / "model.onnx"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.run(
        [sys.executable, "-c", WITHOUT, package, str(path)], capture_output=True, text=True, check=True, env=environment
    )
    assert child.stdout.strip() == said
    assert path.exists() == (package == "onnxruntime")
    if path.exists():
        assert json.loads(metadata(path)["agreement"])["difference"] is None
