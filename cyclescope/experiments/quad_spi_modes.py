"""What follows from the times of `quad-spi-throughput`: pages by the core's modes and its clock.

XAPP797 names modes of the core (its table 1: legacy, enhanced, XIP) and of SPI (table 2: standard,
dual, quad), and says how many times as fast several lines are. Times here are of a page of 256
bytes, so that runs of more and fewer pages can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cyclescope.bench import published
from cyclescope.bench.rows import DERIVED, Row
from cyclescope.bench.views import Pivot, Sweep, Words
from cyclescope.board.results import Settings
from cyclescope.units import parse_number

TABLE = "xapp797_axi_quad_spi"
PAGE_BYTES = 256
MB_BYTES = 2**20
# xlnx,spi-mode of the core
SPI_MODES = {"standard": 0, "dual": 1, "quad": 2}
WRITE, READ, READ_IO = OPERATIONS = ("write", "read", "read by I/O command")
LEGACY, ENHANCED, XIP, XIP_BURSTS = CORES = ("legacy", "enhanced", "XIP", "XIP by bursts")
POLLS = "polls"
CLOCK = "sys_clk.clock-frequency"
MHZ = 1_000_000
_MODE = "spi0.xlnx,spi-mode"
FIFO = "spi0.xlnx,fifo-depth"
# Overrides that give a run's mode in the tables.
_OF_MODES = {_MODE, "spi0.xlnx,type-of-axi4-interface", "spi0.xlnx,xip-mode"}

_WORDS = (
    Words("core", "core"),
    Words("completion", "ends noticed by"),
    Words("axi_mhz", "AXI clock", form="{} MHz"),
)
_PAGES = Pivot(
    "Tables 1 and 2: time of a page, us",
    ("core", "completion", "operation"),
    ("mode",),
    values=True,
    words=_WORDS,
    digits=4,
)
_SPEEDUPS = Pivot(
    "How many times as fast as standard mode",
    ("core", "operation"),
    ("mode",),
    values=True,
    words=_WORDS,
    digits=3,
)
_BY_CLOCK = Pivot(
    "Time of a page by the clock of AXI and the processor, us",
    ("mode", "operation"),
    ("axi_mhz",),
    values=True,
    words=_WORDS,
    digits=4,
)
_OVER_CLOCK = Sweep(
    title="Time of a page by the clock of AXI and the processor",
    x="axi_mhz",
    x_title="clock, MHz",
    line="mode",
    y_title="us",
)
_THROUGHPUT = Pivot(
    "Figures 4 and 5: whole MB/s, cut", ("mode",), ("operation",), values=True, digits=2
)

PIVOTS = {
    "page_time": _PAGES,
    "speedup": _SPEEDUPS,
    "page_time_by_clock": _BY_CLOCK,
    "throughput": _THROUGHPUT,
}


@dataclass(frozen=True)
class Page:
    """The subject of a measured time: a page, in a mode of the tables, and how.

    `changed` are the overrides in which the run differs from the note's system, except for those
    that all runs have.
    """

    core: str
    mode: str
    operation: str
    completion: str
    changed: Mapping[str, object]
    time_us: float
    row: Row

    @property
    def is_plain(self) -> bool:
        """Whether only its modes differ from the note's system."""
        return not self.changed

    @property
    def settings(self) -> dict[str, str]:
        """The settings of rows that follow from it."""
        return {
            "core": self.core,
            "mode": self.mode,
            "operation": self.operation,
            "completion": self.completion,
        }

    @property
    def words(self) -> str:
        """Its name in labels."""
        way = "" if self.completion == POLLS else f" with {self.completion}"
        return f"{self.core} {self.mode} {self.operation}{way}"


def pages(found: Sequence[Row]) -> list[Page]:
    """The times of pages among an experiment's rows."""
    own = [row for row in found if row.basis != DERIVED]
    usual = _everywhere(own)
    made = (_page(row, usual) for row in own)
    return [page for page in made if page is not None]


def number(row: Row, name: str, default: int) -> int:
    """An override of a row's run; `--set` may have given it as text: "40M"."""
    value = row.settings.get(name, default)
    parsed = parse_number(value) if isinstance(value, str) else value
    return default if parsed is None else int(parsed)


def _everywhere(found: Sequence[Row]) -> set[tuple[str, object]]:
    """The overrides that several runs share, all of them: the user's, on the whole bench."""
    runs = {frozenset(row.run.settings.items()) for row in found}
    if len(runs) < 2:
        return set()
    shared = frozenset.intersection(*runs)
    return {(name, value) for name, value in shared if "." in name}


def _page(row: Row, usual: set[tuple[str, object]]) -> Page | None:
    settings = row.settings
    if row.metric not in ("write_time", "read_time"):
        return None
    is_xip = "bytes" in settings
    count = int(settings["bytes"]) // PAGE_BYTES if is_xip else int(settings["pages"])
    if is_xip:
        core = XIP if settings["access"] == "cpu" else XIP_BURSTS
    else:
        core = LEGACY if settings["access"] == "cpu" else ENHANCED
    by_number = {value: name for name, value in SPI_MODES.items()}
    mode = str(settings.get("mode", by_number[number(row, _MODE, SPI_MODES["quad"])]))
    by_io = settings.get("read_command") == "io" or (is_xip and mode != "standard")
    reading = READ_IO if by_io and mode != "standard" else READ
    return Page(
        core=core,
        mode=mode,
        operation=WRITE if row.metric == "write_time" else reading,
        completion=str(settings.get("completion", POLLS)),
        changed={
            name: value
            for name, value in settings.items()
            if "." in name and name not in _OF_MODES and (name, value) not in usual
        },
        time_us=row.simulated / max(count, 1),
        row=row,
    )


def rows(found: Sequence[Row]) -> Iterator[Row]:
    """The rows that follow: pages by mode, speedups, pages by clock, throughput as printed."""
    known = pages(found)
    plain = {
        (page.core, page.mode, page.operation, page.completion): page
        for page in known
        if page.is_plain and _has_time(page)
    }
    yield from map(_page_time, plain.values())
    yield from _speedups(list(plain.values()))
    yield from _by_clock(known)
    yield from map(_throughput, (page for page in known if page.row.published is not None))


def _has_time(page: Page) -> bool:
    """Whether a page's time has a row: a program that reads by I/O commands writes as any other."""
    settings = page.row.settings
    return page.operation != WRITE or settings.get("read_command") != "io"


def derived(page: Page, changed: Settings, **columns: Any) -> Row:
    """A row that follows from a page's time; `changed` are settings besides the page's."""
    usual = {"published": None, "digits": None, "timed": (), "parts": (), "sweeps": ()}
    settings = page.settings | dict(changed)
    return page.row.following(basis=DERIVED, settings=settings, **(usual | columns))


def published_us(page: Page) -> float | None:
    """The note's time of a page in the same mode and by the same command."""
    if page.core != ENHANCED or page.operation == READ_IO:
        return None
    where = {"kind": "sample-output", "mode": page.mode, "operation": page.operation}
    return published.load(TABLE).find("time_per_page_us", where)


def _page_time(page: Page) -> Row:
    return derived(
        page,
        {},
        metric="page_time",
        simulated=round(page.time_us, 3),
        unit="us",
        label=f"{page.words}, a page",
        published=published_us(page) if page.completion == POLLS else None,
        pivot=_PAGES,
    )


def speedup_claimed(mode: str) -> float | None:
    """The speed of a mode, in times of standard mode, that the note claims."""
    where = {"kind": "claim", "mode": mode}
    return published.load(TABLE).find("speedup_vs_standard", where)


def _speedups(known: Sequence[Page]) -> Iterator[Row]:
    """The speed of each page, in times of the same page in standard mode."""
    for page in known:
        standard = next((one for one in known if _is_standard_of(one, page)), None)
        if standard is None or page.mode == "standard" or page.completion != POLLS:
            continue
        yield derived(
            page,
            {},
            metric="speedup",
            simulated=round(standard.time_us / page.time_us, 3),
            unit="times",
            label=f"{page.words} against standard",
            published=speedup_claimed(page.mode),
            pivot=_SPEEDUPS,
        )


def _is_standard_of(one: Page, page: Page) -> bool:
    """Whether a page is read or written the same way as another, but in standard mode."""
    return (
        one.mode == "standard"
        and (one.core, one.completion) == (page.core, page.completion)
        and (one.operation == WRITE) == (page.operation == WRITE)
    )


def _by_clock(known: Sequence[Page]) -> Iterator[Row]:
    swept = [page for page in known if set(page.changed) == {CLOCK}]
    for page in known:
        documented = page.is_plain and page.row.published is not None
        if not swept or not (documented or page in swept):
            continue
        mhz = number(page.row, CLOCK, 0) // MHZ or _board_mhz(page.row)
        yield derived(
            page,
            {"axi_mhz": mhz},
            metric="page_time_by_clock",
            simulated=round(page.time_us, 3),
            unit="us",
            label=f"{page.mode} {page.operation} with AXI at {mhz} MHz",
            published=published_us(page),
            pivot=_BY_CLOCK,
            sweeps=(_OVER_CLOCK,) if page.operation == WRITE else (),
        )


def _board_mhz(row: Row) -> int:
    """The clock of the processor, which is AXI's."""
    return row.run.result.cores[0].hz // MHZ if row.run.result else 0


def _throughput(page: Page) -> Row:
    """The throughput as the program prints it: whole MB/s, cut."""
    where = {"kind": "sample-output", "mode": page.mode, "operation": page.operation}
    return derived(
        page,
        {},
        metric="throughput",
        simulated=int(PAGE_BYTES * 1_000_000 / MB_BYTES / page.time_us),
        unit="MB/s",
        label=f"{page.mode} {page.operation}, MB/s as printed",
        published=published.load(TABLE).find("throughput_MB_per_s", where),
        pivot=_THROUGHPUT,
    )
