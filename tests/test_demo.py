import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from io import StringIO

import pytest
from rich.console import Console

from gramless.cli import main
from gramless.demo import run

pytest.importorskip("matplotlib")

VOID = {"meta", "img", "br", "link", "hr", "input"}


class Reader(HTMLParser):
    """Collects tags with their attributes; complains of tags that do not match."""

    def __init__(self):
        super().__init__()
        self.seen, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def named(self, tag):
        return [attributes for name, attributes in self.seen if name == tag]


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    """A small run: the page's path, and what was printed."""
    folder = tmp_path_factory.mktemp("tour") / "made" / "on the way"
    printed = StringIO()
    page = run(folder, rows=300, console=Console(file=printed, width=100))
    return page, printed.getvalue()


@pytest.fixture(scope="module")
def page(tour):
    reader = Reader()
    reader.feed(tour[0].read_text(encoding="utf-8"))
    assert reader.open == []
    return reader


def test_writes_two_figures_a_page_and_a_table(tour):
    path, _ = tour
    assert {file.name for file in path.parent.iterdir()} >= {"annulus.npy", "annulus.png", "digits.png", "report.html"}
    for name in ("annulus.png", "digits.png"):
        assert (path.parent / name).read_bytes().startswith(b"\x89PNG")


def test_page_fetches_nothing(tour, page):
    text = tour[0].read_text(encoding="utf-8")
    assert re.search(r"https?:|//[a-z]|@import|url\(", re.sub(r"base64,[\w+/=]+", "", text)) is None
    assert page.named("script") == page.named("link") == []
    assert all(image["src"].startswith("data:image/png;base64,") for image in page.named("img"))


def test_every_figure_has_a_text_for_those_who_cannot_see_it(page):
    images = page.named("img")
    assert len(images) == 2
    assert all(len(image["alt"]) > 40 for image in images)


def test_page_holds_plan_timing_and_certificate(page):
    assert len(page.named("table")) == 3


def test_prints_tables_and_where_the_files_are(tour):
    path, printed = tour
    for word in ("method", "seconds", "at least", "at most", "chosen", "scikit-learn", "rigorous"):
        assert word in printed
    assert printed.replace("\n", "").count(str(path)) == 1


def test_ends_with_three_commands_that_run(tour):
    path, printed = tour
    pytest.importorskip("plotly", reason="reports need plotly")
    lines = [line for line in printed.rpartition("What next")[2].splitlines() if " -m gramless " in line]
    commands = [shlex.split(line)[3:] for line in lines]
    assert [command[0] for command in commands] == ["plan", "fit", "report"]
    for command in commands:
        assert main(command) == 0, command
    assert (path.parent / "annulus.html").exists()


def test_figures_are_the_same_every_time(tour, tmp_path):
    again = run(tmp_path, rows=300, console=Console(file=StringIO()))
    for name in ("annulus.png", "digits.png"):
        assert again.with_name(name).read_bytes() == tour[0].with_name(name).read_bytes()


def test_without_matplotlib_it_says_what_to_install(tmp_path):
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.modules['matplotlib'] = None\n"
        "from gramless.demo.__main__ import main\n"
        f"sys.exit(main(['--out', {str(tmp_path / 'none')!r}]))"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert child.returncode == 1
    assert 'pip install ".[plot]"' in child.stderr
    assert "Traceback" not in child.stderr
    assert not (tmp_path / "none").exists()
