"""Frames on the air in `bitbang-spi`: the extended mode, data rates, and the older chip."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_bitbang_spi import tabulated

from cyclescope.bench import published
from cyclescope.bench.experiment import Run
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import DERIVED
from cyclescope.experiments.bitbang_spi import EXPERIMENT
from cyclescope.experiments.bitbang_spi_air import (
    APP,
    BUSY,
    DRAWN_FRAMES,
    LOADED,
    OLDER,
    RATES_KBPS,
    SPACING_US,
    STRAIGHT,
    TABLE,
    air_us,
)

# Data rates that a bench has and these tests leave out.
BETWEEN_KBPS = (500, 1000)
# IEEE 802.15.4: assessment, turnaround, acknowledgement and a period of the back-off.
ASSESSMENT_US, TURNAROUND_US, ACK_US, PERIOD_US = 128, 192, 352, 320
# The chip's: its PLL before a frame, and an interrupt's latency.
PLL_US, LATENCY_US = 16, 9
# From the command that starts a frame to the end of its message, and into the handler.
SLACK_US = 8


def air_runs() -> list[Run]:
    return [run for run in EXPERIMENT.runs if run.app == APP]


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    """Of the straight driver: back-offs, the fastest rate, and the older chip."""
    runs = [
        run
        for run in air_runs()
        if run.settings["stack"] == STRAIGHT
        and not run.is_extra
        and (run.settings["frames"] == DRAWN_FRAMES or run.settings["way"] == "reception")
        and run.settings.get("air_kbps") not in BETWEEN_KBPS
    ]
    assert len(runs) == 5
    return tabulated(replace(EXPERIMENT, runs=tuple(runs)), threads=2)


def value(result: ExperimentResult, label: str) -> float:
    (row,) = (row for row in result.rows if row.label == label)
    return row.simulated


def test_the_reports_interval_is_the_sum_of_its_parts() -> None:
    source = published.load(TABLE).source
    shortest_us = ASSESSMENT_US + air_us(RATES_KBPS[0]) + TURNAROUND_US + ACK_US
    assert source["frame_interval_min_us"] == shortest_us
    assert source["frame_interval_max_us"] == shortest_us + 7 * PERIOD_US


def test_a_frame_takes_the_reports_interval_and_what_the_chip_needs(
    result: ExperimentResult,
) -> None:
    rows = [row for row in result.rows if row.metric == "air_interval"]
    assert [row.published for row in rows] == [4928, 7168]
    for row in rows:
        assert row.basis == DERIVED
        chip_us = PLL_US + LATENCY_US
        assert 0 <= row.simulated - (row.published or 0) - chip_us + SLACK_US <= 2 * SLACK_US
    shortest, longest = (row.simulated for row in rows)
    assert longest - shortest == pytest.approx(7 * PERIOD_US, abs=1)


def test_loads_stand_beside_the_reports(result: ExperimentResult) -> None:
    loads = {row.label: row.published for row in result.rows if row.metric == "air_load"}
    assert loads == {
        f"{STRAIGHT} in the extended mode, load by reception": 6,
        f"{STRAIGHT} in the extended mode, load by transmission": 7,
    }


def test_the_straight_driver_keeps_up_with_every_rate(result: ExperimentResult) -> None:
    kept = [row for row in result.rows if row.metric == "air_kept"]
    assert len(kept) == 4
    assert {row.simulated for row in kept} == {100}
    for kbps in (RATES_KBPS[0], RATES_KBPS[-1]):
        period_us = value(result, f"{STRAIGHT} at86rf231 reception basic {kbps} kbps, period")
        assert period_us == pytest.approx(air_us(kbps) + SPACING_US, rel=0.005)


def test_reception_costs_the_same_in_every_mode_and_with_either_chip(
    result: ExperimentResult,
) -> None:
    costs = [
        row.simulated
        for row in result.rows
        if row.metric == "air_cost" and row.settings["way"] == "reception"
    ]
    assert len(costs) == 4
    assert max(costs) < 1.01 * min(costs)


def test_every_run_accounts_for_all_of_its_time(result: ExperimentResult) -> None:
    for record in result.runs:
        assert record.result is not None
        (core,) = record.result.cores
        assert sum(entry.ps for entry in core.stack) == record.result.elapsed_ps


def test_the_chip_acknowledges_what_is_for_it(result: ExperimentResult) -> None:
    """With the extended mode only, and all frames but one that comes while the program ends."""
    for record in result.runs:
        assert record.result is not None
        counters = {
            name.rpartition(".")[2]: count
            for name, count in record.result.counters.items()
            if ".transceiver." in name
        }
        answers = record.settings.get("mode") == "extended"
        answers &= record.settings["way"] == "reception"
        sent = counters["acknowledgements_sent"]
        assert sent in (
            (counters["frames_received"], counters["frames_received"] - 1) if answers else (0,)
        )
        assert record.result.notes == ()


def test_sweeps_are_left_to_a_bench_of_all() -> None:
    runs = air_runs()
    extra = [run for run in runs if run.is_extra]
    assert {run.settings["stack"] for run in runs if not run.is_extra} == set(LOADED)
    assert len([run for run in extra if BUSY in run.overrides]) == 3
    assert any(run.settings.get("transceiver") == OLDER for run in runs if not run.is_extra)
    assert not any(EXPERIMENT.has_published(run) for run in runs)
