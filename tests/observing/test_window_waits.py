"""Waits in windows add up to all of their time, however a run is simulated; and waits of rows."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest
from test_schemas import faults
from test_waits import CARD, HOWS, board, without_waits
from tiers import mostly_long

from cyclescope import bench
from cyclescope.bench import planning
from cyclescope.bench.rows import DERIVED, Row
from cyclescope.board.results import CoreResult, RunResult, StackEntry
from cyclescope.experiments import fat_write, rpmsg_tty

# The functions whose calls have windows, and the longest wait in these.
WINDOWS = {
    "console": ("console_print", "usart2: character sent"),
    "timer": ("console_print", "clint: counting"),
    "page-programs": ("program_page", "spi0: shifting"),
    "rtos": ("console_print", "lpuart1: character sent"),
    "two-cores": ("run_test", "ipcc: interrupt awaited"),
    CARD: ("f_write", "card0: card merge"),
}
SHORT = [("fat_write.file_bytes", "6000"), ("fat_write.gap_s", "0")]
OWN = ("CPU", "accesses")


def simulated(name: str, **how: Any) -> RunResult:
    with board(name) as (loaded, watched):
        return loaded.run("100s", sections=watched, windows=[WINDOWS[name][0]], **how)


@cache
def usual(name: str) -> RunResult:
    return simulated(name, waits=True)


def summed(stacks: list[tuple[StackEntry, ...]]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for stack in stacks:
        for entry in stack:
            sums[entry.cause] += entry.ps
    return sums


def waits_of(core: CoreResult) -> dict[str, int]:
    """The waits, which add up to all of a core's time and of its sections' time."""
    for part in (core, *core.sections):
        assert part.waits is not None
        assert sum(entry.ps for entry in part.waits) == sum(entry.ps for entry in part.stack)
        assert all(entry.ps > 0 for entry in part.waits)
    return {entry.cause: entry.ps for entry in core.waits or () if entry.kind not in OWN}


# A card's windows are in the short tier those of fat-write below.
@pytest.mark.parametrize("name", mostly_long(WINDOWS, set(WINDOWS) - {CARD}))
def test_waits_are_all_of_a_windows_time(name: str) -> None:
    result = usual(name)
    assert result.outcome == "exit", result.message
    assert result.windows
    for number, core in enumerate(result.cores):
        within: Counter[str] = Counter()
        for window in result.windows:
            within.update(waits_of(window.cores[number]))
        whole = waits_of(core)
        assert all(ps <= whole[cause] for cause, ps in within.items())
    for window in result.windows:
        length_ps = window.end_ps - window.begin_ps
        # an edge of a clock need not be at a whole picosecond
        assert abs(sum(entry.ps for entry in window.cores[0].waits or ()) - length_ps) <= 1
    within = summed([window.cores[0].waits or () for window in result.windows])
    assert within.most_common(1)[0][0] == WINDOWS[name][1]


@pytest.mark.parametrize("name", mostly_long(WINDOWS, {"timer", "page-programs", "two-cores"}))
def test_windows_change_no_waits_and_waits_no_windows(name: str) -> None:
    result = usual(name)
    with board(name) as (loaded, watched):
        watching = (*watched, WINDOWS[name][0])
        plain = loaded.run("100s", sections=watching, waits=True)
    assert result.cores == plain.cores
    data = without_waits(result)
    for window in data["windows"]:
        for core in window["cores"]:
            for part in (core, *core["sections"]):
                del part["waits"]
    assert data == simulated(name).to_dict()
    assert faults("run", result.to_dict()) == []


# In the short tier the page programs run in each way, two cores with their polls: what compiled
# blocks of two cores wait for is in test_waits.py.
WAYS = mostly_long(
    [(name, how) for name in WINDOWS for how in HOWS],
    lambda way: way[0] == "page-programs" or way == ("two-cores", {"skip_polling": False}),
)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_windows_do_not_depend_on_how_a_run_is_simulated(way: tuple[str, dict[str, Any]]) -> None:
    name, how = way
    assert simulated(name, waits=True, **how) == usual(name)


def assert_own_waits(rows: list[Row]) -> None:
    """Rows of one run each have the waits of their own call, which are all of its time."""
    (run,) = {id(row.run): row.run for row in rows}.values()
    assert run.result is not None
    assert len({row.waits for row in rows}) == len(rows) > 1
    for row in rows:
        all_ps = sum(entry.ps for entry in row.stack)
        assert abs(sum(entry.ps for entry in row.waits) - all_ps) <= 1
    whole = summed([run.result.cores[0].waits or ()])
    for cause, ps in summed([row.waits for row in rows]).items():
        # accesses are counted in whole cycles only
        assert ps <= whole[cause] or cause in {"CPU", *_accesses(rows)}


def _accesses(rows: list[Row]) -> set[str]:
    return {entry.cause for row in rows for entry in row.waits if entry.kind == "accesses"}


def test_each_size_of_fat_write_has_its_own_waits() -> None:
    jobs = planning.plan([fat_write.EXPERIMENT], SHORT)[:1]
    records = bench.run_jobs(jobs, threads=1)
    (result,) = bench.tabulate(jobs, records)
    totals = [row for row in result.rows if row.metric == "total_time"]
    assert [row.settings["transfer"] for row in totals] == list(fat_write.SIZES)
    assert_own_waits(totals)
    for row in totals:
        # the program's own clock, in milliseconds
        assert sum(entry.ps for entry in row.waits) / 1e12 == pytest.approx(row.simulated, abs=2e-3)
    # calls of 768 bytes go back before the card's open block
    by_size = {row.settings["transfer"]: summed([row.waits]) for row in totals}
    kind = {entry.cause: entry.kind for row in totals for entry in row.waits}
    busy = {
        size: sum(ps for cause, ps in waits.items() if kind[cause] == "busy")
        for size, waits in by_size.items()
    }
    assert busy[768] > 2 * busy[4096]
    assert not any(row.waits for row in result.rows if row.basis == DERIVED)


def test_each_test_of_rpmsg_tty_has_its_own_waits() -> None:
    jobs = [job for job in planning.plan([rpmsg_tty.EXPERIMENT]) if job.run.documented]
    (result,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads=1))
    tests = [row for row in result.rows if row.parts]
    assert len(tests) == 11
    assert_own_waits(tests)
    for row in tests:
        longest = max(row.waits, key=lambda entry: entry.ps)
        assert longest.cause == "ipcc: interrupt awaited"
        # the M4 logs the more, the more there is to send; the CRC and the copies are the A7's own
        assert 0.5 < longest.ps / sum(entry.ps for entry in row.waits) < 1
