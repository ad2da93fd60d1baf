"""The board nios2-mmc: our own programs on it."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import RunResult

BOARD = "nios2-mmc"


def run(name: str, **console: int) -> RunResult:
    """Runs a program of tests/firmware; `console` are properties of its UART."""
    source = ROOT / "tests" / "firmware" / f"{name}.c"
    elf = firmware.build(firmware.board_recipe(name, BOARD, [source]))
    overrides = {f"uart0.cyclescope,{key.replace('_', '-')}": at for key, at in console.items()}
    return package.Board(BOARD, overrides).load(elf).run("1s")


def test_hello_runs() -> None:
    hello = package.Board(BOARD).load(firmware.build_app("hello", BOARD, {})).run()
    assert (hello.outcome, hello.exit_code) == ("exit", 0)
    assert hello.console == f"hello from {BOARD}\n"


def test_a_program_does_not_wait_for_a_console_that_nobody_reads() -> None:
    # a character every 100 s: the FIFO's 64 are all there is room for
    result = run("performance_sections", character_us=100_000_000)
    assert (result.outcome, result.exit_code) == ("exit", 0)


@pytest.mark.parametrize(("name", "status"), [("exit_code", 42), ("illegal_instruction", 66)])
def test_a_program_ends_with_its_status(name: str, status: int) -> None:
    result = run(name)
    assert (result.outcome, result.exit_code) == ("exit", status)


def test_the_timer_interrupts_every_millisecond() -> None:
    result = run("timer_ticks")
    assert (result.outcome, result.exit_code) == ("exit", 0), result.console
    assert result.console.startswith("12 ticks, ")


def test_adjacent_writes_are_three_clocks_apart_as_on_the_published_system() -> None:
    result = run("performance_sections")
    assert (result.outcome, result.exit_code) == ("exit", 0), result.console
    # Each published total exceeds its section 1 by 6 clocks: two pairs of adjacent writes.
    assert result.console.endswith("around 6, empty 3\n")


def test_the_report_has_the_layout_of_the_published_ones() -> None:
    lines = run("performance_sections").console.splitlines()
    rule = "+---------------+-----+-----------+---------------+-----------+"
    assert lines[0] == "--Performance Counter Report--"
    assert re.fullmatch(r"Total Time: 0\.0020\d+ seconds  \(20\d{4} clock-cycles\)", lines[1])
    assert lines[2:5:2] == [rule, rule]
    assert lines[3] == "| Section       |  %  | Time (sec)|  Time (clocks)|Occurrences|"
    assert re.fullmatch(
        r"\|total          \|  100\|    0\.0020\d\|         20\d{4}\|          1\|", lines[5]
    )
    assert re.fullmatch(
        r"\|empty          \|0\.0015\|    0\.00000\|              3\|          1\|", lines[7]
    )
    assert re.fullmatch(
        r"\|spin           \|   40\|    0\.0008\d\|          80\d{3}\|          2\|", lines[9]
    )
    assert lines[6:11:2] == [rule] * 3
