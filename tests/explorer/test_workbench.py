"""What the page computes, without the page."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("datashader", reason="the explorer's drawings need datashader (the extra explorer)")
pytest.importorskip("contourpy", reason="contours need contourpy, which bokeh brings")

from gramless import KernelPCA, select_bandwidth
from gramless.datasets import annulus, three_clusters
from gramless.explorer import FAMILIES, Settings, Workbench, read_table
from gramless.explorer.figures import contour_lines
from gramless.explorer.latest import LatestOnly
from gramless.explorer.raster import rasterize
from gramless.explorer.view import widened
from gramless.plots import Coloring
from gramless.plots.coloring import COLORS, MISSING, SCALE


@pytest.fixture(scope="module")
def ring():
    return Workbench(read_table(annulus(400, rng=0)))


@pytest.fixture(scope="module")
def many():
    return Workbench(read_table(annulus(5000, rng=0)), draft_rows=1000)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_view_is_the_model_that_its_code_fits(ring, family):
    view = ring.view(Settings(family=family, octaves=-0.5, k=3, across=2, up=3))
    model = KernelPCA(3, kernel=view.kernel).fit(ring.table.values)
    scores = np.zeros((400, 3))
    scores[:, : len(model.eigenvalues_)] = model.transform(ring.table.values)
    if family in ("linear", "cosine"):  # of rank 2: the third component is nothing
        np.testing.assert_allclose(view.scores[:, 1], 0, atol=1e-6)
    else:
        shares = model.explained_variance_ratio_
        np.testing.assert_allclose(view.shares, shares, atol=5e-3)
        assert (view.lower <= shares + 1e-9).all()
        assert (shares <= view.upper + 1e-9).all()
        clear = shares[1] - shares[2] > 0.05  # else the two may turn in their plane
        if clear:
            np.testing.assert_allclose(np.abs(view.scores), np.abs(scores[:, 1:]), atol=0.05)
    assert view.rows == 400
    assert not view.draft


def test_the_code_runs_and_fits_the_same(ring):
    view = ring.view(Settings(octaves=-1.0, standardize=True))
    names = {"X": ring.table.values}
    exec(view.code, names)
    np.testing.assert_allclose(names["kpca"].explained_variance_ratio_, view.shares, atol=2e-3)


def test_contours_are_the_components_over_the_plane(ring):
    view = ring.view(Settings(octaves=-1.0, k=4, across=1, up=4))
    plane = view.plane
    model = KernelPCA(4, kernel=view.kernel, tol=1e-3, random_state=0).fit(ring.table.values)
    for i, j in ((0, 0), (10, 80), (95, 50)):
        here = model.transform([[plane.across[j], plane.up[i]]])[0]
        np.testing.assert_allclose(plane.heights[:, i, j], here[[0, 3]], atol=1e-8)
    np.testing.assert_array_equal(plane.points, ring.table.values)
    assert plane.names == ("x1", "x2")


def test_many_columns_are_cut_along_linear_components():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 5)) * [0.1, 3.0, 0.2, 1.5, 0.1] + 7
    plane = Workbench(read_table(x)).view(Settings(k=2)).plane
    assert plane.names == ("linear component 1", "linear component 2")
    np.testing.assert_allclose(np.abs(np.corrcoef(plane.points[:, 0], x[:, 1])[0, 1]), 1, atol=0.01)
    np.testing.assert_allclose(np.abs(np.corrcoef(plane.points[:, 1], x[:, 3])[0, 1]), 1, atol=0.01)


def test_one_column():
    view = Workbench(read_table(np.linspace(0, 1, 50)[:, None])).view(Settings(k=2))
    assert np.ptp(view.plane.heights, axis=1).max() < 1e-8  # nothing changes along an axis that is not there
    assert np.ptp(view.plane.heights, axis=2).min() > 0.1


def test_drafts_are_near_and_say_so(many):
    settings = Settings(octaves=-0.5)
    draft, whole = many.view(settings, draft=True), many.view(settings)
    assert (draft.rows, whole.rows) == (1000, 5000)
    assert draft.draft
    assert not whole.draft
    np.testing.assert_allclose(draft.shares, whole.shares, atol=0.03)


def test_other_axes_need_no_other_fit(many):
    first = many.view(Settings(across=1, up=2))
    second = many.view(Settings(across=2, up=1))
    np.testing.assert_array_equal(first.scores, second.scores[:, ::-1])
    assert first.seconds == second.seconds  # of the one fit that was made


@pytest.mark.parametrize("criterion", ["median", "scale", "gap", "preimage"])
def test_suggestions_are_those_of_select_bandwidth(ring, criterion):
    octaves = ring.suggest(Settings(), criterion)
    chosen = select_bandwidth(ring.table.values, "rbf", criterion, n_components=2)
    assert ring.ground(False).median * 2**octaves == pytest.approx(chosen.value, rel=1e-3)


def test_scaled_columns_do_not_see_units():
    x = annulus(300, rng=0)
    plain = Workbench(read_table(x)).view(Settings(standardize=True))
    units = Workbench(read_table(x * [1e-3, 1e3] + [5.0, -2.0])).view(Settings(standardize=True))
    np.testing.assert_allclose(plain.shares, units.shares, atol=2e-3)


def test_constant_column_survives_scaling():
    x = np.column_stack([annulus(100, rng=0), np.full(100, 3.0)])
    assert np.isfinite(Workbench(read_table(x)).view(Settings(standardize=True)).scores).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": "gauss"}, "family='gauss' is invalid"),
        ({"k": 0}, "k=0"),
        ({"k": 3, "across": 4}, "across=4 is not among"),
        ({"up": 0}, "up=0 is not among"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        Settings(**settings)


class TestTable:
    def test_a_frame_has_names_and_labels_of_any_kind(self):
        x, cluster = three_clusters(30, rng=0)
        frame = pd.DataFrame({"a": x[:, 0], "kind": np.array(["u", "v", "w"])[cluster], "b": x[:, 1]})
        table = read_table(frame, "kind")
        assert table.names == ("a", "b")
        np.testing.assert_array_equal(table.values, x)
        np.testing.assert_array_equal(table.labels, frame["kind"])

    def test_a_csv_file(self, tmp_path):
        x, cluster = three_clusters(30, rng=0)
        pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "kind": cluster}).to_csv(tmp_path / "rows.csv", index=False)
        table = read_table(tmp_path / "rows.csv", "kind")
        assert table.names == ("a", "b")
        np.testing.assert_allclose(table.values, x)
        np.testing.assert_array_equal(table.labels, cluster)

    def test_labels_of_a_csv_file_may_be_texts(self, tmp_path):
        (tmp_path / "pets.csv").write_text("weight,kind,age\n4,cat,2\n9,dog,3\n5,cat,7\n")
        table = read_table(tmp_path / "pets.csv", "kind")
        assert table.names == ("weight", "age")
        assert table.labels.tolist() == ["cat", "dog", "cat"]
        assert read_table(tmp_path / "pets.csv", "kind", columns=["age"]).values.ravel().tolist() == [2, 3, 7]

    def test_arrays_in_files(self, tmp_path):
        x, cluster = three_clusters(30, rng=0)
        np.save(tmp_path / "rows.npy", np.column_stack([x, cluster]))
        np.savez(tmp_path / "rows.npz", X=x, y=cluster)
        for table in (read_table(tmp_path / "rows.npy", "2"), read_table(tmp_path / "rows.npz", "y", key="X")):
            np.testing.assert_array_equal(table.values, x)
            np.testing.assert_array_equal(table.labels, cluster)

    def test_of_too_many_rows_a_sample_keeps_its_labels(self):
        x = np.arange(300_000.0)[:, None]
        table = read_table(x, labels=np.arange(300_000), memory_limit=16 * 5000)
        assert table.seen == 300_000
        assert len(table.values) == 5000
        np.testing.assert_array_equal(table.values[:, 0], table.labels)
        assert abs(table.values.mean() / 150_000 - 1) < 0.05

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"data": np.ones((3, 2)), "label": 5}, "no column 5"),
            ({"data": np.ones((3, 2)), "labels": [1, 2]}, "2 labels given for 3 rows"),
            ({"data": np.ones((3, 2)), "label": 0, "labels": [1, 2, 3]}, "mutually exclusive"),
            ({"data": np.ones((1, 2))}, "1 row; at least 2"),
            ({"data": np.ones((3, 1)), "label": 0}, "the only column"),
            ({"data": pd.DataFrame({"a": [1.0, 2.0]}), "label": "b"}, "label='b' is not a column"),
        ],
    )
    def test_wrong_data_are_named(self, given, message):
        with pytest.raises(ValueError, match=message):
            read_table(**given)


class TestRaster:
    def test_every_point_in_sight_is_drawn_where_it_is(self):
        image = rasterize(np.array([[0.5, 0.5], [8.5, 3.5], [20.0, 1.0]]), (0, 10, 0, 5), Coloring(), (100, 50))
        opaque = (image >> 24) > 0
        rows, columns = np.nonzero(opaque)
        assert opaque[5, 5]  # the first row is the lowest
        assert opaque[35, 85]
        near = (np.abs(rows - 5) + np.abs(columns - 5) <= 6) | (np.abs(rows - 35) + np.abs(columns - 85) <= 6)
        assert near.all()  # the third is out of sight

    @pytest.mark.parametrize("labels", [["a", "b"], ["a", ""], [0, 7]])
    def test_classes_have_their_colours(self, labels):
        points = np.array([[1.0, 1.0], [3.0, 1.0]])
        coloring = Coloring.of(labels)
        image = rasterize(points, (0, 4, 0, 2), coloring, (40, 20))
        for column, code in zip((10, 30), coloring.values, strict=True):
            assert image[10, column] & 0xFFFFFF == packed(coloring.classes[code].color)

    def test_numbers_run_through_the_colours(self):
        points = np.column_stack([np.linspace(0.05, 0.95, 20), np.full(20, 0.5)])
        image = rasterize(points, (0, 1, 0, 1), Coloring.of(np.arange(20.0)), (400, 10))
        assert image[5, 20] & 0xFFFFFF == packed(SCALE[0])
        assert image[5, 380] & 0xFFFFFF == packed(SCALE[-1])

    def test_missing_numbers_are_grey(self):
        points = np.array([[1.0, 1.0], [3.0, 1.0], [3.0, 1.0], [2.0, 1.0]])
        image = rasterize(points, (0, 4, 0, 2), Coloring.of([np.nan, 0.5, np.nan, 1.5]), (40, 20))
        assert image[10, 10] & 0xFFFFFF == packed(MISSING)
        assert image[10, 30] & 0xFFFFFF == packed(SCALE[0])  # where some are known, these

    def test_one_value_is_a_colour_too(self):
        image = rasterize(np.array([[1.0, 1.0]]), (0, 4, 0, 2), Coloring.of([0.5]), (40, 20))
        assert image[10, 10] >> 24 == 255


def packed(color):
    """A colour as it stands in a picture."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return red | green << 8 | blue << 16


class TestColoring:
    def test_of_many_classes_the_rare_ones_share_a_colour(self):
        labels = np.repeat([f"c{j:02d}" for j in range(30)], np.arange(30, 0, -1))
        coloring = read_table(np.zeros((len(labels), 2)), labels=labels).coloring
        assert len({style.color for style in coloring.classes}) == len(coloring.classes) == len(COLORS) + 1
        assert coloring.classes[-1].name == "19 others"

    def test_columns_are_classes_or_numbers(self):
        table = read_table(pd.DataFrame({"kind": [1.0, 2.0, 1.0], "size": [0.5, 1.0, 2.0]}))
        assert (table.column("kind").kind, table.column("size").kind) == ("classes", "continuous")
        assert table.column("size").title == "size"

    def test_no_labels_is_density(self):
        assert read_table(np.eye(3)).coloring.kind == "none"


@pytest.mark.parametrize(
    ("names", "standardize", "aspect"),
    [(["lon", "lat"], False, 2.0), (["lon", "lat"], True, 1.0), (["a", "b"], False, 1.0)],
)
def test_planes_of_degrees_have_the_aspect_of_a_map(names, standardize, aspect):
    rows = np.random.default_rng(0).uniform([-3, 58], [3, 62], size=(50, 2))
    rows[:2] = [[-3, 58], [3, 62]]  # middle latitude 60
    view = Workbench(read_table(pd.DataFrame(rows, columns=names))).view(Settings(k=2, standardize=standardize))
    assert view.plane.aspect == pytest.approx(aspect)


@pytest.mark.parametrize("aspect", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("size", [(200, 100), (100, 300)])
def test_widened_boxes_have_equal_scales_and_show_as_much(aspect, size):
    left, right, bottom, top = widened((-1.0, 3.0, 0.0, 2.0), size, aspect)
    assert (top - bottom) / size[1] * aspect == pytest.approx((right - left) / size[0])
    assert left <= -1 < 3 <= right
    assert bottom <= 0 < 2 <= top
    assert right - left == pytest.approx(4) or top - bottom == pytest.approx(2)


def test_contour_lines_lie_at_their_heights():
    grid = np.linspace(-1, 1, 41)
    heights = np.add.outer(0 * grid, grid)  # grows to the right
    lines = contour_lines(grid, grid, heights, count=4)
    assert len(lines["xs"]) in (4, 5)  # the last is the edge itself
    for xs, dash, width in zip(lines["xs"], lines["dash"], lines["width"], strict=True):
        assert np.ptp(xs) < 1e-12
        assert dash == ("dashed" if xs[0] < -1e-9 else "solid")
        assert (width > 2) == (abs(xs[0]) < 1e-9)
    assert contour_lines(grid, grid, np.ones((41, 41)))["xs"] == []


class TestLatestOnly:
    def test_questions_that_were_overtaken_are_dropped(self):
        import threading

        begun, go, got = threading.Event(), threading.Event(), []

        def answers(question):
            begun.set()
            go.wait(10)
            yield question, "draft"
            yield question, "whole"

        latest = LatestOnly(answers, got.append)
        latest.ask(1)
        begun.wait(10)
        latest.ask(2)
        latest.ask(3)
        go.set()
        latest.wait()
        assert got == [(1, "draft"), (3, "draft"), (3, "whole")]

    def test_errors_are_delivered_and_the_next_question_answered(self):
        got = []

        def answers(question):
            yield 1 / question

        latest = LatestOnly(answers, got.append)
        latest.ask(0)
        latest.wait()
        latest.ask(2)
        latest.wait()
        assert isinstance(got[0], ZeroDivisionError)
        assert got[1] == 0.5
