"""Inputs that broke something once: each now gets a right answer within its certificate, or an error that says why."""

import numpy as np
import pytest
import scipy.sparse
from extended import WIDE, centered_gram, eigenvalues, missed

from gramless import IndefiniteKernelWarning, KernelPCA, UncertifiedWarning
from gramless import kernels as k

METHODS = ["dense", "tiled"]


def rows(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("method", ["covariance", "svd", "monomials"])
def test_eigenvectors_far_from_the_origin_are_as_near_as_certified(method):
    """The mean is rounded: a shift of all scores alike, of 1e-6 beside them."""
    x = 1000 + 1e-6 * rows(9, 1)
    moved = x[:, 0].astype(WIDE) - x[0, 0]
    truth = (moved - moved.mean()) / np.linalg.norm((moved - moved.mean()).astype(float))
    model = KernelPCA(1, method=method).fit(x)
    found = model.eigenvectors_[:, 0]
    apart = min(np.linalg.norm((found - sign * truth).astype(float)) for sign in (1, -1))
    assert apart <= model.certificate_.angle[0] + 1e-15
    np.testing.assert_allclose(model.transform(x)[:, 0], found * np.sqrt(model.eigenvalues_[0]), atol=1e-12)


def overlap(x, y):
    return float(np.exp(-np.abs(x - y).sum()))


@pytest.mark.parametrize("method", METHODS)
def test_one_leading_eigenvalue_many_times_over(method):
    model = KernelPCA(3, kernel="precomputed", method=method).fit(np.eye(300))
    np.testing.assert_allclose(model.eigenvalues_, 1)
    narrow = KernelPCA(1, kernel="rbf", gamma=5e11, method=method)
    assert narrow.fit(rows(50, 2)).eigenvalues_[0] == pytest.approx(1)


@pytest.mark.parametrize("method", ["auto", "dense", "tiled", "covariance", "svd"])
def test_squares_that_underflow_are_refused(method):
    with pytest.raises(ValueError, match=r"too small to square.*rescale"):
        KernelPCA(3, method=method).fit(rows(600, 5) * 1e-100)


@pytest.mark.parametrize("weight", [1e-165, 1e-305, 1e120, 1e307])
@pytest.mark.parametrize("method", ["auto", "tiled", "landmarks", "fourier", "taylor", "sparse"])
def test_weights_out_of_range_are_refused(weight, method):
    model = KernelPCA(3, kernel=k.Gaussian(1.5), method=method)
    with pytest.raises(ValueError, match=r"sample_weight sums to.*too (small|large).*divide it"):
        model.fit(rows(60, 2), sample_weight=np.full(60, weight))


def test_weights_out_of_range_in_a_source_are_refused():
    x = np.column_stack([rows(60, 2), np.full(60, 1e200)])
    with pytest.raises(ValueError, match=r"sample_weight sums to.*divide it"):
        KernelPCA(3, kernel="rbf").fit(iter([x[:30, :2], x[30:, :2]]), sample_weight=x[:, 2])


def test_small_but_possible_scales_are_right():
    x = rows(60, 3)
    gram = k.Gaussian(1.0)(x)
    exact = KernelPCA(3, kernel="precomputed").fit(gram).eigenvalues_
    for method in METHODS:
        scaled = KernelPCA(3, kernel="precomputed", method=method).fit(gram * 1e-130)
        np.testing.assert_allclose(scaled.eigenvalues_ / 1e-130, exact, rtol=1e-9)


def test_a_draft_that_would_overflow_is_not_made():
    x = rows(600, 3) * 1e5
    small = KernelPCA(1, kernel=k.Polynomial(4, 1.0), method="tiled", memory_limit="35MB").fit(x)
    large = KernelPCA(1, kernel=k.Polynomial(4, 1.0), method="tiled").fit(x)
    np.testing.assert_allclose(small.eigenvalues_, large.eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("method", ["covariance", "svd"])
@pytest.mark.parametrize(("offset", "spread"), [(1e8, 1e-3), (1e8, 1.0), (1e5, 1e-9)])
def test_linear_forms_far_from_the_origin(method, offset, spread):
    x = offset + spread * rows(30, 3)
    wide = x.astype(WIDE)
    moved = wide - wide.mean(axis=0)
    moved -= moved.mean(axis=0)
    truth = eigenvalues(moved.T @ moved)
    model = KernelPCA(3, method=method).fit(x)
    slack = 1e-15 * truth[0]
    assert (model.certificate_.lower <= truth + slack).all()
    assert (truth - slack <= model.certificate_.upper).all()
    np.testing.assert_allclose(model.eigenvalues_, truth.astype(float), rtol=1e-10)
    two = KernelPCA(2, method=method).fit(x)
    assert two.reconstruction_error(x).sum() == pytest.approx(float(truth[2]), rel=1e-6)
    np.testing.assert_allclose(two.transform(x), two.fit_transform(x), atol=1e-9 * spread)


@pytest.mark.parametrize(
    "kernel", [2.0 * k.FromCallable(overlap), k.FromCallable(overlap) * k.Gaussian(1.0)], ids=["scaled", "product"]
)
def test_combinations_with_a_callable(kernel):
    x = rows(40, 2)
    truth = eigenvalues(centered_gram(kernel(x), np.ones(40)))[:5]
    model = KernelPCA(5, kernel=kernel).fit(x)
    np.testing.assert_allclose(model.eigenvalues_, truth.astype(float), rtol=1e-9)
    assert np.isfinite(model.certificate_.upper).all()


@pytest.mark.parametrize("outlier", [1e7, 3e7, 1e12])
@pytest.mark.parametrize("method", METHODS)
def test_one_outlier_costs_the_certificate_and_says_so_but_not_the_answer(outlier, method):
    x = rows(300, 2)
    x[0] = outlier
    with pytest.warns(UncertifiedWarning, match="outlier"):
        model = KernelPCA(3, kernel=k.Gaussian(1.0), method=method).fit(x)
    truth = np.linalg.eigvalsh(centered_gram(k.Gaussian(1.0)(x), np.ones(300)).astype(float))[::-1][:3]
    if outlier < 1e9:
        np.testing.assert_allclose(model.eigenvalues_, truth, rtol=0.1)
    assert (model.certificate_.lower <= truth).all()
    assert (truth <= model.certificate_.upper).all()


@pytest.mark.parametrize("method", METHODS)
def test_very_narrow_kernels(method):
    with pytest.warns(UncertifiedWarning):
        model = KernelPCA(3, kernel=k.Gaussian(1e-7), method=method).fit(rows(300, 2))
    np.testing.assert_allclose(model.eigenvalues_, 1, rtol=1e-6)


def test_matern_far_away_is_zero():
    np.testing.assert_array_equal(k.Matern(30.0, 1e-10)(rows(20, 2)), np.eye(20))
    np.testing.assert_array_equal(k.Matern(7.3, 1e-43)(rows(20, 2)), np.eye(20))


def test_a_matrix_symmetric_only_to_rounding_is_one_matrix_to_all_methods():
    rng = np.random.default_rng(0)
    gram, noise = k.Gaussian(2.0)(rows(600, 4)), rng.normal(size=(600, 600))
    gram = gram + 4.9e-9 * np.sign(noise - noise.T)
    certificates = [KernelPCA(2, kernel="precomputed", method=method).fit(gram).certificate_ for method in METHODS]
    assert (certificates[0].lower <= certificates[1].upper).all()
    assert (certificates[1].lower <= certificates[0].upper).all()


def test_a_matrix_of_float32_symmetric_only_to_rounding_has_the_eigenvalues_of_its_mean():
    gram = (k.Gaussian(1.0)(rows(40, 3)) + 3e-6 * rows(40, 40, 1)).astype(np.float32)
    for method in METHODS:
        certificate = KernelPCA(5, kernel="precomputed", method=method).fit(gram).certificate_
        assert not missed(certificate, k.Precomputed(), gram, np.ones(40)).any()
        assert (certificate.width < 1e-9).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, None, "1", 1j, np.ones(2)], ids=str)
def test_a_function_that_returns_no_number_is_told_so(value):
    with pytest.raises(ValueError, match=r"the kernel function returned .*; it must return a finite number"):
        KernelPCA(2, kernel=lambda a, b: value).fit(rows(9, 2))


def test_center_input_in_float32_loses_nothing():
    x = (rows(300, 3) + 0.3).astype(np.float32)
    wide = x.astype(WIDE)
    moved = wide - wide.mean(axis=0)
    truth = eigenvalues(moved.T @ moved)
    certificate = KernelPCA(3, center_input=True, method="svd").fit(x).certificate_
    assert (certificate.lower <= truth).all()
    assert (truth <= certificate.upper).all()


def test_a_form_that_may_be_indefinite_is_not_taken_for_semidefinite():
    assert k.QuadraticForm(np.diag([1, -1e-16])).mercer is None
    assert k.QuadraticForm(np.diag([1, -1e-3])).mercer is False
    assert k.QuadraticForm(np.diag([1, 0.0])).mercer is True


@pytest.mark.filterwarnings("ignore::gramless.UncertifiedWarning")
@pytest.mark.parametrize("sigma", [1e3, 1e5, 3e7])
@pytest.mark.parametrize("memory_limit", [None, "36MB"])
def test_wide_kernels_do_not_iterate_on_rounding(sigma, memory_limit):
    model = KernelPCA(3, kernel=k.Gaussian(sigma), method="tiled", memory_limit=memory_limit).fit(rows(1200, 3))
    assert model.passes_ < 40


def test_almost_all_of_the_variance_ends():
    model = KernelPCA(1 - 1e-12, kernel=k.Gaussian(30.0), method="tiled").fit(rows(400, 3))
    assert model.explained_variance_ratio_.sum() == pytest.approx(1, abs=1e-9)


def test_messages():
    with pytest.raises(ValueError, match=r"too large to square|overflow"):
        KernelPCA(2, method="svd").fit(rows(20, 3) * 1e154)
    with pytest.raises(ValueError, match=r"memory_limit='1.2.3GB'"):
        KernelPCA(2, memory_limit="1.2.3GB").fit(rows(20, 3))
    with pytest.raises(ValueError, match="NaN"):
        KernelPCA(2, fit_inverse_transform=True).fit(rows(20, 3)).inverse_transform(np.full((2, 2), np.nan))


def test_sparse_rows_are_served():
    x = rows(50, 3)
    for method in METHODS:
        model = KernelPCA(2, kernel=k.Gaussian(1.0), method=method).fit(scipy.sparse.csc_array(x))
        np.testing.assert_allclose(
            model.eigenvalues_, KernelPCA(2, kernel=k.Gaussian(1.0)).fit(x).eigenvalues_, rtol=1e-9
        )


@pytest.mark.parametrize("method", ["covariance", "svd", "monomials"])
def test_denormals_are_not_taken_for_zero(method):
    """Their squares are 0: the interval [0, 0] did not hold the true variance."""
    with pytest.raises(ValueError, match=r"too small to square|underflow"):
        KernelPCA(2, method=method).fit(np.arange(12).reshape(6, 2) * 5e-324)


@pytest.mark.parametrize("method", ["landmarks", "merging"])
def test_values_too_large_to_square_are_named(method):
    """Landmarks returned NaN for the certificate, merging LAPACK's complaint."""
    model = KernelPCA(2, kernel=k.Polynomial(3, 1.0), method=method)
    with pytest.raises(ValueError, match=r"overflows|too large to square"):
        (model.partial_fit if method == "merging" else model.fit)(rows(20, 3) * 1e60).certificate_  # noqa: B018


def test_a_plan_for_points_far_apart_or_close_together_in_units_of_the_kernel():
    """The planner's histogram of distances overflowed, and no method could be used."""
    for sigma, scale in ((1e-8, 1e150), (1e8, 1e-150)):
        assert KernelPCA(2, kernel=k.Gaussian(sigma)).fit(rows(30, 2) * scale).eigenvalues_.shape == (2,)


def test_results_beyond_float32_are_refused():
    x = (rows(30, 3) * 1e25).astype(np.float32)
    with pytest.raises(ValueError, match=r"eigenvalues of size .* overflow float32.*astype\('float64'\)"):
        KernelPCA(2).fit(x)
    assert np.isfinite(KernelPCA(2).fit(x.astype(np.float64)).eigenvalues_).all()


def test_a_narrow_kernel_knows_a_row_again():
    """k(x, x) of a row given once more was 0.8 or less, its distance from itself being all rounding."""
    x = rows(40, 2)
    np.testing.assert_allclose(k.Gaussian(1e-8)(x, x.copy()), np.eye(40))
    model = KernelPCA(3, kernel=k.Gaussian(1e-8), method="sparse").fit(x)
    np.testing.assert_allclose((model.transform(x) ** 2).sum(axis=0), model.eigenvalues_, rtol=1e-6)


def test_points_so_far_apart_that_each_is_alone():
    """1 is nearly an elevenfold eigenvalue: LAPACK's driver for some pairs returned none, and 0 was certified."""
    x = np.array([217, 163, 130, 69, 78, 10, 19, 4, 44, 208, 166, 233, 128, 155, 248, 186, 161, 139])
    x = np.append(x, [143, 239, 71, 208, 171, 0, 100, 219, 141, 8, 195, 186, 216, 44, 22, 220, 5, 138]).reshape(12, 3)
    for method in ("landmarks", "dense", "tiled"):
        certificate = KernelPCA(1, kernel=k.Laplacian(2.0), method=method).fit(x).certificate_
        assert certificate.lower[0] > 0.99999
        assert certificate.upper[0] < 1.0001


def test_scores_of_features_that_are_tiny_beside_a_constant():
    """Rounding along the constant feature drowned them: the rows projected to 0."""
    x = rows(5, 2) * 1e-50
    model = KernelPCA(2, kernel=k.Polynomial(3, 1.0), method="monomials").fit(x)
    np.testing.assert_allclose((model.transform(x) ** 2).sum(axis=0), model.eigenvalues_, rtol=1e-6)


def test_projections_that_would_be_rounding_are_refused():
    """Rows that differ in their last bits, about 1e6, cubed: the variances were right, the projections were not."""
    x = -1e6 + 1e-10 * np.arange(7.0)[:, None]
    with pytest.raises(ValueError, match="projections would be dominated by rounding errors; standardize the data"):
        KernelPCA(2, kernel=k.Polynomial(3, 1.0), method="monomials").fit(x)


def test_values_lie_in_their_intervals():
    """Zeros that stood for small negative values, and what merging left of the eigenvalue 0 of the mean, did not."""
    x = np.array([[2, 1, 0], [-2, -1, -3], [-3, -3, -2]])
    for method in ("dense", "tiled"):
        with pytest.warns(IndefiniteKernelWarning):
            certificate = KernelPCA(3, kernel=k.Tanh(0.5, -0.25), method=method).fit(x).certificate_
        assert (certificate.lower <= certificate.values).all()
        assert (certificate.values <= certificate.upper).all()
    stream = KernelPCA(3, kernel=k.Cosine(), method="merging")
    for batch in np.array_split(rows(3, 4) - 1e6, 2):
        stream.partial_fit(batch)
    assert stream.eigenvalues_[2] == 0 == stream.certificate_.upper[2]


@pytest.mark.filterwarnings("ignore::gramless.errors.UncertifiedWarning")
def test_squares_of_distances_that_overflow():
    far = rows(8, 2)
    far *= 9e153 / np.linalg.norm(far, axis=1).max()  # squares of the rows fit, those of distances need not
    assert np.isfinite(KernelPCA(2, kernel=k.Gaussian(1.5), method="dense").fit(far).certificate_.upper).all()
    for method in ("sparse", "landmarks"):
        with pytest.raises(ValueError, match="squares of distances overflow: rescale"):
            KernelPCA(2, kernel=k.Laplacian(2.0), method=method).fit(rows(8, 2) * 1e180)


def test_neighbours_that_centring_would_merge_are_named():
    """Two columns of 1e100 and of 1e6 beside each other: the variances were right, the projections were not."""
    x = np.array([[2e100, -4e6], [2e100, -1e6], [-5e5, 1e100], [-2e6, 1e100]])
    with pytest.raises(ValueError, match="could not distinguish those; scale the data"):
        KernelPCA(2, kernel=k.Gaussian(1e8), method="sparse").fit(x)
    far = KernelPCA(2, kernel=k.Gaussian(1.0), method="sparse").fit(rows(6, 2) * 1e100)  # none has a neighbour
    np.testing.assert_allclose((far.transform(rows(6, 2) * 1e100) ** 2).sum(axis=0), 1.0)
