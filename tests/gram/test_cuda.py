"""Gram operators on torch tensors: equal to the kernels, within the error they state; on torch's CPU, and on a GPU."""

import numpy as np
import pytest

from gramless import kernels
from gramless.gram import CenteredGram, TiledGram, rectangular_product

torch = pytest.importorskip("torch", reason="torch is not installed")

from gramless.gram.cuda.checked import CheckedGram  # noqa: E402
from gramless.gram.cuda.operator import TorchGram  # noqa: E402
from gramless.gram.cuda.rectangular import tensor_product  # noqa: E402

KERNELS = [
    kernels.Gaussian(3.0),
    kernels.Gaussian(0.3),
    kernels.Laplacian(3.0),
    kernels.Matern(0.5, 3.0),
    kernels.Matern(1.5, 3.0),
    kernels.Matern(2.5, 3.0),
    kernels.Matern(float("inf"), 3.0),
    kernels.Epanechnikov(4.0),
    kernels.Polynomial(3, 1.0, 0.1),
    kernels.Polynomial(2, -1.0, 0.3),
    kernels.Tanh(0.05, 0.1),
    kernels.Linear(),
]
COMBINED = [kernels.Cosine() + 2.0 * kernels.Gaussian(1.0), kernels.Gaussian(2.0) * kernels.Linear()]
DEVICES = ["torch", pytest.param("cuda", marks=pytest.mark.gpu)]


def rows(n, d, seed=0):
    x = np.random.default_rng(seed).standard_normal((n, d))
    if n > 4:
        x[3] = x[4]  # a distance of 0 off the diagonal
    return x


def relative(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("precision", ["fp64", "fp32", "fast"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS + COMBINED, ids=str)
def test_products_are_within_the_stated_error(kernel, weighted, precision, device):
    n = 1100
    x, v = rows(n, 5), rows(n, 3, 1)
    weights = np.random.default_rng(2).integers(0, 3, n).astype(float) if weighted else None
    roots = np.ones(n) if weights is None else np.sqrt(weights)
    dense = roots[:, None] * kernel(x) * roots
    operator = TorchGram(kernel, x, weights, device=device, precision=precision)
    assert (np.linalg.norm(operator @ v - dense @ v, axis=0) <= operator.error * np.linalg.norm(v, axis=0)).all()
    assert relative(operator @ v, dense @ v) < {"fp64": 1e-13, "fp32": 3e-5, "fast": 0.1}[precision]
    statistics = operator.statistics()
    assert statistics.frobenius2 >= np.linalg.norm(dense) ** 2 * (1 - 1e-12)
    assert statistics.norm >= np.linalg.norm(np.abs(dense), 2) * (1 - 1e-9)
    np.testing.assert_allclose(statistics.sums, dense @ roots, atol=operator.error * np.linalg.norm(roots))
    np.testing.assert_allclose(operator.diagonal(), dense.diagonal(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("device", "unit"), [("torch", 1.0), *(pytest.param("cuda", u, marks=pytest.mark.gpu) for u in (1e-30, 1.0, 1e30))]
)
@pytest.mark.parametrize("kind", ["gaussian", "narrow", "polynomial"])
def test_ranges_beyond_those_of_half_precision(kind, device, unit):
    """Columns from 1 to 1e-9, vectors from 1 to 1e-12 within a column, and units far outside of float16 and float32."""
    n = 1500
    x, v = rows(n, 4) * [1.0, 1e-3, 1e-6, 1e-9] * unit, rows(n, 5, 1) * np.logspace(0, -12, n)[:, None]
    kernel = {
        "gaussian": kernels.Gaussian(2.0 * unit),
        "narrow": kernels.Gaussian(0.2 * unit),  # values down to 1e-200
        "polynomial": kernels.Polynomial(2, 0.5, 1 / unit**2),
    }[kind]
    exact = kernel(x) @ v
    operator = TorchGram(kernel, x, device=device, precision="fp32")
    error = np.linalg.norm(operator @ v - exact, axis=0)
    assert (error <= operator.error * np.linalg.norm(v, axis=0)).all()
    for size in (1.0, 1e-200, 1e200):  # of a column as a whole
        assert relative((operator @ (v * size)) / size, exact) < (5e-5 if kind == "narrow" else 2e-6)


@pytest.mark.parametrize("n", [1, 2, 511, 512, 513])
def test_any_number_of_rows(n):
    x, v = rows(n, 2), rows(n, 2, 1)
    kernel = kernels.Gaussian(1.0)
    np.testing.assert_allclose(TorchGram(kernel, x, device="torch") @ v, kernel(x) @ v, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(TorchGram(kernel, x, device="torch").to_dense(), kernel(x), rtol=1e-12)


def test_tensors_in_give_tensors_out_and_arrays_give_arrays():
    operator = CenteredGram(TorchGram(kernels.Gaussian(1.0), rows(40, 3), device="torch"))
    v = rows(40, 2, 1)
    product = operator @ torch.as_tensor(v)
    assert isinstance(product, torch.Tensor)
    assert isinstance(operator @ v, np.ndarray)
    np.testing.assert_allclose(product.numpy(), operator @ v, atol=1e-13)


def test_kernels_without_a_tensor_form_are_refused():
    for kernel in (kernels.Matern(0.7), kernels.FromCallable(lambda a, b: float(a @ b), {}), kernels.Precomputed()):
        assert not kernel.tensors
        with pytest.raises(ValueError, match="device='cpu'"):
            TorchGram(kernel, rows(5, 5), device="torch")


@pytest.mark.parametrize("kernel", KERNELS + COMBINED, ids=str)
def test_rectangular_products(kernel):
    x, y, v = rows(700, 4), rows(530, 4, 1), rows(530, 2, 2)
    expected = rectangular_product(kernel, x, y, v)
    np.testing.assert_allclose(tensor_product(kernel, x, y, v, "torch").numpy(), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("device", DEVICES)
def test_measured_errors_bound_the_true_ones_and_beat_the_worst_case(device):
    n = 3000
    x, v = rows(n, 6), rows(n, 4, 1)
    fast = TorchGram(kernels.Gaussian(4.0), x, device=device, precision="fp32")
    checked = CheckedGram(fast, np.random.default_rng(0), sample=2048)
    worst = checked.error
    true = np.linalg.norm(checked @ v - kernels.Gaussian(4.0)(x) @ v, axis=0) / np.linalg.norm(v, axis=0)
    assert true.max() <= checked.error < worst / 2


def test_a_product_that_is_wrong_is_found_out():
    class Wrong(TorchGram):
        def _matmat(self, v):
            product = super()._matmat(v)
            return product * (1 + 2e-5)

    n = 3000
    x, v = rows(n, 6), rows(n, 4, 1) + 1
    kernel = kernels.Gaussian(4.0)
    checked = CheckedGram(Wrong(kernel, x, device="torch", precision="fp32"), np.random.default_rng(0), sample=2048)
    true = np.linalg.norm(checked @ v - kernel(x) @ v, axis=0) / np.linalg.norm(v, axis=0)
    honest = CheckedGram(TorchGram(kernel, x, device="torch", precision="fp32"), np.random.default_rng(0), sample=2048)
    honest @ v
    assert true.max() <= checked.error
    assert checked.error > honest.error


def test_float64_tiles_agree_with_the_tiled_operator_in_every_statistic():
    x = rows(900, 3)
    ours, theirs = (
        CenteredGram(gram(kernels.Gaussian(2.0), x))
        for gram in (lambda k, x: TorchGram(k, x, device="torch"), TiledGram)
    )
    assert ours.trace == pytest.approx(theirs.trace, rel=1e-12)
    assert ours.frobenius2 == pytest.approx(theirs.frobenius2, rel=1e-9)
    assert ours.error < 10 * theirs.error


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize(("n", "d", "vectors"), [(700, 3, 1), (3000, 17, 33), (5000, 64, 40), (2000, 100, 70)])
def test_fused_products(kernel, n, d, vectors):
    x = rows(n, d) * np.sqrt(5 / d)
    v = rows(n, vectors, 1)
    operator = TorchGram(kernel, x, precision="fp32")
    product = operator @ v
    smooth = kernel.draftable and not (isinstance(kernel, kernels.Gaussian) and kernel.sigma < 1)
    assert relative(product, kernel(x) @ v) < (2e-6 if smooth else 5e-5)
    np.testing.assert_array_equal(product, TorchGram(kernel, x, precision="fp32") @ v)
    fast = relative(TorchGram(kernel, x, precision="fast") @ v, kernel(x) @ v)
    assert fast < (5e-3 if smooth else 0.2)


@pytest.mark.gpu
@pytest.mark.parametrize(("n", "d", "vectors"), [(40000, 64, 32), (40000, 16, 32), (40000, 64, 64), (30000, 784, 20)])
def test_fused_products_of_many_rows_are_accurate_and_the_same_bits(n, d, vectors):
    x, v = rows(n, d).astype(np.float32), rows(n, vectors, 1)
    kernel = kernels.Gaussian(np.sqrt(2 * d))
    operator = TorchGram(kernel, x, precision="fp32")
    some = np.random.default_rng(3).integers(0, n, 200)
    operator.statistics()  # a first product has a column more, and may be cut otherwise
    product = operator @ v
    assert relative(product[some], kernel(x[some], x) @ v) < 2e-6
    for _ in range(3):
        np.testing.assert_array_equal(operator @ v, product)
