"""Files written by earlier versions load for ever, and say what they said."""

from pathlib import Path

import numpy as np
import pytest
from persistence.keep import LARGE
from persistence.models import MODELS, answers

from gramless import load

KEPT = sorted((Path(__file__).parent / "kept").glob("*.safetensors"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_kept_file_says_what_it_said(path):
    with np.load(path.with_suffix(".npz")) as kept:
        found = answers(load(path))
        assert set(found) == set(kept.files)
        for name, values in kept.items():
            if values.dtype.kind == "f":  # another machine may round otherwise
                scale = np.abs(values[np.isfinite(values)]).max(initial=0.0)
                precision = 1e-4 if values.dtype == np.float32 else 1e-9
                np.testing.assert_allclose(found[name], values, rtol=precision, atol=precision * scale)
            else:
                np.testing.assert_array_equal(found[name], values)


def test_there_is_a_file_of_every_sort():
    kept = {number: {path.stem.partition("-")[2] for path in KEPT if path.stem[0] == number} for number in "23"}
    assert kept["2"] >= set(MODELS)
    assert kept["3"] >= set(LARGE)
