"""The page in a real browser: it renders, complains of nothing, fetches nothing, and answers the mouse."""

import os
import re
import shutil

import numpy as np
import pytest

from gramless import KernelPCA
from gramless.datasets import annulus
from gramless.report import write_report

pytest.importorskip("plotly", reason="reports need plotly")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

HOSTILE = "<img src=x onerror='window.broken=1'>"
CHROMIUM = os.environ.get("GRAMLESS_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH; set GRAMLESS_CHROMIUM to one")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--enable-unsafe-swiftshader"], timeout=120_000
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def complaints():
    return []


@pytest.fixture(scope="module")
def requests():
    return []


@pytest.fixture(scope="module")
def page(browser, complaints, requests, tmp_path_factory):
    x = annulus(150, rng=0)
    model = KernelPCA(4, kernel="rbf", gamma=1.0).fit(x)
    path = tmp_path_factory.mktemp("report") / "report.html"
    labels = np.where(x[:, 0] > 0.5, "right", np.where(x[:, 0] < -0.5, HOSTILE, "middle"))
    write_report(model, x, path, labels=labels, label="side", title=f"A ring {HOSTILE}")
    opened = browser.new_page(viewport={"width": 1160, "height": 1400})
    opened.set_default_timeout(120_000)
    opened.on("console", lambda told: complaints.append(told.text) if told.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(path.as_uri())
    opened.wait_for_selector("#embedding-3d canvas")
    opened.wait_for_selector("#embedding-2d .points path")
    return opened


def dots(page):
    return page.locator("#embedding-2d .scatterlayer .points path").count()


def test_draws_every_row_and_every_figure(page):
    assert dots(page) == 150
    for name in ("embedding-2d", "contour-plot", "spectrum-plot", "variance-plot", "influence-plot"):
        assert page.locator(f"#{name} .main-svg").first.bounding_box()["height"] > 100


def test_complains_of_nothing_and_fetches_nothing(page, complaints, requests):
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_pointing_at_a_row_tells_which(page):
    page.locator("#embedding-2d").scroll_into_view_if_needed()
    box = page.locator("#embedding-2d .scatterlayer .points path").nth(3).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    told = page.locator("#embedding-2d .hoverlayer .hovertext").first
    told.wait_for()
    assert "row " in told.text_content()
    assert "component 1" in told.text_content()


def test_a_click_in_the_legend_hides_a_class(page):
    before = dots(page)
    entry = page.locator("#embedding-2d .legendtoggle").first
    entry.click()
    page.wait_for_timeout(800)  # Plotly takes two quick clicks for a double click
    hidden = page.locator("#embedding-2d .legend .traces").first
    playwright.expect(hidden).to_have_attribute("style", re.compile("opacity: 0.5"), timeout=60_000)
    assert dots(page) < before
    entry.click()
    playwright.expect(hidden).to_have_attribute("style", re.compile("opacity: 1"), timeout=60_000)
    assert dots(page) == before


def test_text_of_the_user_is_shown_and_not_run(page):
    assert page.evaluate("window.broken") is None
    assert HOSTILE in page.locator("h1").text_content()
    assert any("<img" in text for text in page.locator("#embedding-2d .legendtext").all_text_contents())


def test_components_and_colours_can_be_chosen(page):
    page.select_option("#up", "2")
    assert page.locator("#embedding-2d .ytitle").text_content().startswith("component 3")
    page.select_option("#colour", label="x2")
    page.wait_for_selector("#embedding-2d .colorbar")
    assert dots(page) == 150
    assert page.locator("#embedding-2d .legendtoggle").count() == 0


def test_ticks_of_the_spectrum_are_whole_numbers_written_out(page):
    heights = [float(text) for text in page.locator("#spectrum-plot g.ytick text").all_text_contents()]
    assert len(heights) > 1
    assert heights == sorted(set(heights))  # and not 10, 2 for 10, 20
    for plot in ("#spectrum-plot", "#variance-plot"):
        assert page.locator(f"{plot} g.xtick text").all_text_contents() == ["1", "2", "3", "4"]


def test_no_button_sends_the_data_away(page):
    titles = page.eval_on_selector_all(".modebar-btn", "buttons => buttons.map(one => one.dataset.title)")
    assert len(titles) > 0
    assert not any("share" in title.lower() or "cloud" in title.lower() for title in titles)
