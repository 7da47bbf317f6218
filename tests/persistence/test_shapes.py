"""Parts of a model that do not belong together are refused on loading, whichever array it is that is too short."""

from pathlib import Path

import numpy as np
import pytest

from gramless import FormatError, load
from gramless.persistence import read_file, write_file

KEPT = sorted((Path(__file__).parent / "kept").glob("*.safetensors"))
#: Arrays that only users look at, and along which axes others may be longer or shorter than the rest.
FREE = {
    *((name, 0) for name in ("eigenvalues_", "explained_variance_", "explained_variance_ratio_", "ratios_")),
    *((name, 0) for name in ("_weights", "labels_", "prototype_indices_", "low", "high", "vectors", "X_fit_", "rows")),
    *((name, axis) for name in ("X_transformed_fit_", "dual_coef_") for axis in (0, 1)),
    *(("components_", 0), ("whitening_", 0), ("mixing_", 1)),  # how many sources there are
    *((name, 1) for name in ("scores", "rows")),
}


def owners(tree, name=""):
    """(number of an array, name of the field that holds it and whether its axes are reversed) pairs of a header."""
    if isinstance(tree, dict) and "array" in tree:
        yield tree["array"], (name, tree["order"] == "F")
    elif isinstance(tree, dict):
        for key, item in tree.items():
            yield from owners(item, name if key in ("fields", "dict", "complex", "csr") else key)
    elif isinstance(tree, list):
        named = len(tree) == 2 and isinstance(tree[0], str)
        for item in tree:
            yield from owners(item, tree[0] if named else name)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_an_array_cut_short_is_refused_where_anything_rests_on_it(path, tmp_path):
    header, arrays = read_file(path)
    names = dict(owners(header))
    header.pop("format")
    accepted = set()
    for number, array in arrays.items():
        for axis in range(array.ndim):
            write_file(tmp_path / "model", header, {**arrays, number: np.delete(array, -1, axis)})
            try:
                load(tmp_path / "model")
            except FormatError:
                continue
            name, reverse = names[number]
            accepted.add((name, array.ndim - 1 - axis if reverse else axis))
    assert accepted <= FREE
