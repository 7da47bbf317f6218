"""Every public name has its place in the reference, and says what it is."""

import importlib
import inspect
import re
import runpy
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[1] / "docs" / "api.rst"
PACKAGES = [
    "gramless",
    "gramless.kernels",
    "gramless.features",
    "gramless.gram",
    "gramless.eigen",
    "gramless.spaces",
    "gramless.certificates",
    "gramless.fitting",
    "gramless.fitting.question",
    "gramless.fitting.methods",
    "gramless.problem",
    "gramless.machine",
    "gramless.bandwidth",
    "gramless.independence",
    "gramless.densities",
    "gramless.clustering",
    "gramless.discriminants",
    "gramless.persistence",
    "gramless.export",
    "gramless.data",
    "gramless.data.formats",
    "gramless.report",
    "gramless.explorer",
    "gramless.plots",
    "gramless.errors",
    "gramless.datasets",
]


def public_names(package):
    module = importlib.import_module(package)
    names = getattr(module, "__all__", None)
    if names is None:
        names = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == package
        ]
    return [name for name in names if not name.startswith("__") and not inspect.ismodule(getattr(module, name))]


def documented():
    """Names that the reference lists, each with its module."""
    found, module = set(), ""
    for line in REFERENCE.read_text().splitlines():
        if current := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = current[1]
        elif re.fullmatch(r"   [\w.]+", line):
            found.add(f"{module}.{line.strip()}")
        elif single := re.match(r"\.\. auto\w+:: ([\w.]+)", line):
            found.add(f"{module}.{single[1]}")
    return found


CASES = [(package, name) for package in PACKAGES for name in public_names(package)]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(package):
    listed = {identity(*name.rsplit(".", 1)) for name in documented() if is_there(name)}
    missing = [name for name in public_names(package) if identity(package, name) not in listed]
    assert not missing, f"docs/api.rst lacks {', '.join(missing)} of {package}"


def identity(package, name):
    """The same for a thing under all of its addresses."""
    thing = getattr(importlib.import_module(package), name)
    return id(thing)


def is_there(name):
    package, _, last = name.rpartition(".")
    return hasattr(importlib.import_module(package), last)


def test_the_reference_lists_nothing_that_is_not_there():
    assert [name for name in sorted(documented()) if not is_there(name)] == []


@pytest.mark.parametrize(("package", "name"), CASES)
def test_every_public_class_and_function_has_a_docstring(package, name):
    thing = getattr(importlib.import_module(package), name)
    if inspect.isclass(thing) or inspect.isroutine(thing):
        text = thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__
        assert text, f"{package}.{name}"
        assert not text.startswith(f"{name}("), f"{package}.{name} has only the docstring that dataclasses make"


def see_also(text):
    """The names in the See Also section of a docstring."""
    section = re.search(r"See Also\n-+\n(.*?)(?:\n\n|\Z)", inspect.cleandoc(text), re.DOTALL)
    return re.findall(r"^([\w.]+) :", section[1], re.MULTILINE) if section else []


ESTIMATORS = [
    name for name in public_names("gramless") if hasattr(getattr(importlib.import_module("gramless"), name), "fit")
]


@pytest.mark.parametrize(
    "name", [*ESTIMATORS, "select_bandwidth", "Bandwidth", "load", "open_source", "principal_angles"]
)
def test_names_for_users_lead_to_others(name):
    assert see_also(getattr(importlib.import_module("gramless"), name).__doc__)


@pytest.mark.parametrize(("package", "name"), CASES)
def test_see_also_names_things_that_exist(package, name):
    for other in see_also(getattr(getattr(importlib.import_module(package), name), "__doc__", None) or ""):
        first, *rest = other.split(".")
        where = importlib.import_module(package if hasattr(importlib.import_module(package), first) else "gramless")
        if first in ("gramless", "sklearn"):
            module = importlib.import_module(other.rpartition(".")[0])
            assert hasattr(module, other.rpartition(".")[2]), other
        else:
            found = getattr(where, first)
            assert all(hasattr(found, part) for part in rest), other


def test_summaries_of_the_reference_end_with_their_sentence():
    autosummary = pytest.importorskip("sphinx.ext.autosummary", reason="the documentation needs sphinx")
    frontend, parsers = importlib.import_module("docutils.frontend"), importlib.import_module("docutils.parsers.rst")
    runpy.run_path(str(REFERENCE.with_name("conf.py")))
    settings = frontend.get_default_settings(parsers.Parser)
    settings.report_level = 5
    cut = []
    for name in sorted(documented()):
        package, _, last = name.rpartition(".")
        text = inspect.getdoc(getattr(importlib.import_module(package), last)) or ""
        summary = autosummary.extract_summary(text.splitlines(), settings)
        if summary.count("(") != summary.count(")") or re.search(r"\b(eqs?|figs?|sec|al|vs)\.$", summary):
            cut.append(f"{name}: {summary}")
    assert not cut


def test_every_page_is_in_one_group():
    index = REFERENCE.with_name("index.rst").read_text()
    groups = re.findall(r":caption: (.+)\n\n((?: +\S.*\n)+)", index)
    assert [caption for caption, _ in groups] == [
        "Getting started",
        "Kernel PCA",
        "Large data",
        "Streams",
        "Clustering and discriminants",
        "Accuracy",
        "Reference",
        "Background",
    ]
    entries = [re.sub(r".*<(.*)>", r"\1", line.strip()) for _, lines in groups for line in lines.splitlines()]
    pages = [page.stem for page in REFERENCE.parent.glob("*.rst") if page.stem != "index"]
    assert sorted(entry for entry in entries if "/" not in entry) == sorted(pages)
