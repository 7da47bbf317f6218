"""Every estimator, kernel and method: the ONNX file gives the results of Python, or the refusal names a remedy."""

import numpy as np
import pytest
from conformance.test_model_files import KERNELS, cases, fitted

from gramless import ExportError, IndefiniteKernelWarning, KernelPCA, UncertifiedWarning
from gramless.estimators.saving import estimators
from gramless.features import maps
from gramless.fitting.methods import methods
from gramless.kernels import Cosine, Gaussian, Laplacian, Linear, Manhattan, Matern, Polynomial, Tanh

pytest.importorskip("onnx", reason='ONNX files need onnx: pip install ".[onnx]"')
onnxruntime = pytest.importorskip("onnxruntime", reason="files are run in onnxruntime")
pytestmark = [
    pytest.mark.filterwarnings("ignore", category=IndefiniteKernelWarning),
    pytest.mark.filterwarnings("ignore", category=UncertifiedWarning),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
PORTABLE = [name for name in estimators if hasattr(estimators[name], "to_onnx")]
#: Methods that fit streams only, and one that needs a GPU.
STREAMS = {"merging", "refitting", "cuda"}
#: Largest difference, relative to the largest result, that is accepted here for rows near the training rows.
PRECISION = {"float64": 1e-9, "float32": 2e-3}


def new_rows(model):
    """Rows that the model has not seen, one of which is a training row and one far away."""
    x = np.random.default_rng(4).standard_normal((7, model.n_features_in_))
    x[0] = np.random.default_rng(3).standard_normal((30, 3))[0]
    x[1] *= 30
    return x


def compare(path, model, dtype, label=""):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [given.name for given in session.get_inputs()] == ["X"]
    for rows in (new_rows(model), new_rows(model)[:1], new_rows(model)[:0]):
        rows = rows.astype(dtype)
        for output, found in zip(session.get_outputs(), session.run(None, {"X": rows}), strict=True):
            if not len(rows):
                assert len(found) == 0
                continue
            expected = np.asarray(getattr(model, output.name)(rows.astype(np.float64)))
            assert found.shape == expected.shape, (label, output.name)
            if output.name == "predict":
                np.testing.assert_array_equal(found, expected, err_msg=label)
                continue
            assert found.dtype == dtype
            near = PRECISION[dtype] * np.abs(expected).max(initial=0.0)
            np.testing.assert_allclose(found, expected, rtol=0, atol=near, err_msg=f"{label} {output.name}")


@pytest.mark.parametrize("name", PORTABLE)
def test_the_file_gives_the_results_of_python(name, tmp_path):
    tried, seen = 0, set()
    for _, kernel, method in (case for case in cases() if case[0] == name):
        model = fitted(name, kernel, method)
        if isinstance(model, str):
            continue
        agreement = model.to_onnx(tmp_path / "model.onnx")
        assert agreement.rows > 0
        assert agreement.difference < 1e-9, (kernel, method)
        assert agreement.labels == 0
        compare(tmp_path / "model.onnx", model, "float64", f"{kernel} {method}")
        tried += 1
        seen |= {kernel, getattr(model, "method_", method)}
    assert seen >= (set(KERNELS) if name != "KernelICA" else {"auto"})
    if name == "KernelPCA":
        assert seen >= {"monomials", "normalized", "taylor", "landmarks", "composite", "tiled", "dense", "svd"}
    assert tried >= len(KERNELS if name != "KernelICA" else [name])


@pytest.mark.parametrize("name", PORTABLE)
@pytest.mark.parametrize("kernel", KERNELS)
def test_float32(name, kernel, tmp_path):
    model = fitted(name, kernel, "auto")
    if isinstance(model, str):
        assert name != "KernelPCA", model
        return
    assert model.to_onnx(tmp_path / "model.onnx", dtype="float32").difference < 2e-3
    compare(tmp_path / "model.onnx", model, "float32", kernel)


@pytest.mark.parametrize(
    "kernel",
    [
        Tanh(0.07, 0.1),
        Polynomial(3, 0.7, 0.3),
        Polynomial(2.5, 40.0, 0.3),
        Polynomial(0, 1.0),
        Matern(0.5, 1.3),
        Matern(2.5, 1.3),
        Matern(np.inf, 1.3),
        0.3 * Gaussian(1.3),
        0.3 * Linear(),
        0.3 * (0.7 * Laplacian(1.3) * Cosine() + 0.1 * Manhattan(3.0)),
        Gaussian(1e-6),
        Gaussian(np.inf),
    ],
    ids=str,
)
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.filterwarnings("ignore::gramless.LongFitWarning")
def test_parameters_have_all_their_digits(kernel, d, tmp_path):
    """Optimizers of runtimes turn numbers beside matrix products into attributes, which are float32."""
    x = np.random.default_rng(0).standard_normal((40, d))
    for method in ("dense", "auto"):
        model = KernelPCA(2, kernel=kernel, method=method, scale_input=True).fit(x)
        assert model.to_onnx(tmp_path / "model.onnx").difference < 1e-12, model.method_


def test_every_method_of_features_can_be_written_or_says_so(tmp_path):
    """Methods that the cases above do not reach with their few rows in three columns."""
    x = np.random.default_rng(0).random((200, 2))
    for method in sorted({*maps, *methods} - STREAMS):
        for kernel in KERNELS.values():
            try:
                model = estimators["KernelPCA"](2, kernel=kernel, method=method, tol=1e-4, random_state=0).fit(x)
            except ValueError:
                continue
            # with Fourier features, Python uses fast transforms, which have the accuracy of the fit
            precision = 1e-6 if method == "fourier" else 1e-9
            try:
                assert model.to_onnx(tmp_path / "model.onnx").difference < precision, (method, kernel)
            except ExportError as refusal:
                pytest.fail(f"{method} {kernel}: {refusal}")
            break
        else:
            pytest.fail(f"no kernel here is for method={method!r}")
