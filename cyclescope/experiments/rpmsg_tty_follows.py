"""What follows from the tests of rpmsg-tty: rates, the M4's own clock, and the time by cause."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from cyclescope.bench import published
from cyclescope.bench.rows import DERIVED, Row, RunRecord

TABLE = "stm32mp1_rpmsg_tty"
BAUD_RATE = 115_200
BUFFER_BYTES = 512
LOG_PART = "M4: its log on UART7"
# The author's fastest test and its slowest for the same number of bytes.
_FASTEST, _SLOWEST = (4096, 1), (512, 8)
# The M4's messages while it starts, with the report's names, and the start of their lines.
_STARTING = (
    ("MCU boot banner", "Cortex-M4 boot"),
    ("MAX_BUFFER_SIZE line", "MAX_BUFFER_SIZE"),
    ("virtual UART0 line", "Virtual UART0"),
    ("virtual UART1 line", "Virtual UART1"),
)
_LOG_STREAM = "uart7"
_LOG_LINE = re.compile(r"\[(\d+)\.(\d{3})\]\[INFO \](.*)")

_Test = tuple[int, int]


def rows(known: Sequence[Row]) -> Iterator[Row]:
    """Rows that follow from the report's run: its rate and gain, and the M4's stamps."""
    documented = _tests(row for row in known if row.published is not None)
    if _FASTEST not in documented or _SLOWEST not in documented:
        return
    fastest, slowest = documented[_FASTEST], documented[_SLOWEST]
    rates = [_kib_per_s(row) for row in documented.values()]
    yield _claim(fastest, "best rate", "KiB/s", max(rates), "claimed_rate_KB_per_s", 3)
    mean = (fastest.simulated + slowest.simulated) / 2
    gain = round((slowest.simulated - fastest.simulated) / mean * 100, 3)
    yield _claim(fastest, "gain of 4096 B x 1 over 512 B x 8", "%", gain, "gain_percent", 2)
    yield from _stamps(fastest)


def _claim(of: Row, label: str, unit: str, simulated: float, key: str, digits: int) -> Row:
    """A number of the report's text, with its printed digits."""
    value = published.load(TABLE).find(key, {"kind": "claim"})
    return _row(of, label, unit, simulated, value, digits)


def _row(
    of: Row,
    label: str,
    unit: str,
    simulated: float,
    value: float | None,
    digits: int | None = None,
) -> Row:
    return Row(
        experiment=of.experiment,
        board=of.board,
        settings=of.run.settings,
        metric=label,
        unit=unit,
        simulated=simulated,
        published=value,
        basis=DERIVED,
        label=label,
        run=of.run,
        digits=digits,
    )


def _stamps(of: Row) -> Iterator[Row]:
    """The time of each line that the M4 logs while it starts, by its clock of whole milliseconds.

    The time of its begin is not compared: it depends on Linux there.
    """
    stamps = log_stamps_ms(of.run)
    table = published.load(TABLE)
    events = [
        (
            start,
            table.find("uptime_ms", {"kind": "mcu-log", "event": event}),
            next((ms for text, ms in stamps if text.startswith(start)), None),
        )
        for event, start in _STARTING
    ]
    for (line, theirs, ours), (_, their_next, our_next) in itertools.pairwise(events):
        if theirs is None or ours is None or their_next is None or our_next is None:
            continue
        yield _row(of, f"M4's line {line}...", "ms", our_next - ours, their_next - theirs)


def log_stamps_ms(run: RunRecord) -> list[tuple[str, int]]:
    """The lines of the M4's log, with the milliseconds at their start."""
    text = run.result.streams.get(_LOG_STREAM, "") if run.result else ""
    found = map(_LOG_LINE.match, text.splitlines())
    return [(line[3], int(line[1]) * 1000 + int(line[2])) for line in found if line]


def findings(known: Sequence[Row]) -> Iterator[str]:
    """Conclusions from the runs, in sentences."""
    yield from _what_takes_the_time(known)
    yield from _without(known)
    yield from _more_than_the_buffers(known)


def answer(known: Sequence[Row]) -> str:
    """The report's best rate, what takes the time, and the rate without that, in a sentence."""
    fastest, quiet = _fastest_tests(known)
    if fastest is None or quiet is None or not fastest.parts:
        return ""
    return (
        f"{_bytes(fastest)} bytes in one block go at {_kib_per_s(fastest):,.0f} KiB/s: "
        f"{share_pct(fastest, LOG_PART):.0f} % of the time is the M4's own log on its UART, and "
        f"without the log they go at {_kib_per_s(quiet):,.0f} KiB/s."
    )


def _what_takes_the_time(known: Sequence[Row]) -> Iterator[str]:
    shares = [share_pct(row, LOG_PART) for row in known if row.published is not None and row.parts]
    if shares:
        character_us = 10 / BAUD_RATE * 1e6
        yield (
            f"In each test the M4 spends {min(shares):.1f} to {max(shares):.1f} % of the time in "
            f"its own log: each character takes {character_us:.1f} us at {BAUD_RATE} baud, one "
            "after the other, before the next message is read. The report measured its UART, not "
            "RPMsg."
        )


def _fastest_tests(known: Sequence[Row]) -> tuple[Row | None, Row | None]:
    """The author's fastest test, and the same without the M4's log; None if missing."""
    logged = _tests(row for row in known if row.published is not None)
    quiet = _tests(
        row
        for row in known
        if row.metric == "time"
        and row.settings.get("log") == "off"
        and row.settings.get("buffer_bytes") == BUFFER_BYTES
    )
    return logged.get(_FASTEST), quiet.get(_FASTEST)


def _without(known: Sequence[Row]) -> Iterator[str]:
    slow, fast = _fastest_tests(known)
    if slow and fast:
        yield (
            f"Without the log {fast.label} takes {fast.simulated / 1e6:.2f} ms instead of "
            f"{slow.simulated / 1e6:.2f}: {_kib_per_s(fast):.0f} KiB/s, "
            f"{slow.simulated / fast.simulated:.0f} times as much as the report's best. Most of "
            "the rest is the client's CRC and Linux's delay."
        )


def _more_than_the_buffers(known: Sequence[Row]) -> Iterator[str]:
    waiting = [row for row in known if row.settings.get("overflow") == "wait"]
    beyond = [row for row in waiting if row.metric == "time" and row.settings["tests"] == "one"]
    if beyond:
        largest = max(beyond, key=_bytes)
        yield (
            f"A sender that waits for a free buffer gets {_bytes(largest)} bytes through in one "
            f"go, {_kib_per_s(largest):.0f} KiB/s. The report's hang is a writer that is never "
            "woken: overflow=original shows the threads and their waits."
        )


def share_pct(row: Row, part: str) -> float:
    """The share of a part in the time of a row, in percent."""
    whole = sum(entry.ps for entry in row.parts)
    return sum(entry.ps for entry in row.parts if entry.cause == part) / whole * 100


def _tests(known: Iterator[Row]) -> Mapping[_Test, Row]:
    """Rows of times by the bytes of a block and the number of blocks."""
    return {
        (int(row.settings["block_bytes"]), int(row.settings["blocks"])): row
        for row in known
        if row.metric == "time"
    }


def _bytes(row: Row) -> int:
    return int(row.settings["block_bytes"]) * int(row.settings["blocks"])


def _kib_per_s(row: Row) -> float:
    return round(_bytes(row) / 1024 / (row.simulated / 1e9), 3)
