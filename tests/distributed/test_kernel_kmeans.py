from pathlib import Path

import numpy as np
import pytest

from gramless import KernelKMeans, load

da = pytest.importorskip("dask.array", reason='dask is not installed: pip install ".[dask]"')
pytestmark = pytest.mark.usefixtures("client")


def blobs(d: int = 2, n: int = 400) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) + 5 * rng.integers(0, 2, (n, d))


@pytest.mark.parametrize(
    "parameters",
    [
        {"method": "fourier"},
        {"method": "landmarks"},
        {"method": "tiled"},
        {"kernel": "poly", "degree": 2, "gamma": 0.1, "method": "monomials"},
    ],
    ids=lambda parameters: parameters["method"],
)
def test_a_cluster_finds_the_partition_of_one_process(parameters: dict[str, object]) -> None:
    x = blobs()
    weights = np.random.default_rng(1).integers(0, 3, len(x)).astype(float)
    alone = KernelKMeans(4, random_state=0, **parameters).fit(x, sample_weight=weights)
    rows = da.from_array(x, chunks=(110, 1))
    together = KernelKMeans(4, random_state=0, **parameters).fit(rows, sample_weight=weights)
    np.testing.assert_array_equal(together.labels_, alone.labels_)
    assert together.inertia_ == pytest.approx(alone.inertia_, rel=1e-9)
    assert together.gamma_ == alone.gamma_
    np.testing.assert_array_equal(together.predict(rows).compute(), alone.predict(x))
    np.testing.assert_allclose(together.transform(rows).compute(), alone.transform(x), atol=1e-6)
    assert together.score(rows) == pytest.approx(alone.score(x), rel=1e-9)
    np.testing.assert_array_equal(together.prototypes("nearest"), alone.prototypes("nearest"))


def test_a_card_is_not_used_on_a_cluster() -> None:
    with pytest.raises(ValueError, match="device='torch' is not supported on a cluster"):
        KernelKMeans(2, device="torch").fit(da.from_array(blobs(), chunks=(200, 2)))


def test_what_needs_the_rows_says_so(tmp_path: Path) -> None:
    model = KernelKMeans(2, random_state=0, gamma=1.0).fit(da.from_array(blobs(), chunks=(200, 2)))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(blobs()), model.labels_)
    np.testing.assert_array_equal(load(tmp_path / "model").prototypes("nearest"), model.prototypes("nearest"))
    with pytest.raises(ValueError, match="method='nearest'"):
        model.prototypes()
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(da.ones((10, 3)))
    with pytest.raises(ValueError, match="not supported on a cluster"):
        KernelKMeans(2, device="cuda").fit(da.ones((4, 2)))
    with pytest.raises(ValueError, match="at most 4 clusters"):
        KernelKMeans(5).fit(da.ones((4, 2)))
