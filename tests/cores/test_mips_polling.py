"""Polling loops of a MIPS core, whose bus is slower than itself: skipped, with the same result."""

from __future__ import annotations

from typing import Any

import mips_assembly

from cyclescope import _engine
from cyclescope.board import board_tree
from cyclescope.board.description.overrides import apply_overrides

BOARD = "ben-nanonote"
TEXT = b"rounds that are all the same\n"


def run(skip: bool) -> tuple[Any, ...]:
    """The run's outcome, console, registers, and skipped cycles."""
    # The line follows the firmware, which has a rate of its own.
    tree = board_tree(BOARD)
    apply_overrides(tree, {"chosen.stdout-path": ":"})
    machine = _engine.Machine(tree.to_dict())
    machine.load(mips_assembly.built("uart_poll").read_bytes(), "uart_poll")
    machine.skip_polling(skip)
    console = bytearray()
    report = machine.run(10**11, console.extend)
    return report, bytes(console), machine.registers(), machine.skipped()


def test_skipped_rounds_leave_what_running_them_does() -> None:
    *skipping, (skipped,) = run(True)
    *running, (nothing,) = run(False)
    assert skipping == running
    report, console, _ = skipping
    assert (report["outcome"], report["code"], console) == ("exit", 0, TEXT)
    # each character is waited for
    cycles = report["cores"][0]["cycles"]
    assert 0.9 * cycles < skipped < cycles
    assert nothing == 0
