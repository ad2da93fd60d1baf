"""The board nios2-mmc: our own programs on it."""

from __future__ import annotations

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware
from cyclescope.results import RunResult

BOARD = "nios2-mmc"


def run(name: str) -> RunResult:
    """Runs a program of tests/firmware."""
    source = ROOT / "tests" / "firmware" / f"{name}.c"
    elf = firmware.build(firmware.board_recipe(name, BOARD, [source]))
    return package.Board(BOARD).load(elf).run()


def test_hello_runs() -> None:
    hello = package.Board(BOARD).load(firmware.build_app("hello", BOARD, {})).run()
    assert (hello.outcome, hello.exit_code) == ("exit", 0)
    assert hello.console == f"hello from {BOARD}\n"


@pytest.mark.parametrize(("name", "status"), [("exit_code", 42), ("illegal_instruction", 66)])
def test_a_program_ends_with_its_status(name: str, status: int) -> None:
    result = run(name)
    assert (result.outcome, result.exit_code) == ("exit", status)
