"""A Cortex-M4's exceptions, in a program built for the minimal board."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware
from cyclescope.profile.calls import latencies

BOARD = "minimal-armv7m"
TICKS = 400


@pytest.fixture(scope="module")
def exceptions() -> Path:
    source = ROOT / "tests" / "firmware" / "armv7m" / "exceptions.c"
    return firmware.build(firmware.board_recipe("exceptions", BOARD, [source]))


def test_exceptions_of_all_kinds_come_out_as_they_must(exceptions: Path) -> None:
    done = package.Board(BOARD).load(exceptions).run("1s")
    assert (done.outcome, done.exit_code) == ("exit", 0), done.console
    # The ticks pend interrupts 0, 1 and 2 in turn, 2 also pends 1, and 1 pends 0.
    third = TICKS // 3
    twos, ones = third, 2 * third + 1
    sums = sum(0.5 * tick for tick in range(1, TICKS + 1))
    assert done.console.strip() == (
        f"ticks {TICKS} switches {TICKS}, interrupts {third + ones} {ones} {twos}, "
        f"calls {twos}, faults 0, sums {int(sums)} 2000, wrong 0, depth 4, cause 0x02010000"
    )
    (core,) = done.cores
    causes = {entry.cause: entry.ps for entry in core.stack}
    assert sum(causes.values()) == done.elapsed_ps
    assert causes["exception entry and return"] > 0


def test_a_run_is_the_same_with_every_round_of_polling_loops_run(exceptions: Path) -> None:
    runs = [
        package.Board(BOARD).load(exceptions).run("1s", skip_polling=skip) for skip in (True, False)
    ]
    assert runs[0].cores == runs[1].cores


def test_exceptions_of_the_core_s_own_are_in_the_table_of_interrupts_once(exceptions: Path) -> None:
    done = package.Board(BOARD).load(exceptions).run("1s", profile=True)
    assert done.profile is not None
    (core,) = done.profile.cores
    rows = latencies(core)
    lines = {one.line: one for one in rows}
    assert len(lines) == len(rows)
    # One tick comes while the last one is counted; the console has calls of its own.
    least = {"systick (SysTick)": TICKS, "PendSV": TICKS, "SVCall": TICKS // 3}
    for line, count in least.items():
        assert lines[line].taken >= count
        assert lines[line].handler_cycles > 12 * lines[line].taken
        assert (lines[line].most_ps is None) == (line != "systick (SysTick)")
    assert sum(one.handler_ps for one in rows) < done.elapsed_ps
