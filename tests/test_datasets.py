import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from gramless.datasets import annulus, parabola, resampled_digits, three_clusters

MAKERS = {
    "annulus": annulus,
    "parabola": parabola,
    "three_clusters": lambda n, rng: three_clusters(n, rng=rng)[0],
    "resampled_digits": resampled_digits,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
class TestEverySet:
    def test_a_row_for_each_point(self, make):
        assert [make(n, rng=0).shape[0] for n in (1, 2, 50)] == [1, 2, 50]

    def test_same_seed_same_points(self, make):
        np.testing.assert_array_equal(make(20, rng=3), make(20, rng=np.random.default_rng(3)))
        assert not np.array_equal(make(20, rng=3), make(20, rng=4))

    def test_a_generator_moves_on(self, make):
        rng = np.random.default_rng(0)
        assert not np.array_equal(make(20, rng=rng), make(20, rng=rng))

    def test_refuses_an_empty_set(self, make):
        with pytest.raises(ValueError, match="n=0 is invalid; pass at least 1"):
            make(0, rng=0)


@given(inner=st.floats(0, 10), width=st.floats(0.01, 10), n=st.integers(1, 50))
def test_annulus_lies_between_its_circles(inner, width, n):
    outer = inner + width
    radius = np.linalg.norm(annulus(n, inner=inner, outer=outer, rng=0), axis=1)
    assert (radius >= inner * (1 - 1e-12)).all()
    assert (radius <= outer * (1 + 1e-12)).all()


def test_annulus_is_uniform_in_area():
    """Half of the area lies within radius sqrt((inner^2 + outer^2) / 2)."""
    radius = np.linalg.norm(annulus(10_000, inner=0.5, outer=1.0, rng=0), axis=1)
    assert np.mean(radius**2 < (0.5**2 + 1.0**2) / 2) == pytest.approx(0.5, abs=0.025)


@pytest.mark.parametrize(("inner", "outer"), [(1.0, 1.0), (2.0, 1.0), (-0.1, 1.0)])
def test_annulus_refuses_radii_out_of_order(inner, outer):
    with pytest.raises(ValueError, match="needs 0 <= inner < outer"):
        annulus(5, inner=inner, outer=outer)


def test_parabola_has_the_noise_it_was_asked_for():
    x, y = parabola(10_000, noise=0.2, rng=0).T
    assert x.min() >= -1
    assert x.max() <= 1
    assert np.std(y - x**2) == pytest.approx(0.2, rel=0.05)
    assert np.mean(y - x**2) == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("make", [parabola, three_clusters, resampled_digits])
def test_noise_is_a_deviation(make):
    with pytest.raises(ValueError, match=r"noise=-1\.0 must not be negative"):
        make(5, noise=-1.0)


@given(n=st.integers(3, 100))
def test_three_clusters_are_of_one_size(n):
    _, cluster = three_clusters(n, rng=0)
    sizes = np.bincount(cluster)
    assert len(sizes) == 3
    assert sizes.sum() == n
    assert np.ptp(sizes) <= 1


def test_three_clusters_have_deviation_a_tenth():
    x, cluster = three_clusters(9000, rng=0)
    for label in range(3):
        np.testing.assert_allclose(x[cluster == label].std(axis=0), 0.1, rtol=0.05)


def test_digits_without_noise_are_digits():
    originals = {row.tobytes() for row in load_digits().data}
    assert all(row.tobytes() in originals for row in resampled_digits(200, noise=0.0, rng=0))


def test_digits_with_noise_are_all_different():
    rows = resampled_digits(4000, rng=0)
    assert rows.shape == (4000, 64)
    assert len(np.unique(rows, axis=0)) == 4000
