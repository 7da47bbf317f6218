"""The true eigenvalues lie inside the certificate: every kernel, method, solver and dtype, in extended precision."""

import warnings

import numpy as np
import pytest
from extended import missed
from hypothesis import given, settings
from hypothesis import strategies as st

from gramless import IndefiniteKernelWarning, KernelPCA, kernels
from gramless.eigen import NotConvergedWarning, solvers

KERNELS = {
    "gaussian": kernels.Gaussian(1.0),
    "wide gaussian": kernels.Gaussian(1024.0),
    "narrow gaussian": kernels.Gaussian(2.0**-6),
    "polynomial": kernels.Polynomial(3, 1.0, 0.5),
    "odd polynomial": kernels.Polynomial(2, -0.5),
    "linear": kernels.Linear(),
    "tanh": kernels.Tanh(0.5, -0.25),
    "epanechnikov": kernels.Epanechnikov(2.0),
    "laplacian": kernels.Laplacian(2.0),
    "manhattan": kernels.Manhattan(4.0),
    "matern": kernels.Matern(1.5, 2.0),
    "cosine": kernels.Cosine(),
    "sum": kernels.Gaussian(1.0) + kernels.Linear(),
    "product": kernels.Laplacian(1.0) * kernels.Polynomial(2, 1.0),
    "scaled": 0.25 * kernels.Gaussian(2.0),
}


@st.composite
def problems(draw):
    """Rows of many sizes, scales, offsets and multiplicities, float32 or float64, perhaps weighted."""
    n, d = draw(st.integers(2, 18)), draw(st.sampled_from([1, 2, 3, 7, 30]))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    x = rng.standard_normal((n, d)) * draw(st.sampled_from([1e-3, 1.0, 10.0])) + draw(
        st.sampled_from([0.0, 1.0, 100.0])
    )
    shape = draw(st.sampled_from(["plain", "duplicates", "two points", "constant column", "collinear"]))
    if shape == "duplicates":
        x[n // 2 :] = x[: n - n // 2]
    elif shape == "two points":
        x[:] = x[rng.integers(0, 2, n)]
    elif shape == "constant column":
        x[:, 0] = 3
    elif shape == "collinear":
        x = np.outer(rng.standard_normal(n), x[0])
    if draw(st.booleans()):
        x = x.astype(np.float32)
    weights = rng.integers(0, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    weights[rng.integers(n)] += 1
    return x, weights, draw(st.integers(1, n))


def fit(kernel, x, weights, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        warnings.simplefilter("ignore", NotConvergedWarning)
        return KernelPCA(kernel=kernel, random_state=0, **settings).fit(x, sample_weight=weights)


def assert_holds(kernel, x, weights, **settings):
    try:
        model = fit(kernel, x, weights, **settings)
    except ValueError as error:
        if "significant negative eigenvalues" not in str(error) or kernel.mercer:
            raise
        return
    outside = missed(model.certificate_, kernel, x, weights)
    assert not outside.any(), np.flatnonzero(outside)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("method", ["dense", "tiled"])
@settings(max_examples=15)
@given(problem=problems())
def test_truth_is_inside_for_every_kernel(name, method, problem):
    x, weights, k = problem
    assert_holds(KERNELS[name], x, weights, n_components=k, method=method)


NEAR = ["gaussian", "wide gaussian", "narrow gaussian", "epanechnikov", "laplacian", "matern"]


@pytest.mark.parametrize("name", NEAR)
@settings(max_examples=15)
@given(problem=problems())
def test_truth_is_inside_for_near_neighbours(name, problem):
    x, weights, k = problem
    assert_holds(KERNELS[name], x[:, :8], weights, n_components=k, method="sparse")


@pytest.mark.parametrize("method", ["covariance", "svd"])
@settings(max_examples=60)
@given(problem=problems())
def test_truth_is_inside_for_linear_forms(method, problem):
    x, weights, k = problem
    assert_holds(KERNELS["linear"], x, weights, n_components=k, method=method)


@pytest.mark.parametrize("solver", list(solvers))
@settings(max_examples=15)
@given(problem=problems(), name=st.sampled_from(["gaussian", "wide gaussian", "tanh", "polynomial"]))
def test_truth_is_inside_for_every_solver(solver, problem, name):
    x, weights, k = problem
    assert_holds(KERNELS[name], x, weights, n_components=min(k, 6), eigen_solver=solver)
