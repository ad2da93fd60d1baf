"""The experiments `rpmsg-tty` and `ipc-modes` in short: the report's run, and one of each kind."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import stored
from tiers import ALL, mostly_long

from cyclescope import Board, bench, experiments
from cyclescope.bench import planning, published
from cyclescope.bench.experiment import Choice
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import DERIVED, PREDICTED, Row
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED
from cyclescope.experiments import ipc_modes, rpmsg_tty
from cyclescope.experiments.rpmsg_tty_follows import LOG_PART, share_pct

# The limit for cells to which no value was fitted.
MOST_OFF_PCT = 5
CELLS = 11
# A tick of the clock that the client reads, 24 MHz.
TICK_PS = 41_667


@cache
def report() -> ExperimentResult:
    """The report's own run, with its transcript, without the M4's log, and too much data."""
    experiment = rpmsg_tty.EXPERIMENT
    logged = next(run for run in experiment.runs if run.documented)
    quiet = next(run for run in experiment.runs if dict(run.settings).get("log") == "off")
    printed = next(run for run in experiment.runs if dict(run.settings).get("transcript") == "on")
    most = experiment.runs[-1]
    return tabulated(replace(experiment, runs=(logged, printed, quiet, most)))


def tabulated(experiment: experiments.Experiment) -> ExperimentResult:
    jobs = planning.plan([experiment])
    # nothing here looks at waits, which take a third of the time
    recorded = bench.Recorded(waits=ALL)
    (result,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads=2, recorded=recorded))
    assert not result.failures, [run.error for run in result.failures]
    return result


def cells() -> list[Row]:
    return [row for row in report().rows if row.basis in (PREDICTED, CALIBRATED)]


def test_all_published_times_are_met_within_five_percent() -> None:
    assert len(cells()) == CELLS
    off = {row.label: row.error_pct for row in cells() if abs(row.error_pct or 0) > MOST_OFF_PCT}
    assert not off


def test_nothing_was_fitted() -> None:
    calibrated = [one for one in Board(rpmsg_tty.BOARD).parameters if one.basis == CALIBRATED]
    assert not calibrated
    assert all(choice.basis == ASSUMED for choice in rpmsg_tty.EXPERIMENT.choices)


def test_tests_that_only_log_more_count_once() -> None:
    run = rpmsg_tty.EXPERIMENT.runs[0]
    assert len(rpmsg_tty.EXPERIMENT.independent_numbers(run)) == 4


@pytest.mark.parametrize(
    "choice",
    mostly_long(rpmsg_tty.EXPERIMENT.choices, {"frequency, Hz"}, key=lambda choice: choice.name),
    ids=lambda choice: choice.name,
)
def test_each_choice_moves_all_published_times_a_little(choice: Choice) -> None:
    experiment = rpmsg_tty.EXPERIMENT
    other = tabulated(replace(experiment, runs=(choice.change(experiment.runs[0]),)))
    times = {row.label: row.simulated for row in other.rows if row.metric == "time"}
    assert len(times) == CELLS
    for row in cells():
        assert 0.2 < abs(times[row.label] / row.simulated - 1) * 100 < 2, row.label


def test_larger_blocks_are_faster_as_in_the_report() -> None:
    simulated = sorted(cells(), key=lambda row: row.simulated)
    same = [{"2048 B x 2", "4096 B x 1"}]  # 15 us apart in the report
    order = [row.label for row in simulated]
    theirs = [row.label for row in sorted(cells(), key=lambda row: row.published or 0)]
    moved = {label for ours, label in zip(order, theirs, strict=True) if ours != label}
    assert not moved or moved in same


def test_the_parts_of_a_test_are_all_of_its_time() -> None:
    for row in cells():
        assert (
            abs(sum(entry.ps for entry in row.parts) - row.simulated * 1000) < 4 * TICK_PS + 10**6
        )
        assert all(entry.ps >= 0 for entry in row.parts)
        assert row.stack == row.parts


def test_nearly_all_of_each_test_is_the_log() -> None:
    assert min(share_pct(row, LOG_PART) for row in cells()) > 94
    assert any("The report measured its UART" in note for note in report().notes)


def test_without_the_log_each_test_takes_a_fraction() -> None:
    quiet = {row.label: row for row in report().rows if row.settings.get("log") == "off"}
    assert len(quiet) == CELLS
    for row in cells():
        assert quiet[row.label].simulated < row.simulated / 20


def test_claims_of_the_text_follow_from_the_rows() -> None:
    derived = {row.label: row for row in report().rows if row.basis == DERIVED}
    claims = ("best rate", "gain of 4096 B x 1 over 512 B x 8")
    assert all(abs(derived[label].error_pct or 0) < MOST_OFF_PCT for label in claims)
    lines = [row for label, row in derived.items() if label.startswith("M4's line")]
    assert len(lines) == 3
    # stamps of whole milliseconds
    assert all(abs(row.simulated - (row.published or 0)) <= 1 for row in lines)


def test_the_clients_log_has_the_reports_stamps() -> None:
    stamps = [row for row in report().rows if row.metric == "host_log"]
    # four lines before the tests that the table has, and a line for each test
    assert len(stamps) == 4 + CELLS
    assert stamps[0].published == 1
    assert stamps[-1].label == "host log: 4096 B x 1"
    assert stamps[-1].published == 37
    # whole milliseconds: each end may be off by one
    off = {row.label: row.simulated - (row.published or 0) for row in stamps}
    assert all(abs(ms) <= 3 for ms in off.values()), off
    (kernel,) = [row for row in report().rows if row.metric == "kernel_log"]
    assert kernel.published == 27.887
    assert any(note.startswith("From the client's first line") for note in report().notes)


def test_the_transcript_takes_no_time_of_the_tests() -> None:
    printed = {
        row.label: row.simulated
        for row in report().rows
        if row.metric == "time" and row.settings["transcript"] == "on"
    }
    # but for where code then lies
    assert printed == pytest.approx({row.label: row.simulated for row in cells()}, rel=1e-4)


def test_more_than_all_buffers_come_through_where_the_sender_waits() -> None:
    (most,) = [row for row in report().rows if row.settings["tests"] == "one"]
    assert int(most.settings["block_bytes"]) * int(most.settings["blocks"]) == 32768


def test_the_runs_name_all_that_the_report_measured() -> None:
    table = published.load(rpmsg_tty.TABLE)
    assert len(table.distinct(("block_bytes", "blocks"))) == CELLS


def test_a_shared_buffer_pays_with_dma() -> None:
    runs = [run for run in ipc_modes.EXPERIMENT.runs if run.settings["direction"] == "to-m4"]
    kept = [run for run in runs if run.settings.get("dma") != "off"]
    assert len(kept) == 2
    if not ALL:
        # only the sizes that are looked at
        kept = [
            run.changed({"sizes": "one", "block_bytes": size})
            for run in kept
            for size in ((16, 65536) if run.settings["mode"] == "raw" else (65536,))
        ]
    result = tabulated(replace(ipc_modes.EXPERIMENT, runs=tuple(kept)))
    rows = {
        (row.settings["mode"], row.settings["block_bytes"]): row
        for row in result.rows
        if row.metric == "throughput"
    }
    raw, direct = rows["raw", 65536], rows["indirect", 65536]
    assert direct.simulated > 2 * raw.simulated > 2 * rows["raw", 16].simulated
    assert any(note.startswith("A7 to M4: RPMsg alone") for note in result.notes)


def test_tables_from_stored_rows_are_those_of_the_runs(tmp_path: Path) -> None:
    assert stored.table_from_files(report(), tmp_path) == stored.table(report())
