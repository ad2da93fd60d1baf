"""Boards with an STM32F407, an STM32F411 or an STM32L4R5: start, clocks that programs raise."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT
from tiers import mostly_long

import cyclescope as package
from cyclescope import firmware

# Each with its clock out of reset, and the one that `clock_setup` raises it to.
BOARDS = {
    "stm32f4-disco": (16_000_000, 168_000_000),
    "nucleo-f411re": (16_000_000, 100_000_000),
    "nucleo-l4r5zi": (4_000_000, 120_000_000),
}
# Bits of a character at 115200 baud, with start and stop bit.
CHARACTER_PS = 10 * 10**12 // 115_200


def build(name: str, board: str) -> Path:
    source = ROOT / "tests" / "firmware" / "stm32" / f"{name}.c"
    return firmware.build(firmware.board_recipe(name, board, [source]))


@pytest.mark.parametrize("board", BOARDS)
def test_hello(board: str) -> None:
    done = package.Board(board).load(firmware.build_app("hello", board, {})).run("1s")
    assert (done.exit_code, done.console, done.notes) == (0, f"hello from {board}\n", ())


@pytest.mark.parametrize("board", mostly_long(BOARDS, {"nucleo-f411re", "nucleo-l4r5zi"}))
def test_a_program_raises_its_clocks_and_its_console_keeps_its_rate(board: str) -> None:
    reset_hz, fast_hz = BOARDS[board]
    raised = firmware.build_app("clock_setup", board, {})
    done = package.Board(board).load(raised).run("1s")
    assert done.exit_code == 0, done.console
    before, after = done.console.splitlines()
    assert before.startswith(f"out of reset: {reset_hz} Hz")
    assert after.startswith(f"now: {fast_hz} Hz")
    # Nothing was set that the chip does not allow.
    assert done.notes == ()
    # All of the text is on the line in its time, at either clock.
    text_ps = CHARACTER_PS * len(done.console)
    assert text_ps < done.elapsed_ps
    (core,) = done.cores
    assert sum(entry.ps for entry in core.stack) == done.elapsed_ps
    assert (core.clock_rates[0].hz, core.hz) == (reset_hz, fast_hz)


@pytest.mark.parametrize(
    ("board", "code", "flash_kib"),
    [
        ("stm32f4-disco", "10076413", 1024),
        ("nucleo-f411re", "10006431", 512),
        ("nucleo-l4r5zi", "10016470", 2048),
    ],
)
def test_a_chip_has_its_identity_code(board: str, code: str, flash_kib: int) -> None:
    done = package.Board(board).load(build("identity", board)).run("1s")
    assert done.exit_code == 0, done.console
    first, unique = done.console.splitlines()
    assert first == f"{code} {flash_kib} KiB"
    assert len(set(unique.split())) == 2


def test_hse_takes_its_time_and_without_one_a_program_waits() -> None:
    crystal = package.Board("stm32f4-disco").load(build("hse_wait", "stm32f4-disco")).run("1s")
    assert crystal.exit_code == 0
    # 2 ms of the crystal, and what is before and after.
    assert 2_000_000_000 < crystal.elapsed_ps < 2_100_000_000
    none = package.Board("nucleo-l4r5zi").load(build("hse_wait", "nucleo-l4r5zi")).run("100ms")
    assert none.outcome == "limit"
    assert any("the board has nothing at OSC_IN" in note for note in none.notes)


def test_an_external_clock_needs_its_bypass_bit() -> None:
    board = package.Board("nucleo-f411re")
    done = board.load(build("hse_wait", "nucleo-f411re")).run("1s")
    assert done.exit_code == 0
    assert any("without RCC_CR.HSEBYP" in note for note in done.notes)


def test_a_peripheral_stands_while_its_clock_is_off_and_is_reset() -> None:
    board = package.Board("nucleo-l4r5zi")
    done = board.load(build("kernel_clock", "nucleo-l4r5zi")).run("1s")
    assert (done.exit_code, done.streams) == (0, {"usart2": "x"})
    (note,) = done.notes
    assert "usart2: its clock comes from HSI16, which is off (RCC_CR.HSION)" in note
