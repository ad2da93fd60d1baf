"""The experiment `rhealstone` in short: fewer loops, and all six operations in one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import stored
from conftest import Command

import cyclescope as package
from cyclescope import bench, experiments, export, firmware, planning
from cyclescope.experiment import Choice, Experiment, Run
from cyclescope.experiments.rhealstone import EXPERIMENT
from cyclescope.experiments.rhealstone_ratios import OTHER_OPERATIONS, PUBLISHED_OPERATIONS
from cyclescope.results import ExperimentResult, Row

BOARD = "sama5d2-xplained"
OPERATIONS = (*PUBLISHED_OPERATIONS, *OTHER_OPERATIONS)
MANY = 200
# Of the swept clocks, enough to tell a line from a curve.
DIVIDERS = (2, 4, 8)


def short_runs() -> Iterator[Run]:
    """The experiment's runs, and its configurations in short.

    Where caches miss, an operation is alone as there: the one before it would warm them. The rest
    has one run for all operations.
    """
    for run in EXPERIMENT.runs:
        settings = dict(run.settings)
        swept = settings["tick"] == "off"
        if swept and settings["spck_divider"] not in DIVIDERS:
            continue
        if settings["loops"] != 1:
            settings["loops"] = MANY
        elif not swept and settings["cache"] == "off":
            continue
        elif not swept:
            if settings["operation"] in PUBLISHED_OPERATIONS:
                yield run
            continue
        yield replace(run, settings=settings | {"operation": "all"}, documented=False)


def tabulated(experiment: Experiment, threads: int) -> ExperimentResult:
    jobs = planning.plan([experiment])
    (table,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads))
    assert [(run.label, run.error) for run in table.failures] == []
    return table


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    return tabulated(replace(EXPERIMENT, runs=tuple(short_runs())), threads=2)


def cycles(result: ExperimentResult, operation: str, **wanted: object) -> float:
    """What an operation takes in the one run with these settings."""
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
def test_on_a_hit_all_memories_are_alike(result: ExperimentResult, operation: str) -> None:
    times = in_memories(result, operation, "on", MANY)
    # 200 loops: what is loaded once still counts
    assert max(times) < 1.05 * min(times)


@pytest.mark.parametrize("operation", PUBLISHED_OPERATIONS)
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


@pytest.mark.parametrize("operation", PUBLISHED_OPERATIONS)
@pytest.mark.parametrize("cache", ["off", "on"])
def test_without_a_hit_time_is_linear_in_the_flashs_period(
    result: ExperimentResult, operation: str, cache: str
) -> None:
    half, quarter, eighth = by_clock(result, operation, cache, 1)
    # a constant part and one for each serial clock, of which some hide behind other waits
    assert eighth - quarter == pytest.approx(2 * (quarter - half), rel=0.05)
    assert eighth > 2.5 * half


@pytest.mark.parametrize("operation", PUBLISHED_OPERATIONS)
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
    wanted = {"memory": "qspi", "loops": 1, "tick": "on"}
    runs = tuple(run for run in short_runs() if wanted.items() <= run.settings.items())
    assert len(runs) == len(PUBLISHED_OPERATIONS)
    first, second = (tabulated(replace(EXPERIMENT, runs=runs), threads) for threads in (1, 2))
    assert export.to_json([first]) == export.to_json([second])
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
    runs = tuple(run for run in EXPERIMENT.runs if wanted.items() <= run.settings.items())
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


@pytest.mark.parametrize("choice", EXPERIMENT.choices, ids=lambda choice: choice.name)
def test_each_choice_has_an_alternative_that_runs_and_differs(choice: Choice) -> None:
    wanted = {"operation": "task-preempt", "memory": "sram", "cache": "on", "loops": 1}
    (run,) = (run for run in EXPERIMENT.runs if wanted.items() <= run.settings.items())
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
