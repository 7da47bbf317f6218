"""Estimators on a device: what the CPU finds, within tolerance; on torch's CPU, and on a GPU with -m gpu."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import gramless
from gramless import BiasedDiscriminantAnalysis, KernelDiscriminantAnalysis, KernelKMeans, KernelPCA
from gramless.fitting.methods import cuda as cuda_route
from gramless.fitting.methods import explicit
from gramless.kernels import Gaussian, Linear, Matern, Polynomial

torch = pytest.importorskip("torch", reason="torch is not installed")

DEVICES = ["torch", pytest.param("cuda", marks=pytest.mark.gpu)]
EXPLICIT = [
    ("taylor", Gaussian(1.0), 1e-9),
    ("landmarks", Matern(1.5, 2.0), 1e-2),
    ("landmarks", Gaussian(1.0) + Polynomial(2, 1.0), 1e-2),
    ("monomials", Polynomial(3, 1.0, 0.5), 1e-9),
    ("monomials", Linear(), 1e-9),
    ("composite", Gaussian(1.5) * Polynomial(2, 1.0), 1e-6),
    ("composite", 2.0 * Gaussian(1.0), 1e-6),
]


def cube(n=1500, d=3):
    return np.random.default_rng(0).random((n, d))


def digits(n=500):
    x, y = load_digits(return_X_y=True)
    return x[:n], y[:n]


def lodged(x, device):
    return torch.as_tensor(x, device="cpu" if device == "torch" else device)


def assert_overlap(a, b):
    slack = 1e-12 * b.upper[0]
    assert (a.lower <= b.upper + slack).all()
    assert (b.lower <= a.upper + slack).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("method", "kernel", "tol"), EXPLICIT, ids=str)
def test_explicit_features_give_the_components_of_the_cpu(method, kernel, tol, weighted, device):
    x = cube()
    weights = np.random.default_rng(1).integers(0, 3, len(x)).astype(float) if weighted else None
    settings = {"kernel": kernel, "method": method, "tol": tol}
    ours = KernelPCA(4, device=device, **settings).fit(x, sample_weight=weights)
    theirs = KernelPCA(4, **settings).fit(x, sample_weight=weights)
    assert ours.plan_.candidates[method].device == device
    assert_overlap(ours.certificate_, theirs.certificate_)
    exact = KernelPCA(4, kernel=kernel, method="dense").fit(x, sample_weight=weights).eigenvalues_
    assert (ours.certificate_.lower <= exact * (1 + 1e-12)).all()
    assert (exact <= ours.certificate_.upper * (1 + 1e-12)).all()
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8 if tol < 1e-5 else 10 * tol)
    if tol < 1e-5:
        np.testing.assert_allclose(ours.transform(x[:9]), theirs.transform(x[:9]), atol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("method", "kernel", "tol"), [EXPLICIT[0], EXPLICIT[1], EXPLICIT[3], EXPLICIT[5]], ids=str)
def test_the_same_bits_from_run_to_run(method, kernel, tol, device):
    runs = [KernelPCA(4, kernel=kernel, method=method, tol=tol, device=device).fit(cube()) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].eigenvalues_, runs[1].eigenvalues_)
    np.testing.assert_array_equal(runs[0].transform(cube(50)), runs[1].transform(cube(50)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": Polynomial(2, 1.0)},
        {"kernel": Gaussian(1.0), "domain": (0, 1), "method": "taylor"},
        {"kernel": Gaussian(1.0), "max_support": 60},
        {"kernel": Gaussian(1.0), "method": "landmarks", "tol": 0.1},
    ],
    ids=["monomials", "taylor", "max_support", "landmarks"],
)
def test_batches_are_summed_on_the_device(settings, device):
    x = cube(900)
    ours, theirs = KernelPCA(4, device=device, **settings), KernelPCA(4, **settings)
    for batch in np.split(x, 3):
        ours.partial_fit(lodged(batch, device))
        theirs.partial_fit(batch)
    assert ours.plan_.candidates[ours.method_].device == device
    assert_overlap(ours.certificate_, theirs.certificate_)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    again = KernelPCA(4, device=device, **settings)
    for batch in np.split(x, 3):
        again.partial_fit(batch)
    np.testing.assert_array_equal(again.eigenvalues_, ours.eigenvalues_)


@pytest.mark.parametrize("device", DEVICES)
def test_models_of_the_device_merge_with_each_other_and_with_those_of_the_cpu(device):
    x, kernel = cube(900), Polynomial(2, 1.0)
    whole = KernelPCA(4, kernel=kernel).fit(x)
    ours = KernelPCA(4, kernel=kernel, device=device).partial_fit(x[:400])
    for other in (KernelPCA(4, kernel=kernel, device=device), KernelPCA(4, kernel=kernel)):
        np.testing.assert_allclose(ours.merge(other.partial_fit(x[400:])).eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    fitted = KernelPCA(4, kernel=kernel, device=device).fit(x[:400]).partial_fit(x[400:])
    np.testing.assert_allclose(fitted.eigenvalues_, whole.eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("method", "kernel", "tol"), [EXPLICIT[0], EXPLICIT[1], EXPLICIT[3]], ids=str)
def test_rows_from_a_file_are_summed_on_the_device(method, kernel, tol, device, tmp_path):
    x = cube(3000)
    np.save(tmp_path / "rows.npy", x)
    settings = {"kernel": kernel, "method": method, "tol": tol, "memory_limit": "2GB"}
    ours = KernelPCA(4, device=device, **settings).fit(tmp_path / "rows.npy")
    theirs = KernelPCA(4, **settings).fit(x)
    assert ours.plan_.candidates[method].device == device
    assert_overlap(ours.certificate_, theirs.certificate_)
    np.testing.assert_allclose(ours.transform(x[:9]), theirs.transform(x[:9]), atol=1e-6 if tol < 1e-5 else 10 * tol)


def test_a_stream_that_stays_on_the_cpu_says_so():
    stream = KernelPCA(4, kernel=Gaussian(1.0), device="torch").partial_fit(cube(200))
    assert stream.method_ == "merging"
    assert stream.plan_.candidates["merging"].device == "cpu"
    assert "cpu" in next(line for line in str(stream.plan_).splitlines() if line.startswith("merging"))


@pytest.mark.parametrize("method", ["cuda", "monomials"])
def test_a_saved_model_is_read_where_there_is_no_card(method, tmp_path, monkeypatch):
    x = cube(300)
    kpca = KernelPCA(3, kernel=Polynomial(2, 1.0), method=method, device="torch").fit(x)
    kpca.save(tmp_path / "model.safetensors")
    monkeypatch.setattr("gramless.arrays.devices.has_torch", lambda: False)
    loaded = gramless.load(tmp_path / "model.safetensors")
    np.testing.assert_allclose(loaded.transform(x[:9]), kpca.transform(x[:9]), atol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("method", "accuracy"), [("cuda", 1e-6), ("cuda", 0.0), ("landmarks", 1e-2)])
def test_clusters_are_those_of_the_cpu(method, accuracy, device):
    x, _ = digits()
    weights = np.random.default_rng(0).integers(0, 3, len(x)).astype(float)
    settings = {"kernel": Gaussian(30.0), "accuracy": accuracy, "n_init": 3, "random_state": 0}
    ours = KernelKMeans(5, method=method, device=device, **settings).fit(x, sample_weight=weights)
    theirs = KernelKMeans(5, method="tiled" if method == "cuda" else method, **settings).fit(x, sample_weight=weights)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-5 if accuracy else 1e-12)
    np.testing.assert_allclose(ours.transform(x[:9]), theirs.transform(x[:9]), atol=1e-4)
    again = KernelKMeans(5, method=method, device=device, **settings).fit(x, sample_weight=weights)
    assert again.inertia_ == ours.inertia_


@pytest.mark.parametrize("device", DEVICES)
def test_clusters_of_many_rows_from_a_sample(device):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.standard_normal((9000, 2)), rng.standard_normal((9000, 2)) + 6])
    truth = np.repeat([0, 1], 9000)
    labels = KernelKMeans(2, kernel=Gaussian(3.0), method="cuda", device=device, random_state=0).fit(x).labels_
    assert max((labels == truth).mean(), (labels != truth).mean()) > 0.999


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("method", ["cuda", "landmarks"])
@pytest.mark.parametrize("model", [KernelDiscriminantAnalysis, BiasedDiscriminantAnalysis])
def test_discriminants_are_those_of_the_cpu(model, method, device):
    x, y = digits()
    y = y if model is KernelDiscriminantAnalysis else y == 8
    ours = model(n_coordinates=30, method=method, device=device).fit(x, y)
    theirs = model(n_coordinates=30, method="dense" if method == "cuda" else method).fit(x, y)
    np.testing.assert_array_equal(ours.predict(x), theirs.predict(x))
    np.testing.assert_allclose(np.abs(ours.transform(x[:9])), np.abs(theirs.transform(x[:9])), atol=1e-3)
    again = model(n_coordinates=30, method=method, device=device).fit(lodged(x, device), lodged(y, device))
    np.testing.assert_array_equal(again.transform(x[:9]), ours.transform(x[:9]))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors_in_tensors_out(dtype, device):
    x, y = digits(200)
    rows, labels = lodged(x.astype(dtype), device), lodged(y, device)
    where = {"device": device, "kernel": Gaussian(30.0)}
    kmeans = KernelKMeans(3, random_state=0, **where)
    klda = KernelDiscriminantAnalysis(n_coordinates=20, **where).fit(rows, labels)
    kbda = BiasedDiscriminantAnalysis(n_coordinates=20, **where).fit(rows, labels == 8)
    made = {
        "labels": (kmeans.fit_predict(rows), torch.int32),
        "nearest": (kmeans.predict(rows), torch.int32),
        "distances": (kmeans.transform(rows), rows.dtype),
        "components": (KernelPCA(2, **where).fit_transform(rows), rows.dtype),
        "discriminants": (klda.transform(rows), rows.dtype),
        "classes": (klda.predict(rows), torch.int64),
        "chances": (klda.predict_proba(rows), rows.dtype),
        "found": (kbda.predict(rows), torch.bool),
        "margins": (kbda.decision_function(rows), rows.dtype),
    }
    for name, (values, wanted) in made.items():
        assert isinstance(values, torch.Tensor), name
        assert values.device == rows.device, name
        assert values.dtype == wanted, name
    assert kmeans.score(rows) == pytest.approx(-kmeans.inertia_, rel=1e-3)


def test_classes_that_are_no_numbers_are_given_as_they_are():
    x, y = digits(100)
    names = np.where(y < 5, "low", "high")
    klda = KernelDiscriminantAnalysis(n_coordinates=10, kernel=Gaussian(30.0)).fit(x, names)
    assert set(klda.predict(torch.as_tensor(x))) == {"low", "high"}


@pytest.mark.parametrize("method", ["monomials", "cuda"])
def test_too_little_memory_on_the_card_is_foreseen(method, monkeypatch):
    for module in (explicit, cuda_route):
        monkeypatch.setattr(module, "free_card_memory", lambda device: 1000)
    x, kernel = cube(100), Polynomial(2, 1.0)
    with pytest.raises(ValueError, match="of the GPU's"):
        KernelPCA(2, kernel=kernel, device="torch", method=method).fit(x)
    monkeypatch.setattr("gramless.fitting.posing.find_device", lambda device: "torch")
    anywhere = KernelPCA(2, kernel=kernel, device="auto").fit(x)
    assert anywhere.plan_.candidates[anywhere.method_].device == "cpu"


@pytest.mark.parametrize("model", [KernelKMeans, KernelDiscriminantAnalysis, BiasedDiscriminantAnalysis])
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_card_cuda_says_what_to_install(model):
    x, y = digits(40)
    with pytest.raises(RuntimeError, match="install a CUDA build of torch"):
        model(device="cuda").fit(x, y == 0)
    assert model(device="auto").fit(x, y == 0).method_ != "cuda"
