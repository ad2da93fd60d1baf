"""The bus matrix of STM32 boards: a load that turns to another slave waits a cycle."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware

SOURCE = ROOT / "tests" / "firmware" / "stm32" / "bus_matrix.c"
# Behind data and below the stack in SRAM1, or SRAM2; SRAM2, or SRAM3; what the data bus has.
PLACES = {
    "stm32f4-disco": [("0x2001A000", "0x2001C100", "0x10000000")],
    "nucleo-l4r5zi": [
        ("0x2002A000", "0x20030100", "0x10000000"),
        ("0x20030000", "0x20040100", "0x10000000"),
    ],
}
CASES = [(board, *places) for board, several in PLACES.items() for places in several]
# Eight pairs of loads, one right behind the other: N + 1; and of stores, one a cycle (Cortex-M4
# TRM, 3.3.3).
LOADS, STORES = 17, 16
# What is between the counter's reads beside them.
AROUND = 4


def build(board: str, first: str, second: str, on_data_bus: str) -> Path:
    macros = {"FIRST": first, "SECOND": second, "ON_DATA_BUS": on_data_bus}
    return firmware.build(firmware.board_recipe("bus_matrix", board, [SOURCE], macros=macros))


@pytest.mark.parametrize("compile_after", [0, 1], ids=["interpreted", "compiled"])
@pytest.mark.parametrize(("board", "first", "second", "on_data_bus"), CASES)
def test_a_turn_takes_a_cycle_of_loads_and_none_of_stores(
    board: str, first: str, second: str, on_data_bus: str, compile_after: int
) -> None:
    elf = build(board, first, second, on_data_bus)
    done = package.Board(board).load(elf).run("1s", compile_after=compile_after)
    assert done.exit_code == 0, done.console
    taken = {name: (int(loads), int(stores)) for name, loads, stores in lines(done.console)}
    # The first load of a row is of the slave of the load before it, all others turn.
    assert taken == {
        "one memory": (LOADS + AROUND, STORES + AROUND),
        "two memories": (LOADS + AROUND + 15, STORES + AROUND),
        "data bus": (LOADS + AROUND, STORES + AROUND),
    }
    assert "bus matrix" in {entry.cause for entry in done.cycle_stack["cpu0"]}


def lines(console: str) -> list[tuple[str, str, str]]:
    return re.findall(r"^(.+): (\d+) (\d+)$", console, re.MULTILINE)
