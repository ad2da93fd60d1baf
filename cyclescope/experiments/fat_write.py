"""FatFs writing files to an SD card over SPI: a blog's benchmark of f_write by transfer size.

One run writes 2 MiB eleven times, in calls of 64 to 65536 bytes, each into its own file on one
card. The document's FatFs is R0.06, which writes sectors in an order of its own; the other run has
the order of current versions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from cyclescope.disks import Disk, Extent
from cyclescope.experiment import Cell, Experiment, Run, fitted
from cyclescope.experiments.answers import listed, times
from cyclescope.results import Row, Settings
from cyclescope.views import Pivot, Sweep, Words

BOARD = "nios2-mmc"
APP = "fat_write"
TABLE = "fatfs_write_nios2"
LIMIT = "1000s"
# In the order of the runs: the order in which the card fills.
SIZES = (32768, 65536, 512, 4096, 1024, 64, 256, 768, 1280, 1636, 2048)
# Calls that leave a part of a sector behind: where the order of writes matters.
ODD_SIZES = (768, 1280, 1636)

CARD_BYTES = 1900 * 2**20  # of "2 GB"
_FAT_SECTOR = 256  # clusters: 512 bytes with 2 for each
_FIRST_FILE = 64  # clusters
_FIRST_FREE = 132  # beyond the first 4 MiB of the card
# Fitted: over how many FAT sectors the first file is scattered, and in how many fragments.
_FAT_SECTORS = 5
_FRAGMENTS = 12
# Fitted: where all is free from here on, in the last of them: 193 to 253 give the same occurrences.
_CONTIGUOUS = 224


def used_card(fragments: int = _FRAGMENTS) -> Disk:
    """A card like the author's, as far as the document's numbers tell what was on it.

    The first file crossed from one FAT sector to another four times: its clusters were scattered
    over five of them, here in so many fragments. The files after it lay one behind the other: the
    second, sixth and tenth crossed once, the others never. What was chosen so is in `CHOICES`.
    """
    parts = [_FIRST_FILE // fragments + (n < _FIRST_FILE % fragments) for n in range(fragments)]
    sectors = [n * _FAT_SECTORS // fragments for n in range(fragments)]
    extents = []
    cluster = 2  # the first of a volume
    for number, (part, sector) in enumerate(zip(parts, sectors, strict=True)):
        apart = (_CONTIGUOUS - _FIRST_FREE) // sectors.count(sector)
        start = sector * _FAT_SECTOR + _FIRST_FREE + (number - sectors.index(sector)) * apart
        extents.append(Extent(start - cluster, part))
        cluster = start + part
    rest = (_FAT_SECTORS - 1) * _FAT_SECTOR + _CONTIGUOUS - cluster
    return Disk(CARD_BYTES, extents=(*extents, Extent(rest, 0)))


def slot(settings: Settings) -> str:
    """The card behind the controller that the app is to use."""
    return f"{'card1' if settings['port'] == 'spi' else 'card0'}.cyclescope,image"


def files(settings: Settings) -> Mapping[str, bytes]:
    """What each size's file holds: the buffer's beginning, in whole calls."""
    file_bytes, chosen = int(settings["file_bytes"]), settings["transfer"]
    data = buffer(file_bytes + max(SIZES))
    return {
        f"W{size}.BIN": data[: -(-file_bytes // size) * size]
        for size in SIZES
        if chosen in ("all", str(size))
    }


@cache
def buffer(size_bytes: int) -> bytes:
    """What the app writes: the high bytes of a linear congruential generator."""
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
        if row.metric == "total_time"
    }
    old, new = (
        [totals[order, size] for size in ODD_SIZES if (order, size) in totals]
        for order in ("r006", "current")
    )
    return (old, new) if len(old) == len(new) == len(ODD_SIZES) else None


def _findings(rows: Sequence[Row]) -> Iterable[str]:
    """What the order of writes costs, with the numbers beside each other."""
    orders = _odd_totals(rows)
    if orders is None:
        return
    old, new = ([row.simulated for row in found] for found in orders)
    published = [row.published for row in orders[0]]
    measured = f" (published: {_seconds(published)})" if None not in published else ""
    yield (
        f"Calls of {listed(ODD_SIZES)} bytes take {_seconds(old)} in the write order of FatFs "
        f"R0.06{measured}, which writes whole sectors straight from the caller's buffer before it "
        "flushes the older one in its own, so that the card must go back behind its open block "
        f"each time. Later versions flush first: the same calls then take {_seconds(new)}, which "
        "is what an update of FatFs would have brought."
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


def _run(write_order: str, documented: bool = False) -> Run:
    settings = {"write_order": write_order}
    return Run(
        *(APP, BOARD, settings),
        documented=documented,
        limit=LIMIT,
        disk=used_card(),
        slot=slot,
        files=files,
    )


_WORDS = (
    Words("transfer", "call", form="{} B"),
    Words("write_order", "writes in", (("r006", "R0.06's order"), ("current", "current order"))),
    Words(
        "metric",
        "section",
        (
            *(("xmit_time", "xmit"), ("crc_time", "CRC"), ("busy_time", "busy")),
            *(("xmit_occurrences", "xmit"), ("crc_occurrences", "CRC")),
        ),
    ),
)
_LINES = ("write_order", "transfer")
_TIME = Pivot("Total time, s", ("transfer",), ("write_order",), values=True, words=_WORDS)
_SECTION_TIMES = Pivot("Time of sections, s", _LINES, ("metric",), values=True, words=_WORDS)
_CALLS = Pivot("Occurrences of sections", _LINES, ("metric",), values=True, words=_WORDS)
_TOTAL = Sweep(
    title="Total time by transfer size",
    x="transfer",
    x_title="bytes a call",
    line="write_order",
    y_title="seconds",
    published="published",
    log=True,
    words=_WORDS,
)
_SECTIONS = replace(
    _TOTAL,
    title="Where the time goes by transfer size",
    line="metric",
    each="write_order",
    published=None,
)


def _cell(metric: str, label: str, key: str | None, pivot: Pivot, *sweeps: Sweep) -> Cell:
    return Cell(
        APP,
        metric=metric,
        label=f"{{transfer}} B {label}",
        key=key,
        where={"kind": "fwrite"},
        measured={"transfer": "transfer_bytes"},
        timed=("write_file",) if metric == "total_time" else (),
        pivots=(pivot,),
        sweeps=sweeps,
    )


_CARD = "what is on the card"


def _occurrences(size: int) -> str:
    """The two cells that are the same number: for each CRC a block is sent."""
    return f"{size} B xmit occurrences, {size} B CRC occurrences"


CHOICES = (
    fitted(_CARD, "fragments of the first file", _FRAGMENTS, "32768 B total"),
    fitted(_CARD, "FAT sectors of the first file", _FAT_SECTORS, _occurrences(32768)),
    fitted(_CARD, "clusters before the free space", _CONTIGUOUS, _occurrences(65536)),
    # Other forms of a bitwise loop take less: this one was chosen by the document's clocks.
    fitted(
        "the SD driver", "form of the CRC routine", "a bit at a time, by a mask", "65536 B CRC time"
    ),
)

EXPERIMENT = Experiment(
    name="fat-write",
    title="FatFs f_write on an SD card over SPI",
    published=TABLE,
    runs=(_run("r006", documented=True), _run("current")),
    cells=(
        _cell("total_time", "total", "total_time_s", _TIME, _TOTAL),
        _cell("xmit_time", "xmit time", "xmit_time_s", _SECTION_TIMES, _SECTIONS),
        _cell("crc_time", "CRC time", "crc_time_s", _SECTION_TIMES, _SECTIONS),
        _cell("busy_time", "busy time", None, _SECTION_TIMES, _SECTIONS),
        _cell("xmit_occurrences", "xmit occurrences", "xmit_occurrences", _CALLS),
        _cell("crc_occurrences", "CRC occurrences", "crc_occurrences", _CALLS),
    ),
    notes=(
        "The document's processor is a Nios II; here a Nios V class RV32IM core stands in for it. "
        "Its FatFs is R0.06; here R0.15 runs, with R0.06's order of writes restored below it "
        "(write_order=r006).",
        "The document does not print its CRC routine. The one here takes a bit at a time, as the "
        "document's clocks show. Among such loops it was chosen with those clocks in view, so it "
        "counts as fitted.",
        "What was on the author's card is not known: what is on the one here is fitted. Its free "
        "space lies so that FAT sectors are written as often as the document's occurrences show "
        "for 32768 and 65536 bytes (xmit and CRC alike; those for 64 and 1636 bytes follow), and "
        "the number of fragments of the first file sets the total for 32768 bytes.",
        "After each run the card's file system must be sound, and all files must hold what was "
        "written, byte for byte, as read by others than the FatFs that wrote them.",
    ),
    choices=CHOICES,
    findings=_findings,
    question="Why does f_write crawl with calls that are no multiple of a sector, and would a "
    "newer FatFs help?",
    answer=_answer,
)
