"""The method on a GPU: the same components as on the CPU, within the certificate; here on torch's CPU."""

import numpy as np
import pytest

from gramless import KernelPCA
from gramless.data import Block, MemoryRows
from gramless.fitting.methods import CudaMethod, make_plan, methods
from gramless.fitting.methods import cuda as cuda_route
from gramless.fitting.methods.planning import ask
from gramless.kernels import Gaussian, Laplacian, Matern, Polynomial
from gramless.problem import Problem, Request

torch = pytest.importorskip("torch", reason="torch is not installed")


def posed(n, d, kernel, tol, **more):
    return Problem(n=n, d=d, kernel=kernel, k=5, tol=tol, memory_limit=10**9, **more)


def run(x, kernel, tol, weights=None):
    weights = np.ones(len(x)) if weights is None else weights
    problem = posed(*x.shape, kernel, tol, device="torch")
    rows, request = MemoryRows(Block(x, weights)), Request(np.random.default_rng(0))
    return CudaMethod().begin(problem, rows, rows.survey(), request).finish(problem, request, None)


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Laplacian(4.0)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_same_components_as_tiled(kernel, weighted):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1500, 4)) * [3, 2, 1.5, 1]
    weights = rng.integers(0, 3, len(x)).astype(float) if weighted else None
    ours = run(x, kernel, 1e-9, weights)
    theirs = KernelPCA(5, kernel=kernel, method="tiled", tol=1e-9).fit(x, sample_weight=weights)
    slack = 1e-12 * theirs.eigenvalues_[0]
    assert (ours.certificate.lower <= theirs.certificate_.upper + slack).all()
    assert (ours.certificate.upper >= theirs.certificate_.lower - slack).all()
    assert (ours.certificate.kind == "rigorous").all()
    np.testing.assert_allclose(ours.space.scatter, theirs.eigenvalues_, rtol=1e-9)
    new = rng.standard_normal((7, 4))
    np.testing.assert_allclose(ours.space.project(new), theirs.transform(new), atol=1e-5)


def test_measured_errors_certify_loose_tolerances(monkeypatch):
    monkeypatch.setattr(cuda_route, "_SLOW", 0.0)
    monkeypatch.setattr(cuda_route, "_ROWS", 4096)
    x = np.random.default_rng(0).standard_normal((3000, 4)) * [3, 2, 1.5, 1]
    ours = run(x, Gaussian(4.0), 1e-2)
    exact = KernelPCA(5, kernel=Gaussian(4.0), method="dense").fit(x).eigenvalues_
    assert (ours.certificate.kind == "probabilistic").all()
    assert ours.certificate.failure_probability > 0
    assert (ours.certificate.lower <= exact).all()
    assert (exact <= ours.certificate.upper).all()
    assert ours.certificate.width.max() < 0.05


def test_a_tolerance_that_measured_errors_miss_is_met_in_float64(monkeypatch):
    monkeypatch.setattr(cuda_route, "_SLOW", 0.0)
    monkeypatch.setattr(cuda_route, "_ROWS", 64)
    monkeypatch.setattr(cuda_route, "_MEASURED", 0.0)
    x = np.random.default_rng(0).standard_normal((1000, 4))
    assert (run(x, Gaussian(4.0), 1e-9).certificate.kind == "rigorous").all()


def test_what_a_card_cannot_do_is_refused_in_the_plan():
    def refusal(kernel, **more):
        return ask(CudaMethod(), posed(100, 2, kernel, 1e-6, **more)).refusal

    assert "is not implemented" in refusal(Matern(0.7), device="torch")
    assert "sparse" in refusal(Gaussian(1.0), device="torch", sparse=True)
    assert "lanczos" in refusal(Gaussian(1.0), device="torch", solver="lanczos")
    assert refusal(Gaussian(1.0)) == "device='cpu'"
    assert not refusal(Gaussian(1.0), device="torch")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_card_cuda_says_what_to_install_and_auto_uses_the_cpu():
    x = np.random.default_rng(0).standard_normal((50, 2))
    with pytest.raises(RuntimeError, match="install a CUDA build of torch"):
        KernelPCA(2, kernel="rbf", device="cuda").fit(x)
    assert KernelPCA(2, kernel="rbf", device="auto").fit(x).method_ != "cuda"


def test_a_method_of_the_cpu_and_a_card_contradict_each_other():
    x = np.random.default_rng(0).standard_normal((50, 2))
    with pytest.raises(ValueError, match="device='torch'; pass device='auto'"):
        KernelPCA(2, kernel="rbf", device="torch", method="tiled").fit(x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors_in_tensors_out(dtype):
    x = torch.randn((60, 3), dtype=getattr(torch, dtype), generator=torch.Generator().manual_seed(0))
    kpca = KernelPCA(2, kernel="rbf")
    scores = kpca.fit_transform(x)
    assert isinstance(scores, torch.Tensor)
    assert scores.dtype == x.dtype
    projected = kpca.transform(x[:4])
    assert isinstance(projected, torch.Tensor)
    expected = KernelPCA(2, kernel="rbf").fit_transform(x.numpy())
    np.testing.assert_allclose(scores.numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(projected.numpy(), expected[:4], atol=1e-5)


@pytest.mark.gpu
@pytest.mark.parametrize("tol", [1e-4, 1e-8])
def test_on_the_card_as_on_the_cpu(tol):
    x = np.random.default_rng(0).standard_normal((12000, 8)) * np.linspace(2, 1, 8)
    ours = KernelPCA(6, kernel=Gaussian(5.0), device="cuda", tol=tol).fit(x)
    theirs = KernelPCA(6, kernel=Gaussian(5.0), method="tiled", tol=1e-10).fit(x)
    assert ours.method_ == "cuda"
    assert (ours.certificate_.lower <= theirs.certificate_.upper).all()
    assert (theirs.certificate_.lower <= ours.certificate_.upper).all()
    assert ours.certificate_.width.max() < 10 * tol
    np.testing.assert_allclose(np.abs(ours.transform(x[:9])), np.abs(theirs.transform(x[:9])), atol=100 * tol)
    again = KernelPCA(6, kernel=Gaussian(5.0), device="cuda", tol=tol).fit(x)
    np.testing.assert_array_equal(again.eigenvectors_, ours.eigenvectors_)


@pytest.mark.gpu
def test_on_the_card_measured_and_with_tensors(monkeypatch):
    monkeypatch.setattr(cuda_route, "_SLOW", 0.0)
    x = torch.randn((30000, 8), device="cuda", generator=torch.Generator("cuda").manual_seed(0))
    kpca = KernelPCA(6, kernel=Gaussian(5.0), device="cuda", tol=1e-3)
    scores = kpca.fit_transform(x)
    assert scores.device == x.device
    assert (kpca.certificate_.kind == "probabilistic").all()
    exact = KernelPCA(6, kernel=Gaussian(5.0), device="cuda", tol=1e-9).fit(x.double())
    assert (exact.certificate_.kind == "rigorous").all()
    assert (kpca.certificate_.lower <= exact.certificate_.upper).all()
    assert (exact.certificate_.lower <= kpca.certificate_.upper).all()


@pytest.mark.gpu
def test_too_little_memory_on_the_card_is_foreseen():
    refusal = CudaMethod().estimate(posed(10**9, 64, Gaussian(1.0), 1e-6, device="cuda")).refusal
    assert "of the GPU's" in refusal
    refusal = methods["monomials"].estimate(posed(10**10, 4, Polynomial(2), 1e-6, device="cuda")).refusal
    assert "of the GPU's" in refusal


@pytest.mark.gpu
def test_auto_prefers_the_card_where_it_is_faster():
    plan = make_plan(posed(200_000, 64, Gaussian(8.0), 1e-5, device="cuda", anywhere=True))
    assert plan.chosen == "cuda"
    assert plan.candidates["tiled"].device == "cpu"
    small = make_plan(posed(100, 2, Gaussian(8.0), 1e-5, device="cuda", anywhere=True))
    assert small.candidates[small.chosen].device == "cpu"
