import numpy as np
import pytest

from gramless.plots import plot_embedding

SCORES = np.random.default_rng(0).normal(size=(30, 3))


def drawn_points(ax):
    return np.vstack([collection.get_offsets() for collection in ax.collections])


def in_any_order(points):
    return points[np.lexsort(points.T)]


@pytest.mark.parametrize("labels", [None, np.arange(30) % 3, [f"class {j % 12}" for j in range(30)]])
def test_draws_every_row_once(labels):
    ax = plot_embedding(SCORES, labels)
    np.testing.assert_array_equal(in_any_order(drawn_points(ax)), in_any_order(SCORES[:, :2]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("component 1", "component 2")


def test_names_short_labels_in_the_picture():
    ax = plot_embedding(SCORES, np.arange(30) % 10)
    assert sorted(text.get_text() for text in ax.texts) == list("0123456789")
    assert ax.get_legend() is None


def test_names_long_labels_in_a_legend():
    ax = plot_embedding(SCORES, np.repeat(["cat", "dog", "eel"], 10))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["cat", "dog", "eel"]


def test_classes_differ_in_colour():
    ax = plot_embedding(SCORES, np.arange(30) % 10)
    assert len({tuple(collection.get_facecolor()[0]) for collection in ax.collections}) == 10


def test_classes_differ_in_marker():
    ax = plot_embedding(SCORES, np.repeat(["cat", "dog", "eel"], 10))
    assert len({collection.get_paths()[0].vertices.tobytes() for collection in ax.collections}) == 3


@pytest.mark.parametrize("shape", [(5,), (5, 1)])
def test_needs_two_components(shape):
    with pytest.raises(ValueError, match="needs at least two columns: pass the output of transform"):
        plot_embedding(np.zeros(shape))


def test_needs_a_label_for_each_row():
    with pytest.raises(ValueError, match="29 labels given for 30 rows"):
        plot_embedding(SCORES, np.zeros(29))


MANY = np.random.default_rng(1).normal(size=(85_000, 2))


def axes_of(ax):
    """The axes of a figure: its colour bars come after the axes of the plot."""
    return [other for other in ax.figure.axes if other is not ax]


def test_continuous_labels_have_a_colour_bar_and_no_legend():
    labels = np.random.default_rng(2).normal(size=30)
    ax = plot_embedding(SCORES, labels, label="height")
    (bar,) = axes_of(ax)
    assert bar.get_ylabel() == "height"
    assert ax.get_legend() is None
    np.testing.assert_array_equal(ax.collections[-1].get_array(), labels)
    np.testing.assert_allclose(bar.get_ylim(), (labels.min(), labels.max()))


def test_a_series_names_its_colour_bar():
    pandas = pytest.importorskip("pandas")
    ax = plot_embedding(SCORES, pandas.Series(np.linspace(0, 1, 30), name="age"))
    assert axes_of(ax)[0].get_ylabel() == "age"


def test_85_000_continuous_labels_are_few_shapes_and_one_colour_bar():
    ax = plot_embedding(MANY, MANY[:, 0] + MANY[:, 1], label="sum")
    (bar,) = axes_of(ax)
    (cells,) = ax.collections
    assert bar.get_ylabel() == "mean of sum"
    assert 500 < len(cells.get_paths()) < 6000
    centers = np.array([path.vertices[:6].mean(axis=0) for path in cells.get_paths()])
    np.testing.assert_allclose(cells.get_array(), centers.sum(axis=1), atol=0.2)


def test_many_rows_are_drawn_as_density():
    ax = plot_embedding(MANY)
    (cells,) = ax.collections
    assert cells.get_array().sum() == len(MANY)
    assert axes_of(ax)[0].get_yscale() == "log"
    assert len(plot_embedding(MANY, density=False).collections[0].get_offsets()) == len(MANY)
    assert plot_embedding(SCORES, density=True).collections[0].get_array().sum() == len(SCORES)


def test_hexagons_have_the_colour_of_the_majority():
    labels = np.where(MANY[:, 0] > 0, "right", "left")
    ax = plot_embedding(MANY, labels)
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["left", "right"]
    left, right = (tuple(handle.get_facecolor()[0]) for handle in legend.legend_handles)
    cells = ax.collections[-1]
    for path, color in zip(cells.get_paths(), cells.get_facecolor(), strict=True):
        x = path.vertices[:6, 0].mean()
        if abs(x) > 0.2:
            assert tuple(color) == (right if x > 0 else left)


def test_missing_labels_are_grey_and_lie_below():
    labels = ["cat"] * 20 + [""] * 10
    ax = plot_embedding(SCORES, labels)
    cat, missing = ax.collections
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["cat", "missing"]
    np.testing.assert_array_equal(missing.get_offsets(), SCORES[20:, :2])
    assert np.ptp(missing.get_facecolor()[0][:3]) < 0.1 < np.ptp(cat.get_facecolor()[0][:3])
    assert missing.get_zorder() < cat.get_zorder()


def test_missing_values_of_a_continuous_label_are_drawn():
    labels = np.where(np.arange(30) < 5, np.nan, SCORES[:, 2])
    ax = plot_embedding(SCORES, labels, label="depth")
    np.testing.assert_array_equal(in_any_order(drawn_points(ax)), in_any_order(SCORES[:, :2]))
    assert axes_of(ax)[0].get_ylabel() == "depth (grey: missing)"


def test_classes_look_the_same_in_figures_of_their_subsets():
    names = np.repeat(["cat", "dog", "eel"], 10)
    dog = plot_embedding(SCORES, names).collections[1]
    (alone,) = plot_embedding(SCORES[10:20], names[10:20], classes=["cat", "dog", "eel"]).collections
    np.testing.assert_array_equal(alone.get_facecolor(), dog.get_facecolor())
    np.testing.assert_array_equal(alone.get_paths()[0].vertices, dog.get_paths()[0].vertices)


def test_equal_aspect():
    assert plot_embedding(SCORES, aspect="equal").get_aspect() == 1.0
    assert plot_embedding(SCORES).get_aspect() == "auto"


@pytest.mark.parametrize(("setting", "value"), [("aspect", "square"), ("density", "many")])
def test_refuses_unknown_settings(setting, value):
    with pytest.raises(ValueError, match=f"{setting}='{value}' given; pass "):
        plot_embedding(SCORES, **{setting: value})
