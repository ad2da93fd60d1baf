"""Waits, compared with the sums by hand of docs/: the wire, a page program, a card's busy.

The characters of rpmsg-tty are in test_critical_path.py.
"""

from __future__ import annotations

from functools import cache

import pytest

from cyclescope import disks, firmware
from cyclescope.board import Board
from cyclescope.board.excerpts import excerpt
from cyclescope.board.outcome.kept_calls import Call
from cyclescope.board.results import RunResult, Section
from cyclescope.experiments.fat_write import DISK

KC705 = "kc705-axi-quad-spi"
PAGES = 16
# docs/quad-spi-throughput.md: clocks of a page in quad mode, and of the write enable before it.
WIRE_NS = 25 * (8 + 544)
# Its DMA: set-up, first word, through the engine, bursts.
DMA_NS = 10 * (10 + 6 + 3 + 16 * 23)
# The flash's data sheet.
PROGRAM_US = 500
BULK_ERASE_S = 170
# docs/fat-write.md: the card's busy after a lone block, and its visible part after a pair.
LONE_US, PAIR_US = 2351, 1834 - 626


def waits_ps(part: Call | Section, start: str) -> int:
    """For how long was waited for what begins so."""
    assert part.waits is not None
    return sum(entry.ps for entry in part.waits if entry.cause.startswith(start))


@cache
def quad_board() -> Board:
    settings = {"pages": PAGES, "timed": "page"}
    return Board(KC705).load(firmware.build_app("quad_spi_throughput", KC705, settings))


@cache
def quad_write() -> RunResult:
    return quad_board().run("400s", calls=["program_page"], longest_calls=PAGES)


def test_a_page_program_and_an_erase_are_waited_for_as_long_as_they_take() -> None:
    (core,) = quad_write().cores
    assert core.waits is not None
    times = {entry.cause: entry.ps for entry in core.waits}
    assert times["flash0: page program"] / 1e6 == pytest.approx(PAGES * PROGRAM_US, rel=0.01)
    assert times["flash0: bulk erase"] / 1e12 == pytest.approx(BULK_ERASE_S, rel=0.01)
    assert sum(times.values()) == sum(entry.ps for entry in core.stack)


def test_a_page_is_as_long_on_the_wire_as_its_clocks() -> None:
    (section,) = quad_write().cores[0].sections
    page = max(section.longest_calls or (), key=lambda call: call.number)
    tracks = excerpt(quad_board().start(), page.begin_ps, page.begin_ps + page.ps).tracks
    went_on = {
        f"{track.scope}: {track.name}": sum(span.end_ps - span.begin_ps for span in track.spans)
        for track in tracks
    }
    assert went_on["spi0: shifting"] / 1000 == pytest.approx(WIRE_NS, rel=0.01)
    assert went_on["dma0: DMA transfer"] / 1000 == pytest.approx(DMA_NS, rel=0.01)
    # the rest of the time is work: the driver writes the last words while the wire is busy
    own_ps = sum(entry.ps for entry in page.waits if entry.kind not in ("wire", "transfer"))
    for name, went_on_ps in went_on.items():
        if name in ("spi0: shifting", "dma0: DMA transfer"):
            assert 0 <= went_on_ps - waits_ps(page, name) <= own_ps
    assert sum(entry.ps for entry in page.waits) == page.ps


@pytest.mark.parametrize(
    ("bytes_a_call", "busy_us"),
    [("512", LONE_US), pytest.param("1024", PAIR_US, marks=pytest.mark.long)],
)
def test_a_card_is_waited_for_as_long_as_its_busy_shows(bytes_a_call: str, busy_us: int) -> None:
    settings = {"transfer": bytes_a_call, "file_bytes": 32768, "gap_s": 0, "write_order": "r006"}
    elf = firmware.build_app("fat_write", "nios2-mmc", settings)
    with disks.copy_of(disks.image(DISK)) as card:
        board = Board("nios2-mmc", {"card0.cyclescope,image": str(card)}).load(elf)
        result = board.run("60s", calls=["disk_write_through"], longest_calls=200)
    (section,) = result.cores[0].sections
    busy_ps = sorted(waits_ps(call, "card0: ") for call in section.longest_calls or ())
    # most are in the middle of the file
    assert busy_ps[len(busy_ps) // 2] / 1e6 == pytest.approx(busy_us, rel=0.01)
    assert sum(entry.ps for entry in section.waits or ()) == section.ps
