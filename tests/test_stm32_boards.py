"""Boards with an STM32F407, an STM32F411 or an STM32L4R5: start, clocks that programs raise."""

from __future__ import annotations

import pytest

import cyclescope as package
from cyclescope import firmware

# Each with its clock out of reset, and the one that `clock_setup` raises it to.
BOARDS = {
    "stm32f4-disco": (16_000_000, 168_000_000),
    "nucleo-f411re": (16_000_000, 100_000_000),
    "nucleo-l4r5zi": (4_000_000, 120_000_000),
}
# Of 115200 baud, with start and stop bit.
CHARACTER_PS = 10 * 10**12 // 115_200


@pytest.mark.parametrize("board", BOARDS)
def test_hello(board: str) -> None:
    done = package.Board(board).load(firmware.build_app("hello", board, {})).run("1s")
    assert (done.exit_code, done.console, done.notes) == (0, f"hello from {board}\n", ())


@pytest.mark.parametrize("board", BOARDS)
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


def test_a_board_without_hse_waits_for_it_as_the_real_one_does() -> None:
    tree = package.Board("nucleo-l4r5zi").describe()
    assert "hse" not in {clock["name"] for clock in tree["clocks"]}
