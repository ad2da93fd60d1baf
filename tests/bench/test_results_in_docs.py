"""Results in README.md and docs/ stand between markers, and are those of docs/results.csv."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import figures
import pages
import pytest
from conftest import ROOT
from served_scripts import Script, served
from stored_results import source
from test_tutorials import FOLLOWED, TUTORIALS
from tiers import ALL

# Text that looks like a result and is not a result, by page.
NO_RESULTS = {
    "docs/cortex-a.md": ("22 of 23",),  # functions of other projects, which are not in the bench
    "docs/flash-waits.md": ("256 of 2",),  # rounds
    "docs/rhealstone.md": ("33 of 1297",),  # clocks of a refresh
    "docs/fat-write.md": (
        "2351",
        "4704",  # sums by hand
        "1900",  # MiB of a card
        "8963",  # a sector
    ),
    "docs/how-to/storage.md": ("10 of 576", "4 of 1", "3 of 132"),  # calls that a command shows
    "docs/quad-spi-throughput.md": ("1056",),  # clocks on the wire
    "docs/rpmsg-tty.md": (
        "nine tests after the first two lie within 0.1 %",  # the published numbers themselves
        "16 of 16",  # buffers
        "6640 of 8192",  # bytes
    ),
}
# Numbers that no page may have outside of markers.
ERROR = re.compile(r"(?<![\w.])[+-]\d+(?:\.\d+)? %")
_COUNT = r"(?:\d+|all|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
COUNT = re.compile(
    rf"\b\d+ of (?:the )?\d+\b|\b{_COUNT}\b(?! ?%)[^.|]{{0,40}}\bwithin \d+(?:\.\d+)? %",
    re.IGNORECASE,
)
NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w.]*\d)")
MANY_DIGITS = 4
FENCED = re.compile(r"^```(?P<info>[^\n`]*)\n.*?^```$", re.MULTILINE | re.DOTALL)


def names() -> list[str]:
    """All pages but for the reference."""
    found = [path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")]
    docs = sorted(str(path) for path in found if "reference" not in path.parts)
    return ["README.md", *docs]


# ---- the pages as they are


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    with served("results") as called:
        yield called


def test_pages_have_the_numbers_of_the_results(script: Script) -> None:
    assert script("--check") == (0, [])


def written_by_hand(text: str, is_typed_in: bool) -> str:
    """A page without what stands between markers, and without code that a test compares."""

    def compared(match: re.Match[str]) -> str:
        info = match["info"]
        is_compared = is_typed_in and (info.split()[:1] == ["console"] or "title=" in info)
        return "\n" * match[0].count("\n") if is_compared else match[0]

    return FENCED.sub(compared, pages.outside(text))


@cache
def simulated() -> frozenset[str]:
    """Simulated values of many digits, as a page would have them."""
    results = source().results.experiments.values()
    kept = [*results, *source().compilers.values()]
    values = [row.simulated for result in kept for row in result.rows if not result.exact]
    values += [source().results.trust(result.name).met for result in results if result.exact]
    # settings, such as sizes, stand in pages, too
    set_to = {value for result in results for row in result.rows for value in row.settings.values()}
    shown = (
        figures.plain(value)
        for value in values
        if value not in set_to and not is_power_of_two(value)
    )
    return frozenset(text for text in shown if digits(text) >= MANY_DIGITS)


def is_power_of_two(value: float) -> bool:
    return value == int(value) and int(value).bit_count() == 1


def digits(text: str) -> int:
    return len(text.replace(".", "").lstrip("0"))


def results_by_hand(text: str) -> Iterator[str]:
    """Numbers of a text that look like results, with their lines."""
    for number, line in enumerate(text.splitlines(), 1):
        found = [match[0] for pattern in (ERROR, COUNT) for match in pattern.finditer(line)]
        found += [
            match[0] for match in NUMBER.finditer(line) if match[0].replace(",", "") in simulated()
        ]
        for words in found:
            yield f"{number}: {words}"


@pytest.mark.parametrize("name", names())
def test_no_result_stands_in_a_page_by_hand(name: str) -> None:
    followed = [TUTORIALS / f"{page}.md" for pages_in_turn in FOLLOWED for page in pages_in_turn]
    text = (ROOT / name).read_text(encoding="utf-8")
    by_hand = written_by_hand(text, ROOT / name in [*followed, ROOT / "README.md"])
    allowed = NO_RESULTS.get(name, ())
    found = list(results_by_hand(by_hand))
    assert [one for one in found if not one.endswith(allowed)] == []
    # allowed numbers need not look like results today: later results may
    assert [words for words in allowed if words not in by_hand] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("it is off by -8.7 %", "-8.7 %"),
        ("53 of 56 are met", "53 of 56"),
        ("53 of the 56 are met", "53 of the 56"),
        ("24 are met within 10 %", "24 are met within 10 %"),
        (
            "eleven published times, all met within 2.2 %",
            "eleven published times, all met within 2.2 %",
        ),
        ("in all 1960 cases", "1960"),
        ("1,960 cases", "1960"),
        ("a write takes {result} us", "{result}"),
        ("a total of {result}.", "{result}"),
        ("```\n| quad write | -8.7 % |\n```", "-8.7 %"),
        ("```console\n$ run\n-8.7 %\n```", "-8.7 %"),
    ],
)
def test_results_by_hand_are_found(text: str, found: str) -> None:
    result = max(simulated())
    by_hand = written_by_hand(text.format(result=result), is_typed_in=False)
    (said,) = results_by_hand(by_hand)
    assert found.format(result=result) in (said.partition(": ")[2], said.replace(",", "")[3:])


@pytest.mark.parametrize(
    "text",
    [
        "off by <!--= all | worst -->-8.7 %<!--/-->",
        "<!--= table: experiments -->\n\n| {result} | -8.7 % |\n\n<!--/-->",
        "```console\n$ run\n{result} -8.7 %\n```",
        '```c title="a.c"\nint a = {result};\n```',
        "calls of 4096 bytes",
        "moved by 10 %, within a few per cent",
        "version 1.4.3-{result}",
    ],
)
def test_other_numbers_are_no_results(text: str) -> None:
    by_hand = written_by_hand(text.format(result=max(simulated())), is_typed_in=True)
    assert not list(results_by_hand(by_hand))


def test_a_stale_page_is_reported_and_updated(script: Script, tmp_path: Path) -> None:
    # in the short tier the README is the only page
    left_out = shutil.ignore_patterns("pictures", *(() if ALL else ("*.md",)))
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=left_out)
    readme = tmp_path / "README.md"
    good = (ROOT / "README.md").read_text(encoding="utf-8")
    bad = re.sub(r"(?<=on a KC705 \| )\d+", "5", good)
    bad = re.sub(r"(?<=speed \| processors -->)\d+", "1000", bad)
    readme.write_text(bad, encoding="utf-8")
    status, said = script("--check", "--root", tmp_path)
    assert status == 1
    assert len(said) == 3
    assert any("README.md:" in line for line in said)
    assert any("speed | processors: '1000', now '" in line for line in said)
    assert readme.read_text(encoding="utf-8") == bad
    assert script("--root", tmp_path) == (0, [])
    assert readme.read_text(encoding="utf-8") == good


def test_a_missing_file_is_one_message(script: Script, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "speed.json").write_text("{}", encoding="utf-8")
    status, said = script("--root", tmp_path)
    assert status == 2
    (line,) = said
    assert "results.csv: No such file" in line
