"""The tutorials run, with fewer rows, and what they claim holds. `make docs` runs them as they are."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason='the tutorials draw: pip install ".[plot]"').use("Agg")

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tutorials"
TUTORIALS = sorted(FOLDER.glob("*.ipynb"))


def cells(name, kind):
    """Sources of the cells of one kind."""
    notebook = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


def run(name, rows, folder, monkeypatch):
    """The names that a tutorial leaves behind, run with so many rows in the place of its own."""
    monkeypatch.chdir(folder)
    code, changed = re.subn(r"^N((?:, \w+)*) = [\d_]+", rf"N\1 = {rows}", "\n".join(cells(name, "code")), flags=re.M)
    assert changed == 1
    names = {"__name__": "__main__"}
    exec(compile(code, name, "exec"), names)
    names["plt"].close("all")
    return names


def test_rows_of_a_table(tmp_path, monkeypatch):
    found = run("hundred_thousand_rows", 3000, tmp_path, monkeypatch)
    assert found["difference"] < 1e-9
    assert found["accuracies"]["KernelPCA, 30 components"] > found["accuracies"]["the columns"] + 0.05


def test_events_on_a_map(tmp_path, monkeypatch):
    found = run("million_events", 20_000, tmp_path, monkeypatch)
    assert found["agreement"] < 1e-6
    assert found["apart"] < 1e-6
    assert len(np.unique(found["region"])) == 8
    heights = found["heights"]
    np.testing.assert_allclose(heights[:, 0], heights[:, -1], atol=1e-9)  # no edge at the date line


def test_monitor_of_a_stream(tmp_path, monkeypatch):
    found = run("stream_monitor", 12_000, tmp_path, monkeypatch)
    normal, followed, unmoved = ~found["fault"], np.concatenate(found["followed"]), np.concatenate(found["unmoved"])
    assert followed[normal].mean() < 2 * found["RATE"]
    assert unmoved[normal].mean() > 10 * found["RATE"]
    assert followed[~normal].mean() > 0.5
    assert found["same"]


def test_every_tutorial_is_listed():
    listed = re.findall(r"^   (\w+)$", (FOLDER / "index.rst").read_text(encoding="utf-8"), flags=re.M)
    assert listed == [file.stem for file in TUTORIALS]


@pytest.mark.parametrize("file", TUTORIALS, ids=lambda file: file.stem)
def test_tutorials_are_kept_without_results_and_link_to_pages(file):
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    links = re.findall(r"\]\(([^)]+)\)", "\n".join(cells(file.stem, "markdown")))
    assert links
    assert [link for link in links if not (FOLDER / link).exists()] == []
