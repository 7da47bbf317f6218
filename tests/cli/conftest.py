from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

pytest.importorskip("pyarrow", reason="CSV and Parquet files need pyarrow")

NAMES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def write_irises(path: Path) -> None:
    data = load_iris()
    species = data.target_names[data.target]
    lines = [",".join([*NAMES, "species"])]
    lines += [",".join([*map(repr, map(float, row)), name]) for row, name in zip(data.data, species, strict=True)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="session")
def irises() -> np.ndarray:
    return load_iris().data


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with iris.csv, which is where commands run."""
    write_irises(tmp_path / "iris.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path
