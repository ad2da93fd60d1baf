"""The report in a real browser: what readers click, type and hover, at three widths."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")

from browser import CHROMIUM, DRIVER, Browser, opened
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from test_report import experiment
from test_report_views import PIVOT, result, row, swept
from tiers import mostly_long

from cyclescope.bench.results import ExperimentResult
from cyclescope.board.description.parameters import CALIBRATED
from cyclescope.report import write_report

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="chromium or chromium-driver is not installed"
)

WIDTHS = (1440, 820, 390)
NARROW = 1088


def cells() -> ExperimentResult:
    """Ten cells whose numbers order otherwise than their texts."""
    pairs = [(9, 9), (10, 12), (100, 101), (95, 90), (1000, 1020), (12345, 12346), (7, 7)]
    pairs += [(20_000, 26_000), (2, 2), (3, 3)]
    rows = [
        row({"program": f"p{number}", "mode": "quad" if number % 2 else "dual"}, simulated, value)
        for number, (value, simulated) in enumerate(pairs)
    ]
    rows[1] = dataclasses.replace(rows[1], basis=CALIBRATED)
    return dataclasses.replace(
        result(rows, exact=False), name="cells", question="How fast?", answer="Fast."
    )


def many() -> ExperimentResult:
    """More rows in tables of groups than are made at once."""
    rows = [row({"program": f"p{n}", "mode": "m"}, n + 5, n + 5, pivot=PIVOT) for n in range(1100)]
    return result([*rows, *swept()])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report([cells(), many(), experiment()], path)
    return path


@pytest.fixture(scope="module")
def module_browser() -> Iterator[Browser]:
    with opened() as browser:
        yield browser


@pytest.fixture
def browser(module_browser: Browser) -> Iterator[Browser]:
    yield module_browser
    complaints = [entry for entry in module_browser.get_log("browser") if "ERROR" in str(entry)]
    assert not complaints
    module_browser.get("about:blank")


def table(browser: Browser) -> WebElement:
    """The ten cells, one by one."""
    return browser.find_element(By.CSS_SELECTOR, "#cells table.rows")


def column(browser: Browser, number: int) -> list[str]:
    """The texts of a column's visible cells, from top to bottom."""
    return browser.script(
        "return [...arguments[0].tBodies[0].rows].filter(row => !row.hidden)"
        ".map(row => row.cells[arguments[1]].textContent)",
        table(browser),
        number,
    )


def is_seen(browser: Browser, element: WebElement) -> bool:
    """Whether an element is drawn within the window."""
    return browser.script(
        "const box = arguments[0].getBoundingClientRect();"
        "return arguments[0].checkVisibility() && box.bottom > 0 && box.top < innerHeight"
        " && box.height > 0",
        element,
    )


@pytest.mark.parametrize("width", mostly_long(WIDTHS, {390}))
@pytest.mark.parametrize("dark", mostly_long([False, True], {True}))
def test_nothing_is_wider_than_the_window(
    browser: Browser, page: Path, width: int, dark: bool
) -> None:
    browser.show(page, width, dark)
    browser.script("document.querySelectorAll('details').forEach(found => { found.open = true; })")
    assert browser.script("return document.documentElement.scrollWidth") == width
    # tables and plots that are wider scroll by themselves
    scroll = "return getComputedStyle(document.querySelector('#cells .wide')).overflowX"
    assert browser.script(scroll) == "auto"


@pytest.mark.parametrize("width", mostly_long(WIDTHS, {390}))
def test_a_click_on_a_heading_sorts_by_numbers(browser: Browser, page: Path, width: int) -> None:
    browser.show(page, width)
    before = column(browser, 1)
    heading = table(browser).find_elements(By.TAG_NAME, "th")[1]
    orders = []
    for _ in range(3):
        browser.script("arguments[0].scrollIntoView({block: 'center'})", heading)
        heading.find_element(By.TAG_NAME, "button").click()
        orders.append((heading.get_attribute("aria-sort"), column(browser, 1)))
    ascending = sorted(before, key=lambda text: int(text.replace(",", "")))
    assert ascending[0] == "2"
    assert ascending[-1] == "20,000"
    assert orders == [
        ("ascending", ascending),
        ("descending", ascending[::-1]),
        ("none", before),
    ]


def test_only_one_heading_says_that_it_sorts(browser: Browser, page: Path) -> None:
    browser.show(page, 1440)
    buttons = table(browser).find_elements(By.CSS_SELECTOR, "th button")
    buttons[1].click()
    buttons[3].send_keys(Keys.ENTER)
    errors = column(browser, 3)
    assert errors[0].startswith("\N{MINUS SIGN}5.3")
    assert errors[-1].startswith("+30.0")
    sorted_by = [
        heading.get_attribute("aria-sort")
        for heading in table(browser).find_elements(By.TAG_NAME, "th")
    ]
    assert sorted_by.count("none") == len(sorted_by) - 1


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ("quad", ["10", "95", "12,345", "20,000", "3"]),
        ("mode=quad p1", ["10"]),
        ("error>15", ["10", "20,000"]),
        ("|error|>5", ["10", "95", "20,000"]),
        ("published<=9 dual", ["9", "7", "2"]),
        ("simulated=12346", ["12,345"]),
        ("calibrated", ["10"]),
        ("nothing like it", []),
        ("", ["9", "10", "100", "95", "1,000", "12,345", "7", "20,000", "2", "3"]),
    ],
)
def test_a_filter_keeps_rows_by_words_and_numbers(
    browser: Browser, page: Path, typed: str, left: list[str]
) -> None:
    browser.show(page, 820)
    box = browser.find_element(By.CSS_SELECTOR, "#cells .tools input")
    box.send_keys(typed or "p", *([] if typed else [Keys.BACKSPACE]))
    assert column(browser, 1) == left
    said = browser.find_element(By.CSS_SELECTOR, "#cells .tools output").text
    assert said == (f"{len(left)} of 10 rows" if typed else "")


@pytest.mark.parametrize("width", mostly_long(WIDTHS, {390}))
def test_a_point_shows_its_numbers_and_links_to_its_row(
    browser: Browser, page: Path, width: int
) -> None:
    browser.show(page, width)
    tip = browser.find_element(By.CLASS_NAME, "tip")
    assert not tip.is_displayed()
    point = next(
        found
        for found in browser.find_elements(By.CSS_SELECTOR, "#overview .cell a")
        if "20,000" in found.find_element(By.TAG_NAME, "title").get_attribute("textContent")
    )
    browser.script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(browser).move_to_element(point).perform()
    assert "published 20,000, simulated 26,000 cycles, +30.0 % (predicted)" in tip.text
    box = browser.script("return arguments[0].getBoundingClientRect().toJSON()", tip)
    assert box["left"] >= 0
    assert box["right"] <= width
    # a filter does not stand in the way
    browser.find_element(By.CSS_SELECTOR, "#cells .tools input").send_keys("calibrated")
    browser.script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(browser).move_to_element(point).click().perform()
    found = browser.find_element(By.CSS_SELECTOR, "tr:target")
    assert is_seen(browser, found)
    assert "26,000" in found.text


def test_the_keyboard_reaches_the_numbers_of_a_point(browser: Browser, page: Path) -> None:
    browser.show(page, 1440)
    browser.script("document.querySelector('#overview .cell a').focus()")
    tip = browser.find_element(By.CLASS_NAME, "tip")
    assert "published 9, simulated 9 cycles, +0.0 % (predicted)" in tip.text
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    assert not tip.is_displayed()


@pytest.mark.parametrize("width", mostly_long(WIDTHS, {390}))
def test_a_link_from_elsewhere_finds_a_row_that_is_folded(
    browser: Browser, page: Path, width: int
) -> None:
    browser.show(page, width)
    assert not browser.find_elements(By.CSS_SELECTOR, "#xip details.later table")
    anchor = browser.script(
        "const rows = document.querySelector('#xip details.later template').content;"
        "return [...rows.querySelectorAll('tr[id]')].find(row => /=p777 /.test(row.textContent)).id"
    )
    browser.show(page, width, place=anchor)
    found = browser.find_element(By.ID, anchor)
    assert is_seen(browser, found)
    assert found.find_element(By.TAG_NAME, "a").get_attribute("href").endswith(f"#{anchor}")


@pytest.mark.parametrize("width", mostly_long(WIDTHS, {390}))
def test_contents_are_beside_the_page_or_folded_above_it(
    browser: Browser, page: Path, width: int
) -> None:
    browser.show(page, width)
    link = browser.find_element(By.CSS_SELECTOR, ".contents a[href='#quad']")
    if width < NARROW:
        assert not link.is_displayed()
        browser.find_element(By.CSS_SELECTOR, ".contents summary").click()
    assert link.is_displayed()
    link.click()
    assert is_seen(browser, browser.find_element(By.ID, "quad-title"))
    assert link.is_displayed() == (width >= NARROW)
    browser.wait_for("document.querySelector('.contents a[aria-current]').hash === '#quad'")
    parts = browser.find_elements(By.CSS_SELECTOR, ".contents .parts a")
    assert "Results" in [part.get_attribute("textContent") for part in parts]


@pytest.mark.parametrize("dark", mostly_long([False, True], {True}))
def test_a_button_changes_the_colours(browser: Browser, page: Path, dark: bool) -> None:
    browser.show(page, 1440, dark)
    colour = "return getComputedStyle(document.body).backgroundColor"
    first = browser.script(colour)
    button = browser.find_element(By.ID, "theme")
    button.click()
    assert browser.script(colour) != first
    # the choice holds for the next time
    browser.refresh()
    assert browser.script(colour) != first
    browser.find_element(By.ID, "theme").click()
    assert browser.script(colour) == first
    browser.script("localStorage.clear()")


def test_print_has_no_contents_and_nothing_folded_but_what_is_long(
    browser: Browser, page: Path
) -> None:
    browser.show(page, 820, dark=True)
    folded = browser.find_element(By.CSS_SELECTOR, "#quad-assumed + details td")
    console = browser.find_element(By.CSS_SELECTOR, "#quad details.console pre")
    seen = "arguments[0].checkVisibility()"
    browser.wait_for(f"!{seen}", folded)
    browser.settle(820, dark=True, medium="print")
    browser.wait_for(seen, folded)
    browser.wait_for(f"!{seen}", console)
    for hidden in (".contents", ".tools"):
        assert not browser.find_element(By.CSS_SELECTOR, hidden).is_displayed()
    assert browser.script("return getComputedStyle(document.body).color") == "rgb(28, 32, 38)"


def test_without_scripts_the_page_is_complete(browser: Browser, page: Path) -> None:
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.show(page, 820)
        text = browser.find_element(By.TAG_NAME, "body").text
        links = browser.find_elements(By.CSS_SELECTOR, ".contents a")
        assert all(link.is_displayed() for link in links)
        assert not browser.find_elements(By.CSS_SELECTOR, ".tools, th button")
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)
    for said in ("How fast?", "Fast.", "12,346", "94,338", "it fell over"):
        assert said in text
