"""What follows from the runs of `bitbang-spi`: operations of a call, rates, conclusions.

The simulated transceiver counts operations: the difference between a run with more frames and one
with fewer, divided by the difference of the frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cyclescope.bench import published
from cyclescope.bench.rows import DERIVED, UNPUBLISHED, Row
from cyclescope.bench.views import Pivot, Words
from cyclescope.board.results import Value

TABLE = "atben_spi_drivers"
# The setting with the time from one frame on the air to the next.
INTERVAL = "transceiver.cyclescope,air-interval-us"
# The report's frame rates: the longer and the shorter time from one frame to the next.
CALM_US, BUSY_US = 7168, 4928
# Frames of the runs that are compared to count operations.
FEWER, MORE = 4, 8
# Counters of the transceiver, by the table's words: the last less the first, if there are two. A
# frame is read by two reads on the wire, the first of its length alone.
_COUNTED = {
    "register_reads": ("register_reads",),
    "register_writes": ("register_writes",),
    "buffer_reads": ("frame_buffer_length_reads", "frame_buffer_reads"),
    "buffer_writes": ("frame_buffer_writes",),
}
# Rates, the accesses that they follow from, and the accesses' lengths in the report's formula.
_RATES = {
    "read_buffer_rate": ("read-buffer", "buffer read"),
    "write_buffer_rate": ("write-buffer", "buffer write"),
}
_SHORT_BYTES, _LONG_BYTES = 1, 120
# The drivers whose loads the report compares in words.
_SLOW, _FAST = "spi-gpio", "spi-jz4740-gpio"
# Counters of the driver itself.
_WAITS = "waitqueue_waits"
_OPERATIONS = Pivot(
    "Operations of a high-level call",
    ("operation",),
    ("counted",),
    values=True,
    words=(
        Words("counted", "", tuple((name, name.replace("_", " ")) for name in (*_COUNTED, _WAITS))),
    ),
    digits=3,
)
_EARLY = Pivot(
    "Bytes read from a buffer that the next frame had begun to fill, in 12 frames",
    ("interval_us",),
    ("stack",),
    values=True,
    words=(Words("interval_us", "a frame each", form="{} us"), Words("stack", "driver")),
)
_OWN_RATES = Pivot(
    "Data rates that follow from the report's own times, kbps, beside those that it prints",
    ("stack",),
    ("direction",),
    values=True,
    words=(Words("stack", "driver"), Words("direction", "")),
    digits=4,
)
# The tables of the rows that follow, by metric.
PIVOTS = {"operations": _OPERATIONS, "underruns": _EARLY, "rate_of_times": _OWN_RATES}


def rows(found: Sequence[Row]) -> Iterator[Row]:
    """Operations of each high-level call, bytes that were read too early, the report's own sums."""
    yield from _operations(found)
    yield from _underruns(found)
    for row in found:
        if row.metric in _RATES:
            yield from _own_rate(row)


def findings(found: Sequence[Row]) -> Iterator[str]:
    """The report's conclusions, with this run's numbers."""
    taken = _taken(found)
    if not taken:
        return
    early = next(
        (
            row.simulated
            for row in _underruns(found)
            if row.settings == {"stack": _SLOW, "interval_us": BUSY_US}
        ),
        0,
    )
    if early:
        yield (
            f"At a frame each {BUSY_US} us {_SLOW} still reads the longest one when the next comes "
            f"into the same buffer ({early:.0f} bytes of 12 frames here): it reads a frame's "
            "length in a message of its own, which frees the buffer. If the next frame is shorter, "
            "what is read then is wrong. The report's load is the processor's share and does not "
            "show that."
        )
    yield (
        f"{taken}: the report's conclusion, that the driver in straight code in the caller is "
        "worth its lines, holds."
    )


def answer(found: Sequence[Row]) -> str:
    """The processor time of the slowest driver and the fastest of the framework, in a sentence."""
    taken = _taken(found)
    return f"{taken}." if taken else ""


def _taken(found: Sequence[Row]) -> str:
    """The processor time of two drivers; empty if their loads are missing."""
    loads = {
        (row.settings["stack"], row.settings["operation"]): row.simulated
        for row in found
        if row.metric == "cost_load" and row.published is not None
    }
    if not all((stack, "transmission") in loads for stack in (_SLOW, _FAST)):
        return ""
    return (
        f"With a frame of the greatest length every {BUSY_US} us, {_SLOW} takes "
        f"{_share(loads, _SLOW)} of the processor to receive and send, {_FAST} "
        f"{_share(loads, _FAST)}"
    )


def _share(loads: Mapping[tuple[Value, Value], float], stack: str) -> str:
    received, sent = (loads.get((stack, way)) for way in ("reception", "transmission"))
    return " and ".join(f"{load:.0f} %" for load in (received, sent) if load is not None)


def _operations(found: Iterable[Row]) -> Iterator[Row]:
    counting = {
        (row.settings["operation"], row.settings["frames"]): row
        for row in found
        if "operation" in row.settings and row.settings.get("frames") in (FEWER, MORE)
    }
    for (operation, frames), row in counting.items():
        more = counting.get((operation, MORE))
        if frames != FEWER or more is None:
            continue
        for name, counters in _COUNTED.items():
            yield _operation(row, name, _each(row, more, counters))
        yield _operation(more, _WAITS, _waits(more))


def _operation(row: Row, name: str, each: float) -> Row:
    operation = row.settings["operation"]
    where = {"kind": "operation-count", "operation": operation}
    return row.following(
        settings={"operation": operation, "counted": name},
        metric="operations",
        unit="",
        simulated=each,
        published=published.load(TABLE).find(name, where),
        basis=DERIVED,
        label=f"{name} of {operation}",
        timed=(),
        pivot=_OPERATIONS,
        sweeps=(),
    )


def _each(fewer: Row, more: Row, counters: Sequence[str]) -> float:
    """How often an operation is counted for each frame."""
    *less, counted = ((_total(more, name) - _total(fewer, name)) for name in counters)
    return _plain((counted - sum(less)) / (MORE - FEWER))


def _waits(row: Row) -> float:
    """How often the driver waits in a queue for each frame: the wire does not show that."""
    metrics = row.run.result.metrics if row.run.result else ()
    waits, frames = (
        sum(metric.value for metric in metrics if metric.name == name)
        for name in ("wakeups", "frames")
    )
    return _plain(waits / frames)


def _plain(each: float) -> float:
    return int(each) if each.is_integer() else round(each, 3)


def _total(row: Row, counter: str) -> int:
    """The transceiver's counter in a row's run, on whatever bus it is."""
    counters = row.run.result.counters if row.run.result else {}
    return next(
        total for name, total in counters.items() if name.endswith(f".transceiver.{counter}")
    )


def _underruns(found: Iterable[Row]) -> Iterator[Row]:
    """Bytes that each driver read from a buffer while the next frame already overwrote it."""
    runs = {
        (row.settings["stack"], row.settings[INTERVAL]): row
        for row in found
        if row.metric == "reception_cost" and row.settings["frames"] not in (FEWER, MORE)
    }
    for (stack, interval_us), row in runs.items():
        yield row.following(
            settings={"stack": stack, "interval_us": interval_us},
            metric="underruns",
            unit="bytes",
            simulated=_total(row, "underruns"),
            published=None,
            basis=UNPUBLISHED,
            label=f"{stack}, bytes of the next frame at {interval_us} us",
            timed=(),
            pivot=_EARLY,
            sweeps=(),
        )


def _own_rate(row: Row) -> Iterator[Row]:
    """The result of the report's formula with the report's times, beside what the report prints."""
    table, stack = published.load(TABLE), row.settings["stack"]
    operation, direction = _RATES[row.metric]
    where = {"kind": "access-time", "driver": stack, "operation": operation}
    short, long = (
        table.find("time_us", where | {"data_bytes": size}) for size in (_SHORT_BYTES, _LONG_BYTES)
    )
    if row.published is None or short is None or long is None:
        return
    yield row.following(
        settings={"stack": stack, "direction": direction},
        metric="rate_of_times",
        simulated=round(1000 * 8 * (_LONG_BYTES - _SHORT_BYTES) / (long - short)),
        basis=DERIVED,
        label=f"{stack}, {direction} rate of the report's own times",
        timed=(),
        pivot=_OWN_RATES,
        sweeps=(),
    )
