"""The displays that are not tested beside the function of the same name."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from gramless import KernelPCA, subspace_distance
from gramless.datasets import annulus, parabola
from gramless.plots import (
    ComponentsDisplay,
    ConvergenceDisplay,
    EmbeddingDisplay,
    ExplainedVarianceDisplay,
    PlanDisplay,
    ReconstructionDisplay,
    SpectrumDisplay,
    SubspaceDistanceDisplay,
    share_bounds,
)


@pytest.fixture(scope="module")
def x():
    return annulus(80, rng=0)


@pytest.fixture(scope="module")
def kpca(x):
    return KernelPCA(6, kernel="rbf", gamma=1.0).fit(x)


@pytest.fixture(scope="module")
def digits():
    return load_digits().data[:150]


@pytest.fixture(scope="module")
def digits_kpca(digits):
    return KernelPCA(12, kernel="rbf", gamma="median").fit(digits)


def colour_and_dashes(lines):
    return {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}


@pytest.mark.parametrize("display", [SpectrumDisplay, ExplainedVarianceDisplay, PlanDisplay])
def test_draws_into_the_axes_given_and_again_elsewhere(kpca, display):
    figure, (left, right) = plt.subplots(1, 2)
    shown = display.from_estimator(kpca, ax=left)
    assert (shown.ax_, shown.figure_) == (left, figure)
    assert shown.plot(right).ax_ is right
    assert plt.get_fignums() == [figure.number]
    assert left.get_xlabel() == right.get_xlabel() != ""


@pytest.mark.parametrize("display", [SpectrumDisplay, ExplainedVarianceDisplay, PlanDisplay])
def test_says_what_a_model_lacks(x, display):
    with pytest.raises(ValueError, match=r"PCA has no .*; pass a fitted"):
        display.from_estimator(PCA(2).fit(x))


def test_components_are_drawn_again_elsewhere(kpca, x):
    shown = ComponentsDisplay.from_estimator(kpca, x, components=[2], resolution=20)
    _, ax = plt.subplots()
    assert shown.plot([ax]).axes_[0].get_title().startswith("component 2 (")


def test_embedding_takes_the_components_named(kpca, x):
    ax = EmbeddingDisplay.from_estimator(kpca, x, components=(5, 3)).ax_
    np.testing.assert_allclose(ax.collections[0].get_offsets(), kpca.transform(x)[:, [4, 2]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("component 5", "component 3")


@pytest.mark.parametrize("components", [(0, 1), (1, 7)])
def test_embedding_refuses_components_that_are_not_there(kpca, x, components):
    with pytest.raises(ValueError, match="they are numbered from 1 to 6"):
        EmbeddingDisplay.from_estimator(kpca, x, components=components)


def test_variance_is_the_running_sum_inside_its_bounds(kpca):
    shares, lower, upper = share_bounds(kpca)
    assert (lower <= shares).all()
    assert (shares <= upper).all()
    ax = ExplainedVarianceDisplay.from_estimator(kpca, thresholds=()).ax_
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), 100 * np.cumsum(kpca.explained_variance_ratio_))


def test_variance_says_how_many_components_reach_a_share(kpca):
    total = np.cumsum(kpca.explained_variance_ratio_)
    ax = ExplainedVarianceDisplay.from_estimator(kpca, thresholds=(float(total[2]) - 1e-9, 0.9999999)).ax_
    assert [text.get_text().partition(" ")[0] for text in ax.texts] == ["3"]


def test_curves_differ_in_more_than_colour(kpca):
    _, ax = plt.subplots()
    for k in (4, 5, 6):
        ExplainedVarianceDisplay.from_estimator(kpca.truncate(k), label=str(k), thresholds=(), ax=ax)
    styles = colour_and_dashes(ax.get_lines())
    assert all(len({style[part] for style in styles}) == 3 for part in range(3))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["4", "5", "6"]


def test_plan_names_every_method_with_its_verdict(kpca):
    ax = PlanDisplay.from_estimator(kpca).ax_
    assert {tick.get_text() for tick in ax.get_yticklabels()} == set(kpca.plan_.candidates)
    verdicts = {row[-1] for row in kpca.plan_.rows()}
    assert len(ax.texts) == len(kpca.plan_.candidates)
    assert all(any(text.get_text().endswith(verdict) for verdict in verdicts) for text in ax.texts)


def test_bars_of_the_plan_end_at_the_estimates(kpca):
    ax = PlanDisplay.from_estimator(kpca).ax_
    able = [estimate.seconds for estimate in kpca.plan_.candidates.values() if not estimate.refusal]
    np.testing.assert_allclose([bar.get_x() + bar.get_width() for bar in ax.patches], sorted(able))


def test_reconstruction_shows_the_rows_and_what_is_left_of_them(digits, digits_kpca):
    shown = ReconstructionDisplay.from_estimator(digits_kpca, digits[:5])
    given, restored = (ax.images[0].get_array().filled(np.nan) for ax in shown.axes_)
    assert given.shape == restored.shape == (8, 5 * 9 - 1)
    np.testing.assert_array_equal(given[:, 9:17], digits[1].reshape(8, 8))
    expected = digits_kpca.denoise(digits[:5], method="fixed_point")
    np.testing.assert_allclose(restored[:, :8], expected[0].reshape(8, 8))


def test_reconstruction_takes_the_method_of_preimages(digits):
    kpca = KernelPCA(12, kernel="poly", degree=2, gamma=1e-3, fit_inverse_transform=True).fit(digits)
    shown = ReconstructionDisplay.from_estimator(kpca, digits[:2])
    np.testing.assert_array_equal(shown.galleries["12 components"], kpca.denoise(digits[:2]))
    shown = ReconstructionDisplay.from_estimator(kpca, digits[:2], method="ridge")
    np.testing.assert_array_equal(shown.galleries["12 components"], kpca.denoise(digits[:2], method="ridge"))


def test_images_need_not_be_square(digits):
    shown = ReconstructionDisplay({"strips": digits[:3]}, shape=(4, 16)).plot()
    assert shown.axes_[0].images[0].get_array().shape == (4, 3 * 17 - 1)


@pytest.mark.parametrize(
    ("galleries", "shape", "message"),
    [
        ({"a": np.zeros((2, 63))}, None, "rows of 63 columns are not square images"),
        ({"a": np.zeros((2, 64))}, (8, 9), "shape=8 x 9 is 72 pixels, but rows have 64 columns"),
        ({"a": np.zeros((2, 64)), "b": np.zeros((3, 64))}, None, "all must show the same images"),
    ],
)
def test_refuses_what_is_no_gallery(galleries, shape, message):
    with pytest.raises(ValueError, match=message):
        ReconstructionDisplay(galleries, shape=shape)


def test_gallery_needs_axes_for_each_row(digits):
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="1 axes given for 2 rows of images"):
        ReconstructionDisplay({"a": digits[:2], "b": digits[:2]}).plot(ax)


def test_convergence_ends_where_the_fit_does(x):
    model = KernelPCA(4, kernel="rbf", gamma=1.0, method="tiled", tol=1e-8)
    shown = ConvergenceDisplay.from_estimator(model, x)
    assert shown.passes[-1] <= model.fit(x).passes_
    assert shown.residuals[-1] <= shown.tol
    assert shown.ax_.get_yscale() == "log"
    assert [text.get_text() for text in shown.ax_.texts] == [f"tol {shown.tol:.0e}"]


def test_convergence_says_what_to_pass_where_nothing_is_told(x):
    with pytest.raises(ValueError, match=r"method='dense' .* does not report residuals; pass .*method='tiled'"):
        ConvergenceDisplay.from_estimator(KernelPCA(2, kernel="rbf", method="dense"), x)


def test_distance_of_a_stream_from_all_its_rows():
    rows = parabola(120, rng=0)
    model = KernelPCA(5, kernel="rbf", gamma="median")
    shown = SubspaceDistanceDisplay.from_estimator(model, rows, batch=50, components=2)
    assert shown.positions == [50, 100, 120]
    kernel = model.fit(rows).plan_.problem.kernel
    first = KernelPCA(5, kernel=kernel).partial_fit(rows[:50])
    assert shown.distances[0] == pytest.approx(subspace_distance(first.truncate(2), model.truncate(2)))
    assert shown.distances[-1] < 1e-4 < shown.distances[0]


def test_distance_of_two_models_by_components(x):
    models = [KernelPCA(3, kernel="rbf", gamma=1.0).fit(part) for part in (x, x[:40])]
    shown = SubspaceDistanceDisplay.from_estimators(*models, label="half of the rows")
    expected = [subspace_distance(models[0].truncate(k), models[1].truncate(k)) for k in (1, 2, 3)]
    np.testing.assert_allclose(shown.ax_.get_lines()[0].get_ydata(), expected)
    assert shown.ax_.get_ylim()[0] == 0
