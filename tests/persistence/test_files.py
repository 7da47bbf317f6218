"""Models in files: the same bits afterwards, and nothing that is not known is made from one."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from safetensors import safe_open
from safetensors.numpy import save_file

from gramless import KernelPCA, load
from gramless.kernels import Gaussian, Matern, Polynomial, QuadraticForm, Tanh

STREAMS = {
    "merging": {"kernel": Gaussian(1.5)},
    "bounded": {"kernel": Gaussian(1.5), "max_support": 50, "forget": 70.0},
    "monomials": {"kernel": Polynomial(2)},
    "fourier": {"kernel": Gaussian(2.0), "domain": (-7, 7), "method": "fourier"},
    "landmarks": {"kernel": "rbf", "gamma": 0.1, "method": "landmarks"},
    "refitting": {"kernel": Tanh(0.05, 0.0)},
    "combined": {"kernel": Gaussian(1.0) + 2.0 * Matern(1.5, 1.0)},
    "matrix": {"kernel": QuadraticForm(np.diag([1.0, 2.0, 3.0]))},
}


def rows(n=240, d=3):
    return np.random.default_rng(0).standard_normal((n, d))


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.filterwarnings("ignore::gramless.IndefiniteKernelWarning")
def test_a_stream_saved_after_every_batch_is_the_same_stream(name, tmp_path):
    x, path = rows(), tmp_path / "stream.safetensors"
    straight, resumed = KernelPCA(3, **STREAMS[name]), KernelPCA(3, **STREAMS[name])
    for part in np.array_split(x, 7):
        straight.partial_fit(part)
        resumed.partial_fit(part).save(path)
        resumed = load(path)
    np.testing.assert_array_equal(resumed.transform(x), straight.transform(x))
    np.testing.assert_array_equal(resumed.certificate_.upper, straight.certificate_.upper)
    assert resumed.get_params().keys() == straight.get_params().keys()
    assert str(resumed.plan_) == str(straight.plan_)


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "rbf", "fit_inverse_transform": True, "method": "dense"},
        {"method": "svd"},
        {"kernel": "rbf", "gamma": 0.01, "method": "taylor", "keep_data": False},
        {"kernel": "poly", "center_input": True},
    ],
    ids=str,
)
def test_fits(settings, tmp_path):
    x = rows()
    model = KernelPCA(3, **settings).fit(x, sample_weight=np.arange(240) % 3)
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    np.testing.assert_array_equal(other.transform(x), model.transform(x))
    np.testing.assert_array_equal(other.eigenvalues_, model.eigenvalues_)
    if settings.get("fit_inverse_transform"):
        scores = model.transform(x[:9])
        np.testing.assert_array_equal(other.inverse_transform(scores), model.inverse_transform(scores))


def test_sparse_rows_float32_and_column_names(tmp_path):
    x = rows().astype(np.float32)
    x[np.abs(x) < 0.5] = 0
    model = KernelPCA(2, kernel=Gaussian(1.0)).partial_fit(scipy.sparse.csr_array(x))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").transform(x), model.transform(x))
    pandas = pytest.importorskip("pandas")
    model = KernelPCA(2).fit(pandas.DataFrame(x, columns=["a", "b", "c"]))
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").feature_names_in_.tolist() == ["a", "b", "c"]
    assert load(tmp_path / "model").eigenvalues_.dtype == np.float32


def test_another_process_goes_on(tmp_path):
    x = rows()
    model = KernelPCA(3, kernel=Gaussian(1.5), max_support=60).partial_fit(x[:100])
    model.save(tmp_path / "model")
    np.save(tmp_path / "x.npy", x)
    script = (
        "import sys, pathlib, numpy as np, gramless\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "x = np.load(folder / 'x.npy')\n"
        "model = gramless.load(folder / 'model').partial_fit(x[100:])\n"
        "np.save(folder / 'scores.npy', model.transform(x))\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), model.partial_fit(x[100:]).transform(x))


def tampered(path, change):
    """The file with its header changed."""
    with safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["gramless"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    text = json.dumps(change(header) or header)
    save_file(arrays, path, metadata={"gramless": text})
    return path


def entry(header, *names):
    """An entry of the nested dicts of a header, to be changed in place."""
    tree = header["state"]
    for name in names:
        tree = dict(map(tuple, tree["dict"]))[name] if "dict" in tree else tree["fields"][name]
    return tree


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header: header.update(format=99), "format 99"),
        (lambda header: header.update(estimator="Oracle"), "'Oracle'"),
        (lambda header: entry(header, "attributes", "_stream").update({"class": "Trojan"}), "'Trojan'"),
        (lambda header: entry(header, "attributes", "_stream")["fields"].update(extra=1), "'extra'"),
        (lambda header: entry(header, "parameters")["dict"].append(["depth", 3]), "parameter 'depth'"),
        (lambda header: entry(header, "attributes")["dict"].append(["transform", 3]), "attribute 'transform'"),
        (lambda header: entry(header, "parameters", "kernel").update({"class": "Lambda"}), "'Lambda'"),
        (lambda header: entry(header, "attributes", "_dtype").update(dtype="object"), "'object'"),
        (
            lambda header: entry(header, "parameters")["dict"].append(["tol", {"eval": "1"}]),
            r"unknown kind: \['eval'\]",
        ),
    ],
)
def test_what_is_not_known_is_refused_by_name(change, message, tmp_path):
    path = tmp_path / "model"
    KernelPCA(2, kernel=Gaussian(1.0)).partial_fit(rows(80)).save(path)
    with pytest.raises(ValueError, match=message):
        load(tampered(path, change))


def test_other_files_are_refused(tmp_path):
    (tmp_path / "pickle").write_bytes(pickle.dumps(KernelPCA(2)))
    with pytest.raises(ValueError, match="not a file of a gramless model"):
        load(tmp_path / "pickle")
    save_file({"x": np.ones(2)}, tmp_path / "other")
    with pytest.raises(ValueError, match="not one of a gramless model"):
        load(tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path):
    path, x = tmp_path / "model", rows(40)
    KernelPCA(2, kernel=Gaussian(1.0)).fit(x).save(path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match="function"):
        KernelPCA(2, kernel=lambda a, b: float(a @ b)).fit(x).save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
