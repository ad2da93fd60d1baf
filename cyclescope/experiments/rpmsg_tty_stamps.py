"""The stamps of the report's logs on the A7's side beside those of the run with its transcript.

They are whole milliseconds with different starting points: so the compared number is the time from
the line before to each line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from cyclescope.bench import published
from cyclescope.bench.rows import DERIVED, Row, RunRecord
from cyclescope.bench.views import Pivot, Words

TABLE = "stm32mp1_rpmsg_tty"
# The client's messages before its tests, with the table's names, and the start of our lines.
_BEFORE = (
    ("application started", "Application started"),
    ("tty connected", "Connected to"),
    ("CRC16 over 32768 bytes done", "Initialized buffer with CRC16"),
    ("creating tests", "---- Creating tests ----"),
    ("starting tests", "---- Starting tests ----"),
)
_CHANNELS = ("channel addr 0x0", "channel addr 0x1")
_HOST_LINE = re.compile(r"- (\d\d):(\d\d):(\d\d)\.(\d{3}) INFO: (.*)")
_TEST = re.compile(r"-> b: (\d+), n:(\d+), ")
_KERNEL_LINE = re.compile(r"\[ *(\d+)\.(\d{6})\] rpmsg: creating (channel) \S+ (addr \S+)")
_PIVOT = Pivot(
    "Stamps of the A7's logs: ms since the line before",
    ("event",),
    ("metric",),
    values=True,
    words=(
        Words("metric", "log", (("host_log", "client"), ("kernel_log", "kernel"))),
        Words("event", "line"),
    ),
    digits=4,
)
METRICS = ("host_log", "kernel_log")
PIVOTS = dict.fromkeys(METRICS, _PIVOT)

# The events of a log, in milliseconds.
_Stamps = Mapping[str, float]


def rows(known: Sequence[Row]) -> Iterator[Row]:
    """The time from the line before to each line of the transcript, published and simulated."""
    of = next((row for row in known if row.settings.get("transcript") == "on"), None)
    if of is None:
        return
    for metric, theirs, ours in (
        ("host_log", _published_host_ms(), _host_ms(of.run)),
        ("kernel_log", _published_kernel_ms(), _kernel_ms(of.run)),
    ):
        for before, event in itertools.pairwise(theirs):
            if before in ours and event in ours:
                found = round(ours[event] - ours[before], 3)
                wanted = round(theirs[event] - theirs[before], 3)
                yield _row(of, metric, event, found, wanted)


def _row(of: Row, metric: str, event: str, simulated: float, theirs: float) -> Row:
    return of.following(
        settings=dict(of.run.settings) | {"event": event},
        metric=metric,
        label=f"{metric.replace('_', ' ')}: {event}",
        unit="ms",
        simulated=simulated,
        published=theirs,
        basis=DERIVED,
        timed=(),
        parts=(),
        pivot=_PIVOT,
        sweeps=(),
    )


def _published_host_ms() -> _Stamps:
    table = published.load(TABLE)
    before = {
        event: table.find("log_time", {"kind": "host-log", "event": event}) for event, _ in _BEFORE
    }
    tests = {
        f"{row['block_bytes']} B x {row['blocks']}": row["log_time"]
        for row in table.results
        if row.get("kind") == "tty-test"
    }
    return {event: _of_day_ms(str(stamp)) for event, stamp in (before | tests).items()}


def _of_day_ms(stamp: str) -> float:
    """The milliseconds of a stamp such as 15:43:54.977."""
    hours, minutes, seconds = stamp.split(":")
    return (int(hours) * 60 + int(minutes)) * 60_000 + round(float(seconds) * 1000)


def _published_kernel_ms() -> _Stamps:
    table = published.load(TABLE)
    found = {
        event: table.find("dmesg_time_s", {"kind": "kernel-log", "event": event})
        for event in _CHANNELS
    }
    return {event: stamp_s * 1000 for event, stamp_s in found.items() if stamp_s is not None}


def _console(run: RunRecord) -> str:
    return run.result.console if run.result else ""


def _host_ms(run: RunRecord) -> _Stamps:
    found = {}
    for line in filter(None, map(_HOST_LINE.match, _console(run).splitlines())):
        *stamp, text = line.groups()
        test = _TEST.match(text)
        begun = (event for event, begin in _BEFORE if text.startswith(begin))
        event = f"{test[1]} B x {test[2]}" if test else next(begun, None)
        if event is not None:
            found[event] = _of_day_ms(f"{stamp[0]}:{stamp[1]}:{stamp[2]}.{stamp[3]}")
    return found


def _kernel_ms(run: RunRecord) -> _Stamps:
    lines = filter(None, map(_KERNEL_LINE.match, _console(run).splitlines()))
    return {f"{line[3]} {line[4]}": int(line[1]) * 1000 + int(line[2]) / 1000 for line in lines}


def findings(known: Sequence[Row]) -> Iterator[str]:
    """How well the whole log agrees."""
    found = [row for row in known if row.metric == "host_log" and row.published is not None]
    if found:
        ours, theirs = (sum(values) for values in zip(*_pairs(found), strict=True))
        most = max(abs(one - other) for one, other in _pairs(found))
        yield (
            f"From the client's first line to its last {ours:.0f} ms pass ({theirs:.0f} in the "
            f"report). Of {len(found)} intervals between lines, in whole milliseconds, the one "
            f"with the largest error differs from the report's by {most:.0f} ms."
        )


def _pairs(found: Sequence[Row]) -> list[tuple[float, float]]:
    return [(row.simulated, row.published or 0) for row in found]
