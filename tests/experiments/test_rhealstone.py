"""The Rhealstone operations on the simulated SAMA5D2 Xplained."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from tiers import mostly_long, sized

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import Value

BOARD = "sama5d2-xplained"
OPERATIONS = [
    "task-switch",
    "task-preempt",
    "interrupt-latency",
    "semaphore-shuffle",
    "deadlock-break",
    "message-latency",
]
CYCLES_A_TICK = 48


@cache
def run(memory: str, loops: int, **settings: Any) -> dict[str, dict[str, Any]]:
    """The results of a run by operation and metric."""
    chosen = {"memory": memory, "cache": "off", "loops": loops, **settings}
    elf = firmware.build_app("rhealstone", BOARD, chosen)
    finished = package.Board(BOARD).load(elf).run("100s")
    assert (finished.outcome, finished.exit_code) == ("exit", 0), finished.console
    found: dict[str, dict[str, Any]] = {}
    for line in finished.console.splitlines():
        if line.startswith("{"):
            result = json.loads(line)
            found.setdefault(result["operation"], {})[result["metric"]] = result["value"]
    return found


def test_hello_says_so(cyclescope: Command) -> None:
    finished = cyclescope("run", firmware.build_app("hello", BOARD, {}), "--board", BOARD)
    assert finished.status == 0, finished.stderr
    assert finished.stdout.startswith(f"hello from {BOARD}\n")


@pytest.mark.parametrize("memory", ["sram", "qspi"])
@pytest.mark.parametrize("cache", mostly_long(["off", "on"], {"on"}))
def test_each_cycle_has_a_cause(memory: str, cache: str) -> None:
    # in the short tier programs that other tests have as well
    chosen: dict[str, Value] = {"memory": memory, "cache": cache, "loops": sized(4, 10)}
    elf = firmware.build_app("rhealstone", BOARD, chosen)
    done = package.Board(BOARD).load(elf).run("10s")
    assert (done.outcome, done.exit_code) == ("exit", 0)
    (core,) = done.cores
    assert sum(entry.ps for entry in core.stack) == done.elapsed_ps


@pytest.mark.parametrize("memory", ["sram", "qspi"])
@pytest.mark.parametrize("optimise", mostly_long(["O0", "O2"], {"O2"}))
def test_cycles_follow_from_ticks_and_operations(memory: str, optimise: str) -> None:
    found = run(memory, 4, optimise=optimise)
    assert list(found) == OPERATIONS
    # 4 loops: Atmel-44043A, note 1 of table 4-1; RTEMS's programs for the others
    assert [found[name]["operations"] for name in OPERATIONS] == [7, 3, 4, 8, 4, 3]
    for result in found.values():
        ticks = result["total_ticks"] - result["base_ticks"]
        exact = ticks * CYCLES_A_TICK / result["operations"]
        assert 0 < result["cycles"] <= exact < result["cycles"] + 0.001


def test_single_operations_take_whole_ticks_and_more_in_the_flash() -> None:
    sram, qspi = (run(memory, 1, tick="off") for memory in ("sram", "qspi"))
    for name in OPERATIONS:
        assert sram[name]["cycles"] % (CYCLES_A_TICK / sram[name]["operations"]) == 0
        assert qspi[name]["cycles"] > 2 * sram[name]["cycles"]


def test_a_slower_flash_clock_takes_longer_and_no_xip_mode_too() -> None:
    settings: dict[str, Any] = {"operation": "task-switch", "tick": "off"}
    # in the short tier programs that the experiment has as well
    loops = sized(1, 4)
    fast = run("qspi", loops, **settings)["task-switch"]["cycles"]
    slow = run("qspi", loops, spck_divider=6, **settings)["task-switch"]["cycles"]
    with_instructions = run("qspi", loops, continuous_read="off", **settings)
    assert 1.5 * fast < slow < 2 * fast
    assert with_instructions["task-switch"]["cycles"] > 1.05 * fast


def test_a_fault_is_reported_with_address_and_cause(cyclescope: Command, tmp_path: Path) -> None:
    path = tmp_path / "main.c"
    path.write_text("int main(void) { return *(volatile int *)0x60000000; }\n")
    elf = firmware.build(firmware.board_recipe("fault", BOARD, [path]))
    finished = cyclescope("run", elf, "--board", BOARD)
    assert finished.status == 1
    assert "data abort: external abort (DFSR 0x00000008, read) at pc 0x0020" in finished.stdout
    assert "DFAR 0x60000000" in finished.stdout
    assert "exit status 67\n" in finished.stdout
