"""Bits of registers that are set before `main`."""

from __future__ import annotations

from pathlib import Path

import pokes
import pytest
from tiers import mostly_long

from cyclescope.board import Board
from cyclescope.board.description.presets import Preset, snapshot
from cyclescope.board.results import RunResult
from cyclescope.errors import EngineError
from cyclescope.firmware import build_app

# FLASH_ACR (RM0383): prefetch, instruction cache and data cache of the flash.
ACR, ACCELERATORS = 0x4002_3C00, 0x700
# SCTLR.I of the Cortex-A5
INSTRUCTION_CACHE = 1 << 12
A5 = "sama5d2-xplained"
# A word of memory that each board has, and its program does not use: the stack's far end.
UNUSED = {
    "nucleo-f411re": 0x2000_4000,
    "kc705-axi-quad-spi": 0xC000_8000,
    "ben-nanonote": 0x8050_0000,
    "picosoc-icebreaker": 0x0001_0000,
    A5: 0x0020_8000,
}


def work(board: str) -> Path:
    return build_app("coremark_like", board, {"iterations": 1})


def run(board: str, elf: Path, *presets: Preset) -> RunResult:
    begin = snapshot(Board(board).load(elf), presets, "1s")
    return Board(board).load(elf).run(start_from=begin)


@pytest.mark.parametrize(
    "board", mostly_long(UNUSED, short={"nucleo-f411re", "kc705-axi-quad-spi", "ben-nanonote"})
)
def test_a_store_leaves_all_else_as_it_was(board: str) -> None:
    elf, addr = work(board), UNUSED[board]
    loaded = Board(board).load(elf)
    begin = snapshot(loaded, [Preset(addr, 0xFF00, 0x1200)], "1s")
    stored, plain = Board(board).load(elf).debug(start_from=begin), Board(board).load(elf).debug()
    assert plain.run(until="main").reason == "break"
    before = plain.mem.u32(addr)
    assert stored.mem.u32(addr) == before & ~0xFF00 | 0x1200
    general = [name for name in plain.core.regs if name not in ("xpsr", "cpsr")][:33]
    assert {name: stored.core.regs[name] for name in general} == {
        name: plain.core.regs[name] for name in general
    }
    assert stored.core.instructions == plain.core.instructions + 1
    pc = plain.core.pc & ~1
    assert stored.mem.read(pc, 16) == plain.mem.read(pc, 16)


def test_a_register_does_what_it_does_when_firmware_sets_it() -> None:
    elf = work(A5)
    cold = Board(A5).load(elf).run()
    cached = run(A5, elf, Preset("sctlr", INSTRUCTION_CACHE, INSTRUCTION_CACHE))
    assert cached.elapsed_ps < cold.elapsed_ps * 0.8
    assert cached.metrics == cold.metrics
    as_it_is = run(A5, elf, Preset("sctlr", 0, 0))
    assert as_it_is.elapsed_ps == cold.elapsed_ps


def test_a_device_gets_the_store() -> None:
    elf = work("nucleo-f411re")
    loaded = Board("nucleo-f411re").load(elf)
    begin = snapshot(loaded, [Preset(ACR, ACCELERATORS, ACCELERATORS)], "1s")
    stored = Board("nucleo-f411re").load(elf).debug(start_from=begin)
    assert stored.mem.u32(ACR) & ACCELERATORS == ACCELERATORS


def test_a_program_without_main_is_halted_at_its_start(tmp_path: Path) -> None:
    # as HEX and binary files are, which have no functions
    elf = tmp_path / "pokes.elf"
    elf.write_bytes(pokes.program(pokes.HOMES["stm32f4-disco"], [(0x2000_0000, 1)] * 3))
    loaded = Board("stm32f4-disco").load(elf)
    begin = snapshot(loaded, [Preset(ACR, ACCELERATORS, ACCELERATORS)], "1s")
    stored = Board("stm32f4-disco").load(elf).debug(start_from=begin)
    assert stored.mem.u32(ACR) & ACCELERATORS == ACCELERATORS
    # the first instruction of the program, and the store
    assert stored.core.instructions == 2


def test_an_impossible_setting_is_one_line() -> None:
    elf = work(A5)
    with pytest.raises(EngineError, match=r"^xctlr: the core has no such register$"):
        run(A5, elf, Preset("xctlr", 1, 1))
    with pytest.raises(EngineError, match=r"^0x70000000: can't be set before main: "):
        run(A5, elf, Preset(0x7000_0000, 1, 1))
    with pytest.raises(EngineError, match=r"^main was not reached in 1us$"):
        snapshot(Board(A5).load(elf), [], "1us")
