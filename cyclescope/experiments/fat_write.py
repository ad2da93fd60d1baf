"""FatFs writing files to an SD card over SPI: a blog's benchmark of f_write by transfer size.

One run writes 2 MiB eleven times, in calls of 64 to 65536 bytes, into a file that is deleted before
each. The document's FatFs is R0.06, which writes sectors in an order of its own; another run has
the order of current versions, and others compute no CRCs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from cyclescope.bench.experiment import Cell, Choice, Experiment, Run
from cyclescope.bench.results import Omission
from cyclescope.bench.rows import Causes, Row
from cyclescope.bench.views import Pivot, Sweep, Words
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED
from cyclescope.board.results import Settings, Value
from cyclescope.disks import Disk, Extent
from cyclescope.experiments import fat_write_follows, moments
from cyclescope.experiments.answers import listed, times
from cyclescope.experiments.fat_write_follows import ODD_SIZES

BOARD = "nios2-mmc"
APP = "fat_write"
TABLE = "fatfs_write_nios2"
LIMIT = "1000s"
# In the order of the runs: the order in which the card fills.
SIZES = (32768, 65536, 512, 4096, 1024, 64, 256, 768, 1280, 1636, 2048)

CARD_BYTES = 1900 * 2**20  # of "2 GB"
_FILE_BYTES = 2**21
_FAT_SECTOR = 256  # clusters: 512 bytes with 2 for each
_FIRST_CLUSTER = 2  # of a volume
_FIRST_FREE = 132  # beyond the first 4 MiB of the card
# For a card with free space in fragments: the first file's clusters, the number of FAT sectors over
# which they are scattered, and the first cluster of the last sector after which all is free.
_FIRST_FILE, _FAT_SECTORS, _CONTIGUOUS = 64, 5, 224

# The contents of the author's card are unknown: all is free after its first 4 MiB, as cards treat
# the place of a file system's tables differently.
DISK = Disk(CARD_BYTES, extents=(Extent(_FIRST_FREE - _FIRST_CLUSTER, 0),))


def scattered_card(fragments: int = 12) -> Disk:
    """A card with free space in fragments for the first file, and in one piece after it.

    By the document's occurrences its first file, of 64 clusters, crossed from one FAT sector to
    another four times, so it was scattered over five. With twelve fragments, its total is the
    published one.
    """
    parts = [_FIRST_FILE // fragments + (n < _FIRST_FILE % fragments) for n in range(fragments)]
    sectors = [n * _FAT_SECTORS // fragments for n in range(fragments)]
    extents = []
    cluster = _FIRST_CLUSTER
    for number, (part, sector) in enumerate(zip(parts, sectors, strict=True)):
        apart = (_CONTIGUOUS - _FIRST_FREE) // sectors.count(sector)
        start = sector * _FAT_SECTOR + _FIRST_FREE + (number - sectors.index(sector)) * apart
        extents.append(Extent(start - cluster, part))
        cluster = start + part
    rest = (_FAT_SECTORS - 1) * _FAT_SECTOR + _CONTIGUOUS - cluster
    return Disk(CARD_BYTES, extents=(*extents, Extent(rest, 0)))


def slot(settings: Settings) -> str:
    """The card of the controller that the app is to use."""
    return f"{'card1' if settings['port'] == 'spi' else 'card0'}.cyclescope,image"


def files(settings: Settings) -> Mapping[str, bytes]:
    """The files on the card in the end: the last size's file, or that of each size."""
    written = _written(settings)
    if settings["files"] == "each":
        return {f"W{size}.BIN": contents for size, contents in written.items()}
    return {"BENCH.BIN": list(written.values())[-1]}


def deleted(settings: Settings) -> Sequence[bytes]:
    """The contents of the earlier sizes' files, in their order, if each was deleted."""
    return () if settings["files"] == "each" else list(_written(settings).values())[:-1]


def _written(settings: Settings) -> Mapping[int, bytes]:
    """The bytes written in calls of each size: the start of the buffer, in whole calls."""
    file_bytes, chosen = int(settings["file_bytes"]), settings["transfer"]
    data = buffer(file_bytes + max(SIZES))
    return {
        size: data[: -(-file_bytes // size) * size]
        for size in SIZES
        if chosen in ("all", str(size))
    }


@cache
def buffer(size_bytes: int) -> bytes:
    """The bytes that the app writes: the high bytes of a linear congruential generator."""
    filled = bytearray(size_bytes)
    x = 1
    for place in range(len(filled)):
        x = (x * 1664525 + 1013904223) % 2**32
        filled[place] = x >> 24
    return bytes(filled)


def _odd_totals(rows: Sequence[Row]) -> tuple[list[Row], list[Row]] | None:
    """The totals of the odd sizes in R0.06's order of writes and in the current one."""
    totals = {
        (row.settings["write_order"], row.settings["transfer"]): row
        for row in rows
        if row.metric == "total_time" and row.settings.get("crc") != "off"
    }
    old, new = (
        [totals[order, size] for size in ODD_SIZES if (order, size) in totals]
        for order in ("r006", "current")
    )
    return (old, new) if len(old) == len(new) == len(ODD_SIZES) else None


def _findings(rows: Sequence[Row]) -> Iterable[str]:
    """The cost of the order of writes, of copies and of CRCs, with the numbers."""
    yield from _what_the_order_costs(rows)
    yield from fat_write_follows.findings(rows)


def _what_the_order_costs(rows: Sequence[Row]) -> Iterable[str]:
    orders = _odd_totals(rows)
    if orders is None:
        return
    old, new = ([row.simulated for row in found] for found in orders)
    published = [row.published for row in orders[0]]
    measured = f" (published: {_seconds(published)})" if None not in published else ""
    yield (
        f"Calls of {listed(ODD_SIZES)} bytes take {_seconds(old)} in the write order of FatFs "
        f"R0.06{measured}, which writes whole sectors directly from the caller's buffer before it "
        "flushes the older one in its own, so that the card must return to an earlier block each "
        f"time. Later versions flush first: the same calls then take {_seconds(new)}, the gain of "
        "an update of FatFs."
    )


def _answer(rows: Sequence[Row]) -> str:
    orders = _odd_totals(rows)
    if orders is None:
        return ""
    old, new = ([row.simulated for row in found] for found in orders)
    return (
        f"Calls of {listed(ODD_SIZES)} bytes take {_seconds(old)} in the write order of FatFs "
        f"R0.06 and {_seconds(new)} in that of current versions: a newer FatFs is "
        f"{listed([times(slow, fast) for slow, fast in zip(old, new, strict=True)])} times as fast."
    )


def _seconds(values: Sequence[float | None]) -> str:
    return f"{listed([f'{value:.4g}' for value in values if value is not None])} s"


def _run(write_order: str, **settings: Value) -> Run:
    return Run(
        APP,
        BOARD,
        {"write_order": write_order} | settings,
        limit=LIMIT,
        disk=DISK,
        slot=slot,
        files=files,
        deleted=deleted,
    )


def _counted(run: Run) -> Run:
    return replace(run, watched=fat_write_follows.WATCHED, windows=fat_write_follows.WINDOWS)


def _runs() -> Iterable[Run]:
    yield _counted(replace(_run("r006"), documented=True))
    yield _counted(_run("current"))
    # an eighth of each file is enough for the rates
    yield _run("r006", crc="off", file_bytes=_FILE_BYTES // 8)
    yield replace(_run("r006", crc="off"), is_extra=True)


_WORDS = (
    Words("transfer", "call", form="{} B"),
    Words("write_order", "writes in", (("r006", "R0.06's order"), ("current", "current order"))),
    Words(
        "metric",
        "section",
        (
            ("xmit_time", "xmit"),
            ("crc_time", "CRC"),
            ("busy_time", "busy"),
            ("xmit_occurrences", "xmit"),
            ("crc_occurrences", "CRC"),
            ("total_time", "total"),
        ),
    ),
)
_LINES = ("write_order", "transfer")
_WITH_CRCS = (("crc", ("computed", "on")),)


def _pivot(title: str, lines: tuple[str, ...], column: str) -> Pivot:
    return Pivot(title, lines, (column,), values=True, words=_WORDS, where=_WITH_CRCS)


_TIME = _pivot("Total time, s", ("transfer",), "write_order")
_SECTION_TIMES = _pivot("Time of sections, s", _LINES, "metric")
_CALLS = _pivot("Occurrences of sections", _LINES, "metric")
_NO_CRCS = Pivot(
    "Without CRCs, s and occurrences",
    ("file_bytes", "transfer"),
    ("metric",),
    values=True,
    words=(*_WORDS, Words("file_bytes", "file", form="{} B")),
    where=(("crc", ("off",)),),
)
_TOTAL = Sweep(
    title="Total time by transfer size",
    x="transfer",
    x_title="bytes a call",
    line="write_order",
    y_title="seconds",
    published="published",
    log=True,
    words=_WORDS,
    where=_WITH_CRCS,
)
_SECTIONS = replace(
    _TOTAL,
    title="Where the time goes by transfer size",
    line="metric",
    each="write_order",
    published=None,
)


def _counts_as(metric: str, settings: Settings) -> str:
    """The independent number that a cell stands for.

    Each block has a CRC, so both sections have the same occurrences; calls of at most a sector, and
    of one and a half, write block by block, so their occurrences are equal as well, and the first
    three take the same time. The times of both sections are these occurrences times a time a block:
    one of xmit, and two of CRC, as the document's differ by an eighth between blocks alone and in a
    row.
    """
    size = int(settings["transfer"])
    if metric.endswith("occurrences"):
        return f"occurrences of {512 if size <= 768 else size} B"
    if metric == "total_time":
        return f"total of {512 if size <= 512 else size} B"
    if metric == "crc_time":
        return "time of a CRC, block by block" if size <= 512 else "time of a CRC"
    return metric


def _parts(metric: str, _: Settings) -> Causes | None:
    """Each size has a call of the timed function."""
    return Causes(fat_write_follows.LOOP) if metric == "total_time" else None


def _cell(metric: str, label: str, key: str | None, pivot: Pivot, *sweeps: Sweep) -> Cell:
    return Cell(
        APP,
        metric=metric,
        label=f"{{transfer}} B {label}",
        key=key,
        where={"kind": "fwrite"},
        measured={"transfer": "transfer_bytes"},
        timed=(fat_write_follows.LOOP,) if metric == "total_time" else (),
        pivots=(pivot, _NO_CRCS),
        sweeps=sweeps,
        parts=partial(_parts, metric),
        counts_as=partial(_counts_as, metric),
    )


def _set(run: Run, **overrides: int) -> Run:
    return run.changed(overrides=overrides)


def _in_short(run: Run) -> Run:
    """An eighth of each file: whole clusters, calls of each size, address breaks as often."""
    return run.changed({"file_bytes": _FILE_BYTES // 8})


CHOICES = (
    # Other forms of a bitwise loop take fewer clocks: this one matches the document's.
    Choice(
        what="the SD driver",
        name="form of the CRC routine",
        value="compares a bit of the data with the CRC's top bit",
        basis=CALIBRATED,
        source="65536 B CRC time: the document prints its clocks and not the routine; the slowest "
        "of three bitwise loops was kept",
        alternative="takes in a byte of the data at once, then shifts bit by bit",
        change=lambda run: run.changed({"crc_form": "xor"}),
    ),
    Choice(
        what="the card",
        name="free space",
        value="in one piece after the first 4 MiB",
        basis=ASSUMED,
        source="the author's card is unknown: the simplest",
        alternative="in twelve fragments over five FAT sectors for the first file",
        change=lambda run: replace(run, disk=scattered_card()),
        is_whole=True,
    ),
    Choice(
        what="the core",
        name="data cache",
        value="2 KiB",
        basis=ASSUMED,
        source="the document does not give it: what the tools of its time offered first",
        alternative="64 KiB",
        change=lambda run: _set(run, **{"cpu0.d-cache-size": 65536, "cpu0.d-cache-sets": 2048}),
    ),
    Choice(
        what="the core",
        name="instruction cache",
        value="4 KiB",
        basis=ASSUMED,
        source="the document does not give it: what the tools of its time offered first",
        alternative="64 KiB",
        change=lambda run: _set(run, **{"cpu0.i-cache-size": 65536, "cpu0.i-cache-sets": 2048}),
    ),
    Choice(
        what="the SDRAM",
        name="width",
        value="16 bits",
        basis=ASSUMED,
        source="the document does not give it: boards of the kind have one chip of 16 bits",
        alternative="32 bits",
        change=lambda run: _set(run, **{"sdram.cyclescope,beat-bytes": 4}),
    ),
)

LEFT_OUT = (
    Omission(
        what="what was on the author's card",
        why="the occurrences of 32768 B show that its file crossed from one FAT sector to another "
        "four times, so it was scattered; each gap is an address break",
        effect_pct=15,
        cells="total of 32768 B; its occurrences by 0.6 %",
        estimate="the choice's alternative, run: 11 more address breaks take 0.6 of 4.1 s",
    ),
    Omission(
        what="how the card moves what is left of a page",
        why="a controller that moves bytes with its own instructions is a guess: a card may do "
        "part of it later, or at once for several pages",
        effect_pct=12,
        cells="totals of 512, 256, 64 and 1024 B",
        estimate="busy times after a lone block and after a pair are 503 and 475 us for each "
        "missing sector; a block of 128 pages that fills up with parts of them would take 580 us "
        "more for each, once",
    ),
    Omission(
        what="Nios II's compiler and instruction set",
        why="a Nios V represents it: GCC 3.4 made other loops of the CRC and the polling",
        effect_pct=10,
        cells="CRC times, and totals that they limit; xmit times by 2 to 3 %",
        estimate="three forms of the loop take 77 to 121 clocks a byte; a polling loop with one "
        "more instruction sees the end up to 10 clocks of 67 later",
    ),
    Omission(
        what="why a break after a multi-block command costs more",
        why="late flushes cost 136 ms among lone writes and 154 ms among multi-block commands; no "
        "document has a mechanism",
        effect_pct=6,
        cells="totals of 768, 1280 and 1636 B",
        estimate="published totals by their number of late flushes",
    ),
    Omission(
        what="row misses and refresh of the SDRAM",
        why="each burst costs the same; a refresh of 8 clocks every 15.6 us, and rows that change "
        "between code and data",
        effect_pct=1,
        cells="CRC times and totals",
        estimate="8 of 1545 clocks a refresh is 0.5 %; 16 fills a block at up to 9 clocks in 62000",
    ),
)

EXPERIMENT = Experiment(
    name="fat-write",
    title="FatFs f_write on an SD card over SPI",
    moments=(moments.FAT_WRITE,),
    published=TABLE,
    runs=tuple(_runs()),
    cells=(
        _cell("total_time", "total", "total_time_s", _TIME, _TOTAL),
        _cell("xmit_time", "xmit time", "xmit_time_s", _SECTION_TIMES, _SECTIONS),
        _cell("crc_time", "CRC time", "crc_time_s", _SECTION_TIMES, _SECTIONS),
        _cell("busy_time", "busy time", None, _SECTION_TIMES, _SECTIONS),
        _cell("xmit_occurrences", "xmit occurrences", "xmit_occurrences", _CALLS),
        _cell("crc_occurrences", "CRC occurrences", "crc_occurrences", _CALLS),
    ),
    notes=(
        "The document's processor is a Nios II; here a Nios V class RV32IM core represents it. "
        "Its FatFs is R0.06; here R0.15 runs, with R0.06's order of writes restored below it "
        "(write_order=r006).",
        "The document does not print its CRC routine. The routine here takes a bit at a time, as "
        "the document's clocks show. It was chosen among such loops because of those clocks, so it "
        "counts as fitted.",
        "The contents of the author's card are unknown. On the card here all is free after its "
        "first 4 MiB, so the first file, of 32768 bytes a call, is in one piece; by the document's "
        "occurrences the author's was not, and took longer.",
        "After each run the card's file system must be sound. The file of the last size must hold "
        "what was written, byte for byte, as read by other code than the FatFs that wrote it; the "
        "deleted files of the earlier sizes must have left their contents in their clusters.",
        "Counts of f_write's operations are calls of the program's functions. Beside them are "
        "numbers that follow from the document's occurrences and FatFs's code; it prints none of "
        "them.",
    ),
    choices=CHOICES,
    left_out=LEFT_OUT,
    short_form=_in_short,
    derived=fat_write_follows.rows,
    derived_pivots=fat_write_follows.PIVOTS,
    findings=_findings,
    question="Why does f_write crawl with calls that are no multiple of a sector, and would a "
    "newer FatFs help?",
    answer=_answer,
)
