"""The report's tables of groups, its plots over a setting, and its text about exact numbers."""

from __future__ import annotations

import dataclasses
import io
import re

import pytest
from rich.console import Console
from test_report import Page, experiment

from cyclescope.bench.experiment import Choice
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import PREDICTED, UNPUBLISHED, Row, RunRecord
from cyclescope.bench.views import Pivot, Sweep
from cyclescope.board.description.parameters import CALIBRATED
from cyclescope.board.results import Settings
from cyclescope.cli.tables import experiment as experiment_tables
from cyclescope.report import colours, render, spans, sweeps

PIVOT = Pivot("Kernels", ("board", "program"), ("mode",))
SWEEP = Sweep("Speed", "dummy", "dummy clocks", "mode", "times as fast", ("mode", "single"))
VALUES = Pivot("Time", ("size",), ("mode",), values=True)
RUN = RunRecord("run", "app", "a", {}, None)


def row(settings: Settings, simulated: int, published: int | None = None, **views: object) -> Row:
    basis = UNPUBLISHED if published is None else PREDICTED
    found = Row("xip", "a", settings, "cycles", "cycles", simulated, published, basis, "row", RUN)
    return dataclasses.replace(found, **views)


def kernels(*off: int) -> list[Row]:
    """Three kernels in two modes, those at `off` a cycle too long."""
    return [
        row(
            {"program": program, "mode": mode},
            1000 + number + (number in off),
            1000 + number,
            pivot=PIVOT,
        )
        for number, (program, mode) in enumerate(
            (program, mode) for program in ("alu", "mul", "sort") for mode in ("single", "dual")
        )
    ]


def swept() -> list[Row]:
    times = {"dual": (60, 50), "quad": (30, 20)}
    rows = [
        row({"mode": mode, "dummy": 2 - place}, time, sweeps=(SWEEP,))
        for mode, both in times.items()
        for place, time in enumerate(both)
    ]
    return [row({"mode": "single"}, 100, sweeps=(SWEEP,)), *rows]


def what_is_off(page: Page) -> str:
    """The words of the table of rows that are off."""
    return page.words.partition("Not met:")[2].partition("Every row of the tables")[0]


def result(rows: list[Row], exact: bool = True) -> ExperimentResult:
    return ExperimentResult("xip", "In place", "the RTL", (), tuple(rows), (RUN,), {}, exact)


def test_rows_of_a_pivot_are_a_table_of_groups_and_no_bars() -> None:
    page = Page(render([result(kernels())]))
    assert page.of_class("pivot") == ["table"]
    assert "6 of 6 published numbers are met exactly." in page.words
    assert "Kernels, by mode" in page.words
    assert "total3 exact3 exact" in page.words.replace(" exact ", " exact").replace(
        "total ", "total"
    )
    assert "Not met:" not in page.words
    assert not page.of_class("simulated")


def test_rows_that_are_off_are_listed_with_their_distinguishing_settings() -> None:
    page = Page(render([result(kernels(3))]))
    assert "5 of 6 published numbers are met exactly; the furthest off is +0.100 %." in page.words
    assert "Not met:" in page.words
    assert "1,003" in page.words
    assert "1,004" in page.words
    assert "program=mul" in what_is_off(page)
    assert "program=sort" not in what_is_off(page)
    # its group, its column's total
    assert page.of_class("off") == ["td", "td"]


def test_of_very_many_that_are_off_the_first_are_listed() -> None:
    many = [row({"program": "p", "mode": str(n)}, n + 2, 1, pivot=PIVOT) for n in range(230)]
    page = Page(render([result(many)]))
    assert what_is_off(page).count("program=p") == 200
    assert "And 30 more rows, see the table of all rows." in page.words
    assert page.words.count("program=p") == 200 + 230


def test_exact_numbers_come_first_and_are_not_mixed_with_measured_ones() -> None:
    words = Page(render([result(kernels()), experiment()])).words
    assert "6 of 6 numbers are met exactly, to the cycle (xip)" in words
    assert "Of 2 published numbers that were measured on hardware, 1 was predicted" in words
    assert words.index("6 of 6 numbers") < words.index("Of 2 published numbers")
    assert "Deviations are listed there" not in words
    words = Page(render([result(kernels(2))])).words
    assert (
        "5 of 6 numbers are met exactly, to the cycle (xip). Deviations are listed there." in words
    )
    assert "Of 6 published numbers" not in words
    assert "No row of this report" not in words


def test_an_experiment_without_any_error_says_so() -> None:
    largest = r'<td class="number">(none|[^<]*%)</td></tr>'
    assert re.findall(largest, render([result(kernels())])) == ["none"]
    assert re.findall(largest, render([result(kernels(0))])) != ["none"]


def test_a_document_that_is_not_exact_counts_as_before() -> None:
    words = Page(render([result(kernels(), exact=False)])).words
    assert "Of 6 published numbers, 6 were predicted" in words
    assert "hardware's own description, its RTL" not in words


def test_a_sweep_has_a_line_a_mode_with_its_points_in_order() -> None:
    lines = sweeps.lines(SWEEP, swept())
    assert [(line.name, line.level) for line in lines] == [
        ("single", True),
        ("dual", False),
        ("quad", False),
    ]
    assert [[x for x, _ in line.points] for line in lines[1:]] == [["2", "1"], ["2", "1"]]
    base = sweeps.reference(SWEEP, swept())
    assert base is not None
    assert base.simulated == 100


def test_a_sweep_is_drawn_relative_to_its_reference_in_the_pages_colours() -> None:
    html = render([result(swept())])
    page = Page(html)
    assert "Speed: a" in page.words
    # in its section, and small in the overview
    assert page.of_class("point") == ["g"] * 4 * 2
    for said in (
        "dual, 1 dummy clocks: 50 cycles, 2 times as fast",
        "single",
        "quad",
        "dummy clocks",
    ):
        assert said in page.words
    plotted = [value for value in page.values("style") if "stroke" in value]
    assert plotted
    assert not any("#" in value.replace("url(#", "") for value in plotted)
    assert any(f"var(--cause-{2})" in value for value in plotted)


def test_without_its_reference_a_sweep_shows_the_values_themselves() -> None:
    page = Page(render([result(swept()[1:])]))
    assert "dual, 1 dummy clocks: 50 cycles" in page.words
    assert "times as fast" not in page.words


def test_a_sweep_of_nothing_but_zeros_is_drawn() -> None:
    rows = [dataclasses.replace(found, simulated=0) for found in swept()]
    assert "Speed: a" in Page(render([result(rows)])).words


def test_a_value_that_two_parts_of_a_kind_share_was_fitted_once() -> None:
    ours = experiment()
    ((board, parameters),) = ours.parameters.items()
    (fitted,) = (found for found in parameters if found.basis == CALIBRATED)
    twin = dataclasses.replace(fitted, node="/ddr2", label="ddr2")
    other = dataclasses.replace(fitted, property_name="first-word-cycles")
    more = {board: (*parameters, twin, other)}
    words = Page(render([dataclasses.replace(ours, parameters=more)])).words
    assert "What was calibrated, 2 parameters to 2 independent numbers" in words
    assert "board-a ddr, ddr2 beat-cycles 1 cycles calibrated calibrated: dual write" in words
    assert "board-a ddr first-word-cycles 1 cycles" in words


def test_values_that_an_experiment_fitted_itself_count_too() -> None:
    named = ("the card", "fragments", 12, CALIBRATED, "quad write")
    choice = Choice(*named, alternative=13, change=lambda run: run)
    ours = dataclasses.replace(experiment(), choices=(choice.parameter,))
    words = Page(render([ours])).words
    assert "What was calibrated, 2 parameters to 2 independent numbers" in words
    assert words.count("quad the card fragments 12 calibrated or 13 quad write") == 2
    assert "There are also 1 choice of the experiments, such as a card's contents" in words
    text = io.StringIO()
    Console(file=text, width=200).print(experiment_tables.experiment_table(ours))
    assert "calibrated: 2 to 2 independent numbers:" in text.getvalue()
    assert "the card: fragments = 12 (moves no cells by more than 2 %)" in text.getvalue()


LOG = Sweep("Time", "size", "bytes", "order", "s", published="the note", each="card", log=True)


def sized(**changed: object) -> list[Row]:
    return [
        dataclasses.replace(row({"size": size, "order": order, "card": card}, time), **found)
        for card in ("old", "new")
        for order, found in (("here", {"published": 7}), ("there", {}))
        for size, time in ((4096, 4), (64, 14), (768, 199))
        for found in [found | {"sweeps": (LOG,)} | changed]
    ]


def test_a_logarithmic_sweep_has_its_numbers_in_order_and_the_published_line_first() -> None:
    lines = sweeps.lines(LOG, [found for found in sized() if found.settings["card"] == "old"])
    assert [(line.name, line.published) for line in lines] == [
        ("the note", True),
        ("here", False),
        ("there", False),
    ]
    assert [[x for x, _ in line.points] for line in lines] == [["64", "768", "4096"]] * 3
    assert [lines[0].value(row) for _, row in lines[0].points] == [7, 7, 7]


def test_a_published_line_has_the_colour_of_what_it_is_of() -> None:
    sweep = dataclasses.replace(LOG, published="the note")
    rows = [dataclasses.replace(found, published=9, sweeps=(sweep,)) for found in sized()]
    drawn = sweeps.lines(sweep, rows)
    assert [(line.name, line.of) for line in drawn if line.published] == [
        ("here, the note", "here"),
        ("there, the note", "there"),
    ]
    html = render([result(rows)])
    assert "var(--cause-1)" in html
    assert not re.search(r"stroke: var\(--cause-[2-9]\)", html)


def test_a_small_plot_names_only_what_was_simulated() -> None:
    rows = [dataclasses.replace(found, pivot=VALUES) for found in sized(published=9)]
    small = sweeps.preview(result(rows))
    assert small is not None
    named = re.findall(r"<text[^>]*>([^<]*)</text>", small.svg)
    assert {"here", "there"} <= set(named)
    assert not any("the note" in name for name in named)
    # its points say it all the same
    assert "here, the note, 768 bytes: 9 cycles" in small.svg


def test_ticks_of_words_are_left_out_where_they_would_touch() -> None:
    rows = [
        dataclasses.replace(found, settings={"mode": "m", "dummy": f"a very long place {number}"})
        for number, found in enumerate(swept()[1:] * 5)
    ]
    small = sweeps.preview(result(rows))
    assert small is not None
    ticks = re.findall(r">(a very long place \d+)</text>", small.svg)
    assert 1 <= len(ticks) <= 3


def test_a_sweep_can_have_a_plot_for_each_value_of_a_setting() -> None:
    page = Page(render([result(sized())]))
    assert "Time: a, old" in page.words
    assert "Time: a, new" in page.words
    assert page.of_class("point") == ["g"] * 2 * 3 * 3
    assert "the note, 768 bytes: 7 cycles" in page.words
    assert "there, 768 bytes: 199 cycles" in page.words


def test_without_published_numbers_there_is_no_line_for_them() -> None:
    page = Page(render([result(sized(published=None))]))
    assert "the note" not in page.words
    # two plots, the first of them in the overview as well
    assert page.of_class("point") == ["g"] * (2 + 1) * 2 * 3


def test_a_logarithm_has_a_place_for_zeros() -> None:
    assert "Time: a, old" in Page(render([result(sized(simulated=0))])).words
    some = [dataclasses.replace(found, simulated=0) for found in sized()[:1]] + sized()[1:]
    assert "here, 4096 bytes: 0 cycles" in Page(render([result(some)])).words


def test_ticks_that_would_cover_each_other_are_left_out() -> None:
    span = spans.logarithmic([64, 65536], margin=1)
    assert span.fraction(64) == 0
    assert span.fraction(2048) == pytest.approx(0.5)
    assert span.roomy([64, 80, 100, 129, 65536], least=0.1) == [64, 129, 65536]
    assert spans.linear([]).fraction(0.5) == pytest.approx(0.5)


@pytest.mark.parametrize("number", [0, 1, 12, 25])
def test_lines_have_a_colour_each(number: int) -> None:
    styles = colours.by_order(number)
    assert len(set(styles)) == number


def test_a_run_that_measures_in_many_settings_has_one_stack_of_what_it_times() -> None:
    ours = experiment()
    many = [
        dataclasses.replace(found, pivot=VALUES, settings=found.settings | {"size": size})
        for found in ours.rows[1:]
        for size in (64, 512)
    ]
    page = Page(render([dataclasses.replace(ours, rows=tuple(many))]))
    # two causes and "other" of each of the two runs
    assert page.of_class("share") == ["g"] * 3 * 2
    assert "Whole runs" in page.words
    assert "The cycle stack of the function that is timed, all of its calls in a run" in page.words
    assert "timed mode=quad: load: spi0, 60 ms" in page.words
    assert not page.of_class("simulated")
    untimed = [dataclasses.replace(found, timed=()) for found in many]
    page = Page(render([dataclasses.replace(ours, rows=tuple(untimed))]))
    assert not page.of_class("share")


def test_plots_come_in_their_order_whichever_rows_come_first() -> None:
    late = dataclasses.replace(SWEEP, title="Last", order=1)
    rows = [
        dataclasses.replace(found, sweeps=(sweep,)) for sweep in (late, SWEEP) for found in swept()
    ]
    assert [plot.title for plot in sweeps.plots(result(rows))] == ["Speed: a", "Last: a"]
