"""SPI on pins of GPIO ports: wiring, its faults, and waveforms of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Command
from waveforms import NEEDS_SIGROK, Frame, decode_spi, edges, unit_ps

import cyclescope as package
from cyclescope.board.results import RunResult
from cyclescope.errors import BoardError
from cyclescope.statuses import Status

Program = Callable[[str], Path]
Change = Callable[[str], Path]

# A port, and a flash on a bus of its pins. The first line of `pins` is line 15 of the board's file.
BOARD = """/ {{
    port: gpio@50000000 {{
        compatible = "ingenic,jz4740-gpio";
        reg = <0x50000000 0x100>;
        gpio-controller; #gpio-cells = <2>;
        interrupt-controller; #interrupt-cells = <2>;
        clocks = <&sys_clk>;
    }};
    pins: spi-pins {{
        compatible = "spi-gpio";
        #address-cells = <1>;
        #size-cells = <0>;
{properties}
        flash@0 {{ {chip} /include/ "{boards}/n25q128a13.dtsi" }};
    }};
}};"""
WIRING = {
    "sck-gpios": "<&port 11 0>",
    "mosi-gpios": "<&port 8 0>",
    "miso-gpios": "<&port 10 0>",
    "cs-gpios": "<&port 13 1>",
    "num-chipselects": "<1>",
}
FIRST_LINE = 15

ID = "id 20ba18\n"
READ_ID = Frame(bytes([0x9F, 0, 0, 0]), bytes([0xFF, 0x20, 0xBA, 0x18]))


def source(wiring: dict[str, str], chip: str = "") -> str:
    properties = "\n".join(f"{name} = {value};" for name, value in wiring.items())
    return BOARD.format(properties=properties, chip=chip, boards=ROOT / "boards")


def run(board: Path, elf: Path, vcd: Path | None = None) -> RunResult:
    return package.Board(board).load(elf).run("100ms", vcd=vcd)


def test_a_chip_answers_in_modes_0_and_3(program: Program, changed_board: Change) -> None:
    result = run(changed_board(source(WIRING)), program("spi_pins"))
    assert (result.outcome, result.exit_code, result.console) == ("exit", 0, ID + ID)
    assert result.counters["pins.sck_clocks"] == 64
    assert result.counters["pins.frames"] == 2
    assert not result.notes


def test_swapped_data_lines_read_ones(program: Program, changed_board: Change) -> None:
    swapped = {
        **WIRING,
        "mosi-gpios": WIRING["miso-gpios"],
        "miso-gpios": WIRING["mosi-gpios"],
    }
    result = run(changed_board(source(swapped)), program("spi_pins"))
    assert result.console == "id ffffff\n" * 2
    # the flash drives nothing: 0xff is no command that it knows
    assert result.outcome == "exit"


@NEEDS_SIGROK
def test_waveforms_decode_to_the_bytes_that_were_sent(
    program: Program, changed_board: Change, tmp_path: Path
) -> None:
    vcd = tmp_path / "out.vcd"
    run(changed_board(source(WIRING)), program("spi_pins"), vcd)
    # both modes sample on the rising edge
    assert decode_spi(vcd, "pins") == [READ_ID, READ_ID]
    assert decode_spi(vcd, "pins", cpol=1, cpha=1)[1] == READ_ID


def test_waveforms_change_nothing_and_are_the_same_each_time(
    cyclescope: Command, program: Program, changed_board: Change, tmp_path: Path
) -> None:
    board, elf = changed_board(source(WIRING)), program("spi_pins")
    files = [tmp_path / name for name in ("one.vcd", "other.vcd")]
    results = [run(board, elf, vcd) for vcd in (None, *files)]
    assert results[0] == results[1] == results[2]
    done = cyclescope("run", elf, "--board", board, "--vcd", tmp_path / "third.vcd")
    assert done.status == 0, done.stderr
    text = files[0].read_text()
    assert text == files[1].read_text() == (tmp_path / "third.vcd").read_text()
    assert text.endswith(f"\n#{-(-results[0].elapsed_ps // unit_ps(text))}\n")
    # 64 clocks, from and to rest, and the step to mode 3's level
    falls = [edge for edge in edges(text, "pins") if (edge.wire, edge.level) == ("sck", 0)]
    assert len(falls) == 64 + 1


def test_a_waveform_that_cannot_be_written_is_one_line(
    cyclescope: Command, program: Program, changed_board: Change
) -> None:
    board = changed_board(source(WIRING))
    done = cyclescope("run", program("spi_pins"), "--board", board, "--vcd", "no/folder.vcd")
    assert done.status == Status.USAGE
    assert done.error == "no/folder.vcd: its folder does not exist: make it first"


FAULTS = {
    "an unknown controller": ({"sck-gpios": "<&uart0 11 0>"}, "sck-gpios", "an enabled GPIO port"),
    "a pin above 31": ({"miso-gpios": "<&port 32 0>"}, "miso-gpios", "a port has pins 0 to 31"),
    "a pin used twice": (
        {"miso-gpios": "<&port 8 0>"},
        "miso-gpios",
        "pin 8 of port; mosi-gpios of spi-pins has it already",
    ),
    "a pin without a number": ({"mosi-gpios": "<&port>"}, "mosi-gpios", "an enabled GPIO port"),
    "no cells": ({"mosi-gpios": '"gpio"'}, "mosi-gpios", "the number of a pin"),
    "fewer pins than chip selects": ({"num-chipselects": "<2>"}, "cs-gpios", "num-chipselects (2)"),
    "more pins than chip selects": (
        {"cs-gpios": "<&port 13 1>, <&port 14 1>"},
        "cs-gpios",
        "num-chipselects (1)",
    ),
    "no chip selects": ({"num-chipselects": "<0>"}, "num-chipselects", "1 to 32"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_wrong_wiring_is_found_with_its_line(changed_board: Change, what: str) -> None:
    change, at, text = FAULTS[what]
    wiring = {**WIRING, **change}
    with pytest.raises(BoardError) as raised:
        package.Board(changed_board(source(wiring)))
    line = FIRST_LINE + list(wiring).index(at)
    assert any(
        f"changed.dts:{line}: spi-pins: " in fault and text in fault
        for fault in raised.value.faults
    ), raised.value.faults


@pytest.mark.parametrize("missing", list(WIRING))
def test_a_missing_wire_is_found(changed_board: Change, missing: str) -> None:
    wiring = {name: value for name, value in WIRING.items() if name != missing}
    with pytest.raises(BoardError, match=f"property '{missing}' is missing"):
        package.Board(changed_board(source(wiring)))


def test_pins_are_given_by_as_many_cells_as_the_port_says(changed_board: Change) -> None:
    def with_second_select(pin: int) -> str:
        wiring = {name: value.replace(" 0>", " 0 0>") for name, value in WIRING.items()}
        selects = f"<&port 13 1 0>, <&port {pin} 1 0>"
        wiring |= {"cs-gpios": selects, "num-chipselects": "<2>"}
        return source(wiring).replace("#gpio-cells = <2>", "#gpio-cells = <3>")

    package.Board(changed_board(with_second_select(14)))
    with pytest.raises(BoardError, match="pin 11 of port; sck-gpios of spi-pins has it"):
        package.Board(changed_board(with_second_select(11)))


def test_a_chip_without_such_a_pin_refuses_its_property(changed_board: Change) -> None:
    with pytest.raises(BoardError, match="unknown property 'sleep-gpio'"):
        package.Board(changed_board(source(WIRING, "sleep-gpio = <&port 9 0>;")))


@pytest.mark.parametrize(("pin", "text"), [(11, "sck-gpios of spi-pins has it"), (32, "0 to 31")])
def test_an_interrupt_needs_its_own_pin(changed_board: Change, pin: int, text: str) -> None:
    interrupt = f"interrupt-parent = <&port>; interrupts = <{pin} 4>;"
    with pytest.raises(BoardError, match=text):
        package.Board(changed_board(source(WIRING, interrupt)))
