"""What follows from the cells of `rhealstone`: its table's ratios and its section 5, in numbers.

The note summarises the speed of code from the flash relative to the other memories, and the gain of
the caches, as ranges over its operations and loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cyclescope.bench import published
from cyclescope.bench.rows import DERIVED, Row
from cyclescope.bench.views import Pivot, Words
from cyclescope.board.results import Value

TABLE = "sama5d2_qspi"
MANY = 50000
# The note's operations, and those of Kar's six that it leaves out.
PUBLISHED_OPERATIONS = ("interrupt-latency", "task-preempt", "task-switch")
OTHER_OPERATIONS = ("semaphore-shuffle", "deadlock-break", "message-latency")
# Cells by operation, memory, caches and loops: those of the table, at the note's clock.
_Cells = Mapping[tuple[Value, ...], Row]
# A number from a cell and others; None if those are missing.
_Quotient = Callable[[_Cells, Row], float | None]

# The note's clock: MCK / 3, 55.3 MHz.
DIVIDER = 3

_RATIOS = Pivot(
    "Table 4-1: cycles of code in QSPI over those of code elsewhere",
    ("cache", "operation", "loops"),
    ("versus",),
    values=True,
    words=(
        Words("versus", "memory", (("sram", "QSPI/SRAM"), ("ddr", "QSPI/DDR3L"))),
        Words("cache", "caches and MMU"),
    ),
    digits=3,
)
_RANGES = Pivot(
    "Section 5: how fast code in QSPI is",
    ("scope", "versus"),
    ("bound",),
    values=True,
    words=(
        Words("versus", "compared with"),
        Words("bound", "over the note's operations", (("min", "least"), ("max", "most"))),
    ),
    digits=3,
)

_HITS = Pivot(
    "Caches hit: cycles of code in QSPI over those of code elsewhere",
    ("versus",),
    ("bound",),
    values=True,
    words=(*_RATIOS.words[:1], *_RANGES.words[1:]),
    digits=3,
)

# The tables of the rows that follow, by metric.
PIVOTS = {"ratio": _RATIOS, "hit_ratio": _HITS, "percent": _RANGES, "improvement": _RANGES}


@dataclass(frozen=True)
class _Range:
    """A range of section 5 over the cells with the caches `cache` and `loops`.

    `scope` and `versus` are the table's words for it; its ends are under `key` with _min, _max.
    """

    scope: str
    versus: str
    cache: str
    loops: tuple[int, ...]
    of: _Quotient
    key: str = "percent"
    unit: str = "%"


def rows(found: Sequence[Row]) -> Iterator[Row]:
    """The rows that follow from the cells: ratios of two, then the ends of ranges over many."""
    cells = _cells(found)
    ratios = [
        ratio
        for row in cells.values()
        if row.settings["memory"] == "qspi"
        for ratio in _ratios(cells, row)
    ]
    yield from ratios
    yield from _hit_ranges(ratios)
    for wanted in _RANGE_LIST:
        yield from _ends(cells, wanted)


def findings(found: Sequence[Row]) -> Iterator[str]:
    """The conclusions of section 5, with the numbers here."""
    speeds = _speeds(found)
    if speeds:
        yield f"{speeds}: code that fits the caches needs no DDR."
    ends = [row for row in rows(found) if row.metric == "hit_ratio"]
    if len(ends) == 4:
        ratios = [
            f"{low.simulated:.3f} to {high.simulated:.3f}" for low, high in (ends[:2], ends[2:])
        ]
        yield (
            "The note finds QSPI as fast as SRAM and DDR3L when caches hit: here an operation "
            f"takes {ratios[0]} times as long as from SRAM, {ratios[1]} times as long as from "
            "DDR3L."
        )


def answer(found: Sequence[Row]) -> str:
    """How fast code from the flash is, in a sentence."""
    speeds = _speeds(found)
    return f"{speeds}." if speeds else ""


def _speeds(found: Sequence[Row]) -> str:
    """The speed of code from the flash relative to code in SRAM; empty if cells are missing."""
    cells = _cells(found)
    hits = list(_quotients(cells, _RANGE_LIST[-1]))
    misses = list(_quotients(cells, _RANGE_LIST[2]))
    uncached = list(_quotients(cells, _RANGE_LIST[0]))
    if not (hits and misses and uncached):
        return ""
    return (
        f"With all in the caches, code in QSPI runs at {_percent(hits)} of its speed in SRAM; when "
        f"they miss at {_percent(misses)}, without them at {_percent(uncached)}"
    )


def _percent(values: Sequence[float]) -> str:
    least, most = round(min(values)), round(max(values))
    return f"{least} %" if least == most else f"{least} to {most} %"


def _cells(found: Iterable[Row]) -> _Cells:
    names = ("operation", "memory", "cache", "loops")
    return {
        tuple(row.settings[name] for name in names): row
        for row in found
        if row.metric == "cycles"
        and row.basis != DERIVED
        and row.settings.get("tick") == "on"
        and row.settings.get("spck_divider", DIVIDER) == DIVIDER
        and row.settings["loops"] in (1, MANY)
    }


def _beside(cells: _Cells, row: Row, **other: Value) -> Row | None:
    """The cell with other settings."""
    names = ("operation", "memory", "cache", "loops")
    return cells.get(tuple((dict(row.settings) | other)[name] for name in names))


def _ratios(cells: _Cells, row: Row) -> Iterator[Row]:
    for versus, key in (("sram", "ratio_qspi_over_sram"), ("ddr", "ratio_qspi_over_ddr3l")):
        other = _beside(cells, row, memory=versus)
        if other is None:
            continue
        where = {
            "kind": "table-4-1-ratio",
            "benchmark": row.settings["operation"],
            "cache_mmu": row.settings["cache"] == "on",
            "loops": row.settings["loops"],
        }
        known = row.published is not None
        yield row.following(
            settings=dict(row.settings) | {"versus": versus},
            metric="ratio",
            unit="",
            simulated=round(row.simulated / other.simulated, 3),
            published=published.load(TABLE).find(key, where) if known else None,
            digits=None,
            basis=DERIVED,
            label=f"{row.label}, QSPI/{versus}",
            pivot=_RATIOS,
            sweeps=(),
        )


def _hit_ranges(ratios: Sequence[Row]) -> Iterator[Row]:
    """The ends of the ratios when caches hit: the note's "same as that of SRAM and DDR3L"."""
    for versus in ("sram", "ddr"):
        wanted = {"cache": "on", "loops": MANY, "versus": versus}
        hits = [
            row
            for row in ratios
            if wanted.items() <= row.settings.items()
            and row.settings["operation"] in PUBLISHED_OPERATIONS
        ]
        known = [row.published for row in hits if row.published is not None]
        for bound, end in (("min", min), ("max", max)):
            if hits:
                yield hits[0].following(
                    settings={"versus": versus, "bound": bound},
                    metric="hit_ratio",
                    simulated=end(row.simulated for row in hits),
                    published=end(known) if len(known) == len(hits) else None,
                    label=f"cache-hit QSPI/{versus}, {bound}",
                    pivot=_HITS,
                )


def _speed_against(memory: str) -> _Quotient:
    """The speed of code in QSPI, in percent of its speed in another memory."""

    def of(cells: _Cells, row: Row) -> float | None:
        other = _beside(cells, row, memory=memory)
        return None if other is None else other.simulated / row.simulated * 100

    return of


def _gain(cells: _Cells, row: Row) -> float | None:
    """The speed relative to a run without caches."""
    other = _beside(cells, row, cache="off")
    return None if other is None else other.simulated / row.simulated


_RANGE_LIST = (
    _Range("no-cache", "SRAM", "off", (1, MANY), _speed_against("sram")),
    _Range("no-cache", "DDR3L", "off", (1, MANY), _speed_against("ddr")),
    _Range("cache-miss", "SRAM", "on", (1,), _speed_against("sram")),
    _Range("cache-miss", "DDR3L", "on", (1,), _speed_against("ddr")),
    _Range("cache-miss", "no-cache QSPI", "on", (1,), _gain, "improvement", "times"),
    _Range("cache-hit", "no-cache QSPI", "on", (MANY,), _gain, "improvement", "times"),
    _Range("cache-hit", "SRAM and DDR3L", "on", (MANY,), _speed_against("sram")),
)


def _quotients(cells: _Cells, wanted: _Range) -> Iterator[float]:
    for row in cells.values():
        settings = row.settings
        if (
            settings["memory"] == "qspi"
            and settings["operation"] in PUBLISHED_OPERATIONS
            and settings["cache"] == wanted.cache
            and settings["loops"] in wanted.loops
            and (quotient := wanted.of(cells, row)) is not None
        ):
            yield quotient


def _ends(cells: _Cells, wanted: _Range) -> Iterator[Row]:
    quotients = list(_quotients(cells, wanted))
    if not quotients:
        return
    first = next(iter(cells.values()))
    where = {"kind": "conclusion", "scope": wanted.scope, "versus": wanted.versus}
    for bound, value in (("min", min(quotients)), ("max", max(quotients))):
        yield first.following(
            settings={"scope": wanted.scope, "versus": wanted.versus, "bound": bound},
            metric=wanted.key,
            unit=wanted.unit,
            simulated=round(value, 3),
            published=published.load(TABLE).find(f"{wanted.key}_{bound}", where),
            digits=None,
            basis=DERIVED,
            label=f"{wanted.scope} QSPI against {wanted.versus}, {bound}",
            pivot=_RANGES,
            sweeps=(),
        )
