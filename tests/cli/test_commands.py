"""What commands write equals what the library returns."""

import gzip
import json

import numpy as np
import pytest

import gramless
from gramless import KernelKMeans, KernelPCA
from gramless.cli import main
from gramless.data import open_source
from gramless.kernels import Epanechnikov, Gaussian, Laplacian, Manhattan, Matern

FIT = ["fit", "iris.csv", "--label", "species", "-k", "4"]


def run(*words: str) -> None:
    assert main([*words]) == 0


def told(capsys, *words: str) -> dict:
    """What a command prints with --json."""
    capsys.readouterr()
    run(*words, "--json")
    return json.loads(capsys.readouterr().out)


def table(path) -> np.ndarray:
    return np.concatenate(list(open_source(path).blocks(1000)))


def test_inspect_shows_all_digits_and_every_share(folder, capsys):
    run(*FIT, "-o", "model.gramless")
    capsys.readouterr()
    run("inspect", "model.gramless")
    printed = capsys.readouterr().out
    found = gramless.load(folder / "model.gramless")
    assert repr(found.plan_.problem.kernel.sigma) in printed
    assert ", ".join(f"{100 * share:.3g} %" for share in found.explained_variance_ratio_) in printed


def test_models_that_are_alike_can_be_merged(folder):
    run(*FIT, "-o", "a.gramless")
    lines = (folder / "iris.csv").read_text().splitlines()
    (folder / "few.csv").write_text("\n".join([lines[0], *lines[40:]]) + "\n")
    run("fit", "few.csv", "--like", "a.gramless", "-o", "b.gramless")
    first, second = (gramless.load(folder / name) for name in ("a.gramless", "b.gramless"))
    assert second.plan_.problem.kernel == first.plan_.problem.kernel
    assert list(second.feature_names_in_) == list(first.feature_names_in_)
    assert second.n_components == 4
    run("merge", "a.gramless", "b.gramless", "-o", "both.gramless")


@pytest.fixture
def model(folder):
    run(*FIT, "-o", "model.gramless")
    return gramless.load(folder / "model.gramless")


def test_fit_is_the_fit_of_the_library(folder, irises, capsys):
    printed = told(capsys, *FIT, "-o", "model.gramless")
    expected = KernelPCA(4, kernel="rbf", gamma="median", random_state=0).fit(irises)
    found = gramless.load(folder / "model.gramless")
    np.testing.assert_array_equal(found.eigenvalues_, expected.eigenvalues_)
    np.testing.assert_array_equal(found.certificate_.upper, expected.certificate_.upper)
    assert printed["eigenvalues"] == expected.eigenvalues_.tolist()
    assert list(found.feature_names_in_) == ["sepal_length", "sepal_width", "petal_length", "petal_width"]


@pytest.mark.parametrize(
    ("words", "parameters"),
    [
        (["--kernel", "linear"], {"kernel": "linear"}),
        (["--kernel", "cosine"], {"kernel": "cosine"}),
        (["--kernel", "gaussian", "--sigma", "1.5"], {"kernel": Gaussian(1.5)}),
        (["--kernel", "rbf", "--gamma", "0.25"], {"kernel": "rbf", "gamma": 0.25}),
        (["--sigma", "scale"], {"kernel": "rbf", "gamma": "scale"}),
        (["--sigma", "gap"], {"kernel": "rbf", "gamma": "gap"}),
        (["--kernel", "polynomial", "--degree", "2", "--coef0", "0.5"], {"kernel": "poly", "degree": 2, "coef0": 0.5}),
        (["--kernel", "laplacian", "--sigma", "2"], {"kernel": Manhattan(2.0)}),
        (["--kernel", "laplacian", "--gamma", "0.5"], {"kernel": "laplacian", "gamma": 0.5}),
        (["--kernel", "laplacian"], {"kernel": "laplacian", "gamma": "median"}),
        (["--kernel", "matern", "--nu", "0.5", "--sigma", "2"], {"kernel": Laplacian(2.0)}),
        (["--kernel", "matern", "--nu", "2.5", "--sigma", "2"], {"kernel": Matern(2.5, 2.0)}),
    ],
)
def test_kernels_are_those_of_the_library(folder, irises, words, parameters):
    run(*FIT, *words, "-o", "model.gramless")
    expected = KernelPCA(4, random_state=0, **parameters).fit(irises)
    found = gramless.load(folder / "model.gramless").eigenvalues_
    np.testing.assert_allclose(found, expected.eigenvalues_, rtol=1e-10)


def test_widths_of_other_kernels_suit_the_rows(folder, irises):
    run(*FIT, "--kernel", "epanechnikov", "-o", "model.gramless")
    kernel = gramless.load(folder / "model.gramless").plan_.problem.kernel
    assert kernel == gramless.select_bandwidth(irises, Epanechnikov(), "median").kernel


@pytest.mark.parametrize(("words", "expected"), [("3", 3), ("0.9", None), ("all", None)])
def test_number_of_components(folder, irises, capsys, words, expected):
    found = told(capsys, "fit", "iris.csv", "--label", "species", "--kernel", "linear", "-k", words)
    wanted = {"3": 3, "0.9": 0.9, "all": None}[words]
    assert found["components"] == len(KernelPCA(wanted).fit(irises).eigenvalues_)
    assert expected in (None, found["components"])


def test_columns_by_name_and_by_number(folder, irises):
    run("fit", "iris.csv", "--columns", "petal_length,sepal_width", "-k", "2", "-o", "names.gramless")
    run("fit", "iris.csv", "--columns", "2,1", "-k", "2", "-o", "numbers.gramless")
    expected = KernelPCA(2, kernel="rbf", gamma="median").fit(irises[:, [2, 1]])
    for name in ("names.gramless", "numbers.gramless"):
        np.testing.assert_allclose(gramless.load(folder / name).eigenvalues_, expected.eigenvalues_, rtol=1e-12)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npy", ".npz"])
def test_every_format_goes_out_and_comes_in(folder, irises, model, suffix):
    run("transform", "model.gramless", "iris.csv", "-o", f"scores{suffix}")
    scores = table(folder / f"scores{suffix}")
    np.testing.assert_allclose(scores, model.transform(table_of(irises, model)), rtol=1e-12, atol=1e-14)
    run("inverse", "model.gramless", f"scores{suffix}", "-o", f"back{suffix}")
    expected = model.inverse_transform(scores, method="fixed_point")
    np.testing.assert_allclose(table(folder / f"back{suffix}"), expected, rtol=1e-9)
    run("fit", f"back{suffix}", "-k", "2", "-o", "again.gramless")
    assert gramless.load(folder / "again.gramless").n_features_in_ == 4


def test_a_packed_table_is_the_same_table(folder, model):
    (folder / "iris.csv.gz").write_bytes(gzip.compress((folder / "iris.csv").read_bytes()))
    for name in ("iris.csv", "iris.csv.gz"):
        run("transform", "model.gramless", name, "--keep", "species", "-o", f"{name}.scores.csv")
    assert (folder / "iris.csv.gz.scores.csv").read_text() == (folder / "iris.csv.scores.csv").read_text()


def table_of(rows, model):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(rows, columns=model.feature_names_in_)


def test_columns_are_found_by_their_names(folder, irises, model):
    lines = (folder / "iris.csv").read_text().splitlines()
    turned = [",".join(reversed(line.split(","))) for line in lines]
    (folder / "turned.csv").write_text("\n".join(turned) + "\n")
    run("transform", "model.gramless", "turned.csv", "-o", "scores.npy")
    expected = model.transform(table_of(irises, model))
    np.testing.assert_allclose(np.load(folder / "scores.npy"), expected, rtol=1e-12, atol=1e-14)


def test_denoise(folder, irises, model):
    run("denoise", "model.gramless", "iris.csv", "-o", "clean.npy", "--by", "distances")
    expected = model.denoise(table_of(irises, model), method="distances")
    np.testing.assert_allclose(np.load(folder / "clean.npy"), expected, rtol=1e-9)


def test_denoise_needs_no_inverse_whatever_the_kernel(folder, irises):
    for kernel in ("rbf", "poly", "linear", "cosine", "sigmoid", "laplacian"):
        run("fit", "iris.csv", "--label", "species", "--kernel", kernel, "-k", "3", "-o", "plain.gramless", "--force")
        run("denoise", "plain.gramless", "iris.csv", "-o", "clean.npy", "--force")
        fitted = gramless.load(folder / "plain.gramless")
        rows = table_of(irises, fitted)
        np.testing.assert_allclose(np.load(folder / "clean.npy"), fitted.denoise(rows), rtol=1e-6, atol=1e-6)
        run("transform", "plain.gramless", "iris.csv", "-o", "scores.npy", "--force")
        run("inverse", "plain.gramless", "scores.npy", "-o", "back.npy", "--force")
        assert np.load(folder / "back.npy").shape == rows.shape


def test_update_and_merge_count_all_rows(folder, irises, model, capsys):
    assert told(capsys, "update", "model.gramless", "iris.csv", "-o", "more.gramless")["weight"] == 300
    names = list(model.feature_names_in_)
    expected = model.partial_fit(table_of(irises, model))
    found = gramless.load(folder / "more.gramless")
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-10)
    assert list(found.feature_names_in_) == names
    merged = told(capsys, "merge", "model.gramless", "more.gramless", "-o", "all.gramless")
    assert merged["weight"] == 450


def test_update_replaces_the_model(folder, model, capsys):
    run("update", "model.gramless", "iris.csv", "--batch", "40")
    assert told(capsys, "inspect", "model.gramless")["weight"] == 300


def test_inspect_tells_kernel_method_components_and_certificate(folder, model, capsys):
    found = told(capsys, "inspect", "model.gramless")
    assert found["kernel"] == str(model.plan_.problem.kernel)
    assert found["method"] == model.method_
    assert found["explained_variance_ratio"] == model.explained_variance_ratio_.tolist()
    assert found["certificate"]["lower"] == model.certificate_.lower.tolist()
    run("inspect", "model.gramless", "--plan")
    printed = capsys.readouterr().out
    for row in (*model.certificate_.rows(), *model.plan_.rows()):
        assert row[1] in printed


def test_plan_is_that_of_the_fit(folder, irises, capsys):
    found = told(capsys, "plan", *FIT[1:])
    kpca = KernelPCA(4, kernel="rbf", gamma="median")
    plan = kpca.plan(irises)
    assert plan.chosen == kpca.fit(irises).method_
    assert (found["chosen"], found["rows"], found["components"]) == (plan.chosen, 150, 4)
    assert set(found["candidates"]) == set(plan.candidates)
    assert sorted(path.name for path in folder.iterdir()) == ["iris.csv"]


def test_rows_that_do_not_fit_in_memory_are_read_in_blocks(folder, irises, capsys):
    many = np.tile(irises, (5000, 1))
    np.save(folder / "many.npy", many)
    words = ["many.npy", "--kernel", "polynomial", "--degree", "2", "-k", "3", "--memory", "40MB"]
    assert told(capsys, "plan", *words)["chosen"] == "monomials"
    found = told(capsys, "fit", *words, "--forget-rows")
    expected = KernelPCA(3, kernel="poly", degree=2).fit(many)
    np.testing.assert_allclose(found["eigenvalues"], expected.eigenvalues_, rtol=1e-9)


def test_cluster(folder, irises, capsys):
    found = told(capsys, "cluster", "iris.csv", "--label", "species", "-k", "3", "-o", "c.csv", "--model", "c.gramless")
    expected = KernelKMeans(3, n_init=10, random_state=0).fit(irises)
    np.testing.assert_array_equal(table(folder / "c.csv")[:, 0], expected.labels_)
    assert found["sizes"] == np.bincount(expected.labels_).tolist()
    run("transform", "c.gramless", "iris.csv", "-o", "distances.npy")
    np.testing.assert_allclose(np.load(folder / "distances.npy"), expected.transform(irises), rtol=1e-9, atol=1e-9)


def test_arrays_of_an_archive_by_name(folder, irises, capsys):
    np.savez(folder / "iris.npz", rows=irises, kind=np.arange(150) // 50)
    run("fit", "iris.npz", "--key", "rows", "-k", "2", "-o", "model.gramless")
    pytest.importorskip("plotly")
    run("report", "model.gramless", "iris.npz", "--key", "rows", "--label", "kind", "-o", "page.html")
    assert '"title":"kind","names":["0","1","2"]' in (folder / "page.html").read_text(encoding="utf-8")


def test_report_leaves_the_label_out_of_the_rows(folder, irises):
    pytest.importorskip("plotly")
    KernelPCA(3, kernel="rbf").fit(irises).save(folder / "nameless.gramless")
    run("report", "nameless.gramless", "iris.csv", "--label", "species", "-o", "page.html")
    assert '"names":["setosa","versicolor","virginica"]' in (folder / "page.html").read_text(encoding="utf-8")


def test_demo_is_the_tour(folder, monkeypatch):
    asked = {}
    monkeypatch.setattr("gramless.demo.run", lambda out: asked.update(out=str(out)))
    run("demo", "-o", "tour")
    assert asked == {"out": "tour"}


def test_explore_serves_the_rows_with_their_labels(folder, irises, monkeypatch):
    explorer = pytest.importorskip("gramless.explorer")
    served = {}

    def serve(data, port=0, *, show=True, label=None, labels=None, wait=True):
        served.update(data=data, port=port, show=show, labels=labels)
        raise KeyboardInterrupt

    monkeypatch.setattr(explorer, "serve", serve)
    run("explore", "iris.csv", "--label", "species", "--port", "5099", "--no-show")
    np.testing.assert_array_equal(np.concatenate(list(served["data"].blocks(1000))), irises)
    assert (served["port"], served["show"], served["labels"][0]) == (5099, False, "setosa")
