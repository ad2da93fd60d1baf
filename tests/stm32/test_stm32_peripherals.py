"""Timers, DMA, SPI and I2C of an STM32F407, by a program that uses all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import RunResult

BOARD = "stm32f4-disco"
NAME = "stm32f4_peripherals"
CHIPS = """
&i2c1 {
    temperature-sensor@48 {
        /include/ "lm75.dtsi"
        reg = <0x48>;
        cyclescope,temperature-millicelsius = <21500>;
    };
};
"""


@pytest.fixture(scope="module")
def elf() -> Path:
    source = ROOT / "tests" / "firmware" / f"{NAME}.c"
    return firmware.build(firmware.board_recipe(NAME, BOARD, [source]))


@pytest.fixture
def done(elf: Path, changed_board: Callable[..., Path]) -> RunResult:
    return package.Board(changed_board(CHIPS, BOARD)).load(elf).run("2s")


def test_a_program_uses_timers_dma_spi_and_i2c(done: RunResult) -> None:
    assert (done.exit_code, done.notes) == (0, ()), done.console
    timer, copy, spi, i2c = done.console.splitlines()
    # Ten periods of 16 * 100 clocks, each seen by the same handler.
    assert timer == "timer: 16000 cycles in 10 periods"
    assert re.match(r"copy: 64 words, 0 wrong, \d+ cycles", copy)
    # WHO_AM_I of the LIS3DSH.
    assert spi == "spi: 3f"
    assert i2c.startswith("i2c: 21.5 degrees")


def test_times_are_those_of_ports_and_wires(done: RunResult) -> None:
    _, copy, _, i2c = done.console.splitlines()
    # The two ports work side by side. A word takes the peripheral port two clocks and the memory's
    # one, the memory port three and one: that is the slower one. Before it begins, the FIFO has
    # got four words; the interrupt and the program's own instructions come on top.
    (cycles,) = map(int, re.findall(r"(\d+) cycles", copy))
    assert 64 * 4 + 4 * 3 <= cycles <= 64 * 4 + 4 * 3 + 60
    # Three bytes of nine clocks at 100 kHz, 160 cycles each, and what the program takes in between.
    (cycles,) = map(int, re.findall(r"(\d+) cycles", i2c))
    assert 27 * 160 <= cycles <= 27 * 160 + 400
