"""The page "From the papers to the code" is complete, and everything it names exists."""

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "papers.rst").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^(\w+)[^\n]*\n-{5,}\n(.*?)(?=^\w[^\n]*\n-{5,}\n|\Z)", PAGE, re.MULTILINE | re.DOTALL))
CONTENTS = [
    ("Raykar", "eq", 35),
    ("Raykar", "figure", 9),
    ("Raykar", "section", 14),
    ("Fasel", "eq", 18),
    ("Fasel", "slide", 27),
    ("Sharma", "eq", 43),
    ("Sharma", "figure", 2),
    ("Sharma", "algorithm", 3),
    ("Sharma", "table", 1),
    ("Welling", "eq", 18),
    ("Welling", "section", 2),
]
TITLES = [
    "Principal component analysis",
    "Principal component analysis (learning)",
    "PCA by SVD",
    "Extensions",
    "The dot product form",
    "The kernel trick",
    "The dot product implementation",
    "Questions",
    "Polynomial kernels",
    "Kernel summary",
    "Question",
    "Dot-product kernels",
    "Positive definite matrices",
    "Positive definite kernels",
    "Dot product kernels",
    "Clustering",
    "PCA",
    "Kernel methods",
]


def rows(document):
    """The cells of a document's table: where, carried out by, corrected."""
    table = SECTIONS[document].split(".. list-table::")[1]
    cells = [re.split(r"\n     - ?", row) for row in table.split("\n   * - ")[2:]]
    assert all(len(row) == 3 for row in cells)
    return [[" ".join(cell.split()) for cell in row] for row in cells]


@pytest.mark.parametrize(("document", "kind", "last"), CONTENTS)
def test_every_number_of_a_document_has_its_row(document, kind, last):
    found = []
    for where, *_ in rows(document):
        for first, end in re.findall(rf"\b{kind}s?\.? (\d+)(?:-(\d+))?(?![.\d])", where):
            found += range(int(first), int(end or first) + 1)
    assert sorted(found) == list(range(1, last + 1))


def test_every_slide_without_a_number_has_its_row():
    named = [title for where, *_ in rows("Vasconcelos") for title in re.findall(r'"([^"]+)"', where)]
    assert sorted(named) == sorted(TITLES)


@pytest.mark.parametrize("document", ["Raykar", "Fasel", "Sharma", "Vasconcelos", "Welling"])
def test_every_row_says_something(document):
    assert [where for where, carried, _ in rows(document) if len(carried) < 10] == []


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\bgramless(?:\.\w+)+", PAGE))))
def test_names_exist(name):
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        reduce(getattr, parts[cut:], found)
        return
    raise AssertionError(f"{name} cannot be imported")


@pytest.mark.parametrize("example", sorted(set(re.findall(r"sphx_glr_gallery_(\w+\.py)", PAGE))))
def test_examples_exist(example):
    assert (ROOT / "examples" / example).is_file()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"``(benchmarks/[\w/]+\.py)``", PAGE))))
def test_files_exist(path):
    assert (ROOT / path).is_file()


def test_names_are_found():
    assert len(set(re.findall(r"\bgramless(?:\.\w+)+", PAGE))) > 60
    assert len(set(re.findall(r"sphx_glr_gallery_(\w+\.py)", PAGE))) > 15
