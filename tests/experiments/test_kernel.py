"""The small kernel of firmware/kernel, and the runtime below it, on the board ben-nanonote."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import RunResult, Value

BOARD = "ben-nanonote"
PROGRAMS = ROOT / "tests" / "firmware" / "kernel"
FAILED = 1
# of clock_ticks: EXTAL
TICKS_A_MICROSECOND = 12


def build(
    name: str, settings: dict[str, Value] | None = None, macros: dict[str, str] | None = None
) -> Path:
    source = [PROGRAMS / f"{name}.c"]
    recipe = firmware.board_recipe(
        name, BOARD, source, include=[PROGRAMS], settings=settings, macros=macros
    )
    return firmware.build(recipe)


def run(elf: Path, limit: str = "100s") -> RunResult:
    return package.Board(BOARD).load(elf).run(limit)


@pytest.mark.parametrize(
    "name", ["threads", "completion", "mutex", "workqueue", "interrupts", "time"]
)
def test_the_kernel_does_what_its_headers_say(name: str) -> None:
    result = run(build(name))
    assert (result.outcome, result.exit_code) == ("exit", 0), result.console
    assert result.console.endswith(f"{name}: ok\n")


@pytest.mark.parametrize(
    ("misuse", "said"),
    [
        ("stack", "stack overflow (thread small)"),
        ("handler", "an interrupt handler sleeps (thread main)"),
        ("lock", "a mutex is locked by its owner (thread main)"),
        ("unlock", "a mutex is unlocked by another thread than its owner (thread small)"),
        ("enable", "an interrupt is enabled that is not disabled (thread main)"),
    ],
)
def test_a_misuse_of_the_kernel_ends_the_program_with_a_message(misuse: str, said: str) -> None:
    result = run(build("misuse", macros={f"MISUSE_{misuse.upper()}": "1"}))
    assert (result.outcome, result.exit_code) == ("exit", FAILED)
    assert result.console == f"\nkernel: {said}\nexit status 1\n"


def worker_ticks(wakeup_ns: int) -> int:
    result = run(build("workqueue", settings={"wakeup_ns": wakeup_ns}))
    assert (result.outcome, result.exit_code) == ("exit", 0), result.console
    lines = [json.loads(line) for line in result.console.splitlines() if line.startswith("{")]
    (ticks,) = [int(line["value"]) for line in lines if line["metric"] == "worker_ticks"]
    return ticks


def test_a_hand_over_to_a_worker_and_back_takes_time() -> None:
    # two switches with all that is around them: a few hundred instructions
    assert 1 * TICKS_A_MICROSECOND < worker_ticks(0) < 10 * TICKS_A_MICROSECOND


def test_the_time_of_a_larger_kernel_counts_once_a_wake_up() -> None:
    own = worker_ticks(0)
    for microseconds in (10, 45):
        spent = worker_ticks(1000 * microseconds) - own
        assert abs(spent - microseconds * TICKS_A_MICROSECOND) <= 3, microseconds


@pytest.mark.parametrize(
    ("cause", "code", "said"),
    [
        ("load", 2, r"no TLB entry for a load or fetch .*, BadVAddr 0x00400010"),
        ("store", 3, r"no TLB entry for a store .*, BadVAddr 0x00400010"),
        ("odd_load", 4, r"address error in a load or fetch .*, BadVAddr 0x8[0-9a-f]{6}[26ae],"),
        ("odd_store", 5, r"address error in a store .*, BadVAddr 0x8[0-9a-f]{6}[159d],"),
        ("fetch", 2, r"no TLB entry .* at pc 0x00400010, BadVAddr 0x00400010, ra 0x8001"),
        ("reserved", 10, r"reserved instruction"),
        ("coprocessor", 11, r"coprocessor unusable .*, coprocessor 1"),
        ("syscall", 8, r"system call"),
        ("break", 9, r"breakpoint"),
        ("overflow", 12, r"integer overflow"),
        ("trap", 13, r"trap"),
        (
            "delay_slot",
            2,
            r"no TLB entry .* at pc 0x8001[0-9a-f]{4}, in the delay slot of 0x8001[0-9a-f]{4}",
        ),
    ],
)
def test_an_exception_that_nobody_expects_is_reported(cause: str, code: int, said: str) -> None:
    result = run(build("exception", macros={f"EXCEPTION_{cause.upper()}": "1"}))
    # a reset, whatever the program's status is
    assert (result.outcome, result.exit_code) == ("exit", FAILED)
    assert re.search(rf"^\nexception: {said}", result.console), result.console
    assert f"(ExcCode {code})" in result.console
    assert result.console.endswith(f"\nexit status {64 + code}\n")


@pytest.mark.parametrize("board", [BOARD, f"{BOARD}-ssi"])
def test_hello_runs(board: str) -> None:
    result = package.Board(board).load(firmware.build_app("hello", board, {})).run()
    assert (result.outcome, result.exit_code) == ("exit", 0)
    assert result.console == f"hello from {board}\n"
