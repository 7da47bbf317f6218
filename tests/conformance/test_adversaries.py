"""Hostile rows, over every kernel, method, solver and dtype: the dense answer within the certificate, or a reason."""

import numpy as np
import pytest
from adversaries import INPUTS, KERNELS, METHODS, STREAMS, Refused, complaint, fit

from gramless import kernels as k
from gramless.eigen import solvers

SINGLE_KERNELS = ["gaussian", "polynomial 20", "linear", "sum"]
COSTLY = [("laplacian", "fourier"), ("matern", "fourier")]  # tens of thousands of frequencies: on plain rows only
SOLVED_KERNELS = ["gaussian", "polynomial", "tanh"]


def rows(name, dtype="float64", n=8):
    x = INPUTS[name](n, 2)
    with np.errstate(over="ignore", under="ignore"):
        return x.astype(dtype) if dtype == "float32" else x


def complaints(kernels, x, costly=False, **settings):
    """What is wrong, by kernel and method; and how many models there were."""
    found, models = {}, 0
    for name in kernels:
        for method in settings.get("method", METHODS):
            if (name, method) in COSTLY and not costly:
                continue
            try:
                model = fit(KERNELS[name], x, **{**settings, "method": method})
            except Refused:
                continue
            models += 1
            wrong = complaint(model, KERNELS[name], x)
            if wrong:
                found[name, method] = wrong
    return found, models


@pytest.mark.parametrize("name", INPUTS)
def test_right_or_refused_by_every_method(name):
    found, models = complaints(KERNELS, rows(name), costly=name == "plain")
    assert not found
    assert models > len(KERNELS)


@pytest.mark.parametrize("name", INPUTS)
def test_right_or_refused_in_float32(name):
    x = rows(name, "float32")
    if not np.isfinite(x).all():
        with pytest.raises(Refused, match="infinity"):
            fit(KERNELS["gaussian"], x)
        return
    found, models = complaints(SINGLE_KERNELS, x)
    assert not found
    assert models > len(SINGLE_KERNELS)


@pytest.mark.parametrize("solver", list(solvers))
def test_right_or_refused_by_every_solver(solver):
    wrong = {}
    for name in INPUTS:
        found, _ = complaints(SOLVED_KERNELS, rows(name, n=8), method=["dense"], k=2, eigen_solver=solver)
        wrong.update({(name, *key): text for key, text in found.items()})
    assert not wrong


@pytest.mark.parametrize("method", METHODS)
def test_as_many_components_as_rows(method):
    found, models = complaints(KERNELS, rows("plain", n=6), method=[method], k=6)
    assert not found
    assert models or method == "refitting"  # for indefinite kernels, which have negative eigenvalues among them


def test_nothing_is_refused_without_need():
    """On plain rows every kernel is served by every method that claims it; only indefinite ones may fail."""
    for name, kernel in KERNELS.items():
        for method in METHODS:
            try:
                fit(kernel, rows("plain"), method)
            except Refused as reason:
                if "is not applicable" not in str(reason) and kernel.mercer:
                    pytest.fail(f"{name} by {method}: {reason}")


@pytest.mark.parametrize("method", ["dense", "tiled", "taylor", "fourier", "landmarks", "sparse"])
def test_duplicates_by_the_thousand_are_the_few_rows_with_weights(method):
    few = INPUTS["plain"](3, 2)
    many = np.tile(few, (700, 1))
    model = fit(k.Gaussian(1.5), many, method, k=2)
    weighted = fit(k.Gaussian(1.5), few, "dense", k=2)
    certificate = model.certificate_
    assert (certificate.lower <= 700 * weighted.certificate_.upper).all()
    assert (certificate.upper >= 700 * weighted.certificate_.lower).all()
    np.testing.assert_allclose(model.eigenvalues_, 700 * weighted.eigenvalues_, rtol=1e-6)


def forms(x, folder):
    """The same numbers as arrays of every kind."""
    mapped = np.memmap(folder / "rows", dtype=x.dtype, mode="w+", shape=x.shape)
    mapped[:] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    padded = np.zeros((2 * len(x), 3 * x.shape[1]))
    padded[::2, ::3] = x
    return {
        "read-only": frozen,
        "Fortran": np.asfortranarray(x),
        "strided": padded[::2, ::3],
        "reversed": x[::-1].copy()[::-1],
        "memory-mapped": np.memmap(folder / "rows", dtype=x.dtype, mode="r", shape=x.shape),
        "big-endian": x.astype(">f8"),
        "integers": x.astype(np.int64),
        "small integers": x.astype(np.int8),
        "list": x.tolist(),
        "booleans": x.astype(bool),
    }


@pytest.mark.parametrize("method", METHODS)
def test_forms_of_the_array(method, tmp_path):
    """Zeros and ones, so that every type holds the same numbers; the array that was given is left as it was."""
    x = (np.random.default_rng(0).random((12, 3)) > 0.5).astype(float)
    x[:3] = np.eye(3)
    kernel = next(
        kernel
        for name in ("gaussian", "polynomial", "scaled", "linear", "cosine", "tanh")
        if takes(method, kernel := KERNELS[name])
    )
    expected = fit(kernel, x, method, k=2)
    for name, form in forms(x, tmp_path).items():
        before = np.array(form)
        model = fit(kernel, form, method, k=2)
        np.testing.assert_array_equal(model.eigenvalues_, expected.eigenvalues_, err_msg=name)
        np.testing.assert_allclose(model.scores, expected.scores, atol=1e-9, err_msg=name)
        np.testing.assert_array_equal(np.array(form), before, err_msg=name)
        assert model.eigenvalues_.dtype == np.float64


def takes(method, kernel):
    try:
        fit(kernel, INPUTS["plain"](8, 3), method)
    except Refused:
        return False
    return True


@pytest.mark.parametrize("method", STREAMS)
def test_batches_of_one_row(method):
    x = INPUTS["plain"](7, 2)
    kernel = KERNELS["gaussian"] if method == "merging" else k.Tanh(0.1, 0.0)
    model = fit(kernel, x[:2], method, k=2)
    for row in x[2:]:
        model.partial_fit(row[None])
    model.scores = model.transform(x)
    assert not complaint(model, kernel, x)
