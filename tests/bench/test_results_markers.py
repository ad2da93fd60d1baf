"""Markers in pages: their keys, tables and texts, and the paragraphs around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import bases
import blocks
import figures
import keys
import pages
import pytest
import store
import wrapping
from figures import ABSENT
from keys import Source, UnknownKeyError
from stored_results import source

from cyclescope.bench import influence, trust
from cyclescope.bench.influence import Change, Influence
from cyclescope.bench.moves import Move
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED
from cyclescope.cli.tables import experiment as screens

# ---- keys


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("quad-spi-throughput | cells", "4"),
        ("quad-spi-throughput | cells in words", "four"),
        ("picosoc-xip | cells", "1960"),
        ("picosoc-xip \\| worst", "0.0 %"),
        ("quad-spi-throughput | quad write | published", "94338"),
        ("quad-spi-throughput | quad write | published/4096 .2f", "23.03"),
        ("quad-spi-throughput|quad write; access=dma|published*2", "188676"),
        ("rhealstone | task-preempt qspi caches off 1 | published", "2E+05"),
        ("rpmsg-tty | 1024 B x 1 | published/1000000 .2f", "15.32"),
        ("coremark | coremark_f407_168: CoreMark | published", "566"),
    ],
)
def test_a_key_stands_for_a_number(key: str, text: str) -> None:
    assert keys.text(source(), key) == text


def test_fields_of_a_row_follow_from_it() -> None:
    (row,) = (
        row
        for row in source().results.experiments["quad-spi-throughput"].rows
        if row.label == "quad write" and row.published
    )
    key = "quad-spi-throughput | quad write"
    assert keys.text(source(), f"{key} | simulated") == str(row.simulated)
    assert keys.text(source(), f"{key} | simulated/4096 .2f") == f"{row.simulated / 4096:.2f}"
    assert keys.text(source(), f"{key} | error") == figures.percent(row.error_pct or 0)
    assert keys.text(source(), f"{key} | basis") == row.basis


def test_a_metric_has_counts_and_a_range_of_errors() -> None:
    rows = source().results.experiments["fat-write"].rows
    errors = [row.error_pct or 0 for row in rows if row.metric == "crc_time" and row.published]
    low, high = (figures.percent(end(errors)) for end in (min, max))
    assert keys.text(source(), "fat-write | crc_time | errors") == f"{low[:-2]} to {high}"
    assert keys.text(source(), "fat-write | crc_time | cells") == "11"
    assert keys.text(source(), "fat-write | crc_time | within 1000") == "11"


def test_an_error_has_its_sign_but_for_none() -> None:
    assert [figures.percent(value) for value in (5.66, -5.66, 0.0, -0.04, 0.04)] == [
        "+5.7 %",
        "-5.7 %",
        "0.0 %",
        "0.0 %",
        "0.0 %",
    ]
    assert figures.percent(37.6, ".0f") == "+38 %"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("quad-spi | cells", "similar: quad-spi-throughput"),
        ("rhealstone", "neither"),
        ("quad-spi-throughput | quad wrte | error", "similar: quad write"),
        (
            "quad-spi-throughput | quad write | errors",
            "published, interval, error, basis",
        ),
        ("quad-spi-throughput | quad write; aces=dma | error", "similar: access"),
        ("quad-spi-throughput | standard write | simulated", "they differ in"),
        ("quad-spi-throughput | standard write; access=dma | published", "standard write"),
        ("quad-spi-throughput | quad write | simulated .q", "format"),
        ("rhealstone | hits", "there are cells"),
        ("speed | riscv_mpis", "similar: riscv_mips"),
    ],
)
def test_an_unknown_key_is_reported_with_similar_ones(key: str, said: str) -> None:
    with pytest.raises(UnknownKeyError) as error:
        keys.text(source(), key)
    assert said in str(error.value)


# ---- blocks


def lines_of(words: str) -> list[list[str]]:
    """The cells of a table, its headings first."""
    text = blocks.text(source(), words).splitlines()
    table = [line for line in text if line.startswith("|") and not line.startswith("|-")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def test_rows_are_an_experiments_published_numbers() -> None:
    headings, *lines = lines_of("rows rpmsg-tty time unit=ms digits=4")
    assert headings[:4] == ["row", "published", "simulated", "error"]
    assert len(lines) == source().results.trust("rpmsg-tty").published
    assert ["1024 B x 1", "15.32 ms"] in [line[:2] for line in lines]


def test_a_grid_has_settings_down_and_across() -> None:
    headings, *lines = lines_of(
        "grid fat-write total_time rows=transfer columns=write_order digits=4 call:r006=then"
    )
    assert headings == ["transfer", "then", "current"]
    (slow,) = (line for line in lines if line[0] == "768")
    assert re.fullmatch(r"\d+\.\d \([+-]\d+\.\d %\)", slow[1])
    assert re.fullmatch(r"\d+\.\d+", slow[2])


def test_a_grid_has_the_order_and_the_columns_that_are_asked_for() -> None:
    words = "grid bitbang-spi read_buffer_time rows=stack columns=data_bytes"
    assert len(lines_of(words)[0]) > 3
    headings, *lines = lines_of(f"{words} published order=120,spi_atben call:120=all_of_it")
    assert headings == ["stack", "all of it", "1"]
    assert lines[0][0] == "spi_atben"
    assert len(lines) == 4
    assert len(lines_of(f"{words} published unpublished")) == 6


def test_a_value_has_no_more_digits_than_it_has() -> None:
    assert figures.shown(7248, digits=6) == "7248"
    assert figures.shown(204.466, digits=4) == "204.5"
    assert figures.shown(0.00123456, digits=3) == "0.00123"
    assert figures.shown(11970765, per=1e6, digits=4) == "11.97"
    assert figures.shown(123456, digits=4) == "123456"


def test_times_and_rates_have_the_unit_that_is_asked_for() -> None:
    assert figures.scale("ns", "ms") == 1e6
    assert figures.scale("B/s", "MB/s") == 1e6
    with pytest.raises(ValueError, match="B/s is not turned into ms"):
        figures.scale("B/s", "ms")


def test_a_grid_may_have_published_numbers_and_errors_apart() -> None:
    headings, *lines = lines_of(
        "grid rhealstone cycles rows=cache,operation,memory columns=loops show=all digits=4"
    )
    assert headings[:3] == ["cache", "operation", "memory"]
    assert sorted(headings[3:]) == sorted(
        f"{loops}, {what}" for loops in (1, 50000) for what in ("published", "simulated", "error")
    )
    assert 2 * len(lines) == source().results.trust("rhealstone").published


@pytest.mark.parametrize("name", sorted(blocks.BLOCKS))
def test_each_block_says_something(name: str) -> None:
    wanted = {"rows": "rhealstone", "show": "rhealstone 9", "grid": "rhealstone cycles"}
    wanted |= {"suite": "pqm4 nucleo-l4r5zi", "suite-classes": "pqm4"}
    settings = "rows=operation,memory columns=cache,loops" if name == "grid" else ""
    words = wanted.get(name, "rhealstone" if name in ABOUT_ONE else "")
    assert len(blocks.text(source(), f"{name} {words} {settings}")) > 20


ABOUT_ONE = ("calibrated", "assumed", "influence", "left-out")


def test_influences_on_cells_are_shown_as_far_as_they_were_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result, parameter = next(
        (result, parameter)
        for result in source().results.published
        for _, parameter in trust.of(result).fitted
    )
    monkeypatch.setattr(influence, "load", lambda: Influence(()))
    assert "largest change" not in lines_of(f"calibrated {result.name}")[0]
    assert blocks.text(source(), f"influence {result.name}") == bases.UNMEASURED
    value = parameter.value
    named = screens.names(parameter)[0]
    fitted = Move(result.name, "", named, value, CALIBRATED, "or other", "other")
    guessed = Move(result.name, "board", "bus.x-cycles", "4", ASSUMED, "2 to 8", "5")
    changes = (
        Change(fitted, "one", 3.0),
        Change(fitted, "two", -7.04),
        Change(fitted, "three", 1.9),
        Change(guessed, "one", 11.0),
    )
    monkeypatch.setattr(influence, "load", lambda: Influence(changes))
    headings, *lines = lines_of(f"calibrated {result.name}")
    assert headings[-2:] == ["cells changed by more than 2 %", "largest change"]
    assert lines[0][-2:] == ["2", "-7.0 % (two)"]
    assert [line[-2:] for line in lines[1:]] == [["0", ABSENT]] * (len(lines) - 1)
    strongest = [["assumed", "bus.x-cycles", "4", "5", "one", "+11.0 %"]]
    assert lines_of(f"influence {result.name} 1")[1:] == strongest
    assert lines_of(f"assumed {result.name}")[1] == [
        "bus.x-cycles",
        "4",
        "2 to 8",
        "",
        "one",
        "+11.0 %",
    ]


def test_intervals_and_the_cells_inside_them_are_printed() -> None:
    known = source().results.experiments["quad-spi-throughput"]
    first, *others = (replace(row, interval_pct=None) for row in known.rows if row.published)
    moved = [replace(first, interval_pct=(-20.0, 30.0)), *others]
    measured = Source(store.Results({known.name: replace(known, rows=tuple(moved))}), {})
    low, high = first.simulated * 0.8, first.simulated * 1.3
    text = keys.text(measured, f"{known.name} | {first.label} | interval/1000 .1f")
    assert text == f"{low / 1000:.1f} to {high / 1000:.1f}"
    assert keys.text(measured, f"{known.name} | inside") == "1"
    assert "| plausible |" in blocks.text(measured, f"rows {known.name}")
    assert "| 1 of 1 |" in blocks.text(measured, "experiments")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("row rhealstone", "no table 'row'; there are"),
        ("rows", "no experiment"),
        ("rows rhealston", "similar: rhealstone"),
        ("rows rhealstone cycle", "similar: cycles"),
        ("rows rhealstone units=ms", "no argument units="),
        ("rows rhealstone unit=ms", "cycles is not turned into ms"),
        ("rows rpmsg-tty digits=x", "digits=x"),
        ("grid rhealstone cycles rows=memory", "no columns="),
        ("grid rhealstone cycles rows=memory columns=loop", "similar: loops"),
        ("grid rhealstone cycles rows=memory columns=loops", "add where="),
        ("influence rhealstone many", "expected EXPERIMENT [N]"),
    ],
)
def test_an_unclear_block_is_reported(words: str, said: str) -> None:
    with pytest.raises(UnknownKeyError) as error:
        blocks.text(source(), words)
    assert said in str(error.value)


# ---- pages


def page(text: str) -> str:
    """A page with its numbers as they are."""
    return pages.renewed(Path("page.md"), text, source())[0]


def test_only_text_between_markers_is_replaced() -> None:
    text = "With <!--= quad-spi-throughput | cells -->9<!--/--> cells.\n\n```\n<!--= x -->\n```\n"
    new, changes = pages.renewed(Path("page.md"), text, source())
    assert new == text.replace(">9<", ">4<")
    assert [str(one) for one in changes] == ["page.md:1: quad-spi-throughput | cells: '9', now '4'"]
    assert pages.renewed(Path("page.md"), new, source()) == (new, [])


def test_a_key_and_its_text_may_go_over_lines() -> None:
    key = "quad-spi-throughput | quad\nwrite | error"
    text = f"About <!--= {key} -->{keys.text(source(), key).replace(' ', chr(10))}<!--/--> off.\n"
    assert page(text) == text


def test_a_table_is_written_between_its_markers() -> None:
    text = "Below:\n\n<!--= table: rows quad-spi-throughput -->\nold\n<!--/-->\n\nAbove.\n"
    new = page(text)
    assert "old" not in new
    assert "-->\n\n| row | published |" in new
    assert "|\n\n<!--/-->\n\nAbove.\n" in new
    assert page(new) == new


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a\n\nb <!--= nothing | cells -->4<!--/-->\n",
            "page.md:3: nothing | cells: no experiment",
        ),
        ("a <!--= all | cells -->4\n", "page.md:1: <!--= is without its other half"),
        ("a\n4<!--/-->\n", "page.md:2: <!--/--> is without its other half"),
        (
            "a\n\n<!--= all | cells -->4<!--/--> are\n",
            ":3: all | cells: begins its paragraph",
        ),
        ("a <!--= table: experiments -->\n<!--/-->\n", "its line for itself"),
        ("<!--= table: nothing -->\n<!--/-->\n", "page.md:1: table: nothing: no table"),
    ],
)
def test_a_wrong_marker_is_reported_with_its_place(text: str, said: str) -> None:
    with pytest.raises(pages.PageError) as error:
        page(text)
    assert said in str(error.value)


MARKER = "<!--= fat-write | 768 B total; write_order=current | simulated .0f -->14<!--/-->"


def paragraphs() -> Iterator[str]:
    """Paragraphs and items that have lines too long for several reasons."""
    for words in range(1, 30):
        many = " ".join(["word"] * words)
        yield f"{many} {MARKER} s, or {many} ({MARKER} s) and {MARKER}: [link]({many}.md) {many}."
        yield f"- {many} {MARKER} - {MARKER} s, `code of {many}` {many} 1. {many}"


@pytest.mark.parametrize("text", list(paragraphs()))
def test_paragraphs_that_are_too_long_are_wrapped(text: str) -> None:
    new = wrapping.wrapped(text + "\n")
    lines = new.splitlines()
    assert " ".join(new.split()) == " ".join(text.split())
    assert wrapping.wrapped(new) == new
    assert all(len(line) <= wrapping.COLUMNS for line in lines if "](" not in line)
    # Markdown would not take such a line as prose
    assert not [line for line in lines[1:] if re.match(r"\s*(<!--=|[-*+|#>] |\d+\. )", line)]


def test_short_lines_and_lines_without_markers_are_not_wrapped() -> None:
    long = "word " * 30
    text = f"a {MARKER}\nb.\n\n{long}\n\n```\n{long} {MARKER}\n```\n| {long} | {MARKER} |\n"
    assert wrapping.wrapped(text) == text


def test_a_marker_at_the_start_of_a_line_is_moved() -> None:
    assert wrapping.wrapped(f"a\n{MARKER} b\n") == f"a {MARKER} b\n"
