"""The tables of layers in CONTRIBUTING.md are the contracts that the linter checks, and list every module."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "gramless"
APART = {"__init__", "__main__", "_version"}
PAGE = ROOT / "docs" / "architecture.rst"


def contracts():
    """The contracts about layers: the folder that each is about, and its layers from the top down."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in configuration["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers":
            (container,) = contract["containers"]
            folder = PACKAGE.joinpath(*container.split(".")[1:])
            yield folder, [re.findall(r"\w+", layer) for layer in contract["layers"]]


def tables():
    """The tables of layers in CONTRIBUTING.md: the modules that each row names in its first cell."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for table in re.findall(r"^\| (?:package|module) \|.*\n(?:^\|.*\n)+", text, flags=re.MULTILINE):
        cells = [line.split("|")[1] for line in table.splitlines()[2:]]
        yield [re.findall(r"`(\w+)`", cell) for cell in cells]


def modules(folder):
    """Modules and packages of a folder."""
    files = {path.stem for path in folder.glob("*.py")}
    return (files | {path.parent.name for path in folder.glob("*/__init__.py")}) - APART


CASES = [pytest.param(*case, id=case[0].name) for case in contracts()]


def test_each_contract_has_a_table():
    assert len(CASES) == len(list(tables())) == 2


@pytest.mark.parametrize("number", range(2))
def test_a_table_lists_the_layers_of_its_contract_in_order(number):
    assert list(tables())[number] == [*contracts()][number][1]


@pytest.mark.parametrize(("folder", "layers"), CASES)
def test_every_module_has_a_layer(folder, layers):
    assert sorted(module for layer in layers for module in layer) == sorted(modules(folder))


def test_what_the_page_on_the_architecture_names_is_there():
    text = PAGE.read_text(encoding="utf-8")
    files = set(re.findall(r"``([\w/]+\.py)``", text))
    assert len(files) > 20
    assert [file for file in sorted(files) if not (PACKAGE / file).exists()] == []
    named = re.findall(r"``([\w/]+\.py)``,\s+``([\w.]+)``", text)
    assert len(named) > 10
    assert [(file, name) for file, name in named if not defines(PACKAGE / file, name)] == []


def defines(path, name):
    """Whether a file defines a function, a class, or a class and a method of it."""
    text = path.read_text(encoding="utf-8")
    return all(re.search(rf"^ *(?:def|class) {part}\b", text, flags=re.MULTILINE) for part in name.split("."))
