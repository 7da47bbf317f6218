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


def test_scales_can_be_made_equal(page):
    def scales(plot):
        pixels = "axis => axis._length / (axis.range[1] - axis.range[0])"
        layout = f"document.querySelector('{plot}')._fullLayout"
        return page.evaluate(f"[{layout}.xaxis, {layout}.yaxis].map({pixels})")

    across, up = scales("#contour-plot")  # two columns of one unit: from the start
    assert up == pytest.approx(across, rel=1e-3)
    page.uncheck("#contour-equal")
    page.select_option("#up", "1")
    page.check("#equal")
    page.wait_for_timeout(500)
    across, up = scales("#embedding-2d")
    assert up == pytest.approx(across, rel=1e-3)
    page.uncheck("#equal")
    page.check("#contour-equal")


def test_the_page_fits_a_telephone(browser, page):
    narrow = browser.new_page(viewport={"width": 390, "height": 800})
    narrow.goto(page.url)
    narrow.wait_for_selector("#contour-plot .main-svg")
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 390
    widths = narrow.evaluate("document.getElementById('contour-plot')._fullLayout.xaxis._length")
    assert widths > 200  # one panel in a row
    narrow.close()


def test_many_rows_are_density_and_closer_up_they_are_points(browser, complaints, tmp_path):
    x = np.random.default_rng(0).normal(size=(25_000, 2))
    model = KernelPCA(2, kernel="linear").fit(x)
    labels = np.where(model.transform(x)[:, 0] > 0, "right", "left")
    write_report(model, x, tmp_path / "report.html", labels=labels, points=25_000)
    many = browser.new_page(viewport={"width": 1160, "height": 900})
    many.set_default_timeout(120_000)
    many.on("pageerror", lambda error: complaints.append(str(error)))
    many.goto((tmp_path / "report.html").as_uri())
    many.wait_for_selector("#embedding-2d .points path")
    traces = many.evaluate("document.getElementById('embedding-2d').data.map(one => [one.name, one.x, one.text])")
    assert [name for name, _, _ in traces] == ["left", "right"]
    assert sum(len(across) for _, across, _ in traces) < 8000
    assert sum(int(re.match("([0-9,]+) row", text)[1]) for _, _, texts in traces for text in texts) == 25_000
    assert max(traces[0][1]) < 0.2  # the majority: the right ones are right
    assert min(traces[1][1]) > -0.2
    many.evaluate("Plotly.relayout('embedding-2d', {'xaxis.range': [-0.5, 0.5], 'yaxis.range': [-0.5, 0.5]})")
    inside = (np.abs(model.transform(x)) <= 0.5).all(axis=1).sum()
    count = "document.getElementById('embedding-2d').data.reduce((sum, one) => sum + one.x.length, 0)"
    many.wait_for_function(f"() => {count} === {inside}")
    many.select_option("#colour", "none")
    assert many.evaluate(count) == inside
    many.evaluate("Plotly.relayout('embedding-2d', {'xaxis.autorange': true, 'yaxis.autorange': true})")
    many.wait_for_selector("#embedding-2d .colorbar")
    assert complaints == []
    many.close()


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
