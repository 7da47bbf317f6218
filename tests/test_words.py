"""The terms of the field, which users search for: the worst others stay out of docstrings, messages and pages."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: What not to write, and the term in its place; CONTRIBUTING.md has the whole glossary.
TERMS = {
    r"(graphics )?cards?": "GPU",
    r"widths? of (the|a|your)( Gaussian)? kernel|kernel'?s? widths?|widths? of the Gaussian": "bandwidth",
    r"kernels? of (the )?(distances?|dot products?)": "radial kernel, dot-product kernel",
    r"(or|as|is|be) a text": "string",
    r"humps?|hills?|heaps?|riddles?": "mode, multimodal, cluster",
    r"way back": "inverse transform, pre-image",
    r"come back to the input": "reconstruct",
    r"can(not)? be had": "achievable, not achievable",
    r"the least that": "the minimum",
    r"is not known; pass|is no (number|column|width)": "is invalid",
    r"begins? anew|all rows anew": "start over, refit",
    r"cut short": "truncated",
    r"keep coming": "streaming",
    r"nobody|whoever|whence|thereof|drown\w*": "plain words",
}
FORBIDDEN = re.compile("|".join(rf"\b(?:{words})\b" for words in TERMS), re.IGNORECASE)
SOURCES = sorted([*ROOT.glob("src/gramless/**/*.py"), *ROOT.glob("examples/*.py")])
PAGES = sorted([*ROOT.glob("docs/*.rst"), ROOT / "README.md", ROOT / "BENCHMARKS.md"])


def prose_of_source(text):
    """Docstrings, comments and the literal parts of strings with their line numbers; names are code, not prose."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            for line, prose in enumerate(node.value.splitlines()):
                yield node.lineno + line, without_code(prose)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], without_code(token.string)


def prose_of_page(text):
    """The lines of a page, without inline code, directives, their options and the names that the reference lists."""
    for line, prose in enumerate(text.splitlines(), start=1):
        if not re.fullmatch(r" +[\w.]+", prose):
            yield line, without_code(re.sub(r"^ *(\.\. [\w-]+::.*|:[\w-]+:.*)", "", prose))


def without_code(prose):
    """A line without inline code, roles and doctest input."""
    return "" if prose.lstrip().startswith((">>>", "...")) else re.sub(r"`+[^`]*`+", "", prose)


def found(prose):
    return [f"line {line}: {match[0]!r}" for line, text in prose for match in FORBIDDEN.finditer(text)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_sources_use_the_words_of_the_field(path):
    assert found(prose_of_source(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_use_the_words_of_the_field(path):
    assert found(prose_of_page(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('"""Rows on a card."""', ["line 1: 'card'"]),
        ('x = 1\nraise ValueError(f"sigma={x} is a text, not a number")', ["line 2: 'is a text'"]),
        ("x = 1  # the width of the kernel", ["line 1: 'width of the kernel'"]),
        ('"""The class `Card`; cardinal numbers; the width of an interval."""\nCard = card = "cards"', []),
    ],
)
def test_the_search_finds_prose_and_spares_names(source, lines):
    assert found(prose_of_source(source)) == lines


def test_the_glossary_is_in_the_guide_for_contributors():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "| say | not |" in guide
    assert "GPU" in guide.partition("| say | not |")[2]
