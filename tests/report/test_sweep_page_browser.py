"""A sweep's page in a real browser: what points explain, and tables that are made when opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")

from browser import CHROMIUM, DRIVER, Browser, opened
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from test_sweep_page import CLOCKS, FLAGS, SIZES, swept
from tiers import mostly_long

from cyclescope.report import sweep_page
from cyclescope.sweeps.axes import axis

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="chromium or chromium-driver is not installed"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened() as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sweep") / "sweep.html"
    many = axis(CLOCKS.path, "1M:100M:1M")
    path.write_text(sweep_page.render(swept(SIZES, many, FLAGS)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("width", "dark"), [pytest.param(1440, False, marks=pytest.mark.long), (390, True)]
)
def test_nothing_is_wider_than_the_window_and_nothing_complains(
    browser: Browser, page: Path, width: int, dark: bool
) -> None:
    browser.show(page, width, dark)
    assert browser.script("return document.documentElement.scrollWidth") <= width
    assert not [entry for entry in browser.get_log("browser") if "ERROR" in str(entry)]


@pytest.mark.parametrize("dark", mostly_long([False, True], {False}))
def test_labels_of_plots_are_inside_and_do_not_cover_each_other(
    browser: Browser, page: Path, dark: bool
) -> None:
    browser.show(page, 1440, dark)
    faults = browser.script(
        """
        const faults = [];
        for (const svg of document.querySelectorAll("svg")) {
          const whole = svg.getBoundingClientRect();
          // what is turned has a box that is larger than itself
          const texts = [...svg.querySelectorAll("text")]
            .filter((text) => !text.outerHTML.includes("rotate"))
            .map((text) => [text.textContent, text.getBoundingClientRect()]);
          texts.forEach(([name, box], place) => {
            if (box.left < whole.left - 1 || box.right > whole.right + 1) faults.push(name);
            if (box.top < whole.top - 1 || box.bottom > whole.bottom + 1) faults.push(name);
            for (const [other, its] of texts.slice(place + 1)) {
              const apart = its.left > box.right - 1 || its.right < box.left + 1
                || its.top > box.bottom - 3 || its.bottom < box.top + 3;
              if (!apart) faults.push(`${name} over ${other}`);
            }
          });
        }
        return faults;
        """
    )
    assert faults == []


def test_a_point_says_its_settings(browser: Browser, page: Path) -> None:
    browser.show(page, 1440)
    point = browser.find_element(By.CSS_SELECTOR, "svg .point")
    browser.script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(browser).move_to_element(point).perform()
    browser.wait_for("!document.querySelector('.tip').hidden")
    shown = browser.find_element(By.CSS_SELECTOR, ".tip").text
    assert "cpu0.d-cache-size=" in shown
    assert "flags=" in shown


def test_a_table_of_many_rows_is_made_when_opened_and_sorts(browser: Browser, page: Path) -> None:
    browser.show(page, 1440)
    assert not browser.find_elements(By.CSS_SELECTOR, "#rows tbody tr")
    summary = browser.find_element(By.CSS_SELECTOR, "#rows summary")
    browser.script("arguments[0].click()", summary)
    browser.wait_for("document.querySelectorAll('#rows tbody tr').length === 1500")
    heading = browser.find_elements(By.CSS_SELECTOR, "#rows th button")[-1]
    browser.script("arguments[0].click()", heading)
    first = browser.script(
        "return [...document.querySelectorAll('#rows tbody tr')].slice(0, 9)"
        ".map((row) => Number(row.cells[3].textContent.replaceAll(',', '')))"
    )
    assert first == sorted(first)
    assert browser.script("return document.querySelector('#rows tr.best').rowIndex") == 1
