"""CoreMark: EEMBC's program, ported to each board, measured by the lines that it prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cyclescope.board.results import RunResult, Settings
from cyclescope.suites.suite import Reading, Reads, Suite

CALLS = START, STOP = "start_time", "stop_time"
_LINE = re.compile(r"([A-Za-z][A-Za-z/() ]*?) *: *([0-9]+(?:\.[0-9]+)?)")
_LEAST_S = 10
_BAD = ("crc 0x", "Cannot validate")
_LAST = "crcfinal"
# time for the output after that line, on a slow serial line
_REST_PS = 10**12
_MOST_FIELDS = 100


def identify(stem: str) -> Settings | None:
    """A port's name: the name of its file, if it contains CoreMark."""
    return {"port": stem} if "coremark" in stem.lower() else None


def fields(console: str) -> dict[str, float]:
    """The numbers of the report, by the text before the colon."""
    lines = (_LINE.fullmatch(line.strip()) for line in console.split("\n"))
    found = [(line[1], float(line[2])) for line in lines if line]
    return dict(found[:_MOST_FIELDS])


def reads(settings: Settings, result: RunResult) -> Reads:
    """CoreMark, CoreMark per MHz and cycles for each iteration."""
    report = fields(result.console)
    wrong = [
        line.strip() for line in result.console.split("\n") if any(map(line.__contains__, _BAD))
    ]
    if wrong:
        return Reads(error=f"the program says: {wrong[0]}")
    iterations, printed_s = report.get("Iterations", 0), report.get("Total time (secs)", 0)
    timed_s = _timed_s(result)
    seconds = timed_s or printed_s
    if not iterations or not seconds:
        return Reads(error="it printed no Iterations and no Total time (secs), or these are 0")
    return Reads(tuple(_readings(settings, result.cores[0].hz, iterations / seconds)))


def _timed_s(result: RunResult) -> float:
    """The time between the calls of the port's two time functions; 0 if they are unknown."""
    starts = [window.end_ps for window in result.windows if window.section == START]
    stops = [window.begin_ps for window in result.windows if window.section == STOP]
    return (stops[0] - starts[0]) / 10**12 if len(starts) == len(stops) == 1 else 0.0


def _readings(settings: Settings, hz: int, rate: float) -> Iterator[Reading]:
    mhz: int | float = hz / 10**6
    if mhz == int(mhz):
        mhz = int(mhz)
    port = {"port": settings["port"], "clock_MHz": mhz}
    values = (
        ("CoreMark", "coremark", "", round(rate, 2), "coremark"),
        ("CoreMark/MHz", "coremark_per_mhz", "1/MHz", round(rate / mhz, 3), "coremark_per_MHz"),
        ("cycles an iteration", "iteration", "cycles", round(hz / rate), ""),
    )
    for label, metric, unit, value, key in values:
        yield Reading(
            label=f"{settings['port']}: {label}",
            metric=metric,
            unit=unit,
            value=value,
            settings=port,
            key=key,
            where={"clock_MHz": mhz},
        )


SUITE = Suite(
    name="coremark",
    title="EEMBC's CoreMark on a Cortex-M4, beside its maker's figures",
    how="build github.com/eembc/coremark with a port to nucleo-l4r5zi or stm32f4-disco that "
    "prints to the board's console, as a file with coremark in its name: "
    "cyclescope bench coremark --elfs DIR",
    tables={"nucleo-l4r5zi": "coremark_cortex_m4", "stm32f4-disco": "coremark_cortex_m4"},
    files="ELF or HEX files with coremark in their names",
    identify=identify,
    reads=reads,
    limit="1000s",
    end=_LAST,
    more_ps=_REST_PS,
    calls=CALLS,
    notes=(
        "Published are ST's figures, without the compiler and its options, which move CoreMark "
        "by a third: they show the order of magnitude rather than the error.",
        f"CoreMark asks for {_LEAST_S} s at least; a shorter run is as exact here, but no result "
        "by its rules.",
    ),
)
