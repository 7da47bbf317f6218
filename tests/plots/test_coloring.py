"""What labels are, and how classes look."""

import numpy as np
import pytest

from gramless.plots import Coloring
from gramless.plots.coloring import COLORS, MARKERS, MISSING, OTHERS


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (None, "none"),
        (np.linspace(0, 1, 500), "continuous"),
        ([0.5, 1.0], "continuous"),
        (np.arange(12), "continuous"),
        (np.arange(11), "classes"),
        (np.arange(11.0), "classes"),
        ([True, False], "classes"),
        (list("abc"), "classes"),
        ([f"{j}" for j in range(40)], "classes"),
        ([np.nan, np.nan], "classes"),
        (["1.5", "", "2.5"], "continuous"),
        (["1.5", "x", ""], "classes"),
        ([None, 1.5, 2.5], "continuous"),
        (np.array([1.5, 2, 3.5], dtype=object), "continuous"),
        (np.array(["1.5", "2", "3.5"], dtype=object), "classes"),
        (np.array([True, False], dtype=object), "classes"),
    ],
)
def test_what_labels_are(labels, kind):
    assert Coloring.of(labels).kind == kind


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([3.0, 1.0, np.nan], ["1", "3", "missing"]),
        (["b", "a", "", " "], ["a", "b", "missing"]),
        (np.array(["b", None, float("nan"), "None"], dtype=object), ["None", "b", "missing"]),
        ([True, False], ["False", "True"]),
        ([np.inf, 2, 2], ["2", "missing"]),
        ([-1, 4], ["-1", "4"]),
        (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), ["2020-01-01", "missing"]),
    ],
)
def test_names_of_classes(labels, names):
    coloring = Coloring.of(labels)
    assert [style.name for style in coloring.classes] == names
    assert [style.color == MISSING for style in coloring.classes] == [name == "missing" for name in names]


def test_missing_values_of_a_continuous_quantity_are_nan_and_no_end_of_the_scale():
    coloring = Coloring.of([1.5, np.nan, -2.0, np.inf, -np.inf])
    np.testing.assert_array_equal(coloring.values, [1.5, np.nan, -2.0, np.nan, np.nan])
    assert coloring.span == (-2.0, 1.5)


def test_missing_values_of_pandas():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1, None, 3], dtype="Int64")
    assert [style.name for style in Coloring.of(series).classes] == ["1", "3", "missing"]


def test_classes_differ_from_each_other():
    styles = Coloring.of([f"class {j:02d}" for j in range(30)]).classes
    assert len({(style.color, style.marker) for style in styles}) == 30
    assert len({style.color for style in styles[: len(COLORS)]}) == len(COLORS)
    assert {style.marker for style in styles} == set(MARKERS)


def test_small_integers_look_the_same_in_every_subset():
    every = {style.name: style for style in Coloring.of(np.arange(10)).classes}
    assert [style == every[style.name] for style in Coloring.of([8, 3, 8]).classes] == [True, True]


def test_classes_given_look_the_same_in_every_subset():
    names = ["cat", "dog", "eel"]
    every = {style.name: style for style in Coloring.of(names).classes}
    assert Coloring.of(["eel", "eel"], classes=names).classes == (every["eel"],)
    with pytest.raises(ValueError, match="label 'fox' is not among classes"):
        Coloring.of(["fox"], classes=names)


def test_rows_taken_look_as_they_did():
    labels = np.array(["a", "b", "c", "b"])
    coloring = Coloring.of(labels)
    some = coloring.take(np.array([3, 1]))
    assert some.classes == coloring.classes
    assert [some.classes[code].name for code in some.values] == ["b", "b"]
    assert Coloring.of([0.5, 9.5, 3.0]).take(np.array([2])).span == (0.5, 9.5)


def test_of_many_classes_the_frequent_ones_are_named():
    labels = np.repeat([f"c{j:02d}" for j in range(40)], np.arange(40, 0, -1))
    coloring = Coloring.of(labels, most=5)
    assert [style.name for style in coloring.classes] == ["c00", "c01", "c02", "c03", "c04", "35 others"]
    assert coloring.classes[-1].color == OTHERS
    np.testing.assert_array_equal(coloring.values == 5, labels >= "c05")


def test_labels_are_one_for_each_row():
    with pytest.raises(ValueError, match=r"labels of shape \(3, 1\) given"):
        Coloring.of(np.zeros((3, 1)))


def test_dates_are_years_and_durations_days():
    dates = np.arange("2023-01", "2025-01", dtype="datetime64[M]")
    found = Coloring.of(np.append(dates, np.datetime64("NaT")))
    assert found.kind == "continuous"
    assert found.span == pytest.approx((2023, 2024.92), abs=0.01)
    assert np.isnan(found.values[-1])
    assert Coloring.of(np.arange(30).astype("timedelta64[h]")).span == pytest.approx((0, 29 / 24))
