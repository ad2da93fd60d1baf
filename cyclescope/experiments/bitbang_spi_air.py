"""The transceiver on the air, for `bitbang-spi`: the report's frame times, and data rates.

The report takes from an application note that frames of the greatest length follow each other in
4928 to 7168 us with CSMA-CA and acknowledgement, and says that the chip has data rates up to 2
Mbps. Here the chip's extended mode and its rates run with each driver, as fast as possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cyclescope.bench import published
from cyclescope.bench.experiment import Cell, Run
from cyclescope.bench.rows import DERIVED, UNPUBLISHED, Row
from cyclescope.bench.views import Pivot, Words
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import Value

APP = "bitbang_air"
TABLE = "atben_spi_drivers"
BOARD, CONTROLLER_BOARD, OLDER_BOARD = "ben-nanonote", "ben-nanonote-ssi", "ben-nanonote-rf230"
CONTROLLER = "spi-jz4740-ssi"
# The drivers whose loads the report gives, and the driver whose run draws back-offs.
LOADED = ("spi-gpio", "spi-gpio-atben", "spi-jz4740-gpio")
STRAIGHT = LOADED[-1]
REST = ("spi_atben", CONTROLLER)
RATES_KBPS = (250, 500, 1000, 2000)
WAYS = ("reception", "transmission")
OLDER = "at86rf230"
# Enough frames that each of the eight back-offs is drawn, and enough for a mean.
DRAWN_FRAMES, FRAMES = 16, 4
# A frame of the greatest length: preamble, SFD and PHR always have 250 kbit/s.
FRAME_BYTES, HEADER_US = 127, 192
# IEEE 802.15.4-2006, 7.5.1.3: 40 symbols after a long frame.
SPACING_US = 640
# A peer's time for a frame that it sends without a back-off: the report's shortest interval.
_SHORTEST, _LONGEST = "frame_interval_min_us", "frame_interval_max_us"
# PAN and short address of the program (apps/bitbang_air/measure.h).
_ADDRESS = 0x1234_5678
_AIR = "transceiver.cyclescope,air-"
BUSY = f"{_AIR}busy-us"


def air_us(kbps: int) -> int:
    """The time of a frame of the greatest length on the air."""
    return HEADER_US + FRAME_BYTES * 8 * 1000 // kbps


def _interval_us(end: str) -> int:
    return int(published.load(TABLE).source[end])


def runs(wakeup_ns: int) -> Iterator[Run]:
    """Data rates, the extended mode, the older chip; other drivers and a busy channel extra."""

    def run(driver: str, way: str, *, is_extra: bool = False, **settings: Value) -> Run:
        own: dict[str, Value] = {"stack": driver, "way": way, "frames": FRAMES}
        own |= {"wakeup_ns": wakeup_ns, **settings}
        board = CONTROLLER_BOARD if driver == CONTROLLER else BOARD
        if own.get("transceiver") == OLDER:
            board = OLDER_BOARD
        return Run(APP, board, own, overrides=_air(own), limit="10s", is_extra=is_extra)

    for driver in (*LOADED, *REST):
        for way in WAYS:
            for kbps in RATES_KBPS:
                yield run(driver, way, air_kbps=kbps, is_extra=driver in REST)
    for driver in (*LOADED, *REST):
        frames = DRAWN_FRAMES if driver == STRAIGHT else FRAMES
        yield run(driver, WAYS[0], mode="extended", is_extra=driver in REST)
        yield run(driver, WAYS[1], mode="extended", frames=frames, is_extra=driver in REST)
    for way in WAYS:
        yield run(STRAIGHT, way, transceiver=OLDER)
    busy = run(STRAIGHT, WAYS[1], mode="extended", frames=DRAWN_FRAMES, is_extra=True)
    for busy_us in (2500, 5000, 7500):
        yield busy.changed(overrides={BUSY: busy_us, f"{_AIR}busy-interval-us": 10_000})


def _air(settings: Mapping[str, Value]) -> Mapping[str, OverrideValue]:
    kbps = int(settings.get("air_kbps", RATES_KBPS[0]))
    extended = settings.get("mode") == "extended"
    air: dict[str, OverrideValue] = {}
    if kbps != RATES_KBPS[0]:
        air["rate-kbps"] = kbps
    if settings["way"] == "reception":
        spaced_us = air_us(kbps) + SPACING_US
        air["interval-us"] = _interval_us(_SHORTEST) if extended else spaced_us
        if extended:
            air["destination"] = _ADDRESS
    elif extended:
        air["acknowledged-percent"] = 100
    return {f"{_AIR}{name}": value for name, value in air.items()}


_WORDS = (
    Words("stack", "driver"),
    Words("air_kbps", "data rate", form="{} kbit/s"),
    Words("way", "way"),
    Words("mode", "mode"),
    Words("transceiver", "chip", (("at86rf230", "AT86RF230"), ("at86rf231", "AT86RF231"))),
    Words("extent", "extent"),
    Words(BUSY, "others on the channel of 10 ms", form="{} us"),
    Words(
        "metric",
        "",
        (
            ("air_cost", "cost, us"),
            ("air_period", "a frame each, us"),
            ("air_cost_share", "cost of the time, %"),
            ("air_busy_share", "processor not idle, %"),
            ("air_time", "time through the air, us"),
            ("air_wrong_frames", "frames read wrong"),
            ("air_lost_frames", "frames without acknowledgement"),
            ("air_kept", "of the peer's frames read right, %"),
        ),
    ),
)
Where = tuple[tuple[str, tuple[Value | None, ...]], ...]
_ONLY_231: Where = (("transceiver", ("at86rf231",)),)


def _pivot(
    title: str, *lines: str, where: tuple[tuple[str, tuple[Value | None, ...]], ...]
) -> Pivot:
    columns = ("stack",)
    return Pivot(title, lines, columns, values=True, words=_WORDS, digits=4, where=where)


def _extent(where: Where) -> tuple[Pivot, ...]:
    return (
        _pivot(
            "Frames of the greatest length by data rate, one after the other",
            "way",
            "air_kbps",
            "metric",
            "extent",
            where=(*where, ("mode", ("basic",))),
        ),
        _pivot(
            "Frames of the greatest length with CSMA-CA and acknowledgement",
            "way",
            "metric",
            "extent",
            where=(*where, ("mode", ("extended",)), (BUSY, (None,))),
        ),
        _pivot(
            "The same while other stations are on the channel",
            BUSY,
            "metric",
            "extent",
            where=(*where, ("mode", ("extended",)), (BUSY, (2500, 5000, 7500))),
        ),
    )


_PIVOTS = (
    *_extent(_ONLY_231),
    _pivot(
        "The same with an AT86RF230, frames of the greatest length one after the other",
        "way",
        "metric",
        "extent",
        where=(("transceiver", (OLDER,)),),
    ),
)
_INTERVALS = Pivot(
    "Time of a frame of the greatest length with CSMA-CA and acknowledgement, us",
    ("back_off",),
    ("metric",),
    values=True,
    words=(
        Words("back_off", "back-off"),
        Words("metric", "", (("air_interval", "through the air"),)),
    ),
    digits=4,
)
_LOADS = Pivot(
    "Load by frames of the greatest length with CSMA-CA and acknowledgement, as fast as they go, %",
    ("way",),
    ("stack",),
    values=True,
    words=_WORDS,
    digits=3,
)
# The tables of the rows that follow, by metric.
PIVOTS = {"air_interval": _INTERVALS, "air_load": _LOADS, "air_kept": _PIVOTS[0]}

_WHICH = "{stack} {transceiver} {way} {mode} {air_kbps} kbps"


def cells() -> tuple[Cell, ...]:
    """The cells of the runs."""
    named = (
        ("air_cost", "cost"),
        ("air_period", "period"),
        ("air_cost_share", "share of cost"),
        ("air_busy_share", "share of work"),
        ("air_time", "time on the air, {extent}"),
        ("air_wrong_frames", "frames read wrong"),
        ("air_lost_frames", "frames lost"),
    )
    return tuple(
        Cell(APP, metric=metric, label=f"{_WHICH}, {words}", pivots=_PIVOTS)
        for metric, words in named
    )


def rows(found: Sequence[Row]) -> Iterator[Row]:
    """The report's interval and loads beside the extended mode's; correctly read frames."""
    own = [row for row in found if row.run.app == APP and row.basis != DERIVED]
    plain = [row for row in own if row.settings.get(BUSY) is None]
    yield from _intervals(plain)
    yield from _loads(plain)
    periods_us = {id(row.run): row.simulated for row in own if row.metric == "air_period"}
    for row in own:
        if row.metric == "air_wrong_frames":
            yield _kept(row, periods_us[id(row.run)])


def _intervals(found: Sequence[Row]) -> Iterator[Row]:
    """The shortest and the longest time of a frame in the run that draws all back-offs."""
    for back_off, extent, key in (
        ("none", "shortest", _SHORTEST),
        ("the longest", "longest", _LONGEST),
    ):
        times = [
            row
            for row in found
            if row.metric == "air_time"
            and row.settings["mode"] == "extended"
            and row.settings["stack"] == STRAIGHT
            and row.settings["extent"] == extent
        ]
        for row in times:
            yield row.following(
                settings={"back_off": back_off},
                metric="air_interval",
                published=_interval_us(key),
                basis=DERIVED,
                label=f"a frame through the air, back-off: {back_off}",
                timed=(),
                pivot=_INTERVALS,
                sweeps=(),
            )


def _loads(found: Sequence[Row]) -> Iterator[Row]:
    """The load at the rate that is reached beside the report's load, which is a cost in 4928 us."""
    for row in found:
        if row.metric != "air_cost_share" or row.settings["mode"] != "extended":
            continue
        stack, way = row.settings["stack"], row.settings["way"]
        where = {"kind": "cpu-load", "driver": stack, "operation": way}
        known = published.load(TABLE).find("cpu_load_percent", where)
        yield row.following(
            settings={"stack": stack, "way": way},
            metric="air_load",
            published=known,
            basis=UNPUBLISHED if known is None else DERIVED,
            label=f"{stack} in the extended mode, load by {way}",
            timed=(),
            pivot=_LOADS,
            sweeps=(),
        )


def _kept(row: Row, period_us: float) -> Row:
    """The share of the peer's frames that were read as they were sent.

    Frames that the driver is too slow for make its period longer than the peer's interval.
    """
    frames, interval_us = (int(row.settings[name]) for name in ("frames", f"{_AIR}interval-us"))
    right = (frames - row.simulated) / frames
    return row.following(
        metric="air_kept",
        unit="%",
        simulated=round(100 * right * min(1.0, interval_us / period_us), 1),
        basis=UNPUBLISHED,
        label=row.label.replace("frames read wrong", "frames kept"),
        timed=(),
        sweeps=(),
    )


def findings(found: Sequence[Row]) -> Iterator[str]:
    """The report's interval as a mechanism, and which drivers keep up with which data rate."""
    derived = list(rows(found))
    intervals = [row for row in derived if row.metric == "air_interval"]
    if len(intervals) == 2:
        shortest, longest = intervals
        yield (
            f"With CSMA-CA and acknowledgement a frame of the greatest length takes "
            f"{shortest.simulated:.0f} to {longest.simulated:.0f} us through the air; the report "
            f"has {shortest.published:.0f} to {longest.published:.0f}. The drivers' time adds to "
            "that."
        )
    kept = [
        row
        for row in derived
        if row.metric == "air_kept"
        and (row.settings["mode"], row.settings["transceiver"]) == ("basic", "at86rf231")
    ]
    for stack in dict.fromkeys(row.settings["stack"] for row in kept):
        whole = [
            int(row.settings["air_kbps"])
            for row in kept
            if row.settings["stack"] == stack and row.simulated == 100
        ]
        reach = f"up to {max(whole)} kbit/s" if whole else "at none of the data rates"
        yield (
            f"{stack} reads all frames of the greatest length that come {SPACING_US} us apart "
            f"{reach}."
        )
