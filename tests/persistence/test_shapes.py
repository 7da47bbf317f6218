"""Parts of a model that do not belong together are refused on loading, whichever array it is that is too short."""

from pathlib import Path

import numpy as np
import pytest

from gramless import FormatError, load
from gramless.persistence import read_file, write_file

KEPT = sorted((Path(__file__).parent / "kept").glob("*.safetensors"))
#: Attributes that users look at, and what may be longer or shorter than the rest.
FREE = {
    *("ratios_", "mixing_", "prototype_indices_", "scores", "rows"),
    *("_weights", "labels_", "X_transformed_fit_", "dual_coef_", "vectors", "low", "high", "sample", "inertias"),
    *(
        "eigenvalues_",
        "explained_variance_",
        "explained_variance_ratio_",
        "X_fit_",
        "components_",
        "whitening_",
        "kind",
    ),
}


def owners(tree, name=""):
    """(number of an array, name of the field that holds it) pairs of a header."""
    if isinstance(tree, dict) and "array" in tree:
        yield tree["array"], name
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
            accepted.add(names[number])
    assert accepted <= FREE
