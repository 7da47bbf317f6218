import re
import shlex
import subprocess
import sys
from functools import partial
from html import unescape
from html.parser import HTMLParser
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from gramless.cli import main

pytest.importorskip("matplotlib")

from gramless.demo import run, scale
from gramless.demo.child import measure
from gramless.demo.file import file_chapter
from gramless.demo.scale import scale_chapter
from gramless.demo.stream import readings, stream_chapter, watched
from gramless.demo.table import TABLES, compared, table_chapter

VOID = {"meta", "img", "br", "link", "hr", "input"}
EVALUATE = partial(partial, eval)  # the task whose items are expressions


def silent(text):
    pass


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
    small = (
        partial(scale_chapter, sizes=(300, 600)),
        partial(table_chapter, names=("wine",)),
        lambda tell: file_chapter(tell, folder, rows=40_000),
        partial(stream_chapter, quiet=20),
    )
    page = run(folder, chapters=small, console=Console(file=printed, width=100))
    return page, printed.getvalue()


@pytest.fixture(scope="module")
def page(tour):
    reader = Reader()
    reader.feed(tour[0].read_text(encoding="utf-8"))
    assert reader.open == []
    return reader


def blocks(path):
    """The code of the page."""
    return [
        unescape(code) for code in re.findall(r"<pre><code>(.*?)</code>", path.read_text(encoding="utf-8"), re.DOTALL)
    ]


def test_prints_eight_lines(tour):
    path, printed = tour
    lines = printed.splitlines()
    assert len(lines) == 8
    assert [line[:8].strip() for line in lines if line[0] != " "] == ["scale", "table", "file", "stream", "page"]
    assert all(len(line) <= 80 for line in lines[:-1])
    assert printed.count("idest ") == 4
    assert str(path) in lines[-1]
    assert "\x1b" not in printed


def test_leaves_the_page_and_a_table(tour):
    assert {file.name for file in tour[0].parent.iterdir()} == {"annulus.npy", "report.html"}


def test_page_fetches_nothing(tour, page):
    text = tour[0].read_text(encoding="utf-8")
    assert re.search(r"https?:|//[a-z]|@import|url\(", re.sub(r"base64,[\w+/=]+", "", text)) is None
    assert page.named("script") == page.named("link") == []
    assert all(image["src"].startswith("data:image/png;base64,") for image in page.named("img"))


def test_every_figure_has_a_text_for_those_who_cannot_see_it(page):
    images = page.named("img")
    assert len(images) == 9
    assert all(len(image["alt"]) > 40 for image in images)


def test_page_has_a_table_and_a_certificate_for_each_chapter(tour, page):
    assert [section["id"] for section in page.named("section")] == ["scale", "table", "file", "stream", "next"]
    assert len(page.named("table")) == 8
    text = tour[0].read_text(encoding="utf-8")
    assert text.count("The certificate: widest interval") == 4
    assert re.search(r"\d+ cores, \w+, Python 3", text)


def test_code_of_every_chapter_runs(tour, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    *codes, _ = blocks(tour[0])
    assert len(codes) == 4
    smaller = {"load_digits": "load_wine", "KernelPCA(300": "KernelPCA(20", "20_000": "2_000", ">= 15_000": ">= 1_500"}
    for code in codes:
        for old, new in smaller.items():
            code = code.replace(old, new)
        exec(compile(code, "page", "exec"), {})
    assert (tmp_path / "scores.npy").exists()


def test_page_ends_with_three_commands_that_run(tour):
    pytest.importorskip("plotly", reason="reports need plotly")
    commands = [shlex.split(line)[3:] for line in blocks(tour[0])[-1].splitlines()]
    assert [command[0] for command in commands] == ["plan", "fit", "report"]
    try:
        for command in commands:
            assert main(command) == 0, command
        assert tour[0].with_name("annulus.html").exists()
    finally:
        for name in ("annulus.html", "model.gramless"):
            tour[0].with_name(name).unlink(missing_ok=True)


def test_a_terminal_sees_the_progress(tmp_path):
    printed = StringIO()
    run(tmp_path, chapters=[], console=Console(file=printed, width=100, force_terminal=True))
    assert "drawing the page" in printed.getvalue()
    assert printed.getvalue().count("\x1b[2K") > 1  # the line is drawn over, not repeated


@pytest.mark.parametrize(
    ("expression", "failure"),
    [
        ("__import__('signal').raise_signal(11)", "crashed (SIGSEGV)"),
        ("__import__('signal').raise_signal(9)", "killed (out of memory?)"),
        ("__import__('os')._exit(3)", "ended with exit code 3"),
        ("bytearray(1 << 62)", "out of memory"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("__import__('time').sleep(60)", "stopped after 1 s"),
    ],
)
def test_whatever_happens_in_another_process_is_a_result(expression, failure):
    first, second = measure(EVALUATE, ("6 * 7", expression, "'never reached'"), 1.0)
    assert (first.value, first.failure) == (42, "")
    assert second.failure == failure


def test_memory_of_a_call_is_its_own():
    small, large = measure(EVALUATE, ("1", "len(b'x' * 10**8)"), 30.0)
    if large.peak_bytes is None:
        pytest.skip("the system does not count a process's memory")
    assert small.peak_bytes < 5e7 < 9e7 < large.peak_bytes < 1.5e8


def test_a_peer_that_takes_too_long_is_stopped():
    chapter = scale_chapter(silent, sizes=(300, 600), peer_limit_s=1e-6)
    assert "300 stopped after 1e-06 s" in chapter.lines[1]
    assert [row[5] for row in chapter.tables[0].rows] == ["stopped after 1e-06 s", "not tried"]


def test_a_peer_without_memory_is_not_tried_but_extrapolated(monkeypatch):
    monkeypatch.setattr(scale, "free_memory", lambda: 2_000_000)  # bytes: the matrix of 300 points, not that of 600
    chapter = scale_chapter(silent, sizes=(300, 600))
    assert "600 needs 2.88 MB, 2 MB are free" in chapter.lines[1]
    assert "eigenvalues agree" in chapter.text[1]
    for figure in chapter.figures:
        assert figure.axes[0].get_legend_handles_labels()[1][-1] == "scikit-learn, extrapolated"
        assert figure.axes[0].lines[2].get_linestyle() == "--"


def test_labels_without_meaning_are_not_learnt():
    x, y = TABLES["wine"](return_X_y=True)
    found = compared("wine", x, np.random.default_rng(0).permutation(y))
    assert (found.accuracy.mean(axis=1) < 60).all()


def test_tables_are_compared_on_the_same_rows():
    x, y = TABLES["iris"](return_X_y=True)
    found = compared("iris", x, y)
    assert found.sizes.sum() == len(x)
    assert (found.accuracy > 85).all()
    assert found.gain[0] == pytest.approx((found.accuracy[1] - found.accuracy[0]).mean(), abs=0.06)


def test_moments_of_the_stream_do_not_tell_the_drift():
    before, after = (readings(200_000, phase, np.random.default_rng(0)) for phase in (0.0, 1.0))
    assert np.abs(before.mean(axis=0) - after.mean(axis=0)).max() < 0.01
    assert np.abs(np.cov(before.T) - np.cov(after.T)).max() < 0.01


def test_the_stream_notices_and_follows():
    watches, certificate = watched(silent, quiet=30)
    follows, left, linear = watches.values()
    assert follows.false_alarms <= 1
    assert follows.delay <= 300
    assert follows.settled < 100 * 60 < left.settled + 1
    assert linear.delay is None
    assert certificate.width.max() < 0.1


@pytest.mark.slow
def test_a_file_larger_than_the_limit_is_fitted_within_it(tmp_path):
    chapter = file_chapter(silent, tmp_path, rows=5_000_000)
    assert chapter.tables[0].rows[0][1:3] == ("80 MB", "64 MB")
    taken, unit = chapter.tables[0].rows[0][3].split()
    assert unit in ("kB", "MB")
    assert unit == "kB" or float(taken) <= 64
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_says_what_to_install(tmp_path):
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.modules['matplotlib'] = None\n"
        "from gramless.cli import main\n"
        f"sys.exit(main(['demo', '-o', {str(tmp_path / 'none')!r}]))"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert child.returncode == 5
    assert 'pip install ".[plot]"' in child.stderr
    assert "Traceback" not in child.stderr
    assert not (tmp_path / "none").exists()
