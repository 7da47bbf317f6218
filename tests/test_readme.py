"""The README keeps its word: each Python block runs as it is pasted and prints what is shown; links lead somewhere."""

import math
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from benchmarks import headline, readme, settings
from benchmarks.results import load
from gramless import KernelPCA
from gramless.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(match["code"], match["shown"], id=f"line-{README.count(chr(10), 0, match.start()) + 1}")
    for match in BLOCK.finditer(README)
]


def alike(shown, printed):
    """Whether two words are the same, or numbers that another machine may round otherwise."""
    try:
        a, b = float(shown), float(printed)
    except ValueError:
        return shown == printed
    return math.isclose(a, b, rel_tol=1e-8) or max(a, b) < min(1e-6, 10 * min(a, b))  # widths: of the same size


def test_blocks_are_found():
    assert len(BLOCKS) >= 5
    assert sum(block.values[1] is not None for block in BLOCKS) == 1


@pytest.mark.parametrize(("code", "shown"), BLOCKS)
def test_block_runs_as_it_is_pasted(code, shown, tmp_path, monkeypatch, capsys):
    if "distributed" in code:
        pytest.importorskip("distributed", reason='dask is not installed: pip install ".[dask]"')
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    if shown is not None:
        printed = capsys.readouterr().out.split()
        assert len(shown.split()) == len(printed)
        assert [pair for pair in zip(shown.split(), printed, strict=True) if not alike(*pair)] == []


def test_the_line_that_writes_a_table(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="CSV files need pyarrow")
    (line,) = re.findall(r"^python -c .*$", README, flags=re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    subprocess.run([sys.executable, *shlex.split(line)[1:]], check=True)
    assert main(["fit", "iris.csv", "--label", "species", "-k", "5", "-o", "model.gramless"]) == 0


@pytest.mark.parametrize("page", ["README.md", "BENCHMARKS.md"])
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert targets
    assert [target for target in targets if "://" not in target and not (ROOT / target).exists()] == []


def test_every_extra_for_users_is_in_the_table():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(re.findall(r"^\| `(\w+)` \|", README, flags=re.MULTILINE)) == {*extras} - {"docs", "dev"}


@pytest.mark.parametrize("page", ["README.md", "BENCHMARKS.md"])
def test_figures_are_those_of_the_result_files(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text == readme.with_figures(text)


def test_settings_are_those_of_the_result_files():
    text = readme.SETTINGS.read_text(encoding="utf-8")
    assert text == settings.with_settings(text, load)
    assert "50,000 x 30" in text
    empty = settings.with_settings(text, lambda name: None)
    assert "50,000 x 30" not in empty
    assert settings.with_settings(empty, load) == text


def test_every_call_of_the_settings_can_be_made():
    calls = re.findall(
        r"``(KernelPCA\(\d.*?\))(?:\.fit.*)?``$", readme.SETTINGS.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(calls) > 10
    x = np.random.default_rng(0).random((60, 2))
    for call in calls:
        model = eval(call, {"KernelPCA": KernelPCA})
        assert model.set_params(device="cpu", n_components=2).plan(x).chosen


def test_every_benchmark_has_a_place():
    named = re.findall(r"<!-- figures: (\w+) -->", (ROOT / "BENCHMARKS.md").read_text(encoding="utf-8"))
    assert sorted(named) == sorted(readme.RENDER)


def test_rows_without_results_are_left_out():
    figures = {"machine": "one", "table": {"Gaussian": {"seconds": 1.0, "peer_failed": "no tslearn"}}}
    empty = headline.headline(lambda name: None)
    assert headline.headline(lambda name: figures if name == "kmeans" else None) == empty
    assert empty.count("\n") == 1
