"""The five case studies: what each report has, line by line, and where it is here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

DOCS = ROOT / "docs"
LAST = "What the report has, what we have"
NOT_REPRODUCED = "Not reproduced"
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
# "figures 4-1 to 4-3", "table 5", "tables 5 and 6", "figures 1-1 to 1-6, 2-1"
ITEMS = re.compile(r"\b(figure|table)s? ((?:\d+(?:-\d+)?)(?:(?:, | and | to )\d+(?:-\d+)?)*)", re.I)

# The numbered tables and figures of those reports that number them.
NUMBERED = {
    "quad-spi-throughput": (
        *(("figure", f"{n}") for n in range(1, 6)),
        *(("table", f"{n}") for n in range(1, 7)),
    ),
    "rhealstone": (
        *(("figure", f"1-{n}") for n in range(1, 7)),
        *(("figure", f"4-{n}") for n in range(1, 7)),
        ("figure", "2-1"),
        ("table", "2-1"),
        ("table", "4-1"),
    ),
    "bitbang-spi": (),
    "rpmsg-tty": (),
    "fat-write": (),
}


def text_of(page: Path) -> str:
    return re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def headings(page: Path) -> list[str]:
    """The headings of a page, those of its code blocks left out."""
    text = re.sub(r"^ *```.*?^ *```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"^#+ (.+)$", text, re.MULTILINE)


def anchor_of(heading: str) -> str:
    """A heading's anchor as the site has it; `make docs` checks the site's own links."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def lines_of(study: str) -> list[tuple[str, str]]:
    """The lines of the table at a case study's end: what the report has, what is here."""
    _, _, section = text_of(DOCS / f"{study}.md").partition(f"\n## {LAST}\n")
    rows = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]
    assert cells[0] == ["in the report", "here"]
    return [(theirs, ours) for theirs, ours in cells[2:]]


def named(lines: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The tables and figures that the lines name, each by itself."""
    for theirs, _ in lines:
        for kind, numbers in ITEMS.findall(theirs):
            for part in re.split(r", | and ", numbers):
                first, _, last = part.partition(" to ")
                yield from ((kind.lower(), one) for one in between(first, last or first))


def between(first: str, last: str) -> list[str]:
    head, dash, low = first.rpartition("-")
    return [f"{head}{dash}{n}" for n in range(int(low), int(last.rpartition("-")[2]) + 1)]


@pytest.mark.parametrize("study", NUMBERED)
def test_a_case_study_ends_with_what_the_report_has(study: str) -> None:
    titles = headings(DOCS / f"{study}.md")
    assert titles[-2:] == [NOT_REPRODUCED, LAST]
    assert len(lines_of(study)) >= 8


@pytest.mark.parametrize("study", NUMBERED)
def test_each_line_says_where_it_is(study: str) -> None:
    page = DOCS / f"{study}.md"
    for theirs, ours in lines_of(study):
        links = LINK.findall(ours)
        assert links, f"{theirs}: no link"
        for link in links:
            path, _, anchor = link.partition("#")
            target = (page.parent / path) if path else page
            assert target.is_file(), f"{theirs}: {link}"
            if anchor:
                known = map(anchor_of, headings(target))
                assert anchor in known, f"{theirs}: {link}"


@pytest.mark.parametrize("study", NUMBERED)
def test_no_table_and_no_figure_is_left_out(study: str) -> None:
    missing = set(NUMBERED[study]) - set(named(lines_of(study)))
    assert not missing


def test_ranges_of_figures_are_read() -> None:
    lines = [("figures 1-1 to 1-3, 2-1: waveforms", ""), ("Tables 5 and 6", ""), ("table 1", "")]
    assert list(named(lines)) == [
        ("figure", "1-1"),
        ("figure", "1-2"),
        ("figure", "1-3"),
        ("figure", "2-1"),
        ("table", "5"),
        ("table", "6"),
        ("table", "1"),
    ]
