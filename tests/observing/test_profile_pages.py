"""Pages of profiles in a real browser: what readers see, search and choose."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")

import browser
from browser import CHROMIUM, DRIVER, Browser
from conftest import ROOT
from profiles import FILL, PLACES, core, made_up
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from cyclescope.profile.annotation import Annotation, Code, annotate
from cyclescope.report.annotate import annotate_page
from cyclescope.report.flame import flame_page

needs_browser = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="chromium or chromium-driver is not installed"
)
FOLDER = ROOT / "cyclescope" / "report" / "speedscope"
# The hash of version 1.25.0 from npm.
RELEASE = {
    "speedscope.js": "12b7fcfa95b1f07633886569903e0117043d810c83951ac9084e34c689ef1044",
    "speedscope.css": "0f823f58242a0ca365d46761dd99034626931157a08e24dd667b310363209bc9",
    "LICENSE": "6244b13e9bf25cfd42d81c939d6c535d932596e8c320050234f2c2ac5a6f36a0",
}
MOST_BYTES = 700_000


@pytest.fixture(scope="module")
def flame(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("profile") / "flame.html"
    path.write_text(flame_page(made_up(), "cyclescope 0"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.opened() as opened:
        yield opened


def holds(page: Browser, text: str) -> None:
    """Waits for a text on the page."""
    page.wait_for("document.body.innerText.includes(arguments[0])", text)


def test_speedscope_is_the_released_one() -> None:
    found = {name: sha256((FOLDER / name).read_bytes()).hexdigest() for name in RELEASE}
    assert found == RELEASE


def test_a_flame_graph_is_one_file(flame: Path) -> None:
    text = flame.read_text(encoding="utf-8")
    assert len(text) < MOST_BYTES
    assert "MIT License" in text
    assert "sourceMappingURL" not in text
    assert flame_page(made_up(), "cyclescope 0") == text


@needs_browser
def test_the_flame_graph_shows_cycles_and_causes(flame: Path, chromium: Browser) -> None:
    chromium.show(flame, 1200)
    holds(chromium, "cpu0, cycles (1/2)")
    assert chromium.script("return document.title") == "app.elf on a-board - speedscope"
    body = chromium.find_element(By.TAG_NAME, "body")
    body.send_keys("n")
    holds(chromium, "cpu0, cycles by cause (2/2)")
    body.send_keys(Keys.CONTROL, "f")
    chromium.wait_for("document.querySelectorAll('input').length > 1")
    chromium.find_elements(By.TAG_NAME, "input")[-1].send_keys("set_word")
    holds(chromium, "?/2")
    assert chromium.script("return performance.getEntriesByType('resource').length") == 0


@needs_browser
def test_the_flame_graph_lists_functions_and_causes(flame: Path, chromium: Browser) -> None:
    chromium.show(flame, 1200, place="view=sandwich")
    holds(chromium, "set_word (inlined)")
    chromium.find_element(By.TAG_NAME, "body").send_keys("n")
    holds(chromium, "load: ddr")
    assert "497 (50%)" in chromium.script("return document.body.innerText")


@needs_browser
def test_a_browser_without_webgl_says_so(flame: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "_FLAGS", f"{browser._FLAGS} disable-3d-apis")
    with browser.opened() as page:
        page.show(flame, 1200)
        holds(page, "The flame graph needs WebGL")


# ---- an annotated function

# Points at the row with a text; gives the cells of a kind in the rows that are then shaded.
POINT = """
const [text, cells] = arguments;
const row = [...document.querySelectorAll("tr")].find((one) => one.innerText.includes(text));
row.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
return [...document.querySelectorAll(`tr.same ${cells}`)].map((cell) => cell.innerText);
"""
SOURCE = [f"line {number}; // <b>" for number in range(1, 40)]


def fill() -> Annotation:
    """The made-up function with a loop inlined in it, and one instruction that never ran."""
    addresses = [FILL, FILL + 4, FILL + 8, FILL + 12]
    code = [
        Code(address, 0x13, 4, f"addi a{n}, a0, 1", None) for n, address in enumerate(addresses)
    ]
    places = [PLACES.get(address, PLACES[FILL]) for address in addresses]
    return annotate(core(), "fill", code, places, lambda file: SOURCE if "app" in file else None)


@pytest.fixture(scope="module")
def annotated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("annotated") / "annotated.html"
    path.write_text(annotate_page([fill()], made_up()), encoding="utf-8")
    return path


def test_an_annotated_function_is_one_file_without_links(annotated: Path) -> None:
    text = annotated.read_text(encoding="utf-8")
    assert "http" not in text.replace("http://www.w3.org", "")
    assert "line 31; // &lt;b&gt;" in text
    assert annotate_page([fill()], made_up()) == text


@needs_browser
@pytest.mark.parametrize("width", [1400, 390])
def test_lines_and_instructions_know_each_other(
    width: int, annotated: Path, chromium: Browser
) -> None:
    chromium.show(annotated, width)
    body = chromium.script("return document.body.innerText")
    assert "600 cycles in 3 calls: 59.8 % of all of cpu0." in body
    assert "/src/fill.h can't be read: its lines have no text." in body
    shaded = chromium.script(POINT, "line 31;", ".code")
    assert shaded == ["addi a1, a0, 1", "addi a2, a0, 1"]
    back = chromium.script(POINT, "a1, a0", ".place")
    assert sorted(back) == ["31", "5", "9"]
    wide = chromium.script("return document.documentElement.scrollWidth <= innerWidth")
    assert wide
    log = [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"]
    assert log == []
