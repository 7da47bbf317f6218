"""The toy figures of the sources, as statements.

Fasel, kernel PCA lecture, slides 26 and 27, after Schölkopf, Smola & Müller, figures 2 and 3; Raykar & Ankur, figures
1 and 2.
"""

from math import comb

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.decomposition import PCA

from gramless import KernelPCA
from gramless.datasets import annulus, parabola, three_clusters
from gramless.kernels import Gaussian, Polynomial

SEEDS = range(3)


def correlation(a, b):
    return abs(np.corrcoef(a, b)[0, 1])


def rank_correlation(a, b):
    return abs(spearmanr(a, b).statistic)


@pytest.mark.parametrize("seed", SEEDS)
class TestParabola:
    """Slide 26: a parabola with Gaussian noise, polynomial kernels of degree 1 to 4."""

    @pytest.mark.parametrize("c", [0.0, 1.0])
    def test_degree_one_is_linear_pca_with_two_components(self, seed, c):
        x = parabola(100, rng=seed)
        kpca, pca = KernelPCA(kernel=Polynomial(1, c=c)).fit(x), PCA().fit(x)
        assert len(kpca.eigenvalues_) == 2
        np.testing.assert_allclose(kpca.eigenvalues_, pca.singular_values_**2)
        np.testing.assert_allclose(kpca.explained_variance_ratio_, pca.explained_variance_ratio_)
        np.testing.assert_allclose(np.abs(kpca.transform(x)), np.abs(pca.transform(x)), atol=1e-10)

    @pytest.mark.parametrize("degree", [1, 2, 3, 4])
    def test_a_component_for_each_monomial_of_the_degree(self, seed, degree):
        """(x.y)^p in two variables has p + 1 monomials: slide 26 has its third row from degree 2 on."""
        kpca = KernelPCA(kernel=Polynomial(degree, c=0.0)).fit(parabola(100, rng=seed))
        assert len(kpca.eigenvalues_) == degree + 1

    @pytest.mark.parametrize("degree", [1, 2, 3, 4])
    def test_a_constant_brings_the_lower_degrees(self, seed, degree):
        """(x.y + 1)^p has C(p + 2, 2) monomials, the constant one of which centring removes: 2, 5, 9, 14."""
        kpca = KernelPCA(kernel=Polynomial(degree, c=1.0)).fit(parabola(100, rng=seed))
        assert len(kpca.eigenvalues_) == comb(degree + 2, 2) - 1

    @pytest.mark.parametrize("degree", [2, 3, 4])
    def test_first_component_runs_along_the_parabola_second_up_its_arms(self, seed, degree):
        x = parabola(100, rng=seed)
        first, second = KernelPCA(2, kernel=Polynomial(degree, c=0.0)).fit_transform(x).T
        assert rank_correlation(first, x[:, 0]) > 0.85
        assert rank_correlation(second, np.abs(x[:, 0])) > 0.75

    def test_degree_two_is_pca_of_the_monomials(self, seed):
        """The map of Fasel's eq. 3: (x1^2, x2^2, x1 x2, x2 x1)."""
        x = parabola(100, rng=seed)
        monomials = np.column_stack([x[:, 0] ** 2, x[:, 1] ** 2, x[:, 0] * x[:, 1], x[:, 1] * x[:, 0]])
        kpca = KernelPCA(3, kernel=Polynomial(2, c=0.0)).fit(x)
        scores = PCA(3).fit_transform(monomials)
        np.testing.assert_allclose(np.abs(kpca.transform(x)), np.abs(scores), atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
class TestThreeClusters:
    """Slide 27: three clusters of deviation 0.1 and the kernel exp(-|x - y|^2 / 0.1)."""

    @pytest.fixture
    def data(self, seed):
        x, cluster = three_clusters(90, rng=seed)
        return cluster, KernelPCA(8, kernel=Gaussian.from_width(0.1)).fit(x).transform(x)

    def test_first_two_components_separate_the_clusters(self, data):
        cluster, scores = data
        plane = scores[:, :2]
        centers = np.array([plane[cluster == label].mean(axis=0) for label in range(3)])
        distances = np.linalg.norm(plane[:, None] - centers, axis=2)
        np.testing.assert_array_equal(distances.argmin(axis=1), cluster)
        assert distances.min(axis=1).max() < 0.5 * np.linalg.norm(centers[0] - centers[1])

    def test_first_two_vary_between_clusters_and_the_others_within(self, data):
        cluster, scores = data
        for j, component in enumerate(scores.T):
            means = np.array([component[cluster == label].mean() for label in range(3)])
            between = np.mean(means[cluster] ** 2) / np.mean(component**2)
            assert between > 0.9 if j < 2 else between < 0.1

    def test_two_components_stand_out(self, seed):
        x, _ = three_clusters(90, rng=seed)
        values = KernelPCA(3, kernel=Gaussian.from_width(0.1)).fit(x).eigenvalues_
        assert values[1] > 0.5 * values[0]
        assert values[2] < 0.5 * values[1]


@pytest.mark.parametrize("seed", SEEDS)
class TestAnnulus:
    """Raykar & Ankur, section 5: the natural axes of an annulus are one along it and one across."""

    SIGMA = 0.8

    def test_pca_has_two_components_and_neither_knows_the_radius(self, seed):
        x = annulus(400, rng=seed)
        scores = PCA().fit_transform(x)
        assert scores.shape[1] == 2
        assert max(correlation(np.linalg.norm(x, axis=1), column) for column in scores.T) < 0.3

    def test_kernel_pca_has_more_components_than_the_plane_has_dimensions(self, seed):
        """Up to one for each point; how many exceed rounding is a matter of the width."""
        x = annulus(40, rng=seed)
        assert len(KernelPCA(kernel=Gaussian(0.2)).fit(x).eigenvalues_) == 39

    def test_component_five_is_the_radius(self, seed):
        x = annulus(400, rng=seed)
        radius = np.linalg.norm(x, axis=1)
        scores = KernelPCA(6, kernel=Gaussian(self.SIGMA)).fit_transform(x)
        found = [correlation(radius, column) for column in scores.T]
        assert np.argmax(found) == 4
        assert found[4] > 0.95
        assert found[4] > 3 * max(correlation(radius, column) for column in PCA().fit_transform(x).T)

    @pytest.mark.parametrize(("components", "turns"), [((1, 2), 1), ((3, 4), 2)])
    def test_components_before_it_are_waves_round_the_ring(self, seed, components, turns):
        x = annulus(400, rng=seed)
        angle = np.arctan2(x[:, 1], x[:, 0])
        waves = np.column_stack([np.cos(turns * angle), np.sin(turns * angle), np.ones(len(x))])
        scores = KernelPCA(4, kernel=Gaussian(self.SIGMA)).fit_transform(x)
        for number in components:
            column = scores[:, number - 1]
            misfit = column - waves @ np.linalg.lstsq(waves, column, rcond=None)[0]
            assert np.var(misfit) < 0.15 * np.var(column)
