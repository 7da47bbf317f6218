import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.decomposition import PCA

from gramless import KernelPCA
from gramless.datasets import annulus
from gramless.plots import plot_components


@pytest.fixture(scope="module")
def x():
    return annulus(60, rng=0)


@pytest.fixture(scope="module")
def kpca(x):
    return KernelPCA(5, kernel="rbf", gamma=1.0).fit(x)


def test_one_panel_for_each_component(kpca, x):
    axes = plot_components(kpca, x, resolution=20)
    assert len(axes) == 5
    assert [ax.get_title().split(" (")[0] for ax in axes] == [f"component {j}" for j in range(1, 6)]


def test_components_count_from_one(kpca, x):
    (ax,) = plot_components(kpca, x, components=[5], resolution=20)
    share = 100 * kpca.explained_variance_ratio_[4]
    assert ax.get_title() == f"component 5 ({share:.2g} %)"


def test_axes_are_labelled_and_of_equal_scale(kpca, x):
    (ax,) = plot_components(kpca, x, components=[1], resolution=20)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_aspect()) == ("$x_1$", "$x_2$", 1.0)


def test_all_data_is_shown_inside_the_panel(kpca, x):
    (ax,) = plot_components(kpca, x, components=[1], resolution=20)
    drawn = ax.lines[0].get_xydata()
    np.testing.assert_array_equal(drawn, x)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    assert left < x[:, 0].min()
    assert right > x[:, 0].max()
    assert low < x[:, 1].min()
    assert high > x[:, 1].max()


def test_draws_into_given_axes(kpca, x):
    figure, given = plt.subplots(1, 2)
    returned = plot_components(kpca, x, components=[1, 2], axes=given, resolution=20)
    assert list(returned) == list(given)
    assert plt.get_fignums() == [figure.number]


def test_draws_models_of_scikit_learn(x):
    axes = plot_components(PCA(2).fit(x), x, resolution=20)
    assert len(axes) == 2


@pytest.mark.parametrize("shape", [(10,), (10, 1), (10, 3)])
def test_needs_two_columns(kpca, shape):
    with pytest.raises(ValueError, match="need exactly two columns"):
        plot_components(kpca, np.zeros(shape))


@pytest.mark.parametrize("number", [0, 6, -1])
def test_refuses_components_that_are_not_there(kpca, x, number):
    with pytest.raises(ValueError, match="they are numbered from 1, and this model has 5"):
        plot_components(kpca, x, components=[number], resolution=20)


def test_refuses_the_wrong_number_of_axes(kpca, x):
    _, given = plt.subplots(1, 2)
    with pytest.raises(ValueError, match="2 axes given for 3 components"):
        plot_components(kpca, x, components=[1, 2, 3], axes=given, resolution=20)


def test_aspect_can_be_chosen(kpca, x):
    for aspect, expected in (("auto", "auto"), (2.5, 2.5)):
        (ax,) = plot_components(kpca, x, components=[1], resolution=20, aspect=aspect)
        assert ax.get_aspect() == expected
    with pytest.raises(ValueError, match="aspect=-1 given; pass 'equal', 'auto' or a positive number"):
        plot_components(kpca, x, components=[1], resolution=20, aspect=-1)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["longitude", "latitude"], 2.0),
        (["pickup_lon", "pickup_lat"], 2.0),
        (["Lat", "Lng"], 0.5),
        (["a", "b"], 1.0),
        (["lon", "depth"], 1.0),
        (["longing", "latency"], 1.0),
    ],
)
def test_degrees_are_drawn_as_on_a_map(names, expected):
    pandas = pytest.importorskip("pandas")
    points = np.random.default_rng(0).uniform([-3, 58], [3, 62], size=(40, 2))
    points[:2] = [[-3, 58], [3, 62]]  # middle latitude 60
    frame = pandas.DataFrame(points if names[1].lower() != "lng" else points[:, ::-1], columns=names)
    (ax,) = plot_components(PCA(1).fit(frame.to_numpy()), frame, resolution=10)
    assert ax.get_aspect() == pytest.approx(expected)
    assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(names)


def test_columns_of_other_units_each_have_their_margin(x):
    points = x * [1.0, 1e4]
    (ax,) = plot_components(PCA(1).fit(points), points, resolution=10, aspect="auto")
    assert np.ptp(ax.get_xlim()) == pytest.approx(1.24 * np.ptp(x[:, 0]))
