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
    with pytest.raises(ValueError, match="needs two columns or more: pass what transform returns"):
        plot_embedding(np.zeros(shape))


def test_needs_a_label_for_each_row():
    with pytest.raises(ValueError, match="29 labels given for 30 rows"):
        plot_embedding(SCORES, np.zeros(29))
