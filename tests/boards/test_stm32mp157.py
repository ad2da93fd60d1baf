"""Programs for the Cortex-A7 of an STM32MP157: timer, interrupts, exceptions."""

import json
import re
from pathlib import Path

import pytest
from conftest import ROOT, Command

from cyclescope import firmware

BOARD = "stm32mp157c-dk2"
PROGRAMS = ROOT / "tests" / "firmware" / "stm32mp157"


def build(name: str, **macros: int) -> Path:
    defined = {f"APP_{macro.upper()}": str(value) for macro, value in macros.items()}
    return firmware.build(firmware.board_recipe(name, BOARD, [PROGRAMS / f"{name}.c"], defined))


def test_hello(cyclescope: Command) -> None:
    done = cyclescope("run", firmware.build_app("hello", BOARD, {}), "--board", BOARD)
    assert done.status == 0, done.stderr
    assert f"hello from {BOARD}" in done.stdout


def test_a_sleep_ends_at_its_time_and_interrupts_are_served(cyclescope: Command) -> None:
    done = cyclescope("run", build("sleep"), "--board", BOARD)
    assert done.status == 0, done.stderr
    slept = re.findall(r"^(\d+) us: (\d+) ticks late, (\d+) served$", done.stdout, re.MULTILINE)
    assert [int(us) for us, _, _ in slept] == [1, 10, 100, 1000, 10000]
    assert [int(served) for _, _, served in slept] == [1, 2, 3, 4, 5]
    # a tick is 27 cycles of the core; the first time its code is in no cache
    assert all(int(late) <= 20 for us, late, _ in slept if int(us) >= 10)


def test_timer_interrupts_keep_their_period_and_a_loop_takes_its_cycles(
    cyclescope: Command,
) -> None:
    done = cyclescope("run", build("timer_interrupts"), "--board", BOARD, "--limit", "1s")
    assert done.status == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {line["metric"]: line["value"] for line in lines}
    assert found["interrupts"] == 10
    # nine periods of 100 us; the first interrupt finds nothing of its way in the caches
    assert abs(found["ticks_between"] - 9 * 2400) <= 24
    # by hand, three cycles a round: add with add, add with subs, and the branch
    assert found["loop"] == 1000 * 3


@pytest.mark.parametrize(
    ("kind", "status", "said"),
    [
        (0, 67, r"data abort: translation fault, section .*, write\) at pc 0xc000\w+, DFAR 0x2000"),
        (1, 64, r"undefined instruction at pc 0xc000"),
        (2, 68, r"interrupt 41 without a handler"),
    ],
)
def test_an_unexpected_exception_is_reported(
    cyclescope: Command, kind: int, status: int, said: str
) -> None:
    done = cyclescope("run", build("faults", kind=kind), "--board", BOARD)
    assert done.status == status
    assert re.search(said, done.stdout), done.stdout
    assert "went on" not in done.stdout
