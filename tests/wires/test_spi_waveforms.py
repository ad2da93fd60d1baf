"""Waveforms of SPI controllers whose models have clocks, not pins."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import ROOT
from sama5d2 import build as build_sama5d2
from waveforms import (
    NEEDS_SIGROK,
    annotations,
    decode_spi,
    edges,
    only_scope,
    unit_ps,
    without_pauses,
)

import cyclescope as package
from cyclescope import firmware
from cyclescope.board import board_tree, shipped_boards
from cyclescope.board.description.devicetree import Node
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import RunResult

# Chips on SPI wires.
CHIPS = {"jedec,spi-nor", "mmc-spi-slot", "atmel,at86rf230", "atmel,at86rf231"}
# Boards without any.
NO_CHIPS = {
    name
    for name in shipped_boards()
    if name.startswith(("minimal-", "nucleo-", "stm32f4-", "stm32mp157c-"))
}
# Modes of the AXI Quad SPI core. The program writes and reads with the address on one line.
SPI_MODES = {"standard": 0, "dual": 1, "quad": 2}
PAGE_PROGRAM, FAST_READ = 0x02, 0x0B
HEADER_CLOCKS = 8 + 24
DUMMY_CLOCKS = 8


@dataclass(frozen=True)
class Case:
    """A program on a board, and the SPI buses that it uses."""

    name: str
    board: str
    buses: tuple[str, ...]
    overrides: tuple[tuple[str, OverrideValue], ...] = ()

    def elf(self) -> Path:
        kind, _, setting = self.name.partition(":")
        match kind:
            case "throughput":
                settings = {"mode": setting, "pages": 2}
                return firmware.build_app("quad_spi_throughput", self.board, settings)
            case "xip":
                return firmware.build_app("xip_read", self.board, {"bytes": 64})
            case "cards":
                return cards()
            case "qspi":
                return build_sama5d2(setting, {"continuous_read": "off"})
            case "in place":
                return firmware.build_app("hello", self.board, {})
            case _:
                settings = {"stack": "spi-jz4740-ssi", "operation": "identify"}
                return firmware.build_app("bitbang_spi", self.board, settings)


def cards() -> Path:
    app = firmware.App(
        name="card_blocks",
        include=(),
        sources=(
            str(ROOT / "tests" / "firmware" / "card_blocks.c"),
            "drivers/sd_card.c",
            "drivers/sd_spi.c",
            "runtime/string.c",
            "drivers/sd_port_avalonif.c",
            "drivers/sd_port_altr_spi.c",
        ),
        settings={},
        crates=(),
    )
    return firmware.build(firmware.app_recipe(app, "nios2-mmc", {}))


# An erased flash after a millisecond, and SCK at 50 MHz.
QUICK = (("flash0.cyclescope,bulk-erase-typical-ms", 1), ("spi0.clock-frequency", 50_000_000))
KC705 = "kc705-axi-quad-spi"
# Both cards are up in a millisecond.
READY = tuple((f"card{number}.cyclescope,initialisation-us", 1000) for number in (0, 1))
CARDS = Case("cards", "nios2-mmc", ("mmc0", "spi0"), READY)
CASES = [
    *(
        Case(f"throughput:{mode}", KC705, ("spi0",), (("spi0.xlnx,spi-mode", number), *QUICK))
        for mode, number in SPI_MODES.items()
    ),
    Case("xip", KC705, ("spi0",), (("spi0.xlnx,xip-mode", 1),)),
    CARDS,
    Case("qspi:spi_mode", "sama5d2-xplained", ("qspi0",)),
    Case("qspi:memory_mode", "sama5d2-xplained", ("qspi0",)),
    Case("in place", "picosoc-icebreaker", ("spi0",)),
    Case("in place", "picosoc-hx8k", ("spi0",)),
    Case("identify", "ben-nanonote-ssi", ("ssi",)),
]
EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.board}-{case.name}")


@cache
def run(case: Case, skip_polling: bool = True) -> RunResult:
    return (
        package.Board(case.board, dict(case.overrides))
        .load(case.elf())
        .run(skip_polling=skip_polling)
    )


def record(case: Case, vcd: Path, skip_polling: bool = True) -> RunResult:
    signals = [f"{bus}.*" for bus in case.buses]
    return (
        package.Board(case.board, dict(case.overrides))
        .load(case.elf())
        .run(skip_polling=skip_polling, vcd=vcd, vcd_signals=signals)
    )


def untimed(result: RunResult) -> RunResult:
    return replace(result, wall_ns=0)


@pytest.mark.parametrize("board", shipped_boards())
def test_every_controller_of_a_chip_has_wires_to_record(board: str) -> None:
    controllers = [
        node.labels[0]
        for node in board_tree(board).walk()
        if any(CHIPS & compatibles(child) for child in node.children)
    ]
    wires = Counter(scope for scope, *_ in package.Board(board)._machine.wave_signals())
    # a clock, two lines of data, a select
    assert [label for label in controllers if wires[label] < 4] == []
    assert controllers or board in NO_CHIPS


def compatibles(node: Node) -> set[str]:
    known = node.props.get("compatible")
    return set(known.value.decode().split("\0")) if known else set()


@EACH
def test_each_clock_and_frame_is_there_and_nothing_else_changes(case: Case, tmp_path: Path) -> None:
    vcd = tmp_path / "out.vcd"
    result = record(case, vcd)
    assert (result.outcome, result.exit_code) == ("exit", 0), result.message
    assert untimed(result) == untimed(run(case))
    text = vcd.read_text()
    for bus in case.buses:
        found = edges(text, bus)
        # a card is clocked while it is not selected, too; elsewhere a clock may come to rest high
        rises = sum(
            (edge.wire, edge.level) == ("sck", 1) and (case == CARDS or not edge.others["cs0"])
            for edge in found
        )
        assert rises == result.counters[f"{bus}.sck_clocks"] > 0
        frames = result.counters.get(f"{bus}.frames")
        falls = sum((edge.wire, edge.level) == ("cs0", 0) for edge in found)
        assert falls == frames or frames is None
        assert all(edge.at_ps <= later.at_ps for edge, later in pairwise(found))
        # a wire that changes does so to the other level
        assert all(edge.others[edge.wire] != edge.level for edge in found)


@pytest.mark.parametrize("case", [CARDS, *(case for case in CASES if "qspi" in case.name)])
def test_skipped_polling_leaves_no_edge_out(case: Case, tmp_path: Path) -> None:
    files = [tmp_path / "skipped.vcd", tmp_path / "all.vcd"]
    results = [record(case, file, skip) for file, skip in zip(files, (True, False), strict=True)]
    assert untimed(results[0]) == untimed(results[1]) == untimed(run(case, skip_polling=False))
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_unit_is_the_coarsest_that_is_exact(tmp_path: Path) -> None:
    vcd = tmp_path / "out.vcd"
    throughput = CASES[0]
    record(throughput, vcd)
    # SCK is half of 100 MHz, in whole cycles of that
    assert unit_ps(vcd.read_text()) == 10_000
    odd = replace(
        throughput, overrides=(*throughput.overrides[:-1], ("spi0.clock-frequency", 33_333_333))
    )
    record(odd, vcd)
    assert unit_ps(vcd.read_text()) == 1


@pytest.mark.parametrize(
    ("mode", "lines", "program", "read"), [("dual", 2, "a2", "3b"), ("quad", 4, "32", "6b")]
)
def test_frames_over_more_lines_turn_them_around(
    mode: str, lines: int, program: str, read: str, tmp_path: Path
) -> None:
    vcd = tmp_path / "out.vcd"
    record(next(case for case in CASES if case.name == f"throughput:{mode}"), vcd)
    frames = frames_on(vcd)
    written = [
        (octets(frame[8:HEADER_CLOCKS], 1), octets(frame[HEADER_CLOCKS:], lines))
        for frame in frames
        if octets(frame[:8], 1) == program
    ]
    found = [
        (octets(frame[8:HEADER_CLOCKS], 1), octets(frame[HEADER_CLOCKS + DUMMY_CLOCKS :], lines))
        for frame in frames
        if octets(frame[:8], 1) == read
    ]
    assert len(written) == 2
    assert all(len(data) == 2 * 256 for _, data in written)
    assert found == written


def frames_on(vcd: Path) -> list[list[str]]:
    """Frames on spi0: the levels of IO3 to IO0 as the clock rises."""
    frames: list[list[str]] = []
    taken: list[str] = []
    for edge in edges(vcd.read_text(), "spi0"):
        if edge.wire == "cs0":
            if edge.level and taken:
                frames.append(taken)
            taken = []
        elif (edge.wire, edge.level) == ("sck", 1):
            # dual mode has two lines
            taken.append("".join(str(edge.others.get(f"io{line}", 1)) for line in (3, 2, 1, 0)))
    return frames


def octets(clocks: list[str], lines: int) -> str:
    """The data of `lines` lines, as hexadecimal digits."""
    bits = "".join(levels[-lines:] for levels in clocks)
    return bytes(int(byte, 2) for byte in re.findall("." * 8, bits)).hex()


@NEEDS_SIGROK
def test_sigrok_reads_the_flashs_commands(tmp_path: Path) -> None:
    vcd = tmp_path / "out.vcd"
    record(CASES[0], vcd)
    frames = decode_spi(vcd, "spi0", step_ps=1)
    written = [frame.mosi[1:] for frame in frames if frame.mosi[0] == PAGE_PROGRAM]
    # the command, the address, a dummy byte; 256 bytes come back
    found = [frame.mosi[1:4] + frame.miso[5:] for frame in frames if frame.mosi[0] == FAST_READ]
    assert len(written) == 2
    assert found == written
    decoders = "spi:clk=sck:mosi=mosi:miso=miso:cs=cs0,spiflash:chip=macronix_mx25l6405d"
    said = annotations(vcd.with_suffix(".bus.vcd"), decoders, "spiflash")
    for command in (
        "Read identification (RDID)",
        "Page program (PP)",
        "Fast read data (FAST/READ)",
    ):
        assert f"spiflash-1: Command: {command}" in said, command


@NEEDS_SIGROK
@pytest.mark.parametrize(("bus", "mode"), [("mmc0", 1), ("spi0", 0)])
def test_sigrok_reads_the_cards_commands(bus: str, mode: int, tmp_path: Path) -> None:
    vcd = tmp_path / "out.vcd"
    record(CARDS, vcd)
    alone = tmp_path / "alone.vcd"
    alone.write_text(only_scope(vcd.read_text(), bus))
    # the interface's clock rests high, that of Altera's core low
    decoders = f"spi:clk=sck:mosi=mosi:miso=miso:cs=cs0:cpol={mode}:cpha={mode},sdcard_spi"
    said = annotations(alone, decoders, "sdcard_spi", step_ps=1000)
    for command in ("CMD0 (GO_IDLE_STATE)", "CMD24 (WRITE_BLOCK)", "CMD17 (READ_SINGLE_BLOCK)"):
        assert f"sdcard_spi-1: Command: {command}" in said, command


@NEEDS_SIGROK
def test_sigrok_reads_what_a_quad_spi_controller_sends(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "qspi:memory_mode")
    vcd = tmp_path / "out.vcd"
    record(case, vcd)
    alone = tmp_path / "alone.vcd"
    alone.write_text(without_pauses(only_scope(vcd.read_text(), "qspi0")))
    # commands are on one line
    decoders = "spi:clk=sck:mosi=io0:miso=io1:cs=cs0,spiflash:chip=macronix_mx25l6405d"
    said = annotations(alone, decoders, "spiflash", step_ps=1000)
    for command in ("Write enable (WREN)", "Read status register (RDSR)", "Page program (PP)"):
        assert f"spiflash-1: Command: {command}" in said, command


@NEEDS_SIGROK
@pytest.mark.parametrize(("mode", "program"), [("dual", 0xA2), ("quad", 0x32)])
def test_sigrok_reads_the_commands_of_frames_on_more_lines(
    mode: str, program: int, tmp_path: Path
) -> None:
    vcd = tmp_path / "out.vcd"
    record(next(case for case in CASES if case.name == f"throughput:{mode}"), vcd)
    frames = decode_spi(vcd, "spi0", step_ps=1, data=("io0", "io1"))
    assert [frame.mosi[0] for frame in frames].count(program) == 2
