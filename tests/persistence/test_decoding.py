"""Trees of any shape: a value comes out, or a FormatError, and nothing else; what is encoded comes back."""

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gramless import FormatError
from gramless.kernels import Gaussian, Scaled
from gramless.persistence import Decoder, Encoder
from gramless.persistence.strict_json import parse
from gramless.persistence.types import fits

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
KINDS = st.sampled_from(
    [
        *("float", "array", "order", "texts", "shape", "object", "complex", "csr", "matrix"),
        *("list", "tuple", "dict", "dtype", "outcome", "same", "class", "fields"),
    ]
)
TREES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KINDS, inner, max_size=3))
NAMES = st.sampled_from(["Gaussian", "Polynomial", "Monomials", "TaylorMap", "Box", "Certificate", "PointSpan", "Plan"])
OBJECTS = st.fixed_dictionaries({"class": NAMES, "fields": st.dictionaries(st.text(max_size=6), TREES, max_size=3)})
VALUES = st.recursive(
    SCALARS.filter(lambda value: not isinstance(value, int) or abs(value) < 2**64) | st.just(float("inf")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
)


@given(TREES | OBJECTS)
def test_any_tree_is_a_value_or_is_refused(tree):
    with suppress(FormatError):
        Decoder({"0": np.zeros(3)}).decode(tree)


@given(VALUES)
def test_what_is_encoded_comes_back(value):
    tree = parse(json.dumps(Encoder().encode(value), allow_nan=False))
    assert Decoder({}).decode(tree) == value


@given(arrays.arrays(arrays.scalar_dtypes(), arrays.array_shapes(min_dims=0, min_side=0, max_side=4)), st.booleans())
def test_arrays_come_back_in_their_order(array, fortran):
    array = np.asfortranarray(array) if fortran else array
    encoder = Encoder()
    if array.dtype.kind in "mMSV" or array.dtype.itemsize > 16 or array.dtype in (np.longdouble, np.clongdouble):
        with pytest.raises(TypeError, match="cannot be saved"):
            encoder.encode(array)
        return
    tree = encoder.encode(array)
    found = Decoder(encoder.arrays).decode(tree)
    assert found.shape == array.shape
    assert found.dtype.newbyteorder("=") == array.dtype.newbyteorder("=")
    assert found.flags.f_contiguous >= array.flags.f_contiguous
    np.testing.assert_array_equal(found, array)


def test_the_order_of_an_array_is_kept():
    for order in "CF":
        encoder = Encoder()
        tree = encoder.encode(np.asarray(np.arange(6.0).reshape(2, 3), order=order))
        found = Decoder(encoder.arrays).decode(tree)
        assert found.flags.c_contiguous == (order == "C")
        np.testing.assert_array_equal(found, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        ([1, 2, 3], list[int], True),
        ([1, "a"], list[int], False),
        ((1, 2), list[int], False),
        ((1, "a"), tuple[int, str], True),
        ((1,), tuple[int, str], False),
        (("a", 1), tuple[int, str], False),
        ((1, 1), tuple[int, str], False),
        ((1, 2, 3), tuple[int, ...], True),
        ({"a": 1}, dict[str, int], True),
        ({"a": "b"}, dict[str, int], False),
        ({1: 1}, dict[str, int], False),
        (True, int, False),
        (1, float, True),
        (True, float, False),
        (None, float | None, True),
        ("a", float | None, False),
        (np.zeros(1), np.ndarray, True),
        ([0.0], np.ndarray, False),
    ],
    ids=str,
)
def test_a_value_is_of_the_type_its_place_has(value, hint, expected):
    assert fits(value, hint) is expected


@given(st.text(max_size=60))
def test_any_text_is_json_or_is_refused(text):
    try:
        found = parse(text)
    except FormatError:
        return
    assert found == json.loads(text)


def test_shared_objects_stay_shared():
    kernel, rows = Gaussian(1.0), np.arange(6.0)
    encoder = Encoder()
    tree = encoder.encode([kernel, rows, 2.0 * kernel, rows])
    first, x, scaled, y = Decoder(encoder.arrays).decode(tree)
    assert scaled.kernel is first
    assert x is y
    assert len(encoder.arrays) == 1


def test_a_kernel_of_too_many_parts_is_not_written():
    kernel = Gaussian(1.0)
    for _ in range(200):
        kernel = Scaled(kernel, 1.0)
    with pytest.raises(TypeError, match="more than 100 levels"):
        Encoder().encode(kernel)
