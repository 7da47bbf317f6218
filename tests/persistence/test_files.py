"""Models in files: the same bits afterwards, and nothing that is not known is made from one."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from gramless import CheckpointError, FormatError, KernelPCA, load
from gramless.kernels import FromCallable, Gaussian, Matern, Polynomial, QuadraticForm, Tanh
from gramless.persistence import Encoder, read_file, write_file
from gramless.persistence.checkpoint import FileCheckpoint

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
        {"kernel": "poly", "scale_input": True},
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
    """The file with its header changed, and a checksum that matches: as an attacker would have it."""
    header, arrays = read_file(path)
    change(header)
    write_file(path, header, arrays)
    return path


def entry(header, part, *names):
    """An entry of the objects of a header, to be changed in place."""
    tree = header[part]
    for name in names:
        tree = tree["fields"][name] if "fields" in tree else tree[name]
    return tree


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header: header.update(format=99), "format 99"),
        (lambda header: header.update(estimator="Oracle"), "'Oracle'"),
        (lambda header: header.update(owner="me"), "field 'owner'"),
        (lambda header: header.pop("kernel"), "lacks the field 'kernel'"),
        (lambda header: header["kernel"].update({"class": "Lambda"}), "'Lambda'"),
        (lambda header: header.update(kernel={"class": "Estimate", "fields": {}}), "expected Kernel or None"),
        (lambda header: header["kernel"]["fields"].update(sigma=-1.0), "sigma=-1.0 must be"),
        (lambda header: header["kernel"]["fields"].update(sigma="wide"), "sigma of Gaussian is 'wide', expected float"),
        (lambda header: header["parameters"].update(depth=3), "parameter 'depth'"),
        (lambda header: header["parameters"].update(tol={"eval": "1"}), r"unknown kind: \['eval'\]"),
        (lambda header: header["parameters"].update(n_components="two"), "'n_components' parameter"),
        (lambda header: header["attributes"].update(transform=3), "attribute 'transform'"),
        (lambda header: header["attributes"].update(passes_={"list": []}), r"passes_ is \[\], expected int"),
        (lambda header: entry(header, "attributes", "_stream").update({"class": "Trojan"}), "'Trojan'"),
        (lambda header: entry(header, "attributes", "_stream")["fields"].update(extra=1), "field 'extra'"),
        (lambda header: entry(header, "attributes", "_stream")["fields"].pop("kernel"), "lacks the field 'kernel'"),
        (lambda header: entry(header, "attributes", "_dtype").update(dtype="object"), "'object'"),
        (lambda header: header.update(dtype="float32"), "dtype 'float32' for a model in float64"),
        (lambda header: header.update(n_features=4), "is for 3 columns, n_features=4"),
        (lambda header: header.update(feature_names=["a"]), "a name for each of its 3 columns"),
    ],
)
def test_what_is_not_known_is_refused_by_name(change, message, tmp_path):
    path = tmp_path / "model"
    model = KernelPCA(2, kernel=Gaussian(1.0)).partial_fit(rows(80))
    assert len(model.eigenvalues_) == 2  # so that the file holds the space, too
    model.save(path)
    with pytest.raises(FormatError, match=message) as caught:
        load(tampered(path, change))
    assert str(path) in str(caught.value)


def test_fields_that_came_later_may_be_missing(tmp_path):
    path, x = tmp_path / "model", rows(80)
    model = KernelPCA(2, kernel=Gaussian(1.0)).fit(x)
    model.save(path)

    def forget(header):
        del header["parameters"]["forget"]
        del entry(header, "attributes", "plan_", "problem")["fields"]["device"]

    np.testing.assert_array_equal(load(tampered(path, forget)).transform(x), model.transform(x))


def test_other_files_are_refused(tmp_path):
    (tmp_path / "pickle").write_bytes(pickle.dumps(KernelPCA(2)))
    with pytest.raises(FormatError, match="not a gramless model file"):
        load(tmp_path / "pickle")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": lambda a, b: float(a @ b)}, "the parameter 'kernel': a function .* Build the kernel from those of"),
        ({"kernel": FromCallable(np.dot) + Gaussian(1.0)}, "a function .*pickle or joblib where you trust"),
        ({"random_state": np.random.RandomState(0)}, "the parameter 'random_state': a random generator"),
    ],
    ids=["function", "sum", "generator"],
)
def test_what_cannot_be_saved_is_named_and_leaves_the_old_file(settings, message, tmp_path):
    path, x = tmp_path / "model", rows(40)
    KernelPCA(2, kernel=Gaussian(1.0)).fit(x).save(path)
    before = path.read_bytes()
    model = KernelPCA(2, **settings).fit(x)
    with pytest.raises(TypeError, match=message):
        model.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def test_a_subclass_is_not_saved(tmp_path):
    class Mine(KernelPCA):
        pass

    with pytest.raises(TypeError, match="Mine cannot be saved"):
        Mine(2).fit(rows(40)).save(tmp_path / "model")


def test_rows_in_two_places_are_written_once(tmp_path):
    x = rows(200, 50)
    model = KernelPCA(2, kernel="rbf", method="tiled").fit(x)
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 1.5 * x.nbytes
    other = load(tmp_path / "model")
    assert np.shares_memory(other.X_fit_, model.X_fit_) is False
    np.testing.assert_array_equal(other.X_fit_, x)


def test_a_checkpoint_begins_with_nothing_and_goes_on_with_what_was_saved(tmp_path):
    path, identity = tmp_path / "checkpoint", {"rows": "ten"}
    fresh = FileCheckpoint(path, identity)
    assert (fresh.task, fresh.rows, fresh.parts, fresh.kept) == ("", 0, [], None)
    fresh.begin("sums", 0.5)
    assert not path.exists()
    fresh.save([(2, np.arange(3.0)), (1, np.ones(3))], 7)
    found = FileCheckpoint(path, identity)
    assert (found.task, found.rows, found.kept) == ("sums", 7, 0.5)
    assert [(count, part.tolist()) for count, part in found.parts] == [(2, [0.0, 1.0, 2.0]), (1, [1.0, 1.0, 1.0])]
    found.begin("next")
    assert (found.task, found.rows, found.parts, found.kept) == ("next", 0, [], None)
    found.done()
    found.done()
    assert not path.exists()


STATE = {"task": "sums", "rows": 7, "kept": None, "counts": [1], "sums": [0.5]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"identity": 5}, "is of another fit: rows was None, and is ten"),
        ({"identity": ["rows"]}, "is of another fit: rows was None"),
        ({"identity": {"rows": {"a": 1}}}, "is of another fit: rows was {'a': 1}"),
        ({"state": 5}, "cannot be read: the state is 5"),
        ({"state": {**STATE, "task": 1}}, "cannot be read: its task should be str"),
        ({"state": {**STATE, "rows": "7"}}, "cannot be read: its rows should be int"),
        ({"state": {**STATE, "counts": 1}}, "cannot be read: its counts should be list"),
        ({"state": {**STATE, "counts": ["1"]}}, "cannot be read: its counts should be list"),
        ({"state": {**STATE, "sums": [0.5, 0.5]}}, "cannot be read: "),
        ({"state": {name: STATE[name] for name in ("task", "rows")}}, "cannot be read: "),
    ],
    ids=str,
)
def test_a_checkpoint_whose_parts_are_of_another_kind_is_refused(change, message, tmp_path):
    encoder = Encoder()
    header = {"estimator": "checkpoint", "identity": {"rows": "ten"}, "state": STATE} | change
    write_file(tmp_path / "checkpoint", {**header, "state": encoder.encode(header["state"])}, encoder.arrays)
    with pytest.raises(CheckpointError, match=message):
        FileCheckpoint(tmp_path / "checkpoint", {"rows": "ten"})


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        KernelPCA(2).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
