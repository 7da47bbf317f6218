"""Large arrays of a model file are mapped to memory: the same bits, the same refusals, and files that come and go."""

import copy
import hashlib
import io
import json
import mmap
import os
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import joblib
import numpy as np
import pytest
import scipy.sparse
from persistence.models import MODELS, answers, fitted, rows

from gramless import FormatError, KernelPCA, UncertifiedWarning, load
from gramless.kernels import Linear
from gramless.persistence import file, read_file, write_file

pytestmark = pytest.mark.skipif(os.name == "nt", reason="files are not mapped on Windows")


@pytest.fixture
def all_large(monkeypatch):
    """Every array of floats counts as large."""
    monkeypatch.setattr(file, "LARGE", 1)


def is_mapped(array):
    """Whether the numbers of an array are those of a mapped file."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap) or isinstance(getattr(array, "obj", None), mmap.mmap)


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize("name", MODELS)
def test_a_mapped_model_gives_the_same_bits(name, tmp_path, all_large):
    model = fitted(name)
    model.save(tmp_path / "model")
    header, arrays = read_file(tmp_path / "model", mmap=True)
    assert header["format"] == 3
    for array in arrays.values():
        assert is_mapped(array) == (array.dtype.kind == "f" and array.size > 0)
        assert not is_mapped(array) or (array.flags.aligned and not array.flags.writeable)
    other = load(tmp_path / "model")
    other.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    same(answers(other), answers(model))
    same(answers(load(tmp_path / "model", mmap=False)), answers(model))


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith(("pca", "stream"))])
def test_a_mapped_model_can_be_continued(name, tmp_path, all_large):
    model = fitted(name)
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    same(answers(other.truncate(1)), answers(model.truncate(1)))
    if not hasattr(model, "partial_fit"):
        return
    more = rows(40)[24:, : model.n_features_in_]
    more = scipy.sparse.csr_array(more) if "sparse" in name else more.astype(model.eigenvalues_.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)
        if not model.scale_input:
            same(answers(other.merge(load(tmp_path / "model"))), answers(model.merge(model)))
        same(answers(other.partial_fit(more)), answers(model.partial_fit(more)))


def test_arrays_of_8_mib_are_mapped_and_smaller_ones_are_not(tmp_path):
    arrays = {
        "small": np.arange(2**20 - 1.0),
        "large": np.arange(2.0**20).reshape(2**10, 2**10),
        "single": np.zeros(2**21 + 1, dtype=np.float32),
        "whole": np.arange(2**20),
        "odd": np.array([True]),
    }
    write_file(tmp_path / "file", {}, arrays)
    _, found = read_file(tmp_path / "file", mmap=True)
    assert {name for name in found if is_mapped(found[name])} == {"large", "single"}
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    header, found = read_file(tmp_path / "file")
    assert header["format"] == 3
    assert not any(is_mapped(array) for array in found.values())
    del arrays["large"], arrays["single"]
    write_file(tmp_path / "file", {}, arrays)
    assert read_file(tmp_path / "file", mmap=True)[0]["format"] == 2


def test_the_rows_of_a_large_model_are_mapped(tmp_path):
    x = np.random.default_rng(0).random((1100, 1000))
    model = KernelPCA(2, kernel="rbf", method="landmarks", tol=1e-2, random_state=0).fit(x)
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    assert is_mapped(other.X_fit_)
    assert not is_mapped(other.eigenvalues_)
    np.testing.assert_array_equal(other.transform(x[:3]), model.transform(x[:3]))


def test_the_safetensors_library_reads_large_arrays(tmp_path, all_large):
    safetensors = pytest.importorskip("safetensors.numpy")
    arrays = {"a": np.arange(3, dtype=np.float32), "b": np.arange(4.0), "c": np.arange(2)}
    write_file(tmp_path / "file", {}, arrays)
    for name, array in safetensors.load_file(tmp_path / "file").items():
        np.testing.assert_array_equal(array, arrays[name])


@pytest.fixture
def small(tmp_path, all_large):
    """A file whose floats are large, and where they lie in it."""
    write_file(tmp_path / "file", {"note": 1}, {"0": np.arange(6.0), "1": np.array([True, False]), "2": np.arange(3)})
    data = (tmp_path / "file").read_bytes()
    first = 8 + int.from_bytes(data[:8], "little")
    return tmp_path / "file", data, range(first, first + 48)


def test_every_truncation_is_refused(small):
    path, data, _ = small
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(FormatError):
            read_file(path, mmap=True)
    path.write_bytes(data + b"\0")
    with pytest.raises(FormatError, match="the arrays take"):
        read_file(path, mmap=True)


def test_every_bit_outside_the_large_arrays_is_checked_and_mmap_false_checks_the_others(small):
    path, data, large = small
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        with pytest.raises(FormatError):
            read_file(path)
        if place in large:
            assert is_mapped(read_file(path, mmap=True)[1]["0"])
        else:
            with pytest.raises(FormatError):
                read_file(path, mmap=True)


def resealed(path, data, change):
    """The file with its layout changed, and a checksum that is right for it: as someone would forge it."""
    length = int.from_bytes(data[:8], "little")
    entries, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    change(entries)
    metadata = entries["__metadata__"]
    metadata["sha256"] = "0" * 64
    text = json.dumps(entries).encode()
    kept = {name: entry["data_offsets"] for name, entry in entries.items() if name != "__metadata__"}
    digests = metadata.get("large", "")
    rest = [body[a:b] for name, (a, b) in kept.items() if f'"{name}"' not in digests]
    seal = hashlib.sha256(len(text).to_bytes(8, "little") + text + b"".join(rest)).hexdigest()
    text = text.replace(b"0" * 64, seal.encode(), 1)
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def set_large(value):
    return lambda entries: entries["__metadata__"].update(large=value)


SOME = "ab" * 32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_large(json.dumps({"0": "short"})), "no valid checksums"),
        (set_large(json.dumps([SOME])), "no valid checksums"),
        (set_large("{"), "not JSON"),
        (set_large(json.dumps({"9": SOME})), "the large array '9' is not there"),
        (set_large(json.dumps({"2": SOME})), "not of floats"),
        (lambda entries: entries["__metadata__"].pop("large"), "lacks the checksums of large arrays"),
        (
            lambda entries: entries["__metadata__"].update(gramless='{"format": 2}'),
            "or has some that its format does not have",
        ),
        (lambda entries: entries["__metadata__"].update(more="1"), "the field 'more', which is unknown"),
    ],
)
def test_forged_statements_about_large_arrays_are_refused(small, change, message):
    path, data, _ = small
    resealed(path, data, lambda entries: None)
    assert read_file(path, mmap=True)[0]["note"] == 1  # the forger's checksum is right
    resealed(path, data, change)
    for mapped in (True, False):
        with pytest.raises(FormatError, match=message):
            read_file(path, mmap=mapped)


def test_a_large_array_that_is_not_aligned_is_refused(small):
    path, data, _ = small

    def move(entries):
        entries["1"]["data_offsets"], entries["0"]["data_offsets"] = [0, 2], [2, 50]

    resealed(path, data, move)
    with pytest.raises(FormatError, match="not aligned"):
        read_file(path, mmap=True)


def test_indices_of_sparse_rows_are_never_mapped(tmp_path, all_large):
    fitted("pca-sparse-rows").save(tmp_path / "model")
    found = load(tmp_path / "model").X_fit_
    assert is_mapped(found.data)
    assert not is_mapped(found.indices)
    assert not is_mapped(found.indptr)


def test_a_file_may_be_replaced_or_deleted_while_it_is_mapped(tmp_path, all_large):
    path = tmp_path / "model"
    first, second = (KernelPCA(2, kernel="rbf", gamma=gamma, method="dense").fit(rows()) for gamma in (0.1, 1.0))
    first.save(path)
    mapped = load(path)
    second.save(path)
    same(answers(mapped), answers(first))
    same(answers(load(path)), answers(second))
    path.unlink()
    same(answers(mapped), answers(first))


def test_a_mapped_model_is_saved_onto_its_own_file(tmp_path, all_large):
    path = tmp_path / "model"
    model = fitted("pca-dense")
    model.save(path)
    before, mapped = path.read_bytes(), load(path)
    for _ in range(2):
        mapped.save(path)
        assert path.read_bytes() == before
    same(answers(mapped), answers(model))
    mapped.truncate(1).save(path)
    same(answers(load(path)), answers(model.truncate(1)))
    same(answers(mapped), answers(model))


def test_a_stream_is_updated_in_its_own_file(tmp_path, all_large):
    path, model = tmp_path / "model", fitted("stream-merging")
    for _ in range(2):
        model.save(path)
        model = load(path).partial_fit(rows(30)[24:])
    expected = fitted("stream-merging").partial_fit(rows(30)[24:]).partial_fit(rows(30)[24:])
    same(answers(model), answers(expected))


def ask(model):
    return answers(model)


def test_copies_and_pickles_have_numbers_of_their_own(tmp_path, all_large):
    path, model = tmp_path / "model", fitted("pca-dense")
    model.save(path)
    mapped = load(path)
    joblib.dump(mapped, kept := io.BytesIO())
    pickled = pickle.dumps(mapped)
    path.unlink()
    kept.seek(0)
    for other in (copy.copy(mapped), copy.deepcopy(mapped), pickle.loads(pickled), joblib.load(kept)):
        same(answers(other), answers(model))
        assert is_mapped(other.X_fit_) == (other.X_fit_ is mapped.X_fit_)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        same(pool.submit(ask, mapped).result(timeout=600), answers(model))


def test_a_large_file_of_format_2_is_read_whole_and_verified(tmp_path, monkeypatch):
    monkeypatch.setattr(file, "LARGE", 2**62)
    model = KernelPCA(1, kernel=Linear(), method="dense").fit(np.random.default_rng(0).random((1100, 1000)))
    model.save(tmp_path / "model")
    assert not is_mapped(load(tmp_path / "model").X_fit_)
    data = bytearray((tmp_path / "model").read_bytes())
    data[-(2**22)] ^= 1
    (tmp_path / "model").write_bytes(data)
    with pytest.raises(FormatError, match="checksum does not match"):
        load(tmp_path / "model")
