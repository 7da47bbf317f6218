"""Every command of the documentation and of the README runs, in the order in which it is written."""

import re
import shlex
import textwrap
from pathlib import Path

import pytest

from gramless.cli import main

ROOT = Path(__file__).parents[2]
pytest.importorskip("pyarrow", reason="CSV and Parquet files need pyarrow")
pytest.importorskip("pandas", reason="the page writes its table with pandas")
pytest.importorskip("plotly", reason="reports need plotly")


def python_blocks(text: str) -> list[str]:
    return [textwrap.dedent(block) for block in re.findall(r"code-block:: python\n\n((?:   .*\n|\n)+)", text)]


def commands(text: str) -> list[str]:
    return re.findall(r"^\s*\$ (gramless .*)$", text, flags=re.MULTILINE)


def run(lines: list[str]) -> None:
    for line in lines:
        assert main(shlex.split(line, comments=True)[1:]) == 0, line


def test_commands_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "command_line.rst").read_text(encoding="utf-8")
    for table in python_blocks(page):
        exec(compile(table, "docs/command_line.rst", "exec"), {})
    found = commands(page)
    assert len(found) > 15
    run(found)
    made = {path.name for path in tmp_path.iterdir()}
    assert {"model.gramless", "scores.csv", "report.html", "clean.npz", "both.gramless", "clusters.csv"} <= made


def test_commands_of_the_readme(folder):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for line in re.findall(r"^gramless .*$", text, flags=re.MULTILINE) if " explore" not in line]
    assert len(lines) >= 4
    run([line for line in lines if not line.startswith("gramless demo")])
