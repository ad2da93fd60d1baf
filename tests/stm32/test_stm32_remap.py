"""Memory of STM32s at address 0 by SYSCFG_MEMRMP: code, vectors and data of flash and SRAM1."""

from __future__ import annotations

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware

CALLS = 3000


@pytest.mark.parametrize(
    ("board", "macros"),
    [("stm32f4-disco", {}), ("nucleo-f411re", {}), ("nucleo-l4r5zi", {"STM32L4": "1"})],
)
def test_address_0_shows_what_firmware_chooses(board: str, macros: dict[str, str]) -> None:
    source = ROOT / "tests" / "firmware" / "stm32" / "remap.c"
    elf = firmware.build(firmware.board_recipe("remap", board, [source], macros))
    loaded = package.Board(board).load(elf)
    runs = [
        loaded.run("1s", **how)
        for how in ({}, {"skip_polling": False}, {"compile_after": 0}, {"compile_after": 1})
    ]
    done = runs[0]
    assert done.exit_code == 0, done.console
    assert done.console.splitlines() == [
        f"flash: 1 {7 * CALLS}",
        f"sram: 1 {42 * CALLS}",
        f"written there: {43 * CALLS}",
        f"written here: {44 * CALLS} {44 * CALLS}",
        "exception: 1",
        f"flash: 1 {7 * CALLS}",
    ]
    # The boot loader is not there: it shows nothing.
    (note,) = done.notes
    assert "MEM_MODE is 1, and there is no model of that memory" in note
    assert all(run.cores == done.cores and run.console == done.console for run in runs)
