"""Characters that a firmware wrote to a UART and did not wait for are sent at its end, or noted."""

from __future__ import annotations

import re
from pathlib import Path

import hosted
import pytest
from conftest import ROOT

from cyclescope import Board, RunResult, firmware

PROGRAM = ROOT / "tests" / "firmware" / "console" / "last_line.c"
BY_SEMIHOSTING, BY_SHUTDOWN, BY_RESET, BY_HIBERNATION, BY_FAULT, NEVER = range(6)
TEXT = "the last line\n"


def build(board: str, end: int) -> Path:
    macros, include = {"APP_END": str(end)}, [hosted.PROGRAM]
    recipe = firmware.board_recipe("last_line", board, [PROGRAM], macros, include=include)
    return firmware.build(recipe)


def run(board: str, end: int, limit: str = "1s", vcd: Path | None = None) -> RunResult:
    heard: list[str] = []
    result = Board(board).load(build(board, end)).run(limit, console=heard.append, vcd=vcd)
    assert "".join(heard) == result.console
    return result


@pytest.mark.parametrize(
    ("board", "end", "uart", "sent", "most_us"),
    [
        # 16 characters fit the FIFO: the firmware ends before the first has left
        ("kc705-axi-quad-spi", BY_SEMIHOSTING, "uart0", 0, 100),
        ("nios2-mmc", BY_SEMIHOSTING, "uart0", 14, 1000),
        # 11 ms of booting; a holding and a shift register: all but two, of 87 us each
        ("sama5d2-xplained", BY_SHUTDOWN, "uart1", 12, 11_000),
        ("stm32mp157c-dk2", BY_SEMIHOSTING, "uart4", 12, 1500),
        # the driver asks for half of the FIFO; 173 us each
        ("ben-nanonote", BY_HIBERNATION, "uart0", 4, 1000),
    ],
)
def test_the_last_line_is_sent_after_the_end(
    board: str, end: int, uart: str, sent: int, most_us: float
) -> None:
    result = run(board, end)
    assert (result.outcome, result.exit_code, result.console) == ("exit", 0, TEXT)
    assert not [note for note in result.notes if "character" in note]
    # time and totals are those of the firmware's end
    assert result.counters[f"{uart}.tx_characters"] == sent
    assert result.elapsed_ps < most_us * 10**6
    assert sum(entry.ps for entry in result.cores[0].stack) == result.elapsed_ps


def test_the_last_line_is_sent_after_a_fault() -> None:
    result = run("kc705-axi-quad-spi", BY_FAULT)
    assert (result.outcome, result.console) == ("fault", TEXT)
    assert not [note for note in result.notes if "character" in note]


def test_a_reset_loses_the_last_characters_and_a_note_says_so() -> None:
    result = run("sama5d2-xplained", BY_RESET)
    assert (result.outcome, result.exit_code, result.console) == ("exit", 1, TEXT[:-2])
    left = "uart1: 2 characters were still under way when the board was reset, and are not printed"
    assert left + ': "e\\n"' in result.notes


def test_a_limit_leaves_the_characters_that_are_under_way() -> None:
    result = run("kc705-axi-quad-spi", NEVER, limit="5ms")
    assert result.outcome == "limit"
    # 9600 baud: 1.04 ms a character
    assert result.console == TEXT[:4]
    left = "uart0: 10 characters were still under way when the limit came, and are not printed"
    assert result.notes == (left + ': "last line\\n"',)


def test_waveforms_end_with_the_firmware(tmp_path: Path) -> None:
    result = run("stm32mp157c-dk2", BY_SEMIHOSTING, vcd=tmp_path / "wires.vcd")
    recorded = (tmp_path / "wires.vcd").read_text()
    last_ps = max(int(time) for time in re.findall(r"^#(\d+)$", recorded, re.MULTILINE))
    # the frame that was on the line had been recorded to its end
    assert last_ps <= result.elapsed_ps + 87 * 10**6
