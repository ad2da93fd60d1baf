"""The experiment `rhealstone` in short: fewer loops, and all six operations in one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import stored
from conftest import Command
from tiers import ALL, mostly_long

import cyclescope as package
from cyclescope import bench, experiments, firmware
from cyclescope.bench import planning, result_files
from cyclescope.bench.experiment import Choice, Experiment, Run
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.board.results import Value
from cyclescope.experiments import rhealstone_clocks, rhealstone_pins, rhealstone_widths
from cyclescope.experiments.rhealstone import EXPERIMENT
from cyclescope.experiments.rhealstone_ratios import DIVIDER, OTHER_OPERATIONS, PUBLISHED_OPERATIONS

BOARD = "sama5d2-xplained"
OPERATIONS = (*PUBLISHED_OPERATIONS, *OTHER_OPERATIONS)
MANY = 200
# Of the swept clocks, enough to distinguish a line from a curve.
DIVIDERS = (2, 4, 8)
# What is run alone, once and swept over clocks: in the short tier one operation, as others compile
# as much again. All are in the runs of many loops.
ALONE_OPERATIONS = PUBLISHED_OPERATIONS if ALL else ("task-switch",)
# In the short tier one width of each number of lines, and the one of instructions on four lines.
SHORT_WIDTHS = ("single-bit-spi", "dual-io", "quad-io", "quad-cmd")
WIDTHS = rhealstone_widths.WIDTHS if ALL else SHORT_WIDTHS


def short_runs() -> Iterator[Run]:
    """The experiment's runs, and its configurations in short, without those of single subjects.

    Where caches miss, an operation is alone as there: the one before it would warm them. The rest
    has one run for all operations.
    """
    for run in EXPERIMENT.runs:
        settings = dict(run.settings)
        swept = settings["tick"] == "off"
        at_another_clock = not swept and settings["spck_divider"] != DIVIDER
        if (
            at_another_clock
            or "pins" in settings
            or "width" in settings
            or settings["loops"] == 300
        ):
            continue
        if swept and settings["spck_divider"] not in DIVIDERS:
            continue
        if settings["loops"] != 1:
            settings["loops"] = MANY
        elif not swept and settings["cache"] == "off":
            continue
        elif not swept:
            if settings["operation"] in ALONE_OPERATIONS:
                yield run
            continue
        operation = "task-switch" if swept and not ALL else "all"
        yield replace(run, settings=settings | {"operation": operation}, documented=False)


def tabulated(experiment: Experiment, threads: int) -> ExperimentResult:
    jobs = planning.plan([experiment])
    # nothing here looks at waits; they take a third of the time
    recorded = bench.Recorded(waits=ALL)
    (table,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads, recorded=recorded))
    assert [(run.label, run.error) for run in table.failures] == []
    return table


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    return tabulated(replace(EXPERIMENT, runs=tuple(short_runs())), threads=2)


def cycles(result: ExperimentResult, operation: str, **wanted: object) -> float:
    """The time of an operation in the one run with these settings."""
    wanted = {"operation": operation, "spck_divider": 3, "tick": "on", **wanted}
    (row,) = (
        row
        for row in result.rows
        if row.metric == "cycles" and wanted.items() <= row.settings.items()
    )
    return row.simulated


def in_memories(result: ExperimentResult, operation: str, cache: str, loops: int) -> list[float]:
    """SRAM, DDR3L, QSPI."""
    where = {"cache": cache, "loops": loops}
    return [cycles(result, operation, memory=name, **where) for name in ("sram", "ddr", "qspi")]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_without_caches_memories_are_in_the_notes_order(
    result: ExperimentResult, operation: str
) -> None:
    sram, ddr, qspi = in_memories(result, operation, "off", MANY)
    assert 1.5 * sram < ddr
    assert 3 * ddr < qspi


@pytest.mark.parametrize("operation", OPERATIONS)
def test_on_a_hit_all_memories_take_the_same_time(result: ExperimentResult, operation: str) -> None:
    times = in_memories(result, operation, "on", MANY)
    # 200 loops: what is loaded once still counts
    assert max(times) < 1.05 * min(times)


@pytest.mark.parametrize("operation", mostly_long(PUBLISHED_OPERATIONS, ALONE_OPERATIONS))
def test_a_miss_is_between_a_hit_and_no_caches(result: ExperimentResult, operation: str) -> None:
    misses = in_memories(result, operation, "on", 1)
    hits, uncached = (in_memories(result, operation, cache, MANY) for cache in ("on", "off"))
    sram, ddr, qspi = misses
    assert sram < ddr
    assert 2 * ddr < qspi
    for hit, miss, slow in zip(hits, misses, uncached, strict=True):
        assert 1.2 * hit < miss < slow / 1.2


def by_clock(result: ExperimentResult, operation: str, cache: str, loops: int) -> list[float]:
    """With the flash's clock at MCK / 2, 4 and 8."""
    where = {"memory": "qspi", "cache": cache, "loops": loops, "tick": "off"}
    return [cycles(result, operation, spck_divider=divider, **where) for divider in DIVIDERS]


@pytest.mark.parametrize("operation", mostly_long(PUBLISHED_OPERATIONS, ALONE_OPERATIONS))
@pytest.mark.parametrize("cache", ["off", "on"])
def test_without_a_hit_time_is_linear_in_the_flashs_period(
    result: ExperimentResult, operation: str, cache: str
) -> None:
    half, quarter, eighth = by_clock(result, operation, cache, 1)
    # a constant part and one for each serial clock; some clocks overlap with other waits
    assert eighth - quarter == pytest.approx(2 * (quarter - half), rel=0.05)
    assert eighth > 2.5 * half


@pytest.mark.parametrize("operation", mostly_long(PUBLISHED_OPERATIONS, ALONE_OPERATIONS))
def test_on_a_hit_the_flashs_clock_does_not_matter(
    result: ExperimentResult, operation: str
) -> None:
    times = by_clock(result, operation, "on", MANY)
    assert max(times) < 1.1 * min(times)


def test_every_run_accounts_for_all_of_its_time(result: ExperimentResult) -> None:
    for record in result.runs:
        assert record.result is not None
        (core,) = record.result.cores
        assert sum(entry.ps for entry in core.stack) == record.result.elapsed_ps
        assert record.result.notes == ()


def test_the_number_of_jobs_and_a_second_run_change_nothing(result: ExperimentResult) -> None:
    # three operations in a memory; in the short tier an operation in three memories
    wanted = {"loops": 1, "tick": "on"} | ({"memory": "qspi"} if ALL else {})
    runs = tuple(run for run in short_runs() if wanted.items() <= run.settings.items())
    assert len(runs) == 3
    first, second = (tabulated(replace(EXPERIMENT, runs=runs), threads) for threads in (1, 2))
    assert result_files.to_json([first]) == result_files.to_json([second])
    before = [row.to_dict() for row in result.rows]
    assert all(row.to_dict() in before for row in first.rows if row.metric == "cycles")


@pytest.mark.parametrize("cache", ["off", "on"])
def test_polling_that_is_skipped_or_not_gives_the_same(cache: str) -> None:
    settings = {"memory": "qspi", "cache": cache, "loops": 4}
    elf = firmware.build_app("rhealstone", BOARD, settings)
    skipped, whole = (
        package.Board(BOARD).load(elf).run(skip_polling=skip) for skip in (True, False)
    )
    assert skipped.metrics == whole.metrics
    assert skipped.elapsed_ps == whole.elapsed_ps
    assert skipped.cores == whole.cores


def published_row(operation: str, memory: str, cache: str) -> Row:
    """The row of a single loop of the real experiment."""
    wanted = {"operation": operation, "memory": memory, "cache": cache, "loops": 1, "tick": "on"}
    runs = tuple(
        run for run in EXPERIMENT.runs if run.documented and wanted.items() <= run.settings.items()
    )
    rows = tabulated(replace(EXPERIMENT, runs=runs), threads=1).rows
    (row,) = (row for row in rows if row.metric == "cycles")
    return row


def test_published_cells_have_their_digits() -> None:
    rounded = published_row("task-preempt", "qspi", "off")
    assert (rounded.published, rounded.digits, rounded.printed) == (200000, 1, "2E+05")
    assert abs(rounded.error_pct or 0) < 10
    exact = published_row("task-switch", "ddr", "on")
    assert (exact.published, exact.digits) == (1008, None)


def published_runs() -> list[Run]:
    (cell,) = EXPERIMENT.cells
    return [run for run in EXPERIMENT.runs if EXPERIMENT.published_value(run, cell) is not None]


def test_cells_that_follow_from_others_are_no_numbers_of_their_own() -> None:
    (cell,) = EXPERIMENT.cells
    assert cell.counts_as is not None
    runs = published_runs()
    names = [cell.counts_as(run.settings) for run in runs]
    assert (len(names), names.count(None), len(set(names) - {None})) == (36, 3, 24)
    cached = {name for run, name in zip(runs, names, strict=True) if hits(run)}
    assert len(cached) == len(PUBLISHED_OPERATIONS)


def hits(run: Run) -> bool:
    return run.settings["cache"] == "on" and run.settings["loops"] != 1


def test_speed_over_the_flashs_clock_is_what_the_note_claims(result: ExperimentResult) -> None:
    lines = [row for row in result.rows if row.settings.get("operation") in PUBLISHED_OPERATIONS]
    slopes = {row.label: row.simulated for row in lines if row.metric == "spck_slope"}
    assert len(slopes) == 3 * len(ALONE_OPERATIONS)
    for label, slope in slopes.items():
        # A hit among 200 loops still has what is loaded once.
        assert slope < 0.1 if f" caches on {MANY}," in label else 0.7 < slope <= 1, label
    assert len([row for row in lines if row.metric == "spck_correlation"]) == len(slopes)
    findings = list(rhealstone_clocks.findings(result.rows))
    assert [sentence.split(":")[0] for sentence in findings] == [
        "The note has performance proportional to SPCK without caches",
        "The note has performance proportional to SPCK when caches miss",
        "The note has performance independent of SPCK when caches hit",
    ]


def test_the_figures_are_swept_with_the_tick_too() -> None:
    plain = [run for run in EXPERIMENT.runs if run.settings["tick"] == "on" and not run.documented]
    swept = [run for run in plain if run.settings["memory"] == "qspi"]
    for cache, loops in (("off", 1), ("off", 300), ("off", 50000), ("on", 1), ("on", 50000)):
        found = {"operation": "task-switch", "cache": cache, "loops": loops}
        runs = [run for run in swept if found.items() <= run.settings.items()]
        # MCK / 3 is in table 4-1, but for what is not in it.
        assert len(runs) == (6 if loops == 300 else 5)
        plain_dividers = {run.settings["spck_divider"] for run in runs if not run.is_extra}
        assert (plain_dividers >= {2, 8}) == ((cache, loops) != ("off", 50000))


@pytest.fixture(scope="module")
def widths() -> ExperimentResult:
    runs = (
        *(
            run
            for run in EXPERIMENT.runs
            if run.settings.get("width") in WIDTHS and run.settings["cache"] == "off"
        ),
        *(run for run in EXPERIMENT.runs if is_usual_width(run)),
    )
    return tabulated(replace(EXPERIMENT, runs=runs), threads=2)


def is_usual_width(run: Run) -> bool:
    wanted = {"operation": rhealstone_widths.OPERATION, "tick": "off", "loops": 1, "cache": "off"}
    return (
        wanted.items() <= run.settings.items()
        and run.settings["spck_divider"] == DIVIDER
        and not {"pins", "width"} & run.settings.keys()
    )


def by_width(widths: ExperimentResult, continuous: str) -> dict[str, float]:
    """By width, in the order of table 2-1."""
    cycles_of = {
        row.settings["width"]: row.simulated
        for row in widths.rows
        if row.metric == "cycles" and row.settings["continuous_read"] == continuous
    }
    return {width: cycles_of[width] for width in WIDTHS}


def test_a_fetch_has_the_clocks_of_its_width(widths: ExperimentResult) -> None:
    continuous, whole = (by_width(widths, state) for state in ("on", "off"))
    # Clocks of a word's frame: address, dummies with the option, data.
    clocks = {
        "single-bit-spi": 24 + 8 + 32,
        "dual-output": 24 + 8 + 16,
        "quad-output": 24 + 8 + 8,
        "dual-io": 12 + 8 + 16,
        "quad-io": 6 + 10 + 8,
        "dual-cmd": 12 + 8 + 16,
        "quad-cmd": 6 + 10 + 8,
    }
    of_instruction = {"dual-cmd": 4, "quad-cmd": 2}
    single, usual = continuous["single-bit-spi"], continuous["quad-io"]
    a_clock = (single - usual) / (clocks["single-bit-spi"] - clocks["quad-io"])
    for width, cycles_of in continuous.items():
        # All but the frames is equal: the difference to quad I/O is proportional to the clocks.
        assert cycles_of - usual == pytest.approx(
            a_clock * (clocks[width] - clocks["quad-io"]), abs=200
        )
        more = whole[width] - cycles_of
        assert more == pytest.approx(a_clock * of_instruction.get(width, 8), abs=200)


def test_the_table_of_widths_is_whole(widths: ExperimentResult) -> None:
    shown = [row for row in widths.rows if row.pivot == rhealstone_widths.PIVOT]
    assert len(shown) == 2 * len(WIDTHS)
    runs = [run for run in EXPERIMENT.runs if "width" in run.settings]
    # With caches as without; one of each is among those of the flash's clock.
    assert len(runs) == 2 * (2 * len(rhealstone_widths.WIDTHS) - 1)


# One of the compiler's, one of the kernel's and one of its port's.
SHORT = {"optimisation", "assertions", "a task switch taken off pre-emption"}


@pytest.mark.parametrize(
    "choice",
    mostly_long(EXPERIMENT.choices, SHORT, key=lambda choice: choice.name),
    ids=lambda choice: choice.name,
)
def test_each_choice_has_an_alternative_that_runs_and_differs(choice: Choice) -> None:
    wanted = {"operation": "task-preempt", "memory": "sram", "cache": "on", "loops": 1}
    (run,) = (
        run for run in EXPERIMENT.runs if run.documented and wanted.items() <= run.settings.items()
    )
    other = choice.change(run)
    assert (other.app, other.board) == (run.app, run.board)
    changed = dict(other.settings.items() - run.settings.items())
    assert len(changed) == 1
    rows = tabulated(replace(EXPERIMENT, runs=(other,)), threads=1).rows
    assert any(row.metric == "cycles" and row.simulated > 0 for row in rows)


def test_the_short_form_has_the_same_rows_with_fewer_loops() -> None:
    for run in EXPERIMENT.runs:
        short = EXPERIMENT.short_form(run)
        assert short.settings == dict(run.settings) | {"loops": short.settings["loops"]}
        assert short.settings["loops"] in (run.settings["loops"], 300, 3000)


def test_the_command_line_knows_the_experiment(cyclescope: Command) -> None:
    assert experiments.select(["rhealstone"]) == [EXPERIMENT]
    refused = cyclescope("bench", "rhealstone", "--set", "rhealstone.memory=rom")
    assert refused.status != 0
    assert "rhealstone.memory=rom: allowed: qspi, sram, ddr" in refused.error


def test_words_for_people_leave_out_what_just_has_its_default() -> None:
    jobs = planning.plan([EXPERIMENT], [("rhealstone.fpu_context", "on")])
    label = jobs[0].configured.label
    assert label.endswith("cache=on spck_divider=3 tick=on fpu_context=on")
    assert "optimise" not in label
    record = jobs[0].record(None)
    assert record.settings["optimise"] == "O0"
    assert "optimise" in record.implied
    assert "fpu_context" not in record.implied


def test_tables_from_stored_rows_are_those_of_the_runs(
    result: ExperimentResult, tmp_path: Path
) -> None:
    assert stored.table_from_files(result, tmp_path) == stored.table(result)


@pytest.fixture(scope="module")
def drawn() -> ExperimentResult:
    runs = tuple(run for run in EXPERIMENT.runs if run.frame_on is not None)
    return tabulated(replace(EXPERIMENT, runs=runs), threads=2)


def levels(drawn: ExperimentResult, operation: str) -> list[tuple[int, ...]]:
    """The tasks and handlers that run while an operation is measured, in their order."""
    (record,) = (run for run in drawn.runs if run.settings["operation"] == operation)
    assert record.result is not None
    frame = record.result.frame
    assert frame is not None
    wires = [frame.wires[name] for name, _ in rhealstone_pins.FRAMES.wires_of(record.settings)[1:]]
    times = sorted({0, *(at for wire in wires for at in wire.changes_ps)})
    seen = [tuple(wire.before(at + 1) for wire in wires) for at in times]
    # Between two tasks nobody runs.
    return [level for level in seen if any(level)]


@pytest.mark.parametrize(
    ("operation", "wanted"),
    [
        ("task-switch", [(1, 0), (0, 1)]),
        ("task-preempt", [(1, 0), (0, 1), (1, 0)]),
        ("interrupt-latency", [(1, 0), (1, 1)]),
        ("semaphore-shuffle", [(0, 1), (1, 0), (0, 1), (1, 0), (0, 1)]),
        (
            "deadlock-break",
            [(0, 0, 1), (1, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
        ),
        ("message-latency", [(0, 1), (1, 0), (0, 1)]),
    ],
)
def test_pins_show_who_runs_as_the_notes_figures_do(
    drawn: ExperimentResult, operation: str, wanted: list[tuple[int, ...]]
) -> None:
    assert levels(drawn, operation) == wanted


def test_runs_with_pins_print_no_results(drawn: ExperimentResult) -> None:
    assert all(run.result is not None and run.result.metrics == () for run in drawn.runs)
    assert not [row for row in drawn.rows if row.metric == "cycles"]


def test_without_pins_the_program_is_the_same() -> None:
    chosen: dict[str, Value] = {"memory": "sram", "cache": "on", "operation": "task-switch"}
    plain, off, on = (
        firmware.build_app("rhealstone", BOARD, chosen | more).read_bytes()
        for more in ({}, {"pins": "off"}, {"pins": "on"})
    )
    assert plain == off != on
