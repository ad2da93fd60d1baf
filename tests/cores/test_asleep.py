"""The core asleep: what counts, what wakes it, and how a run ends that nothing can wake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT, Command

from cyclescope import Board, firmware
from cyclescope.board.scripts import Expect
from cyclescope.statuses import Status

SOURCE = ROOT / "tests" / "firmware" / "stm32" / "asleep.c"
DISCOVERY = "stm32f4-disco"
TICKS = 1000
SLEEPS = 10


def build(board: str, end: int) -> Path:
    return firmware.build(firmware.board_recipe("asleep", board, [SOURCE], {"END": str(end)}))


@pytest.mark.parametrize("board", [DISCOVERY, "nucleo-l4r5zi"])
def test_cycles_asleep_and_events(board: str) -> None:
    done = Board(board).load(build(board, 1)).run("1s")
    wfe, wfi, late = done.console.splitlines()
    counted = list(map(int, re.findall(r"\d+", wfe)))
    disabled, masked, by_exti, interrupt, taken = counted
    # The timer's clock is the core's, out of reset; it is started by the store before.
    for waited in (disabled, masked, interrupt):
        assert TICKS - 20 < waited < TICKS + 60
    assert by_exti < 10
    assert taken == 1
    clocked, awake = map(int, re.findall(r"\d+", wfi))
    assert abs(clocked - SLEEPS * TICKS) < TICKS
    assert 100 < awake < 2000
    assert late == "taken 2"
    assert done.outcome == "asleep"
    assert (done.message or "").endswith("nothing on the board is due to raise one")
    stopped, again = done.notes
    assert "DWT_CYCCNT stands still while the core sleeps" in stopped
    assert re.search(r", by 0x[0-9a-f]{8} \(main\+0x", stopped)
    assert "interrupt 28 from timers2 was taken once more at once, 1 time" in again


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (2, r"interrupt 28 is pending, but not enabled in the NVIC, and with SCR.SEVONPEND clear"),
        (3, r"interrupt 28 is pending, but masked by PRIMASK, and with SCR.SEVONPEND clear"),
    ],
)
def test_a_pending_interrupt_that_wakes_nothing_is_named(
    cyclescope: Command, end: int, why: str
) -> None:
    done = cyclescope("run", build(DISCOVERY, end), "--board", DISCOVERY, "--limit", "1s")
    assert done.status == Status.ASLEEP
    assert done.error.startswith("cpu0 waits for an event at pc 0x")
    assert done.error.endswith(f"({why} that is no event); nothing on the board is due to send one")


def test_a_handler_that_clears_nothing_is_reported() -> None:
    done = Board(DISCOVERY).load(build(DISCOVERY, 4)).run("20ms")
    assert done.outcome == "limit"
    notes = [note for note in done.notes if "in a row" in note]
    pattern = r"cpu0: interrupt 28 from timers2 was taken (\d+) times in a row, .* \(timers2: UIF\)"
    (found,) = (re.match(pattern, note) for note in notes)
    assert found
    assert int(found[1]) > 1000


def test_a_character_may_come_up_to_the_limit() -> None:
    board = Board(DISCOVERY).load(build(DISCOVERY, 5))
    waited, slept = board.run("50ms"), board.run(None)
    assert (waited.outcome, waited.elapsed_ps) == ("limit", 50 * 10**9)
    assert (waited.message or "").endswith(
        ": nothing but a character that usart2 receives could end that, which --script can send"
    )
    assert slept.outcome == "asleep"
    assert slept.elapsed_ps < waited.elapsed_ps
    assert "only a character that usart2 receives could raise one" in (slept.message or "")
    # The core does not let the port's interrupt in.
    deaf = Board(DISCOVERY).load(build(DISCOVERY, 6)).run("50ms")
    assert deaf.outcome == "asleep"
    assert (deaf.message or "").endswith("; nothing on the board is due to raise one")


def test_a_script_that_waits_for_a_firmware_asleep_has_failed() -> None:
    board = Board(DISCOVERY).load(build(DISCOVERY, 1))
    done = board.run("1s", script=[Expect("never")])
    assert done.outcome == "script"
    assert "nothing on the board is due to raise one" in (done.message or "")


def test_a_sleep_is_the_same_after_halts(cyclescope: Command) -> None:
    board = Board(DISCOVERY).load(build(DISCOVERY, 1))
    debugger = board.debug()
    halted = debugger.run(until="5ms")
    assert halted.reason == "time"
    snapshot = debugger.snapshot()
    assert debugger.run().reason == "end"
    whole = board.run("1s")
    assert debugger.result() == whole
    assert board.run("1s", start_from=snapshot).message == whole.message
