"""Messages about cores: excessive event rates, a lock-up, windows; a Cortex-M's first address."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import elf32
import pytest
from conftest import BOARD, ROOT, Command

import cyclescope as package
from cyclescope import firmware
from cyclescope.errors import EngineError

M4 = "minimal-armv7m"
FAULT_STATUS, LIMIT_STATUS = 125, 124
SRAM = 0x2000_0000


def built(name: str) -> Path:
    source = ROOT / "tests" / "firmware" / "armv7m" / f"{name}.c"
    return firmware.build(firmware.board_recipe(name, M4, [source]))


def test_a_timer_that_ticks_every_other_cycle_is_named_in_the_message(cyclescope: Command) -> None:
    done = cyclescope("run", built("storm"), "--board", M4, "--limit", "60ms")
    assert done.status == LIMIT_STATUS
    notes = [line for line in done.stderr.splitlines() if line.startswith("cyclescope: note:")]
    assert any("systick has some 50000 events in each simulated millisecond" in n for n in notes)
    assert any("cpu0 takes some " in n and "most of them SysTick" in n for n in notes)


def test_a_lock_up_says_what_happened_and_where(cyclescope: Command) -> None:
    done = cyclescope("run", built("lockup"), "--board", M4, "--json", "-")
    assert done.status == FAULT_STATUS
    assert "HardFault_Handler" in done.error
    assert (
        "lockup.c:12): BusFault: 4-byte load at 0x30000000: nothing is mapped there" in done.error
    )
    assert (
        "it locks the core up: HardFault is being handled; HFSR: FORCED, "
        "CFSR: PRECISERR BFARVALID UNDEFINSTR, BFAR 0x30000000" in done.error
    )
    report = json.loads(done.stdout)
    (core,) = report["cores"]
    assert sum(entry["ps"] for entry in core["stack"]) == report["elapsed_ps"]


def test_windows_are_kept_on_a_risc_v_core(program: Callable[[str], Path]) -> None:
    result = package.Board(BOARD).load(program("exit_main")).run(windows=("main",))
    (window,) = result.windows
    assert (window.section, result.exit_code) == ("main", 7)
    assert 0 < window.begin_ps < window.end_ps < result.elapsed_ps


def test_windows_of_what_is_not_there_are_refused(program: Callable[[str], Path]) -> None:
    with pytest.raises(EngineError, match="the firmware has no function 'nothing'"):
        package.Board(BOARD).load(program("exit_main")).run(windows=("nothing",))


@pytest.mark.parametrize("base", [SRAM, SRAM + 0x1000])
def test_a_vector_table_in_ram_is_where_a_cortex_m_begins(base: int) -> None:
    # movs r0, SYS_EXIT; ldr r1, ADP_Stopped_ApplicationExit; the call
    code = struct.pack("<6H2I", 0x2018, 0x4902, 0xBEAB, 0xE7FE, 0xBF00, 0xBF00, 0x20026, 0)
    table = struct.pack("<32I", SRAM + 0x8000, *[base + 0x81] * 31)
    segment = elf32.Segment(base, table + code)
    elf = elf32.executable(segment, machine=elf32.EM_ARM, entry=base + 0x81)
    result = package.Board(M4).load(elf).run(limit="1ms")
    assert (result.exit_code, result.notes) == (0, ()), result.message


def test_registers_that_a_linker_script_has_names_for_are_no_segment_to_load() -> None:
    uart = elf32.Segment(0x4060_0000, b"", 0x20)
    elf = elf32.executable(elf32.Segment(elf32.DDR, elf32.EXIT_0), uart)
    result = package.Board(BOARD).load(elf).run(limit="1ms")
    assert (result.exit_code, result.notes) == (0, ()), result.message
