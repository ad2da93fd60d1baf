"""The wire in the runs of `quad-spi-throughput`, and the rest of a page's time.

The core counts, by the command at the start of frames, the clocks of SCK, how long SCK stood still
within frames, and how long first bytes waited in the FIFO, over all pages of a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cyclescope.bench import published
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot, Words
from cyclescope.experiments.quad_spi_modes import (
    CORES,
    ENHANCED,
    FIFO,
    LEGACY,
    PAGE_BYTES,
    POLLS,
    READ,
    READ_IO,
    TABLE,
    WRITE,
    Page,
    derived,
    number,
    pages,
    speedup_claimed,
)

# XAPP797's "80 MHz SPI clock" is EXT_SPI_CLK; SCK is half of it (table 2), if nothing else is set.
EXT_SPI_HZ = 80_000_000
SCK_RATIO = 2
_EXT_CLOCK, _RATIO = "spi_ext_clk.clock-frequency", "spi0.xlnx,sck-ratio"
_SCK = "spi0.clock-frequency"
BITS = PAGE_BYTES * 8
LINES = {"standard": 1, "dual": 2, "quad": 4}
WRITE_ENABLE = 0x06
# N25Q128A: the commands that frames of pages begin with.
COMMANDS = {
    ("standard", WRITE): 0x02,
    ("dual", WRITE): 0xA2,
    ("quad", WRITE): 0x32,
    ("standard", READ): 0x0B,
    ("dual", READ): 0x3B,
    ("quad", READ): 0x6B,
    ("dual", READ_IO): 0xBB,
    ("quad", READ_IO): 0xEB,
}

# Accesses to registers that take the processor's own cycle only: to measure a page's time without.
FREE_REGISTERS: Mapping[str, int] = {
    **{
        f"{device}.cyclescope,{access}-cycles": 0
        for device in ("spi0", "dma0", "dma1", "timer0")
        for access in ("read", "write")
    },
    **{
        f"{bus}.cyclescope,{way}-cycles": 0
        for bus in ("axi", "axi_lite")
        for way in ("request", "response")
    },
}

_DATA, _HEADER, _STILL, _FILLING, _REGISTERS, _PROCESSOR = PARTS = (
    "data on the wire",
    "command, address and dummies on the wire",
    "SCK standing still in the frame",
    "filling the FIFO before SCK starts",
    "register accesses",
    "processor",
)

_IDLE = Pivot(
    "SCK clocks of a page's frame in which SCK stands still",
    ("core", "completion", "fifo", "operation"),
    ("mode",),
    values=True,
    words=(Words("core", "core"), Words("completion", "ends noticed by"), Words("fifo", "FIFO")),
    digits=4,
)
_MISMATCHES = Pivot(
    "Bytes that read back other than written",
    ("core", "completion", "fifo", "operation"),
    ("mode",),
    values=True,
    words=(Words("completion", "ends noticed by"), Words("fifo", "FIFO")),
)
_PARTS = Pivot(
    "Where the time of a page goes, us", ("mode", "operation"), ("part",), values=True, digits=3
)
_ON_WIRE = Pivot(
    "Clocks on the wire: how many times fewer than in standard mode",
    ("operation",),
    ("mode",),
    values=True,
    digits=3,
)

PIVOTS = {
    "idle_clocks": _IDLE,
    "mismatches": _MISMATCHES,
    "part": _PARTS,
    "speedup_on_wire": _ON_WIRE,
}


@dataclass(frozen=True)
class Frames:
    """The core's counters for the frames of one command, divided by their number.

    They are periods of SCK that passed, periods of EXT_SPI_CLK in which SCK stood still, and those
    of them from the first byte in the FIFO to the first clock.
    """

    sck_clocks: float
    idle_clocks: float
    waiting_clocks: float
    clocks_us: float
    ratio: int

    @property
    def idle_sck_clocks(self) -> float:
        """Periods of SCK that it stood still."""
        return self.idle_clocks / self.ratio

    @property
    def wire_us(self) -> float:
        """How long SCK ran."""
        return self.us_of(self.sck_clocks)

    @property
    def idle_us(self) -> float:
        """How long SCK stood still."""
        return self.idle_clocks / self.clocks_us

    @property
    def waiting_us(self) -> float:
        """How long the first byte waited."""
        return self.waiting_clocks / self.clocks_us

    def us_of(self, sck_clocks: float) -> float:
        """The time of a number of periods of SCK."""
        return sck_clocks * self.ratio / self.clocks_us


def frames(row: Row, command: int) -> Frames | None:
    """The core's counters of a command in a row's run; None if there was no such frame."""
    counters = row.run.result.counters if row.run.result else {}
    names = ("frames", "sck_clocks", "idle_clocks", "waiting_clocks")
    count, sck, idle, waiting = (
        counters.get(f"spi0.command_{command:02x}.{name}", 0) for name in names
    )
    if not count:
        return None
    ratio = number(row, _RATIO, SCK_RATIO)
    ext_hz = number(row, _SCK, 0) * ratio or number(row, _EXT_CLOCK, EXT_SPI_HZ)
    clocks_us = ext_hz / 1_000_000
    return Frames(sck / count, idle / count, waiting / count, clocks_us, ratio)


def frames_of(page: Page) -> Frames | None:
    """The core's counters of the frames of a page."""
    return frames(page.row, COMMANDS[page.mode, page.operation])


def rows(found: Sequence[Row]) -> Iterator[Row]:
    """Clocks that SCK stood still, bytes that were lost, and the parts of a page's time."""
    known = [page for page in pages(found) if page.core in (LEGACY, ENHANCED)]
    measured = [page for page in known if set(page.changed) <= {FIFO} and _is_own(page)]
    for page in measured:
        yield from _idle(page)
    for page in measured:
        yield from _mismatches(page)
    yield from _on_wire(known)
    yield from _parts(known)


def _is_own(page: Page) -> bool:
    """Whether a page's run is not also another page's: I/O commands do not change writes."""
    return page.operation != WRITE or page.row.settings.get("read_command") != "io"


def _fifo(page: Page) -> int:
    return number(page.row, FIFO, PAGE_BYTES)


def _words(page: Page) -> str:
    depth = _fifo(page)
    return page.words if depth == PAGE_BYTES else f"{page.words}, FIFO of {depth}"


def _idle(page: Page) -> Iterator[Row]:
    counted = frames_of(page)
    if counted is not None:
        yield derived(
            page,
            {"fifo": _fifo(page)},
            metric="idle_clocks",
            simulated=round(counted.idle_sck_clocks, 2),
            unit="clocks",
            label=f"{_words(page)}, idle SCK clocks",
            published=published.load(TABLE).find("idle_clocks", {"kind": "claim-continuous"}),
            pivot=_IDLE,
        )


def _mismatches(page: Page) -> Iterator[Row]:
    """Bytes of all pages that read back differently; the note's comparison was OK."""
    result = page.row.run.result
    if result is None or page.operation == WRITE:
        return
    where = {"kind": "sample-output", "mode": page.mode, "operation": page.operation}
    is_ok = published.load(TABLE).find("data_check_ok", where)
    yield derived(
        page,
        {"fifo": _fifo(page)},
        metric="mismatches",
        simulated=next(one.value for one in result.metrics if one.name == "data_mismatches"),
        unit="bytes",
        label=f"{_words(page)}, wrong bytes",
        published=0 if is_ok and page.core == ENHANCED else None,
        pivot=_MISMATCHES,
    )


def _in_note(known: Sequence[Page], changed: Mapping[str, object]) -> dict[tuple[str, str], Page]:
    """Pages as the note moves them, on a board changed in this way, by mode and operation."""
    return {
        (page.mode, page.operation): page
        for page in known
        if page.core == ENHANCED
        and page.completion == POLLS
        and page.operation in (WRITE, READ)
        and dict(page.changed) == dict(changed)
        and _is_own(page)
    }


def _on_wire(known: Sequence[Page]) -> Iterator[Row]:
    """How many times fewer clocks the frames of a page have than in standard mode."""
    by_mode = _in_note(known, {})
    for (mode, operation), page in by_mode.items():
        standard = by_mode.get(("standard", operation))
        if mode == "standard" or standard is None:
            continue
        ours, theirs = frames_of(page), frames_of(standard)
        if ours and theirs:
            yield derived(
                page,
                {},
                metric="speedup_on_wire",
                simulated=round(theirs.wire_us / ours.wire_us, 3),
                unit="times",
                label=f"{mode} {operation} on the wire against standard",
                published=speedup_claimed(mode),
                pivot=_ON_WIRE,
            )


# ---- parts


def _parts(known: Sequence[Page]) -> Iterator[Row]:
    """The parts of a page's time; the cost of registers is the gain if they take no time."""
    free = _in_note(known, FREE_REGISTERS)
    for place, page in _in_note(known, {}).items():
        without = free.get(place)
        if without is None:
            continue
        own, rest = _times(page), _times(without)
        if own is None or rest is None:
            continue
        parts = own | {_REGISTERS: own[_PROCESSOR] - rest[_PROCESSOR], _PROCESSOR: rest[_PROCESSOR]}
        for part in PARTS:
            yield derived(
                page,
                {"part": part},
                metric="part",
                simulated=round(parts[part], 3),
                unit="us",
                label=f"{page.mode} {page.operation}: {part}",
                pivot=_PARTS,
            )


def _times(page: Page) -> dict[str, float] | None:
    """The parts of a page's time, registers and processor together; they sum to it."""
    counted = frames_of(page)
    if counted is None:
        return None
    data_us = counted.us_of(BITS / LINES[page.mode])
    enabling = frames(page.row, WRITE_ENABLE) if page.operation == WRITE else None
    wire_us = counted.wire_us + (enabling.wire_us if enabling else 0)
    found = {
        _DATA: data_us,
        _HEADER: wire_us - data_us,
        _STILL: counted.idle_us,
        _FILLING: counted.waiting_us,
    }
    return found | {_PROCESSOR: page.time_us - sum(found.values())}


# ---- findings


def findings(found: Sequence[Row]) -> Iterator[str]:
    """The rows' evidence for the note's claims, in sentences."""
    yield from _shrinking(found)
    yield from _continuous(found)


def _shrinking(found: Sequence[Row]) -> Iterator[str]:
    """Why quad mode does not have four times the speed."""
    ours = {
        (row.settings["operation"], row.settings["part"]): row.simulated
        for row in found
        if row.metric == "part" and row.settings["mode"] == "quad"
    }
    gains = {
        row.settings["operation"]: row.simulated
        for row in found
        if row.metric == "speedup"
        and (row.settings["core"], row.settings["mode"]) == (ENHANCED, "quad")
        and row.settings["operation"] in (WRITE, READ)
    }
    for operation, gain in gains.items():
        parts = {part: us for (where, part), us in ours.items() if where == operation}
        if parts:
            most = sorted((part for part in parts if part != _DATA), key=lambda part: -parts[part])
            rest = ", ".join(f"{part} {parts[part]:.1f}" for part in most if parts[part] >= 0.05)
            yield (
                f"A quad {operation} is {gain:.2f} times as fast as a standard one, not 4 times: "
                f"of its {sum(parts.values()):.1f} us a page only the data's {parts[_DATA]:.1f} on "
                f"the wire are a quarter of standard mode's. The rest hardly depends on the lines "
                f"(us): {rest}."
            )


def _continuous(found: Sequence[Row]) -> Iterator[str]:
    """Where SCK runs without a pause, and where it does not."""
    idle = [
        row for row in found if row.metric == "idle_clocks" and row.settings["completion"] == POLLS
    ]
    for core in CORES:
        ours = [row for row in idle if row.settings["core"] == core]
        deep = [row for row in ours if row.settings["fifo"] == PAGE_BYTES]
        by_operation = {
            operation: [row.simulated for row in deep if row.settings["operation"] == operation]
            for operation in (WRITE, READ)
        }
        found_ranges = [
            f"{name}s {_range(values)}" for name, values in by_operation.items() if values
        ]
        if found_ranges:
            yield (
                f"SCK clocks that stand still in a page's frame, {core} core: "
                f"{', '.join(found_ranges)}; the note says that SCK never stands still."
            )


def _range(values: Sequence[float]) -> str:
    least, most = min(values), max(values)
    return f"{least:g}" if least == most else f"{least:,.4g} to {most:,.4g}"
