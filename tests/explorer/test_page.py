"""The page in a browser: the slider is moved, and the picture follows."""

import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("panel", reason="the explorer needs panel (the extra explorer)")
pytest.importorskip("datashader", reason="the explorer needs datashader (the extra explorer)")

from gramless import select_bandwidth
from gramless.datasets import three_clusters

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 120_000  # milliseconds: the machine may be busy


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The explorer, served by its command line."""
    x, cluster = three_clusters(600, rng=0)
    file = tmp_path_factory.mktemp("explorer") / "rows.csv"
    np.savetxt(file, np.column_stack([x, cluster]), delimiter=",", header="a,b,kind", comments="")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"}
    environment["BOKEH_RESOURCES"] = "cdn"  # as some have it: not even then is anything fetched from elsewhere
    command = [sys.executable, "-m", "gramless.explorer", str(file), "--label", "kind", "--no-show"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            found = re.match(r"(http://127\.0\.0\.1:\d+)", server.stdout.readline())
            assert found, "the explorer did not say where it is"
            yield found[1]
        finally:
            server.kill()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as session:
        launched = session.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def page(browser, address):
    """One page for all tests, which leave the sliders where they like."""
    shown = browser.new_page(viewport={"width": 1360, "height": 960})
    shown.set_default_timeout(PATIENCE)
    shown.problems, shown.asked = [], []
    shown.on("pageerror", lambda error: shown.problems.append(str(error)))
    shown.on("console", lambda line: shown.problems.append(line.text) if line.type == "error" else None)
    shown.on("request", lambda request: shown.asked.append(request.url))
    shown.goto(address)
    shown.wait_for_function("() => window.Bokeh !== undefined")
    shown.wait_for_selector("#summary")
    shown.wait_for_selector("#legend")  # the figures follow the words
    yield shown
    shown.close()


def summary(page):
    return page.inner_text("#summary")


def image(page, which=0):
    """Bytes of a figure as it stands on the screen."""
    return page.locator(".bk-Canvas").nth(which).screenshot()


def comes(page, state):
    """Whether a state is reached within some patience."""
    for _ in range(PATIENCE // 500):
        if state():
            return True
        page.wait_for_timeout(500)
    return False


def redrawn(page, which, before):
    """Whether a figure comes to look other than `before`."""
    return comes(page, lambda: image(page, which) != before)


def sigma(page):
    """The width that the summary states."""
    return float(re.search(r"sigma=([\d.e-]+)", summary(page))[1])


def kernel_and_share(page):
    """The summary but for the time it took."""
    return summary(page).partition(";")[0]


def move(page, slider, key, times=8):
    page.locator(".noUi-handle:visible").nth(slider).focus()
    for _ in range(times):
        page.keyboard.press(key)


def test_the_slider_moves_width_picture_contours_and_spectrum(page):
    before, pictures = sigma(page), [image(page, j) for j in range(4)]
    assert summary(page).startswith("Gaussian(sigma=")
    assert "600 rows" in summary(page)
    move(page, 0, "ArrowLeft")  # eight marks of an eighth of an octave, which arrive one by one
    assert comes(page, lambda: abs(sigma(page) / before - 0.5) < 0.01)
    for j in range(4):  # embedding, spectrum, two contours
        assert redrawn(page, j, pictures[j])
    assert page.problems == []


def test_scales_can_be_made_equal(page):
    def ratio(title):
        """Units for a pixel across, over units for a pixel up."""
        return page.evaluate(
            """title => {
                const models = Bokeh.documents.flatMap(one => [...one._all_models.values()]);
                const { x_range, y_range, inner_width, inner_height } = models.find(one => one.title?.text === title);
                return (x_range.end - x_range.start) / inner_width / ((y_range.end - y_range.start) / inner_height);
            }""",
            title,
        )

    assert comes(page, lambda: abs(ratio("component 1") - 1) < 0.01)  # contours of two columns: from the start
    page.get_by_text("Equal scales in the contours").click()
    assert comes(page, lambda: abs(ratio("component 1") - 1) > 0.05)
    page.get_by_text("Equal scales in the contours").click()
    assert comes(page, lambda: abs(ratio("component 1") - 1) < 0.01)
    assert page.problems == []


def test_the_page_fits_a_telephone(browser, address):
    narrow = browser.new_page(viewport={"width": 390, "height": 800})
    narrow.set_default_timeout(PATIENCE)
    narrow.goto(address)
    narrow.wait_for_selector("#legend")
    assert comes(narrow, lambda: narrow.evaluate("document.documentElement.scrollWidth") <= 390)
    narrow.close()


@pytest.mark.parametrize("width", [1000, 1200, 1600])
def test_figures_fit_the_window(page, width):
    page.set_viewport_size({"width": width, "height": 960})

    def right_edges():
        return page.eval_on_selector_all(".bk-Canvas", "all => all.map(one => one.getBoundingClientRect().right)")

    assert comes(page, lambda: len(right_edges()) == 4 and width - 40 < max(right_edges()) <= width)
    # the layout settles after the canvases do
    assert comes(page, lambda: page.evaluate("document.documentElement.scrollWidth") <= width)
    assert page.problems == []


def test_criteria_set_the_width(page):
    x, _ = three_clusters(600, rng=0)
    for criterion in ("median", "gap"):  # to the nearest mark of the slider
        page.get_by_role("button", name=criterion).click()
        chosen = select_bandwidth(x, "rbf", criterion).value
        assert comes(page, lambda value=chosen: abs(np.log2(sigma(page) / value)) < 0.07)


def test_other_axes_another_picture(page):
    page.wait_for_timeout(1000)
    before = image(page)
    page.locator("select").nth(1).select_option("3")
    assert redrawn(page, 0, before)


def test_kernel_and_degree(page):
    page.locator("select").first.select_option("polynomial")
    assert comes(page, lambda: summary(page).startswith("Polynomial(degree=2"))
    move(page, 0, "ArrowRight", 1)
    assert comes(page, lambda: summary(page).startswith("Polynomial(degree=3"))
    assert page.problems == []


def test_clicking_the_words_scales_the_columns(page):
    before = kernel_and_share(page)
    box = page.get_by_role("checkbox", name="Standardize the columns")
    page.get_by_text("Standardize the columns").click()
    assert box.is_checked()
    assert comes(page, lambda: kernel_and_share(page) != before)
    page.get_by_text("Standardize the columns").click()
    assert not box.is_checked()
    assert comes(page, lambda: kernel_and_share(page) == before)


def test_browsers_are_told_to_load_nothing_from_elsewhere(address):
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    connection.request("GET", "/")
    policy = connection.getresponse().headers["Content-Security-Policy"]
    connection.close()
    assert policy.startswith("default-src 'self' data: blob:")
    assert "http" not in policy


@pytest.fixture
def waiting():
    """A page whose first view does not come while the test lasts, and a view for it."""
    from gramless.explorer import Settings, Workbench, read_table
    from gramless.explorer.page import Page

    over = threading.Event()

    class Slow(Workbench):
        def view(self, settings, *, draft=False):
            over.wait()
            return super().view(settings, draft=draft)

        def suggest(self, settings, criterion):
            raise ValueError(f"no {criterion} <here>")

    table = read_table(three_clusters(60, rng=0)[0])
    yield Page(Slow(table)), Workbench(table).view(Settings())
    over.set()


def test_what_goes_wrong_with_a_criterion_is_shown(waiting):
    page, _ = waiting
    assert "loading" in page.status.object
    page.suggest[1].clicks += 1
    assert "role='alert'" in page.status.object
    assert "&lt;here&gt;" in page.status.object


def test_words_come_before_the_figures(waiting):
    page, view = waiting
    said = []
    page.embedding.draw = lambda view, coloring, equal: said.append(page.status.object)
    page.draw(view)
    assert len(said) == 1
    assert "60 rows" in said[0]


def test_nothing_is_fetched_from_elsewhere(page, address):
    outside = [
        url for url in page.asked if not url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))
    ]
    assert outside == []


def test_it_listens_to_this_machine_only(address):
    port = int(address.rpartition(":")[2])
    listening = [line.split() for name in ("tcp", "tcp6") for line in _lines(Path("/proc/net") / name)]
    if not listening:
        pytest.skip("no /proc/net here to look into")
    hosts = {local.partition(":")[0] for _, local, _, state, *_ in listening if state == "0A" and _port(local) == port}
    assert hosts == {"0100007F"}  # 127.0.0.1
    for _, _, _, _, other in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET, socket.SOCK_STREAM):
        if not other[0].startswith("127."):
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(other[:2], timeout=2)


def _lines(file):
    return file.read_text().splitlines()[1:] if file.exists() else []


def _port(local):
    return int(local.rpartition(":")[2], 16)


@pytest.mark.parametrize(
    ("origin", "status"), [("http://evil.example", 403), ("http://127.0.0.1:1", 403), ("{address}", 101)]
)
def test_pages_of_other_sites_get_no_websocket(address, origin, status):
    headers = {
        "Origin": origin.format(address=address),
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Protocol": "bokeh, token",
    }
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    connection.request("GET", "/ws", headers=headers)
    assert connection.getresponse().status == status
    connection.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["no_such_file.csv"], "no_such_file.csv"), (["{file}", "--label", "none"], "label='none' is not a column")],
)
def test_errors_are_one_line(tmp_path, capsys, arguments, message):
    from gramless.explorer.__main__ import main

    np.savetxt(tmp_path / "rows.csv", np.eye(3), delimiter=",", header="a,b,c", comments="")
    status = main([argument.format(file=tmp_path / "rows.csv") for argument in arguments] + ["--no-show"])
    printed = capsys.readouterr().err
    assert status == 1
    assert message in printed
    assert len(printed.splitlines()) == 1
