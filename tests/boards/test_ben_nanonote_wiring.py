"""The transceiver on the Ben NanoNote's pins: what drivers put on the wires, wrong wirings."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from ben_nanonote import BOARD
from waveforms import NEEDS_SIGROK, Frame, decode_spi, edges

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import RunResult, Value
from cyclescope.errors import BoardError

Change = Callable[..., Path]

STACKS = ["spi-gpio", "spi-gpio-atben", "spi-jz4740-gpio", "spi_atben"]
CONTROLLER, CONTROLLER_BOARD = "spi-jz4740-ssi", "ben-nanonote-ssi"
# Drivers and the bus that each has the transceiver on.
BUSES = {**dict.fromkeys(STACKS, "atben"), CONTROLLER: "ssi"}
# PART_NUM, register 0x1c, and a byte for the answer's time. 3 is the AT86RF231's; PHY_STATUS is
# before it.
READ_PART_NUMBER, PART_NUMBER = bytes([0x80 | 0x1C, 0xFF]), bytes([0x00, 0x03])
SOURCE = "changed.dts:3: "


def identify(
    stack: str, board: Path | str | None = None, vcd: Path | None = None, **settings: Value
) -> RunResult:
    """Reads the transceiver's part number with one of the drivers."""
    own = CONTROLLER_BOARD if stack == CONTROLLER else BOARD
    settings = {"stack": stack, "operation": "identify"} | settings
    elf = firmware.build_app("bitbang_spi", own, settings)
    return package.Board(board or own).load(elf).run("1s", vcd=vcd, frame_on=BUSES[stack])


@NEEDS_SIGROK
@pytest.mark.parametrize("stack", BUSES)
def test_a_register_read_decodes_to_its_bytes(stack: str, tmp_path: Path) -> None:
    vcd = tmp_path / "out.vcd"
    result = identify(stack, vcd=vcd)
    assert (result.exit_code, result.message) == (0, None)
    *silent, read = decode_spi(vcd, BUSES[stack])
    assert read == Frame(READ_PART_NUMBER, PART_NUMBER)
    # before it, select is low without a clock while the chip has no power
    assert set(silent) <= {Frame(b"", b"")}
    # what the run keeps of it is the same
    assert result.frame is not None
    mosi, miso = (result.frame.bytes_on(wire) for wire in ("mosi", "miso"))
    assert bytes(byte.value for byte in mosi) == read.mosi
    assert bytes(byte.value for byte in miso) == read.miso
    assert not result.notes


@pytest.mark.parametrize("stack", BUSES)
def test_each_bit_is_an_edge_that_finds_its_data_at_rest(stack: str, tmp_path: Path) -> None:
    vcd = tmp_path / "out.vcd"
    assert identify(stack, vcd=vcd).exit_code == 0
    text = vcd.read_text()
    # the port charges the board through all of its wires before it closes the supply's switch
    on_ps = next(e.at_ps for e in reversed(edges(text, "transceiver")) if e.wire == "vdd_off")
    found = [edge for edge in edges(text, BUSES[stack]) if edge.at_ps > on_ps]
    begins, ends = (edge for edge in found if edge.wire == "cs0")
    assert (begins.level, ends.level) == (0, 1)
    # two bytes, and no clock that is not theirs
    clocks = [edge for edge in found if edge.wire == "sck"]
    assert [edge.level for edge in clocks] == [1, 0] * 16
    assert begins.at_ps < clocks[0].at_ps < clocks[-1].at_ps < ends.at_ps
    rises = clocks[::2]
    for wire, sent in (("mosi", READ_PART_NUMBER), ("miso", PART_NUMBER)):
        bits = "".join(str(edge.others[wire]) for edge in rises)
        assert int(bits, 2) == int.from_bytes(sent), wire
        assert not {edge.at_ps for edge in found if edge.wire == wire} & {e.at_ps for e in rises}


@pytest.mark.parametrize("stack", STACKS)
def test_swapped_data_lines_end_with_the_drivers_error(changed_board: Change, stack: str) -> None:
    swapped = "&atben { mosi-gpios = <&gpd 10 0>; miso-gpios = <&gpd 8 0>; };"
    result = identify(stack, changed_board(swapped, BOARD))
    assert (result.outcome, result.exit_code) == ("exit", 1)
    # nobody drives the line that the driver reads: it is pulled up
    assert "no AT86RF23x answers: part number 0xff\n" in result.console
    assert result.notes[0].startswith("gpd: pin 8 and what is wired to it drive against each other")


# A wiring fault, and the value that every register then reads as.
WRONG = {
    "data lines swapped": (
        "&atben { mosi-gpios = <&gpd 10 0>; miso-gpios = <&gpd 8 0>; };",
        0xFF,
    ),
    "select on another pin": ("&atben { cs-gpios = <&gpd 14 1>; };", 0xFF),
    "MISO on another port": ("&atben { miso-gpios = <&gpc 10 0>; };", 0xFF),
    # the first bit of PHY_STATUS, and never another
    "clock on another pin": ("&atben { sck-gpios = <&gpd 14 0>; };", 0x00),
    "the supply's switch on another pin": ("&transceiver { vdd-off-gpio = <&gpd 3 0>; };", 0xFF),
    # the driver reads the interrupt's line, which rests low
    "MISO and interrupt swapped": (
        "&atben { miso-gpios = <&gpd 12 0>; }; &transceiver { interrupts = <10 4>; };",
        0x00,
    ),
}


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_wiring_ends_with_the_chip_drivers_error(
    changed_board: Change, what: str, stack: str
) -> None:
    change, read = WRONG[what]
    result = identify(stack, changed_board(change, BOARD), operation="access", loops=1)
    assert (result.outcome, result.exit_code) == ("exit", 1)
    error = f"no AT86RF23x answers: part number {read:#04x}, version {read:#04x}, "
    first, *rest = result.console.splitlines()
    assert first == f"at86rf230: {error}manufacturer {read * 0x101:#06x}"
    # nothing is measured
    assert rest == ["at86rf230: no transceiver", "exit status 1"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("&atben { sck-gpios = <&gpd 44 0>; };", "pin 44 of gpd; a port has pins 0 to 31"),
        ("&atben { sck-gpios = <&uart0 11 0>; };", "sck-gpios must refer to an enabled GPIO port"),
        ("&transceiver { sleep-gpio = <&gpd 8 0>; };", "mosi-gpios of spi has it already"),
        ("&transceiver { interrupts = <10 4>; };", "miso-gpios of spi has it already"),
        ("&atben { cs-gpios = <&gpd 8 1>; };", "mosi-gpios of spi has it already"),
        ("&transceiver { interrupts = <32 4>; };", "pin 32 of gpd; a port has pins 0 to 31"),
        ("&atben { miso-gpios = <&gpe 10 0>; };", "undefined node label 'gpe'"),
        ("&atben { miso-gpios = <&gpd>; };", "must refer to an enabled GPIO port"),
    ],
)
def test_an_impossible_wiring_is_refused(changed_board: Change, change: str, text: str) -> None:
    with pytest.raises(BoardError) as raised:
        package.Board(changed_board(change, BOARD))
    assert any(SOURCE in fault and text in fault for fault in raised.value.faults), (
        raised.value.faults
    )


def test_a_controller_selects_another_chip(changed_board: Change) -> None:
    other = changed_board("&transceiver { reg = <1>; };", CONTROLLER_BOARD)
    result = identify(CONTROLLER, other, operation="access", loops=1)
    assert (result.outcome, result.exit_code) == ("exit", 1)
    assert "at86rf230: no AT86RF23x answers: part number 0xff," in result.console
    third = changed_board("&transceiver { reg = <2>; };", CONTROLLER_BOARD)
    with pytest.raises(BoardError, match=re.escape(SOURCE) + ".*reg is 2"):
        package.Board(third)
