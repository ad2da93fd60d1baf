"""The Ben NanoNote as its programs see it: clocks, console, timers, interrupts, the run's end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from ben_nanonote import BOARD, build
from conftest import Command, Finished

from cyclescope import firmware
from cyclescope.statuses import Status

# 12 MHz / 16 / 13: start bit, eight data bits and a stop bit
CHARACTER_US = 10 * 16 * 13 / 12
RESET_STATUS = 1


def run(cyclescope: Command, elf: Path, *options: str) -> Finished:
    return cyclescope("run", elf, "--board", BOARD, *options)


def run_timed(cyclescope: Command, elf: Path, tmp_path: Path) -> tuple[Finished, float]:
    """How a run ended, and its simulated time in microseconds."""
    result = tmp_path / "result.json"
    done = run(cyclescope, elf, "--json", str(result))
    return done, json.loads(result.read_text())["elapsed_ps"] / 1e6


def test_software_finds_the_clocks_and_the_memory_of_the_board(cyclescope: Command) -> None:
    done = run(cyclescope, build("clocks_and_memory"))
    assert done.status == 0
    assert "cclk 336000000 hclk 112000000 pclk 112000000\n" in done.stdout
    assert "sdram 33554432 bytes\n" in done.stdout
    assert "note" not in done.stderr


def test_the_console_has_the_speed_of_its_line(cyclescope: Command, tmp_path: Path) -> None:
    done, us = run_timed(cyclescope, firmware.build_app("hello", BOARD, {}), tmp_path)
    text = "hello from ben-nanonote\n"
    assert done.status == 0
    assert done.stdout.startswith(text)
    assert len(text) * CHARACTER_US < us < (len(text) + 10) * CHARACTER_US


def test_interrupts_come_from_timers_and_the_clock(cyclescope: Command) -> None:
    done = run(cyclescope, build("interrupts"))
    assert done.status == 0, done
    (slept,) = re.findall(r"^slept (\d+) us$", done.stdout, re.MULTILINE)
    assert 20_000 <= int(slept) <= 20_100
    (found,) = re.findall(r"^wraps (\d+) seconds 2 of 2$", done.stdout, re.MULTILINE)
    # of 65536 ticks of 12 MHz, in the 1.97 s to the second second and up to 0.1 s more
    assert 361 <= int(found) <= 381


def test_a_program_that_fails_ends_in_a_reset(cyclescope: Command) -> None:
    done = run(cyclescope, build("exit_status"))
    assert done.status == RESET_STATUS
    assert "exit status 7\n" in done.stdout
    assert "note: tcu: the watchdog" in done.stderr.replace("\n", " ")


def test_a_watchdog_that_is_forgotten_resets_the_board(cyclescope: Command, tmp_path: Path) -> None:
    done, us = run_timed(cyclescope, build("watchdog"), tmp_path)
    assert done.status == RESET_STATUS
    assert "served" in done.stdout
    assert "resets the board" in done.stderr
    # 10 ms after it was last served: the UART's FIFO takes the line at once
    assert 60_000 < us < 60_500


@pytest.mark.parametrize(
    ("program", "note"),
    [
        ("uart_off", "uart0: a character was written while UFCR.UME is 0"),
        ("timer_without_clock", "tcu: channel 5 is enabled, but stands"),
    ],
)
def test_a_silent_failure_on_the_board_is_noted(
    cyclescope: Command, program: str, note: str
) -> None:
    done = run(cyclescope, build(program))
    assert done.status == 0
    assert note in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("&uart0 { interrupts = <32>; };", "an input that it has: intc has 0 to 31"),
        ("&intc { interrupts = <0>; };", "an input that it has: cpuintc has 2 to 7"),
        ("&intc { interrupts = <8>; };", "an input that it has: cpuintc has 2 to 7"),
        ("&uart0 { interrupt-parent = <&sdram>; };", "an enabled interrupt controller"),
        ("&tcu { clocks = <&rtc>, <&ext>; };", "PCLK"),
        ("&pclk { clock-frequency = <100000000>; };", "cclk is half of 2 to 513 times EXTAL's"),
    ],
)
def test_wrong_wiring_of_the_chip_is_refused(
    cyclescope: Command, changed_board: Callable[[str, str], Path], change: str, said: str
) -> None:
    done = cyclescope("board", changed_board(change, BOARD))
    assert done.status == Status.USAGE
    assert said in done.stderr.replace("\n", " ")
    assert re.search(r"\.dtsi?:\d+: ", done.error)
