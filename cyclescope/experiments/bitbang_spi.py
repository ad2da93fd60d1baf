"""Four SPI drivers for a radio transceiver on GPIO pins: a mailing list's measurements.

The report compares how long accesses to an AT86RF231's registers and frame buffer take with each
driver, and how much processor time receiving and sending frames takes. Each run is one driver with
one operation. A fifth driver has a serial controller instead of pins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cyclescope.bench.experiment import Cell, Experiment, Run
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Frames, Pivot, Sweep, Words
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.observing.frames import CLOCK, MISO, MOSI, SELECT
from cyclescope.board.results import Settings, Value
from cyclescope.experiments import (
    bitbang_spi_air,
    bitbang_spi_basis,
    bitbang_spi_follows,
    bitbang_spi_limits,
    bitbang_spi_size,
    moments,
)
from cyclescope.experiments.bitbang_spi_follows import BUSY_US, CALM_US, INTERVAL

BOARD = "ben-nanonote"
APP = "bitbang_spi"
TABLE = "atben_spi_drivers"
LIMIT = "100s"
# The report's drivers, slowest first, and one that the report does not have.
DRIVERS = ("spi-gpio", "spi-gpio-atben", "spi-jz4740-gpio", "spi_atben")
CONTROLLER = "spi-jz4740-ssi"
CONTROLLER_BOARD = "ben-nanonote-ssi"
# Labels of the SPI buses of the transceiver.
BUS, CONTROLLER_BUS = "atben", "ssi"
# Transmissions of the peer: lengths of frames in turn, and the report's two intervals. Costs are
# measured at the longer interval: at the shorter one spi-gpio still reads the longest frame when
# the next one arrives in the same buffer.
LENGTHS = [1, 120, 127]


def _air(interval_us: int) -> Mapping[str, OverrideValue]:
    return {"transceiver.cyclescope,air-frame-bytes": LENGTHS, INTERVAL: interval_us}


def _run(driver: str, operation: str, **settings: Value) -> Run:
    has_pins = driver != CONTROLLER
    own: Settings = {
        "stack": driver,
        "operation": operation,
        "wakeup_ns": bitbang_spi_basis.WAKEUP_NS,
    }
    return Run(
        APP,
        BOARD if has_pins else CONTROLLER_BOARD,
        {**own, **settings},
        overrides=_air(CALM_US) if operation == "reception" else {},
        documented=has_pins,
        limit=LIMIT,
        where={"driver": driver},
    )


def _runs() -> Iterator[Run]:
    drivers = (*DRIVERS, CONTROLLER)
    yield from (_run(driver, "access") for driver in drivers)
    yield from (_run(driver, "reception") for driver in drivers)
    yield from (_run(driver, "transmission") for driver in drivers)
    for frames in (bitbang_spi_follows.FEWER, bitbang_spi_follows.MORE):
        for operation in ("reception", "transmission"):
            yield _counting(operation, frames)
    yield from map(_hurried, drivers)
    yield from map(_showing, drivers)
    yield from map(_sweeping, (DRIVERS[0], CONTROLLER))
    yield from bitbang_spi_air.runs(bitbang_spi_basis.WAKEUP_NS)


def _counting(operation: str, frames: int) -> Run:
    """A run whose operations are counted: all drivers have such a run."""
    return replace(_run(DRIVERS[-2], operation, frames=frames), documented=False)


def _hurried(driver: str) -> Run:
    """Reception at the report's higher rate."""
    return replace(_run(driver, "reception"), documented=False, overrides=_air(BUSY_US))


def _showing(driver: str) -> Run:
    """A run that reads one register and shows the wires meanwhile."""
    bus = CONTROLLER_BUS if driver == CONTROLLER else BUS
    return replace(_run(driver, "identify"), documented=False, frame_on=bus)


def _sweeping(driver: str) -> Run:
    """A run that tries SPI modes and clocks, for drivers that have more than one of either."""
    run = _run(driver, bitbang_spi_limits.OPERATION, loops=bitbang_spi_limits.LOOPS)
    return replace(run, documented=False)


_WORDS = (
    Words("stack", "driver"),
    Words("data_bytes", "bytes", form="{} B"),
    Words("frame_bytes", "bytes", form="{} B"),
    Words(
        "metric",
        "access",
        (
            ("read_register_time", "read register"),
            ("write_register_time", "write register"),
            ("read_buffer_time", "read buffer"),
            ("write_buffer_time", "write buffer"),
            ("read_buffer_rate", "buffer read"),
            ("write_buffer_rate", "buffer write"),
            ("reception_cost", "reception"),
            ("transmission_cost", "transmission"),
            ("cost_load", "load"),
            ("busy_share", "busy"),
        ),
    ),
    Words("operation", "operation"),
)


# Runs that only count operations have fewer frames.
_MEASURED = (("frames", (12,)), (INTERVAL, (None, CALM_US)))


def _pivot(title: str, *lines: str) -> Pivot:
    return Pivot(title, lines, ("stack",), values=True, words=_WORDS, digits=4, where=_MEASURED)


_TIMES = _pivot("Access times, us", "metric", "data_bytes")
_RATES = _pivot("Data rate of buffer accesses of any length, kbps", "metric")
_COSTS = _pivot("Computational cost of a frame, us", "metric", "frame_bytes")
_LOADS = _pivot("Load of the processor by frames of the greatest length, %", "operation")
_BUSY = _pivot(
    "Share of the time since the frame before in which the processor is not idle, %",
    "operation",
    "frame_bytes",
)
# Of the runs that count operations.
_FEWER = Pivot(
    "The same measured with fewer frames, us and %",
    ("operation", "metric", "frame_bytes"),
    ("frames",),
    values=True,
    words=(*_WORDS, Words("frames", "frames", form="{} frames")),
    digits=4,
)


_HURRIED = replace(
    _pivot(
        f"Reception of a frame each {BUSY_US} us: cost in us, load in %", "metric", "frame_bytes"
    ),
    where=((INTERVAL, (BUSY_US,)), ("frames", (12,))),
)


def _lines(title: str, x: str, x_title: str) -> Sweep:
    return Sweep(
        title=title,
        x=x,
        x_title=x_title,
        line="stack",
        y_title="us",
        each="metric",
        published="published",
        linear=True,
        together=True,
        words=_WORDS,
        where=_MEASURED,
    )


_BY_BYTES = _lines("Time of a buffer access", "data_bytes", "bytes of data")
_BY_FRAME = _lines("Cost of a frame", "frame_bytes", "bytes of the frame")


def _access(metric: str, operation: str, *sweeps: Sweep) -> Cell:
    words = operation.replace("-", " ")
    return Cell(
        APP,
        metric=metric,
        label=f"{{stack}} {words} {{data_bytes}} B",
        key="time_us",
        where={"kind": "access-time", "operation": operation},
        measured={"data_bytes": "data_bytes"},
        pivots=(_TIMES,),
        sweeps=sweeps,
    )


def _follows(settings: Settings) -> str | None:
    """The independent number of rates, costs and loads: None; only the 24 access times count.

    The report calculates the others from these times: a rate from a buffer's accesses of 1 and of
    120 bytes, a cost as a sum of accesses, a load as a cost in a frame's time.
    """
    return None


def _rate(metric: str, direction: str) -> Cell:
    return Cell(
        APP,
        metric=metric,
        label=f"{{stack}} data rate of {direction}",
        key="data_rate_kbps",
        where={"kind": "data-rate", "direction": direction},
        pivots=(_RATES,),
        counts_as=_follows,
    )


def _cost(metric: str, operation: str) -> Cell:
    return Cell(
        APP,
        metric=metric,
        label=f"{{stack}} {operation} of {{frame_bytes}} B",
        key="overhead_us",
        where={"kind": "overhead", "operation": operation},
        measured={"frame_bytes": "frame_bytes"},
        pivots=(_COSTS, _HURRIED, _FEWER),
        sweeps=(_BY_FRAME,),
        counts_as=_follows,
    )


_ON_THE_WIRE = Frames(
    title="One register read on the wire",
    text="Each driver reads PART_NUM, register 1C, once: the command 9C goes out, PHY_STATUS and "
    "the part number, 03, come back. All have the same time axis, which begins when nSEL falls. On "
    "pins each edge is an access to a register of the port: the drivers differ in what they do "
    "between two edges. It is the first access of a run, whose code is not in the cache yet. The "
    "time is the frame's; access times also include what is before and after it.",
    panel="stack",
    wires=((SELECT, "nSEL"), (CLOCK, "SCLK"), (MOSI, "MOSI"), (MISO, "MISO")),
)


def _derived(rows: Sequence[Row]) -> Iterator[Row]:
    yield from bitbang_spi_follows.rows(rows)
    yield from bitbang_spi_size.rows(rows)
    yield from bitbang_spi_air.rows(rows)


def _findings(rows: Sequence[Row]) -> Iterator[str]:
    yield from bitbang_spi_follows.findings(rows)
    yield from bitbang_spi_limits.findings(rows)
    yield from bitbang_spi_air.findings(rows)


NOTES = (
    "The report's drivers run in Linux; here their structure is reproduced (which pins are driven "
    "in which order, how many SPI messages an access has, what runs in the caller and what in a "
    "worker) on a small kernel with threads, wait queues and workers of its own.",
    "The further time of Linux for a wake-up is one delay, which is fitted (see there).",
    "The report's costs and loads are sums of its access times; here they are measured while "
    "frames are received from, or sent to, a simulated peer.",
    "Modes and clocks that the transceiver does not accept show the effect of its edges: if MISO "
    "is sampled before the transceiver's output delay is over, it has the bit before.",
)

EXPERIMENT = Experiment(
    name="bitbang-spi",
    title="Bit-banged SPI drivers for a radio transceiver on a Ben NanoNote",
    moments=(moments.BITBANG,),
    published=TABLE,
    runs=tuple(_runs()),
    cells=(
        _access("read_register_time", "read-register"),
        _access("write_register_time", "write-register"),
        _access("read_buffer_time", "read-buffer", _BY_BYTES),
        _access("write_buffer_time", "write-buffer", _BY_BYTES),
        _rate("read_buffer_rate", "buffer-read"),
        _rate("write_buffer_rate", "buffer-write"),
        _cost("reception_cost", "reception"),
        _cost("transmission_cost", "transmission"),
        Cell(
            APP,
            metric="cost_load",
            label="{stack} load by {operation}",
            key="cpu_load_percent",
            where={"kind": "cpu-load"},
            match=("operation",),
            pivots=(_LOADS, _HURRIED, _FEWER),
            counts_as=_follows,
        ),
        Cell(
            APP,
            metric="busy_share",
            label="{stack} busy in {operation} of {frame_bytes} B",
            pivots=(_BUSY, _HURRIED, _FEWER),
        ),
        *bitbang_spi_limits.cells(APP),
        *bitbang_spi_air.cells(),
    ),
    notes=NOTES,
    choices=bitbang_spi_basis.CHOICES,
    left_out=bitbang_spi_basis.LEFT_OUT,
    short_form=bitbang_spi_basis.shortened,
    derived=_derived,
    derived_pivots=bitbang_spi_follows.PIVOTS | bitbang_spi_size.PIVOTS | bitbang_spi_air.PIVOTS,
    findings=_findings,
    frames=_ON_THE_WIRE,
    question="How much of the processor does bit-banged SPI take, and is a faster driver worth its "
    "code?",
    answer=bitbang_spi_follows.answer,
)
