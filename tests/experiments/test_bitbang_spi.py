"""The experiment `bitbang-spi` in short: fewer loops, and as many frames as there are lengths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import pytest
from conftest import Command
from tiers import ALL, mostly_long, sized

import cyclescope as package
from cyclescope import bench, experiments, firmware
from cyclescope.bench import planning, published, result_files, trust
from cyclescope.bench.experiment import Experiment, Run
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import DERIVED, PREDICTED, Row
from cyclescope.board.description.parameters import CALIBRATED
from cyclescope.experiments.bitbang_spi import (
    APP,
    CALM_US,
    CONTROLLER,
    DRIVERS,
    EXPERIMENT,
    INTERVAL,
    TABLE,
)
from cyclescope.experiments.bitbang_spi_follows import FEWER, MORE

LOOPS, FRAMES = 10, 3
MEASURED = ("access", "reception", "transmission")
# The printed numbers of each kind; the rest follows from these or is not a time.
TIMES = {
    "access-time": "time_us",
    "data-rate": "data_rate_kbps",
    "overhead": "overhead_us",
    "cpu-load": "cpu_load_percent",
}
# At least MOST_PCT of its cells are met within 10 %, all of them within 25 %.
MOST_PCT, NEAR_PCT, FAR_PCT = 90, 10, 25
# Bytes between the report's two lengths of a buffer access.
BYTES_BETWEEN = 119


def short_runs() -> Iterator[Run]:
    """The runs of what the report measured, with less of what is a mean there.

    Not those that find limits: of clocks, or of how fast frames may come.
    """
    for run in EXPERIMENT.runs:
        settings = dict(run.settings)
        if run.app != APP:
            continue
        hurried = run.overrides.get(INTERVAL, CALM_US) != CALM_US
        if hurried or settings["operation"] not in MEASURED:
            continue
        if settings["operation"] == "access":
            settings["loops"] = LOOPS
        elif "frames" not in settings:
            settings["frames"] = FRAMES
        yield replace(run, settings=settings)


def tabulated(experiment: Experiment, threads: int) -> ExperimentResult:
    jobs = planning.plan([experiment])
    # nothing here looks at waits, which take a third of the time
    recorded = bench.Recorded(waits=ALL)
    (table,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads, recorded=recorded))
    assert [(run.label, run.error) for run in table.failures] == []
    return table


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    return tabulated(replace(EXPERIMENT, runs=tuple(short_runs())), threads=2)


def cells(result: ExperimentResult) -> list[Row]:
    """The rows that have one of the report's numbers, but for what is no time."""
    return [row for row in result.rows if row.basis in (PREDICTED, CALIBRATED)]


def value(result: ExperimentResult, metric: str, stack: str, **wanted: object) -> float:
    """A driver's settings, in a run that does not only count operations."""
    wanted = {"stack": stack} | wanted
    (row,) = (
        row
        for row in result.rows
        if row.metric == metric
        and row.settings.get("frames") not in (FEWER, MORE)
        and wanted.items() <= row.settings.items()
    )
    return row.simulated


def test_every_time_of_the_report_has_its_row(result: ExperimentResult) -> None:
    wanted = [
        cell[key]
        for kind, key in TIMES.items()
        for cell in published.load(TABLE).results
        if cell["kind"] == kind
    ]
    assert len(wanted) == 56
    assert sorted(row.published or 0 for row in cells(result)) == sorted(wanted)


def test_the_reports_times_are_met(result: ExperimentResult) -> None:
    errors = {row.label: row.error_pct or 0 for row in cells(result)}
    assert {label: pct for label, pct in errors.items() if abs(pct) > FAR_PCT} == {}
    near = [pct for pct in errors.values() if abs(pct) <= NEAR_PCT]
    assert 100 * len(near) >= MOST_PCT * len(errors), errors


def test_only_times_of_accesses_are_numbers_of_their_own(result: ExperimentResult) -> None:
    independent = {row.label for row in result.rows if row.counts_as}
    assert independent == {
        row.label
        for row in cells(result)
        if row.metric.startswith(("read_", "write_")) and row.metric.endswith("_time")
    }
    assert len(independent) == trust.of(result).effective == 24


def test_three_numbers_are_fitted_each_to_a_cell(result: ExperimentResult) -> None:
    fitted = trust.of(result).fitted
    assert len(fitted) == 3
    cells_named = {parameter.source.split(": ")[0] for _, parameter in fitted}
    assert cells_named <= {row.label for row in cells(result)}


def test_the_short_form_has_the_same_published_cells() -> None:
    for run in EXPERIMENT.runs:
        short = EXPERIMENT.short_form(run)
        assert EXPERIMENT.published_labels(short) == EXPERIMENT.published_labels(run)


def test_drivers_are_in_the_reports_order(result: ExperimentResult) -> None:
    """In each column: a driver that is faster in the report is faster here, equal ones are equal.

    The report's times are whole microseconds: a microsecond, or a hundredth, is no difference.
    """
    compared = 0
    for one, other in combinations(cells(result), 2):
        if column(one) != column(other):
            continue
        compared += 1
        pair = (one.label, other.label)
        theirs = (one.published or 0) - (other.published or 0)
        if abs(theirs) > max(1, 0.01 * (one.published or 0)):
            assert theirs * (one.simulated - other.simulated) > 0, pair
        else:
            assert one.simulated == pytest.approx(other.simulated, rel=0.1), pair
    # four drivers in six columns of times and two of rates, three in six of costs and two of loads
    assert compared == 6 * 8 + 3 * 8


def column(row: Row) -> Mapping[str, object]:
    """A row's settings, except its driver and those that only another board has."""
    names = ("operation", "data_bytes", "frame_bytes")
    settings = {name: row.settings[name] for name in names if name in row.settings}
    return {"metric": row.metric} | settings


@pytest.mark.parametrize("stack", [*DRIVERS, CONTROLLER])
def test_reads_of_a_buffer_cost_more_than_writes(result: ExperimentResult, stack: str) -> None:
    for length in (1, 16, 64, 120):
        read, write = (
            value(result, f"{way}_buffer_time", stack, data_bytes=length)
            for way in ("read", "write")
        )
        # the frame's length is read alone before the frame
        assert read > write + value(result, "read_register_time", stack) / 2


@pytest.mark.parametrize("stack", [*DRIVERS, CONTROLLER])
def test_a_frame_costs_more_the_longer_it_is(result: ExperimentResult, stack: str) -> None:
    for metric, lengths in (
        ("reception_cost", (1, 120, 127)),
        ("transmission_cost", (1, 120, 125)),
    ):
        costs = [value(result, metric, stack, frame_bytes=length) for length in lengths]
        assert costs == sorted(costs)
        assert costs[0] < costs[1] / 1.3


@pytest.mark.parametrize("stack", [*DRIVERS, CONTROLLER])
@pytest.mark.parametrize("way", ["read", "write"])
def test_rates_follow_from_the_times_by_the_reports_formula(
    result: ExperimentResult, stack: str, way: str
) -> None:
    short, long = (
        value(result, f"{way}_buffer_time", stack, data_bytes=length)
        for length in (1, 1 + BYTES_BETWEEN)
    )
    rate = value(result, f"{way}_buffer_rate", stack)
    assert rate == pytest.approx(1000 * BYTES_BETWEEN * 8 / (long - short), abs=1)


def test_a_controller_is_faster_than_pins(result: ExperimentResult) -> None:
    for metric in ("read_buffer_time", "write_buffer_time"):
        times = [value(result, metric, stack, data_bytes=120) for stack in (*DRIVERS, CONTROLLER)]
        assert times[-1] < min(times[:-1])


def test_the_conclusion_is_the_reports(result: ExperimentResult) -> None:
    """Straight code in the caller loads the processor by less than 10 %, and spi-gpio by far more;
    spi-gpio-atben is between them, with buffer accesses almost four times as fast."""
    for operation in ("reception", "transmission"):
        generic, between, straight = (
            value(result, "cost_load", stack, operation=operation) for stack in DRIVERS[:3]
        )
        assert straight < 10 < between < generic
        assert generic > 2.5 * straight
    slow, fast = (value(result, "read_buffer_rate", stack) for stack in DRIVERS[:2])
    assert fast / slow > 3
    (finding,) = EXPERIMENT.findings(result.rows)
    assert "holds" in finding


def test_a_call_takes_as_many_operations_as_published(result: ExperimentResult) -> None:
    rows = [row for row in result.rows if row.metric == "operations"]
    assert len(rows) == 2 * 5
    for row in rows:
        assert row.basis == DERIVED
        assert row.simulated == row.published, row.label
    assert {row.simulated for row in rows} == {0, 1, 4, 9}


def test_one_printed_rate_is_not_the_one_of_the_reports_times(result: ExperimentResult) -> None:
    """2549 kbps are printed for spi-gpio-atben's reads, and its times give 2539."""
    rows = [row for row in result.rows if row.metric == "rate_of_times"]
    assert len(rows) == 2 * len(DRIVERS)
    off = {
        row.label: (row.published, row.simulated) for row in rows if row.published != row.simulated
    }
    assert list(off.values()) == [(2549, 2539)]
    assert all(label.startswith("spi-gpio-atben") for label in off)


def test_code_is_counted_in_lines_and_bytes(result: ExperimentResult) -> None:
    lines, sizes = (
        {row.label.replace(" bytes", " lines"): row for row in result.rows if row.metric == metric}
        for metric in ("lines", "code_bytes")
    )
    assert lines.keys() == sizes.keys()
    assert [row.published for row in lines.values() if row.published] == [
        128,
        128,
        53,
        128,
        416,
        423,
    ]
    for label, row in sizes.items():
        # an instruction has four bytes, and a line of C some instructions at the most
        assert 0 < row.simulated < 200 * lines[label].simulated, label


def test_the_transceiver_counts_what_every_driver_does(result: ExperimentResult) -> None:
    """Each run with three frames has the counts of any other driver's, on whatever bus."""
    for operation in MEASURED:
        records = [
            record
            for record in result.runs
            if record.settings["operation"] == operation
            and record.settings.get("frames") == (12 if operation == "access" else FRAMES)
        ]
        counts = [
            {
                name.partition(".transceiver.")[2]: count
                for name, count in record.result.counters.items()
                if ".transceiver." in name
            }
            for record in records
            if record.result is not None
        ]
        assert len(counts) == len(DRIVERS) + 1
        assert all(count == counts[0] for count in counts)
        assert counts[0]["register_reads"] > 0


def test_every_run_accounts_for_all_of_its_time_and_has_no_notes(result: ExperimentResult) -> None:
    for record in result.runs:
        assert record.result is not None
        (core,) = record.result.cores
        assert sum(entry.ps for entry in core.stack) == record.result.elapsed_ps
        assert record.result.notes == (), record.label


def test_the_number_of_jobs_and_a_second_run_change_nothing(result: ExperimentResult) -> None:
    # two operations of a driver; in the short tier what takes least
    chosen = [(DRIVERS[0], name) for name in ("access", "reception")]
    chosen = chosen if ALL else [(stack, "transmission") for stack in DRIVERS[2:4]]
    runs = tuple(
        run
        for run in short_runs()
        if (run.settings["stack"], run.settings["operation"]) in chosen
        and run.settings.get("frames") not in (FEWER, MORE)
    )
    assert len(runs) == 2
    first, second = (tabulated(replace(EXPERIMENT, runs=runs), threads) for threads in (1, 2))
    assert result_files.to_json([first]) == result_files.to_json([second])
    before = [row.to_dict() for row in result.rows]
    assert all(row.to_dict() in before for row in first.rows if row.basis != DERIVED)


@pytest.mark.parametrize("stack", mostly_long([DRIVERS[0], CONTROLLER], [CONTROLLER]))
def test_polling_that_is_skipped_or_not_gives_the_same(stack: str) -> None:
    (run,) = (
        run
        for run in short_runs()
        if (run.settings["stack"], run.settings["operation"]) == (stack, "reception")
    )
    elf = firmware.build_app(run.app, run.board, run.settings)
    # in the short tier frames come as soon as they can, and fewer polls are not skipped
    board = package.Board(run.board, run.overrides | {INTERVAL: sized(4928, CALM_US)})
    skipped, whole = (board.load(elf).run(run.limit, skip_polling=skip) for skip in (True, False))
    assert skipped.exit_code == 0
    assert skipped == whole


def test_the_command_line_knows_the_experiment(cyclescope: Command) -> None:
    assert experiments.select(["bitbang-spi"]) == [EXPERIMENT]
    refused = cyclescope("bench", "bitbang-spi", "--set", "bitbang_spi.stack=spi")
    assert refused.status != 0
    assert "bitbang_spi.stack=spi: allowed: spi-gpio, spi-gpio-atben" in refused.error
