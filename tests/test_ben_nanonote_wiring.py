"""The transceiver on the Ben NanoNote's pins: what drivers put on the wires, wrong wirings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ben_nanonote import BOARD
from waveforms import NEEDS_SIGROK, Frame, decode_spi

import cyclescope as package
from cyclescope import firmware
from cyclescope.errors import BoardError
from cyclescope.results import RunResult

Change = Callable[..., Path]

STACKS = ["spi-gpio", "spi-gpio-atben", "spi-jz4740-gpio", "spi_atben"]
# PART_NUM, register 0x1c: 3 is the AT86RF231's. Its first byte is PHY_STATUS.
READ_PART_NUMBER, PART_NUMBER = bytes([0x80 | 0x1C]), bytes([0x00, 0x03])


def identify(stack: str, board: Path | str = BOARD, vcd: Path | None = None) -> RunResult:
    """Reads the transceiver's part number with one of the drivers."""
    settings = {"stack": stack, "operation": "identify"}
    elf = firmware.build_app("bitbang_spi", BOARD, settings)
    return package.Board(board).load(elf).run("1s", vcd=vcd, frame_on="atben")


@NEEDS_SIGROK
@pytest.mark.parametrize("stack", STACKS)
def test_a_register_read_decodes_to_its_bytes(stack: str, tmp_path: Path) -> None:
    vcd = tmp_path / "out.vcd"
    result = identify(stack, vcd=vcd)
    assert (result.exit_code, result.message) == (0, None)
    # before it, select is low without a clock while the chip has no power
    *silent, read = decode_spi(vcd, "atben")
    assert set(silent) <= {Frame(b"", b"")}
    assert read.mosi[:1] == READ_PART_NUMBER
    assert read.miso == PART_NUMBER
    # what the run keeps of it is the same
    assert result.frame is not None
    mosi, miso = (result.frame.bytes_on(wire) for wire in ("mosi", "miso"))
    assert bytes(byte.value for byte in mosi) == read.mosi
    assert bytes(byte.value for byte in miso) == read.miso
    assert not result.notes


@pytest.mark.parametrize("stack", STACKS)
def test_swapped_data_lines_end_with_the_drivers_error(changed_board: Change, stack: str) -> None:
    swapped = "&atben { mosi-gpios = <&gpd 10 0>; miso-gpios = <&gpd 8 0>; };"
    result = identify(stack, changed_board(swapped, BOARD))
    assert (result.outcome, result.exit_code) == ("exit", 1)
    # nobody drives the line that the driver reads: it is pulled up
    assert "no AT86RF23x answers: part number 0xff\n" in result.console
    assert result.notes[0].startswith("gpd: pin 8 and what is wired to it drive against each other")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("&atben { sck-gpios = <&gpd 44 0>; };", "pin 44 of gpd; a port has pins 0 to 31"),
        ("&atben { sck-gpios = <&uart0 11 0>; };", "sck-gpios must refer to an enabled GPIO port"),
        ("&transceiver { sleep-gpio = <&gpd 8 0>; };", "mosi-gpios of spi has it already"),
        ("&transceiver { interrupts = <10 4>; };", "miso-gpios of spi has it already"),
    ],
)
def test_an_impossible_wiring_is_refused(changed_board: Change, change: str, text: str) -> None:
    with pytest.raises(BoardError) as raised:
        package.Board(changed_board(change, BOARD))
    assert any("changed.dts:3: " in fault and text in fault for fault in raised.value.faults), (
        raised.value.faults
    )
