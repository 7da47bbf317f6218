import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse

from gramless import KernelKMeans, KernelPCA
from gramless.datasets import annulus
from gramless.report import build_report, write_report
from gramless.report.compression import compression_figure
from gramless.report.contours import contour_figure
from gramless.report.images import reconstructions
from gramless.report.sample import draw_sample
from gramless.report.spectrum import spectrum_figure, variance_figure

pytest.importorskip("plotly", reason="reports need plotly")

HOSTILE = '</script><script>window.broken = 1</script><img src=x onerror="window.broken = 1">'


class Reader(HTMLParser):
    """Ids, headings and table cells of a page."""

    def __init__(self, page):
        super().__init__()
        self.ids, self.tags, self.cells, self.text = set(), [], [], ""
        self._within = None
        self.data = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        self.ids.add(attributes.get("id"))
        self._within = attributes.get("id") or tag
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data):
        if self._within == "embedding-data":
            self.data += data
        elif self._within == "td":
            self.cells[-1] += data
        elif self._within not in ("script", "style"):
            self.text += data

    def handle_endtag(self, tag):
        self._within = None

    @property
    def payload(self):
        return json.loads(self.data)


@pytest.fixture(scope="module")
def plane():
    x = annulus(120, rng=0)
    return x, KernelPCA(4, kernel="rbf", gamma=1.0).fit(x)


@pytest.fixture(scope="module")
def plane_page(plane):
    x, model = plane
    return Reader(build_report(model, x, labels=np.where(x[:, 0] > 0, "right", "left"), label="side", title="A <ring>"))


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    x = np.abs(rng.normal(size=(60, 3)) @ rng.normal(size=(3, 16)))
    return x, KernelPCA(9, kernel="rbf", gamma="median").fit(x)


def test_has_every_part(plane_page):
    assert {"embedding", "components", "spectrum", "influence", "plan", "certificate"} <= plane_page.ids
    assert {"embedding-2d", "embedding-3d", "contour-plot", "spectrum-plot", "variance-plot"} <= plane_page.ids
    assert "A <ring>" in plane_page.text


def test_components_are_numbered_in_whole_steps(plane):
    _, model = plane
    k = len(model.eigenvalues_)
    for figure in (spectrum_figure(model), variance_figure(model)):
        assert (figure.layout.xaxis.tick0, figure.layout.xaxis.dtick) == (0, 1)
        assert figure.layout.xaxis.range == (0.4, k + 0.6)
    many = spectrum_figure(KernelPCA(30, kernel="rbf", gamma=1.0).fit(annulus(60, rng=0))).layout
    assert (many.xaxis.tick0, many.xaxis.dtick, many.xaxis2.dtick) == (0, 5, 5)


def test_tables_are_those_of_the_model(plane, plane_page):
    _, model = plane
    wanted = [cell for row in (*model.plan_.rows(), *model.certificate_.rows()) for cell in row]
    assert plane_page.cells == wanted


def test_points_are_the_scores_of_the_rows(plane, plane_page):
    x, model = plane
    payload = plane_page.payload
    scores = model.transform(x)
    assert payload["rows"] == list(range(len(x)))
    np.testing.assert_allclose(np.transpose(payload["scores"]), scores, atol=1e-5 * np.abs(scores).max())
    np.testing.assert_allclose(payload["columns"][1]["values"], x[:, 1], atol=1e-5)


def test_classes_follow_the_labels(plane, plane_page):
    classes = plane_page.payload["classes"]
    assert (classes["title"], classes["names"]) == ("side", ["left", "right"])
    assert classes["codes"] == (plane[0][:, 0] > 0).astype(int).tolist()


def test_the_page_names_no_other_place(plane_page):
    fetched = [attributes for _, attributes in plane_page.tags if {"src", "srcset", "data"} & set(attributes)]
    assert fetched == []
    assert all(attributes["href"].startswith("#") for tag, attributes in plane_page.tags if tag == "a")
    assert not any(tag == "link" for tag, _ in plane_page.tags)


def test_numbers_of_many_values_are_a_column_to_colour_by(plane):
    x, model = plane
    payload = Reader(build_report(model, x, labels=x[:, 0] ** 2, label="height")).payload
    assert payload["classes"] is None
    assert payload["columns"][0]["name"] == "height"
    assert payload["continuous"]


def test_missing_labels_are_told(plane):
    x, model = plane
    labels = np.where(x[:, 0] > 0, x[:, 1], np.nan)
    values = Reader(build_report(model, x, labels=labels)).payload["columns"][0]["values"]
    assert [value is None for value in values] == np.isnan(labels).tolist()
    names = np.where(x[:, 0] > 0, "right", "")
    classes = Reader(build_report(model, x, labels=names)).payload["classes"]
    assert (classes["names"], classes["grey"]) == (["right", "missing"], [False, True])
    assert classes["codes"] == (x[:, 0] <= 0).astype(int).tolist()


def test_a_class_looks_the_same_in_every_figure(plane):
    x, model = plane
    labels = np.array(["left", "middle", "right"])[np.digitize(x[:, 0], [-0.5, 0.5])]
    classes = Reader(build_report(model, x, labels=labels)).payload["classes"]
    contours = contour_figure(model, draw_sample(x, labels))
    for name, color, marker in zip(classes["names"], classes["colors"], classes["markers"], strict=True):
        drawn = [trace.marker for trace in contours.data if trace.name == name]
        assert len(drawn) == 4  # in the panel of each component
        assert {(one.color, one.symbol) for one in drawn} == {(color, marker)}


def test_a_class_looks_the_same_whatever_rows_are_drawn():
    x = np.random.default_rng(0).normal(size=(500, 2))
    labels = np.repeat(["often", "rarely", "sometimes"], [300, 2, 198])
    looks = {style.name: style for style in draw_sample(x, labels, count=500).coloring.classes}
    few = draw_sample(x, labels, count=10).coloring
    assert "rarely" not in {few.classes[code].name for code in few.values}
    assert {style.name: style for style in few.classes} == looks


@pytest.mark.parametrize(
    ("names", "factors", "aspect", "equal"),
    [(["a", "b"], [1, 1], 1.0, True), (["lon", "lat"], [1, 1], 2.0, True), (["age", "pay"], [1, 1000], 1.0, False)],
)
def test_contours_know_whether_scales_are_equal(plane, names, factors, aspect, equal):
    x, model = plane
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame((x - x.min(axis=0)) * factors, columns=names)
    if aspect == 2.0:
        frame["lat"] += 60 - frame["lat"].max() / 2
    meta = contour_figure(model, draw_sample(frame)).layout.meta
    assert (meta["aspect"], meta["equal"]) == (pytest.approx(aspect), equal)


def test_too_many_classes_are_gathered(plane):
    x, model = plane
    labels = [f"class {j % 50}" for j in range(len(x))]
    classes = Reader(build_report(model, x, labels=labels)).payload["classes"]
    assert len(classes["names"]) == 31
    assert classes["names"][-1] == "20 others"


def test_user_text_is_never_markup(plane):
    x, _ = plane
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(x, columns=[HOSTILE, "b"])
    named = KernelPCA(3, kernel="rbf", gamma=1.0).fit(frame)
    page = build_report(named, frame, labels=[HOSTILE] * len(x), label=HOSTILE, title=HOSTILE)
    assert "<img src=x" not in page
    assert "</script><script>window" not in page
    assert HOSTILE in Reader(page).text


def test_images_are_shown_with_what_is_left_of_them(images):
    page = Reader(build_report(images[1], images[0]))
    assert "image-plot" in page.ids
    assert "components" not in page.ids


def test_images_of_every_label_are_shown(images):
    x, model = images
    sample = draw_sample(x, np.where(np.arange(60) < 57, "often", np.arange(60).astype(str)), count=60)
    given = reconstructions(model, sample)["given"]
    assert given.shape == (10, 16)
    shown = {tuple(row) for row in given}
    assert {tuple(row) for row in x[57:]} <= shown  # each of the three labels that a single row has
    assert len(shown) == 10


def test_columns_with_names_are_no_pixels(images):
    x, _ = images
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(x, columns=[f"measure {j}" for j in range(16)])
    model = KernelPCA(3, kernel="rbf", gamma="median").fit(frame)
    assert "image-plot" not in Reader(build_report(model, frame)).ids
    assert "image-plot" in Reader(build_report(model, frame, shape=(2, 8))).ids


def test_models_without_preimages_say_so(images):
    x, _ = images
    page = Reader(build_report(KernelPCA(3, kernel="rbf", gamma=0.1).fit(scipy.sparse.csr_array(x)), x))
    assert "No images: pre-images are dense" in page.text


def test_one_component_has_no_embedding(plane):
    x, model = plane
    assert "embedding-2d" not in Reader(build_report(model.truncate(1), x)).ids


def test_large_data_are_sampled(plane):
    x, model = plane
    page = Reader(build_report(model, np.tile(x, (100, 1)), points=50))
    assert len(page.payload["rows"]) == 50
    assert "50 of 12,000 rows" in page.text


def test_sample_is_without_replacement_and_knows_its_rows():
    x = np.arange(40_000.0).reshape(20_000, 2)
    sample = draw_sample(x, np.arange(20_000) % 7, count=100)
    assert len(np.unique(sample.numbers)) == 100
    np.testing.assert_array_equal(sample.rows, x[sample.numbers])
    np.testing.assert_array_equal(sample.coloring.values, sample.numbers % 7)
    assert sample.numbers.max() > 15_000 > 5_000 > sample.numbers.min()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": [1, 2]}, r"labels of shape \(2,\) given for 120 rows"),
        ({"X": np.zeros((5, 3))}, "3 columns, but the model was fitted to 2"),
        ({"shape": (3, 3)}, "shape=3 x 3 is 9 pixels, but rows have 2 columns"),
        ({"model": KernelKMeans(2)}, "a report needs a fitted KernelPCA, not KernelKMeans"),
    ],
)
def test_refuses_what_does_not_fit(plane, change, message):
    x, model = plane
    given = {"model": model, "X": x, **change}
    with pytest.raises(ValueError, match=message):
        build_report(given.pop("model"), given.pop("X"), **given)


def test_a_failure_leaves_the_old_file(plane, tmp_path):
    x, model = plane
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="labels"):
        write_report(model, x, path, labels=[0])
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    write_report(model, x, path)
    assert re.match("<!doctype html>", path.read_text(encoding="utf-8"))


def test_the_report_of_a_compressed_model_has_its_curve(plane):
    x, model = plane
    assert "compression" not in Reader(build_report(model, x)).ids
    small = KernelPCA(4, kernel="rbf", gamma=1.0, method="dense").fit(x).compressed(n_points=30)
    page = Reader(build_report(small, x))
    assert {"compression", "compression-plot"} <= page.ids
    assert "120 points reduced to 30" in page.text
    figure = compression_figure(small.compression_)
    np.testing.assert_array_equal(figure.data[0].x, small.compression_.curve_points)
    np.testing.assert_array_equal(figure.data[1].y, small.compression_.curve_bound)
