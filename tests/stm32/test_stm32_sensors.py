"""Sensors of the STM32 boards: a program reads them over SPI1 and I2C1 in the wires' time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware


@dataclass(frozen=True)
class Case:
    """A board with sensors, what its program is built for, and what that reads."""

    built_for: str
    macros: dict[str, str]
    identity: str
    core_hz: int
    # From power-down to the first data, in microseconds.
    ready_us: int
    # Of 1 g.
    z: int
    # From START to the second byte.
    i2c_cycles: int | None = None


CASES = {
    # The board's own accelerometer: 1 ms and a period of 100 Hz; 60 millionths of g a digit.
    "stm32f4-disco": Case(
        "stm32f4-disco",
        {"CS_PORT": "0x40021000u", "CS_PIN": "3u", "INT_PORT": "0x40021000u", "INT_PIN": "0u"}
        | {"LIS3DSH": "1"},
        identity="3f",
        core_hz=16_000_000,
        ready_us=11_000,
        z=1_000_000 // 60,
    ),
    # 250 digits of 4 mg in 10 bits; START, 27 clocks of 160 cycles.
    "nucleo-f411re-sensors": Case(
        "nucleo-f411re",
        {"CS_PORT": "0x40020400u", "CS_PIN": "6u", "INT_PORT": "0x40020000u", "INT_PIN": "10u"}
        | {"THERMOMETER": "1"},
        identity="33",
        core_hz=16_000_000,
        ready_us=1_600,
        z=250 << 6,
        i2c_cycles=80 + 27 * 160,
    ),
    # SCL is low for 3 + 20 and high for 3 + 16 cycles: the filter's 50 ns and the edge within a
    # cycle of 250 ns each, and two of synchronisation. DMA has a byte before its acknowledge.
    "nucleo-l4r5zi-sensors": Case(
        "nucleo-l4r5zi",
        {"CS_PORT": "0x48000C00u", "CS_PIN": "14u", "INT_PORT": "0x48001400u", "INT_PIN": "15u"}
        | {"THERMOMETER": "1", "STM32L4": "1"},
        identity="33",
        core_hz=4_000_000,
        ready_us=1_600,
        z=250 << 6,
        i2c_cycles=19 + 26 * 42,
    ),
}


def build(case: Case) -> Path:
    source = ROOT / "tests" / "firmware" / "stm32" / "sensors.c"
    recipe = firmware.board_recipe("sensors", case.built_for, [source], case.macros)
    return firmware.build(recipe)


@pytest.mark.parametrize("board", CASES)
def test_sensors_answer_in_the_time_of_their_wires(board: str) -> None:
    case = CASES[board]
    done = package.Board(board).load(build(case)).run("1s")
    assert (done.exit_code, done.notes) == (0, ()), done.console
    lines = dict(line.split(": ", 1) for line in done.console.splitlines())
    assert lines["id"] == case.identity
    # From the end of the access that turned it on, which is a few cycles before.
    cycles = int(lines["ready"].split()[0])
    assert 0 <= case.ready_us * case.core_hz // 1_000_000 - cycles <= 200
    z, cycles = map(int, re.findall(r"\d+", lines["z"]))
    # Seven bytes of eight clocks of four cycles, without a pause.
    assert z == case.z
    assert 7 * 32 <= cycles <= 7 * 32 + 60
    if case.i2c_cycles is None:
        assert "temperature" not in lines
    else:
        value, took = lines["temperature"].split(", ")
        # 21.5 degrees.
        assert value == "1580"
        assert case.i2c_cycles <= int(took.split()[0]) <= case.i2c_cycles + 200
