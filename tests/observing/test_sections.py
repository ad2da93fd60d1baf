"""A row's cycle stack is that of what the firmware timed: both clocks must agree."""

from __future__ import annotations

import pytest
from tiers import sized

from cyclescope import bench, experiments
from cyclescope.bench import planning
from cyclescope.bench.rows import DERIVED, Row

NAME = "quad-spi-throughput"
PAGES = sized(16, 64)
# The timer's own reading lies between its two samples but outside the function: the way back from
# the first, the way there of the second (AXI4-Lite interconnect and the timer's response), a call.
TIMER_CYCLES = 30
# The first time, what lies around the call is fetched from DDR: three lines, 28 clocks each.
COLD_CYCLES = 3 * 28


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    sets = [
        (f"{NAME}.pages", str(PAGES)),
        (f"{NAME}.bytes", str(PAGES * 256)),
        ("flash0.cyclescope,bulk-erase-typical-ms", "10"),
    ]
    # each third: modes, cores and the program that reads in place are among them
    jobs = planning.plan(experiments.select([NAME]), sets)[:: sized(3, 1)]
    (result,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads=2))
    assert not result.failures
    return [row for row in result.rows if row.basis != DERIVED]


def section_calls(row: Row) -> int:
    assert row.run.result is not None
    (section,) = [s for s in row.run.result.cores[0].sections if s.name in row.timed]
    return section.calls


def test_every_row_names_what_it_times(rows: list[Row]) -> None:
    assert all(row.timed for row in rows)
    calls = [(row.metric, section_calls(row)) for row in rows if "pages" in row.settings]
    assert {count for _, count in calls} == {PAGES}
    assert {section_calls(row) for row in rows if "pages" not in row.settings} == {1}


def test_a_sections_time_is_what_the_firmware_measured(rows: list[Row]) -> None:
    for row in rows:
        assert row.run.result is not None
        assert row.unit == "us"
        core_hz = row.run.result.cores[0].hz
        section_ps = sum(entry.ps for entry in row.stack)
        timer_cycles = TIMER_CYCLES * section_calls(row) + COLD_CYCLES
        timer_ps = timer_cycles * 10**12 // core_hz
        # the firmware cuts its time to whole microseconds
        assert section_ps - 10**6 <= row.simulated * 10**6 <= section_ps + timer_ps, row.label


def test_a_sections_stack_and_instructions_are_part_of_the_runs(rows: list[Row]) -> None:
    for row in rows:
        assert row.run.result is not None
        core = row.run.result.cores[0]
        whole = {entry.cause: entry.ps for entry in core.stack}
        for section in core.sections:
            assert section.instructions <= core.instructions
            for entry in section.stack:
                assert entry.ps <= whole[entry.cause]
