"""The bus matrix of STM32 boards: what waits for a turn to another slave, and for a grant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware

SOURCES = ROOT / "tests" / "firmware" / "stm32"
# After data and below the stack in SRAM1, or SRAM2; SRAM2, or SRAM3; the data bus's own memory.
PLACES = {
    "stm32f4-disco": [("0x2001A000", "0x2001C100", "0x10000000")],
    "nucleo-l4r5zi": [
        ("0x2002A000", "0x20030100", "0x10000000"),
        ("0x20030000", "0x20040100", "0x10000000"),
    ],
}
CASES = [(board, *places) for board, several in PLACES.items() for places in several]
# Eight pairs of loads, back to back: N + 1 cycles; and of stores, one a cycle (Cortex-M4
# TRM, 3.3.3).
LOADS, STORES = 17, 16
# Cycles between the counter's reads apart from the accesses: a nop right after a load takes none.
AROUND_LOADS, AROUND_STORES = 2, 3


# An address that the matrix grants at once, one that it grants anew.
GRANTED = [
    ("stm32f4-disco", "0x2001A000", "0x2001C100"),
    ("nucleo-l4r5zi", "0x2002A000", "0x20030100"),
    ("nucleo-l4r5zi", "0x2002A000", "0x20040100"),
]
GRANTED_ANEW = {"0x20030000"}
# Cycles that each row of eight waits for grants: one where the bus is idle.
GRANTS = {
    "loads apart": 8,
    "loads in a row": 1,
    "loads written back": 16,
    "loads after stores": 8,
    # A store waits in the write buffer, and the access right after it waits for the store.
    "loads right after stores": 8,
    "stores apart": 8,
    "stores in pairs": 8 + 8,
    "loads of several": 8,
    "stores of several": 8 + 8,
    "skipped loads": 0,
    "conditional loads": 8,
}


def build(name: str, board: str, macros: dict[str, str]) -> Path:
    return firmware.build(
        firmware.board_recipe(name, board, [SOURCES / f"{name}.c"], macros=macros)
    )


@pytest.mark.parametrize("compile_after", [0, 1], ids=["interpreted", "compiled"])
@pytest.mark.parametrize(("board", "first", "second", "on_data_bus"), CASES)
def test_a_turn_takes_a_cycle_of_loads_and_none_of_stores(
    board: str, first: str, second: str, on_data_bus: str, compile_after: int
) -> None:
    macros = {"FIRST": first, "SECOND": second, "ON_DATA_BUS": on_data_bus}
    elf = build("bus_matrix", board, macros)
    done = package.Board(board).load(elf).run("1s", compile_after=compile_after)
    assert done.exit_code == 0, done.console
    taken = {name: (int(read), int(write)) for name, read, write in lines(done.console)}
    # The row begins on an idle bus, after the counter's load.
    loads = LOADS + AROUND_LOADS + (first in GRANTED_ANEW)
    stores = STORES + AROUND_STORES + (first in GRANTED_ANEW)
    # The first load of a row is of the memory of the load before it, all others of the other one.
    assert taken == {
        "one memory": (loads, stores),
        "two memories": (loads + 15, stores),
        "data bus": (loads + 15, stores),
    }
    assert "bus matrix" in {entry.cause for entry in done.cycle_stack["cpu0"]}


@pytest.mark.parametrize("compile_after", [0, 1], ids=["interpreted", "compiled"])
@pytest.mark.parametrize(("board", "at_once", "granted"), GRANTED)
def test_an_access_on_an_idle_bus_waits_for_a_grant(
    board: str, at_once: str, granted: str, compile_after: int
) -> None:
    elf = build("idle_grants", board, {"AT_ONCE": at_once, "GRANTED": granted})
    done = package.Board(board).load(elf).run("1s", compile_after=compile_after)
    assert done.exit_code == 0, done.console
    taken = {name: int(anew) - int(plain) for name, plain, anew in lines(done.console)}
    assert taken == GRANTS


@pytest.mark.parametrize("compile_after", [0, 1], ids=["interpreted", "compiled"])
def test_a_load_waits_where_a_transfer_of_dma_had_the_port(compile_after: int) -> None:
    macros = {"LOADED": "0x2001A000", "OTHER": "0x2001C100"}
    elf = build("dma_and_core", "stm32f4-disco", macros)
    done = package.Board("stm32f4-disco").load(elf).run("1s", compile_after=compile_after)
    assert done.exit_code == 0, done.console
    waited = {name: int(during) - int(before) for name, before, during in lines(done.console)}
    assert waited["no transfer"] == waited["another memory"] == 0
    # Each of 48 loads may wait once, and the matrix turns back to the core once for each transfer.
    assert 8 <= waited["the same memory"] <= 48


def lines(console: str) -> list[tuple[str, str, str]]:
    return re.findall(r"^(.+): (\d+) (\d+)$", console, re.MULTILINE)
