"""Many rows as a table of groups: what stands in each place, and what is said of all."""

import dataclasses
import io

from rich.console import Console

from cyclescope.bench import pivots, views
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import PREDICTED, UNPUBLISHED, Row, RunRecord
from cyclescope.bench.views import Pivot, Words
from cyclescope.board.description.parameters import CALIBRATED
from cyclescope.board.results import Settings
from cyclescope.cli.tables import experiment as experiment_tables

PIVOT = Pivot("Kernels", ("board", "program"), ("mode",))


def row(
    settings: Settings,
    simulated: int,
    published: int | None,
    board: str = "a",
    pivot: Pivot | None = PIVOT,
) -> Row:
    run = RunRecord("run", "app", board, settings, None)
    basis = UNPUBLISHED if published is None else PREDICTED
    return Row(
        "xip",
        board,
        settings,
        "cycles",
        "cycles",
        simulated,
        published,
        basis,
        "{program} {mode}".format_map(settings),
        run,
        pivot=pivot,
    )


def of(program: str, mode: str, number: int = 0) -> Settings:
    return {"program": program, "mode": mode, "number": number}


def shown(rows: list[Row], width: int = 200) -> str:
    result = ExperimentResult("xip", "In place", "the RTL", (), tuple(rows), (), {})
    text = io.StringIO()
    Console(file=text, width=width).print(experiment_tables.experiment_table(result))
    return text.getvalue()


def test_rows_meet_where_their_line_crosses_their_column() -> None:
    rows = [
        row(of("alu", "single"), 100, 100),
        row(of("alu", "dual", 1), 50, 50),
        row(of("alu", "dual", 2), 51, 51),
        row(of("mul", "dual"), 70, 70, board="b"),
    ]
    (table,) = pivots.tables(rows)
    assert table.headings == ("single", "dual")
    assert [names for names, _ in table.lines] == [("a", "alu"), ("b", "mul")]
    texts = [[group.text for group in groups] for _, groups in table.lines]
    assert texts == [["1 exact", "2 exact"], ["", "1 exact"]]
    assert [group.text for group in table.total] == ["1 exact", "3 exact"]
    assert table.summary == "4 of 4 published numbers are met exactly."


def test_rows_that_are_off_are_counted_and_listed_the_worst_first() -> None:
    rows = [
        row(of("alu", "single", 1), 10_001, 10_000),
        row(of("alu", "single", 2), 99, 100),
        row(of("alu", "single", 3), 7, 7),
        row(of("alu", "dual"), 9, None),
    ]
    (table,) = pivots.tables(rows)
    assert table.lines[0][1][0].text == "2 of 3 off, -1.000 %"
    assert table.furthest_off == [rows[1], rows[0]]
    assert table.summary == (
        "1 of 3 published numbers are met exactly; the furthest off is -1.000 %. 1 more rows "
        "have none."
    )
    text = shown(rows)
    assert "off: alu single: published 100, simulated 99 cycles, -1.000 % (a program=alu" in text
    assert text.index("number=2") < text.index("number=1")
    assert "number=3" not in text


def test_an_error_of_one_cycle_in_a_million_is_no_exact_match() -> None:
    (table,) = pivots.tables([row(of("alu", "single"), 1_000_001, 1_000_000)])
    assert table.whole.text == "1 of 1 off, +0.000 %"
    assert "0 of 1 published numbers are met exactly" in table.summary


def test_rows_without_a_published_number_show_themselves_or_their_count() -> None:
    rows = [
        row(of("alu", "single"), 12_345, None),
        row(of("alu", "dual", 1), 1, None),
        row(of("alu", "dual", 2), 2, None),
    ]
    (table,) = pivots.tables(rows)
    assert [group.text for group in table.lines[0][1]] == ["12345", "(2)"]
    assert table.summary == "3 rows, none with a published number."


def test_only_rows_without_a_pivot_are_lines_of_the_plain_table() -> None:
    rows = [row(of("alu", "single"), 5, 5), row(of("loose", "dual"), 11, 10, pivot=None)]
    assert pivots.loose(rows) == rows[1:]
    text = shown(rows)
    assert "+10.0 %" in text
    assert "Kernels, by mode" in text
    assert "alu single" not in text


def test_many_that_are_off_are_not_all_listed_on_the_terminal() -> None:
    rows = [row(of("alu", "single", number), number + 2, 1) for number in range(100)]
    text = shown(rows)
    assert text.count("off: ") == experiment_tables.MOST_OFF
    assert f"and {100 - experiment_tables.MOST_OFF} more: see results.csv" in text


def test_a_missing_value_of_a_row_is_a_dash() -> None:
    (table,) = pivots.tables(
        [row({"program": "p", "mode": "m"}, 1, 1, pivot=Pivot("", ("x",), ()))]
    )
    assert table.lines[0][0] == (pivots.ABSENT,)


VALUES = Pivot("Time", ("program",), ("metric",), values=True)


def test_values_stand_with_the_published_number_and_the_error() -> None:
    rows = [
        row(of("alu", "single"), 103, 100, pivot=VALUES),
        row(of("mul", "single"), 70, 70, pivot=VALUES),
        row(of("sort", "single"), 80, 100, pivot=VALUES),
        row(of("trap", "single"), 5, None, pivot=VALUES),
    ]
    (table,) = pivots.tables(rows)
    assert table.headings == ("cycles",)
    assert [groups[0].text for _, groups in table.lines] == [
        "103 (100, +3.0 %)",
        "70 (70, exact)",
        "80 (100, -20.0 %)",
        "5",
    ]
    assert [groups[0].is_far_off for _, groups in table.lines] == [False, False, True, False]
    assert table.summary == (
        "2 of 3 published numbers are met within 10 %, 3 within 25 %; the furthest off is -20.0 %."
    )
    # a close value needs no line of its own
    assert table.furthest_off == [rows[2]]
    text = " ".join(shown(rows).split())
    assert "Time: simulated (published, error)" in text
    assert "within 10 %" in text
    assert "2 of 3" in text


def test_values_that_are_all_exact_are_said_to_be_so() -> None:
    (table,) = pivots.tables([row(of("mul", "single"), 70, 70, pivot=VALUES)])
    assert table.summary == "1 of 1 published numbers are met exactly."


def test_a_published_zero_is_met_exactly_or_not_at_all() -> None:
    found = [row(of("mul", "single"), value, 0, pivot=VALUES) for value in (0, 3)]
    (table,) = pivots.tables(found)
    assert table.whole.text == "0 (0, exact); 3 (0, not met)"
    assert table.summary == "1 of 2 published numbers are met within 10 %."
    assert table.whole.is_far_off


def test_rounded_values_are_shown_with_five_digits() -> None:
    found = dataclasses.replace(
        row(of("mul", "single"), 0, None, pivot=VALUES), simulated=199.45907, published=204.46638
    )
    (table,) = pivots.tables([found])
    assert table.whole.text == "199.46 (204.47, -2.4 %)"
    (table,) = pivots.tables([dataclasses.replace(found, basis=CALIBRATED)])
    assert table.whole.text == "199.46 (204.47, -2.4 %, calibrated)"


def test_values_are_in_the_order_of_their_numbers() -> None:
    pivot = Pivot("Time", ("order", "size"), ("metric",), values=True)
    rows = [
        row({"program": "p", "mode": "m", "order": order, "size": size}, 1, None, pivot=pivot)
        for order in ("old", "new")
        for size in (1024, 64, -3, 768)
    ]
    (table,) = pivots.tables(rows)
    assert [names for names, _ in table.lines] == [
        (order, size) for order in ("old", "new") for size in ("-3", "64", "768", "1024")
    ]


def test_names_and_values_are_called_as_people_do() -> None:
    words = (
        Words("size", "call", form="{} B"),
        Words("order", "writes in", (("r006", "R0.06's order"),)),
    )
    pivot = Pivot("Time, s", ("order", "size"), ("metric",), values=True, words=words)
    rows = [
        row({"program": "p", "mode": "m", "order": order, "size": size}, 1, None, pivot=pivot)
        for order in ("r006", "new")
        for size in (1024, 64)
    ]
    (table,) = pivots.tables(rows)
    assert table.line_headings == ("writes in", "call")
    assert [names for names, _ in table.lines] == [
        ("R0.06's order", "64 B"),
        ("R0.06's order", "1024 B"),
        ("new", "64 B"),
        ("new", "1024 B"),
    ]
    assert "Time, s" in shown(rows)
    assert "by metric" not in shown(rows)


def test_values_can_be_shown_in_a_larger_unit_with_few_digits() -> None:
    pivot = Pivot("Throughput, kB/s", ("program",), ("metric",), values=True, per=1000, digits=3)
    for value, text in (
        (1_188_674, "1189"),
        (697_468, "697"),
        (6_749, "6.75"),
        (53_000, "53.0"),
        (0, "0"),
    ):
        (table,) = pivots.tables([row(of("alu", "single"), value, None, pivot=pivot)])
        assert table.whole.text == text


def test_a_view_takes_rows_with_its_settings_only() -> None:
    pivot = Pivot("Quad", ("program",), ("mode",), where=(("mode", ("quad", "octal")),))
    assert views.takes(pivot, {"mode": "quad", "program": "alu"})
    assert not views.takes(pivot, {"mode": "dual"})
    assert not views.takes(pivot, {})
    assert views.takes(VALUES, {})


def test_a_rounded_number_stands_as_it_was_printed() -> None:
    rounded = dataclasses.replace(row(of("alu", "single"), 233_500, 2e5, pivot=VALUES), digits=1)
    assert "233500 (2E+05, as printed)" in shown([rounded])


def test_settings_at_their_default_are_not_shown() -> None:
    settings = {"program": "alu", "mode": "dual", "optimise": "O2"}
    off = row(settings, 60, 50)
    assert "optimise=O2" in shown([off])
    run = dataclasses.replace(off.run, implied=("optimise",))
    page = shown([dataclasses.replace(off, run=run)])
    assert "(a program=alu mode=dual)" in page
    assert "optimise" not in page
    assert dataclasses.replace(off, run=run).to_dict()["settings"] == settings
