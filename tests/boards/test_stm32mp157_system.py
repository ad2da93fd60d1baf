"""What an operating system needs of a Cortex-A7: debug registers, firmware, counters, processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, Command

from cyclescope import Board, firmware

BOARD = "stm32mp157c-dk2"
PROGRAMS = ROOT / "tests" / "firmware" / "stm32mp157"
SYSTEM_OFF, SYSTEM_RESET = 0x84000008, 0x84000009
NOT_SUPPORTED, INVALID_PARAMETERS = 0xFFFFFFFF, 0xFFFFFFFE


def build(name: str, **macros: int) -> Path:
    defined = {f"APP_{macro.upper()}": f"{value}u" for macro, value in macros.items()}
    return firmware.build(firmware.board_recipe(name, BOARD, [PROGRAMS / f"{name}.c"], defined))


def numbers(text: str) -> dict[str, int]:
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return {line["metric"]: line["value"] for line in lines}


def test_debug_registers_are_there_and_keep_what_is_written(cyclescope: Command) -> None:
    done = cyclescope("run", build("coprocessor14"), "--board", BOARD)
    assert done.status == 0, done.stderr
    assert numbers(done.stdout) == {
        "didr": 0x3515F005,
        "oslsr": 0xA,
        "osdlr": 0,
        "unlocked": 8,
        "bvr5": 0x12345678,
        "wcr3": 0x1FE0,
        "dscr": 1 << 15 | 2,
        "drar": 0,
        "teehbr": 0x1000,
        "teecr": 0,
    }


@pytest.mark.parametrize(("last", "status"), [(SYSTEM_OFF, 0), (SYSTEM_RESET, 1)])
def test_firmware_answers_and_ends_the_run(cyclescope: Command, last: int, status: int) -> None:
    done = cyclescope("run", build("psci", last=last), "--board", BOARD)
    assert done.status == status, done.stderr
    found = numbers(done.stdout)
    # both reads of the counter and the instructions around the call, some in no cache
    assert 0 <= found.pop("cycles") - 1950 < 200
    assert found == {
        "version": 0x10000,
        "off_is_there": 0,
        "smccc_is_there": 0,
        "suspend_to_ram": NOT_SUPPORTED,
        "migrates": 2,
        "this_is_on": 0,
        "other_on": INVALID_PARAMETERS,
    }
    assert "the last line leaves the UART\n" in done.stdout
    assert "went on" not in done.stdout
    assert ("PSCI SYSTEM_RESET" in done.stderr) == (last == SYSTEM_RESET)


def test_overflows_interrupt_in_their_cycle(cyclescope: Command) -> None:
    done = cyclescope("run", build("counter_overflow"), "--board", BOARD, "--limit", "1s")
    assert done.status == 0, done.stderr
    found = numbers(done.stdout)
    assert (found["taken"], found["overflowed"]) == (2, 1 << 31)
    # the GIC's 8 cycles, 16 to enter the handler, and the way to its first lines
    assert 24 <= found["cycles_since"] < 200
    assert (found["taken_of_instructions"], found["overflowed_of_instructions"]) == (3, 1)
    assert found["instructions_since"] < 1000
    assert found["taken_at_last"] == 3


def test_a_process_reaches_the_system_and_not_the_host(cyclescope: Command) -> None:
    done = cyclescope("run", build("process"), "--board", BOARD)
    assert done.status == 0, done.stderr
    assert numbers(done.stdout) == {"calls": 1, "aborts": 2, "undefined": 2}
    # of all these the system's own undefined instruction alone is worth a note
    assert "data abort" not in done.stderr
    assert done.stderr.count("undefined instruction") == 1


def test_delays_by_the_counter_are_skipped_to_the_same_cycle() -> None:
    elf = build("delays")
    skipping, polling = (
        Board(BOARD).load(elf).run("1s", skip_polling=skip) for skip in (True, False)
    )
    assert skipping == polling
    lines = [json.loads(line) for line in skipping.console.splitlines()]
    assert len(lines) == 10
    for line in lines:
        # from one tick's edge to another's: twelve ticks are 325 cycles
        assert abs(line["value"] - line["ticks"] * 325 / 12) < 500, line
    [work] = [work for work in skipping.host_work if work.core == "cpu0"]
    assert work.skipped_cycles > 0.9 * sum(line["value"] for line in lines)


def after_hot(rounds: int, value: int) -> int:
    """The value after that many calls of the program's `hot`."""
    for _ in range(50 * rounds):
        value = (value * 1103515245 + 12345) & 0xFFFFFFFF
    return value


def test_address_spaces_domains_and_patches_beside_hot_code() -> None:
    elf = build("address_spaces")
    results = [
        Board(BOARD).load(elf).run("1s", compile_after=compile_after)
        for compile_after in (0, 20, None)
    ]
    assert results[0] == results[1] == results[2], "interpreted and compiled"
    found = numbers(results[0].console)
    hot = after_hot(1000, 1)
    assert found == {
        "spaces": 400 * (3 + 40),
        "hot": hot,
        "closed": 200,
        "patched": after_hot(400, hot),
        "wrong": 0,
        "refused": 400,
        "calls": 6400,
        "own": 6400,
    }
    [work] = [work for work in results[1].host_work if work.core == "cpu0"]
    assert work.compiled > 0


def test_both_cores_share_memory_pages_and_interrupts(tmp_path: Path) -> None:
    board = Board(BOARD, {"cpu1.status": "okay"}).load(build("cluster"))
    results = [board.run("1s", compile_after=compile_after) for compile_after in (0, 20, None)]
    assert results[0] == results[1] == results[2], "interpreted and compiled"
    # while both count under the lock
    taken = tmp_path / "counting.snapshot"
    board.run("20ms", snapshot=taken, snapshot_at="13ms")
    later = board.run("1s", start_from=taken)
    assert (later.cores, later.counters) == (results[0].cores, results[0].counters)
    assert results[0].exit_code == 0, results[0]
    assert numbers(results[0].console) == {
        "own_on": 0xFFFFFFFC,
        "none_on": INVALID_PARAMETERS,
        "other_before": 1,
        "other_on": 0,
        "other_again": 0xFFFFFFFC,
        "mpidr": 0x80000001,
        "locked": 800,
        "counted": 800,
        "page_before": 11,
        "page_after": 22,
        "interrupt_of_second": 5,
        "interrupt_of_first": 1 << 10 | 3,
        # the times of the board's snoop control unit; 5 cycles of a barrier are under the second
        "load_from_other": 14,
        "store_to_shared": 1,
        "ball": 8,
        "on_anew": 0,
        "starts": 2,
    }
