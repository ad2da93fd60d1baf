"""Embench IoT: programs timed between two functions.

A program calls start_trigger, then its benchmark, then stop_trigger; the board's support does not
print. The time from the return of the first to the call of the second is what a debugger reads on
hardware.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cyclescope.bench import published
from cyclescope.bench.rows import DERIVED, Row
from cyclescope.board.results import RunResult, Settings, Window
from cyclescope.suites.suite import Reading, Reads, Suite

BOARD, TABLE = "stm32f4-disco", "embench_stm32f407"
CALLS = START, STOP = "start_trigger", "stop_trigger"
MEAN = "geometric mean of relative speeds"


def identify(stem: str) -> Settings | None:
    """The program in a file's name: one of those with a published time."""
    known = published.load(TABLE).distinct(("program",))
    return {"program": stem} if {"program": stem} in known else None


# Results have three digits of a millisecond.
LEAST_PS = 10**6


def reads(settings: Settings, result: RunResult) -> Reads:
    """The time between the triggers, in milliseconds and cycles."""
    starts, stops = (_windows(result, name) for name in CALLS)
    if len(starts) != 1 or len(stops) != 1 or stops[0].begin_ps < starts[0].end_ps:
        why = f"{START} was called {len(starts)} times, {STOP} {len(stops)} times"
        return Reads(error=f"{why}, not each once and in this order")
    passed_ps = stops[0].begin_ps - starts[0].end_ps
    if passed_ps < LEAST_PS:
        return Reads(error=f"less than a microsecond passes between {START} and {STOP}")
    cycles = passed_ps * result.cores[0].hz // 10**12
    program = {"program": settings["program"]}
    return Reads(
        (
            Reading(
                label=str(settings["program"]),
                metric="time",
                unit="ms",
                value=round(passed_ps / 10**9, 3),
                settings={**program, "cycles": cycles},
                key="time_ms",
                where=program,
            ),
        )
    )


def _windows(result: RunResult, name: str) -> list[Window]:
    return [window for window in result.windows if window.section == name]


def derived(rows: Sequence[Row]) -> Iterator[Row]:
    """Embench's own figure: published times over simulated ones, 1 for the reference board."""
    logs = [math.log(row.published / row.simulated) for row in rows if row.published]
    if logs:
        yield replace(
            rows[0].following(settings={"programs": len(logs)}),
            metric="relative_speed",
            unit="",
            simulated=round(math.exp(sum(logs) / len(logs)), 4),
            published=1,
            basis=DERIVED,
            label=MEAN,
        )


SUITE = Suite(
    name="embench",
    title="Embench IoT on a Cortex-M4 at 16 MHz, beside its reference board",
    how="build github.com/embench/embench-iot with scons for its example "
    "arm/stm32f4-discovery, options for speed and gsf=16 as its README there has them, and put "
    "the programs of bd/src/*/ into one folder: cyclescope bench embench --elfs DIR",
    tables={BOARD: TABLE},
    files="ELF files named as the programs, such as crc32",
    identify=identify,
    reads=reads,
    limit="100s",
    calls=CALLS,
    needs_symbols=True,
    notes=(
        "Published are milliseconds with the scale factor 16; another factor gives other times. "
        "GCC 14.1.0 and newlib 4.3.0 made the reference's programs: other compilers make other "
        "code.",
    ),
    derived=derived,
)
