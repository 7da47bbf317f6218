import numpy as np
import pytest
from sklearn.decomposition import PCA

from gramless import KernelPCA
from gramless.datasets import annulus
from gramless.kernels import Polynomial
from gramless.plots import plot_spectrum


@pytest.fixture(scope="module")
def kpca():
    return KernelPCA(6, kernel="rbf", gamma=1.0).fit(annulus(60, rng=0))


def bars(ax):
    """The twin axis that shows shares of variance."""
    (twin,) = (other for other in ax.figure.axes if other is not ax)
    return [patch.get_height() for patch in twin.patches]


def test_shows_eigenvalues_in_their_intervals(kpca):
    ax = plot_spectrum(kpca)
    points, _, (intervals,) = ax.containers[0]
    np.testing.assert_allclose(points.get_ydata(), kpca.eigenvalues_)
    ends = np.array(intervals.get_segments())[:, :, 1]
    np.testing.assert_allclose(ends[:, 0], kpca.certificate_.lower)
    np.testing.assert_allclose(ends[:, 1], kpca.certificate_.upper)


def test_bars_add_up_to_the_share_explained(kpca):
    np.testing.assert_allclose(bars(plot_spectrum(kpca)), 100 * np.cumsum(kpca.explained_variance_ratio_))


def test_all_components_explain_everything():
    kpca = KernelPCA(kernel=Polynomial(2, c=0.0)).fit(annulus(60, rng=0))
    assert bars(plot_spectrum(kpca))[-1] == pytest.approx(100)


def test_eigenvalue_zero_has_no_logarithm():
    kpca = KernelPCA(4, kernel=Polynomial(1)).fit(annulus(60, rng=0))
    assert kpca.eigenvalues_[-1] == 0
    assert plot_spectrum(kpca).get_yscale() == "linear"


def test_needs_a_certificate():
    with pytest.raises(ValueError, match=r"PCA has no certificate_; pass a fitted gramless\.KernelPCA"):
        plot_spectrum(PCA(2).fit(annulus(60, rng=0)))
