"""Each kind of value in a file has its rules; a tree that breaks one of them is refused, and one just within is not."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from gramless import FormatError
from gramless.features import Monomials, TaylorMap
from gramless.kernels import Gaussian, Polynomial
from gramless.persistence import Decoder, Encoder


def plain(name):
    return {"array": name, "order": "C"}


def texts(values, shape, as_objects=False):
    return {"texts": values, "shape": shape, "object": as_objects}


def nested(levels):
    tree = 1
    for _ in range(levels):
        tree = {"list": [tree]}
    return tree


ARRAYS = {
    "line": np.arange(3.0),
    "pairs": np.arange(6.0).reshape(3, 2),
    "whole pairs": np.arange(6).reshape(3, 2),
    "single": np.arange(6, dtype=np.float32).reshape(3, 2),
}


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (2**64, "integer of 65 bits"),
        (-(2**64), "integer of 65 bits"),
        (nested(101), "more than 100 levels"),
        ([1], "unknown kind"),
        ({"list": "ab"}, "a list was expected"),
        ({"tuple": {"a": 1}}, "a list was expected"),
        ({"float": "1.5"}, "is not a number"),
        ({"same": 0}, "is not there"),
        ({"list": [plain("line"), {"same": 1}]}, "is not there"),
        ({"list": [plain("line"), {"same": -1}]}, "is not there"),
        ({"list": [plain("line"), {"same": False}]}, "is not there"),
        (plain("other"), "is not there"),
        (plain(1), "is not there"),
        ({"array": "line", "order": "K"}, "is not there"),
        ({"list": [plain("line"), plain("line")]}, "was used before"),
        (texts(["a", 1], [2]), "where strings were expected"),
        (texts("ab", [2]), "where strings were expected"),
        (texts(["a"], [-1]), "an array of shape"),
        (texts(["a"], [True]), "an array of shape"),
        (texts(["a"], [1.0]), "an array of shape"),
        (texts(["a"], 1), "an array of shape"),
        (texts(["a"], [2**62]), "an array of shape"),
        (texts(["a" * 10_000] + [""] * 999, [1000]), "much longer than the others"),
        ({"complex": plain("line")}, "complex numbers are stored"),
        ({"complex": plain("whole pairs")}, "complex numbers are stored"),
        ({"complex": 1.5}, "where an array was expected"),
        ({"complex": {"array": "pairs"}}, "where an array was expected"),
        ({"dict": [["a", 1], ["a", 2]]}, "each name once"),
        ({"dict": [["a"]]}, "each name once"),
        ({"dict": [["a", 1, 2]]}, "each name once"),
        ({"dict": [[1, 2]]}, "each name once"),
        ({"dict": ["ab"]}, "each name once"),
        ({"dtype": "int8"}, "known: float64, float32"),
        ({"outcome": "WELL"}, "unknown to this version"),
        ({"outcome": 3}, "unknown to this version"),
        ({"class": "Gaussian", "fields": []}, "unknown to this version"),
        ({"class": 1, "fields": {}}, "unknown to this version"),
        ({"class": "Box", "fields": {"low": plain("line")}}, "lacks the field 'high'"),
        ({"class": "Gaussian", "fields": {"sigma": 1.0, "color": 2}}, "field 'color'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_tree_that_breaks_a_rule_is_refused(tree, message):
    with pytest.raises(FormatError, match=message):
        Decoder(ARRAYS).decode(tree)


def test_trees_just_within_the_rules():
    for number in (2**64 - 1, 1 - 2**64):
        assert Decoder({}).decode(number) == number
        assert Encoder().encode(number) == number
    made = Decoder({}).decode(nested(100))
    assert Encoder().encode(made) == nested(100)
    assert Decoder(ARRAYS).decode({"complex": plain("pairs")}).tolist() == [1j, 2 + 3j, 4 + 5j]
    assert Decoder(ARRAYS).decode({"complex": plain("single")}).dtype == np.complex64
    first, second = Decoder(ARRAYS).decode({"list": [plain("line"), {"same": 0}]})
    assert first is second
    assert Decoder({}).decode(texts(["a", "b"], [2, 1])).tolist() == [["a"], ["b"]]
    assert Decoder({}).decode(texts([], [0, 3])).shape == (0, 3)
    assert Decoder({}).decode(texts(["a" * 10_000] + [""] * 999, [1000], True)).dtype == object
    longest = 2**20 // (
        4 * 100 - 64
    )  # 4 bytes for each of 100 texts of this length; a 64-fold of what they hold, and 1 MiB
    assert Decoder({}).decode(texts(["a" * longest] + [""] * 99, [100])).shape == (100,)
    with pytest.raises(FormatError, match="much longer"):
        Decoder({}).decode(texts(["a" * (longest + 1)] + [""] * 99, [100]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": [2]}, "ends of rows"),
        ({"shape": [2, 2, 1]}, "ends of rows"),
        ({"shape": [3, 2]}, "ends of rows"),
        ({"shape": [2, -2]}, "an array of shape"),
        ({"indices": [0.0, 1.0, 0.0]}, "ends of rows"),
        ({"indptr": [0.0, 2.0, 3.0]}, "ends of rows"),
        ({"indptr": [[0], [2], [3]]}, "ends of rows"),
        ({"data": [[1.0], [2.0], [3.0]], "indices": [[0], [1], [0]]}, "do not fill"),
        ({"indices": [0, 1]}, "do not fill"),
        ({"indptr": [1, 2, 3]}, "do not fill"),
        ({"indptr": [0, 2, 2]}, "do not fill"),
        ({"indptr": [0, 4, 3]}, "outside it"),
        ({"indices": [0, 2, 0]}, "outside it"),
        ({"indices": [0, -1, 0]}, "outside it"),
    ],
    ids=str,
)
def test_a_sparse_matrix_whose_parts_do_not_fit_is_refused(change, message):
    given = {"data": [1.0, 2.0, 3.0], "indices": [0, 1, 0], "indptr": [0, 2, 3], "shape": [2, 2]} | change
    arrays = {name: np.array(given[name]) for name in ("data", "indices", "indptr")}
    tree = {"csr": {name: plain(name) for name in arrays}, "shape": given["shape"], "matrix": False}
    with pytest.raises(FormatError, match=message):
        Decoder(arrays).decode(tree)


@pytest.mark.parametrize("sort", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_sparse_matrices_come_back(sort):
    for dense in (np.array([[1.0, 2.0], [3.0, 0.0]]), np.zeros((2, 3)), np.zeros((0, 2))):
        encoder = Encoder()
        tree = encoder.encode(sort(dense))
        found = Decoder(encoder.arrays).decode(tree)
        assert type(found) is sort
        np.testing.assert_array_equal(found.toarray(), dense)


@pytest.mark.parametrize(
    "features",
    [
        TaylorMap(Gaussian(1.0), np.zeros(2), 8),
        Monomials(Polynomial(3, 1.0), 3),
        Monomials(Polynomial(3, 0.0), 3),
        Monomials(2.0 * Polynomial(2, 1.0), 4),
    ],
    ids=["taylor", "polynomial", "homogeneous", "scaled"],
)
def test_a_map_may_have_as_many_features_as_the_file_has_numbers(features):
    encoder = Encoder()
    tree = encoder.encode(features)
    assert Decoder(encoder.arrays, features.n_features).decode(tree).n_features == features.n_features
    with pytest.raises(FormatError, match="more than the file has numbers"):
        Decoder(encoder.arrays, features.n_features - 2).decode(tree)


def test_a_taylor_map_has_a_term():
    encoder = Encoder()
    tree = encoder.encode(TaylorMap(Gaussian(1.0), np.zeros(2), 1))
    tree["fields"]["terms"] = 0
    with pytest.raises(FormatError, match="a Taylor map of 0 terms"):
        Decoder(encoder.arrays, 100).decode(tree)


def test_what_cannot_be_written():
    for value, message in (
        (2**64, "integer of 65 bits"),
        ({1: 2}, "keys must be strings"),
        (np.array([1, "a"], dtype=object), "Python objects"),
        (np.array(["a" * 10_000] + [""] * 999), "much longer than the others"),
        (np.zeros(2, dtype=np.longdouble), "cannot be saved"),
        (1j, "complex"),
        (object(), "type object"),
    ):
        with pytest.raises(TypeError, match=message):
            Encoder().encode(value)
    for kind in (object, np.str_):
        encoded = Encoder().encode(np.array(["a", "b"], dtype=kind))
        assert Decoder({}).decode(encoded).dtype.kind == np.dtype(kind).kind
    assert Encoder().encode(Path("a")) == "a"
    assert Encoder().encode(np.float64(0.5)) == 0.5
    assert Encoder().encode(np.bool_(True)) is True
    assert Encoder().encode(-np.inf) == {"float": "-inf"}
