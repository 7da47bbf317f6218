"""The corpus: each file is refused for the reason it was made for, at no cost in memory, and nothing of it is run."""

import tracemalloc

import pytest

from fuzz import FUZZERS
from fuzz.hostile import FOLDER, HOSTILE
from gramless import load
from gramless.data import open_source
from gramless.errors import FormatError

NEEDS = {".h5": "h5py", ".zarr": "zarr", ".parquet": "pyarrow", ".csv": "pyarrow", ".gz": "pyarrow"}


def read(path):
    if path.suffix == ".safetensors":
        load(path)
    else:
        for _ in open_source(path).blocks(1000):
            pass


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_by_name(name, tmp_path, monkeypatch):
    path = FOLDER / name
    if path.suffix in NEEDS:
        pytest.importorskip(NEEDS[path.suffix])
    monkeypatch.chdir(tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=HOSTILE[name][1]) as caught:
            read(path)
        assert name in str(caught.value)
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()
    assert not list(tmp_path.iterdir())  # where a pickle would have left its mark


def test_the_corpus_is_small_and_complete():
    files = [file for file in FOLDER.rglob("*") if file.is_file()]
    assert {file.relative_to(FOLDER).parts[0] for file in files} == set(HOSTILE)
    assert sum(file.stat().st_size for file in files) < 2**20


@pytest.mark.parametrize("name", FUZZERS)
def test_a_few_mutated_inputs(name):
    counts = FUZZERS[name](1.0, seed=7)
    assert counts["failures"] == 0, counts["reports"]
    assert counts["inputs"] >= 20
    assert counts["inputs"] == counts["refused"] + counts["accepted"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FUZZERS)
def test_many_mutated_inputs(name):
    counts = FUZZERS[name](120.0, seed=11)
    assert counts["failures"] == 0, counts["reports"]
