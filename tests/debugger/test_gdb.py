"""GDB on each kind of core: it halts, looks, steps, and the firmware takes as many cycles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from debugged import TARGETS, Target
from gdb_sessions import LIMIT, gdb_for, session
from tiers import mostly_long

NEEDS_GDB = pytest.mark.skipif(
    any(gdb_for(target) is None for target in TARGETS.values()), reason="no GDB for all cores"
)
pytestmark = NEEDS_GDB

# A register of a device that each firmware stores to: of the console's UART.
UARTS = {
    "rv32": 0x40600004,
    "picorv32": 0x02000008,
    "a5": 0xF8020000,
    "a7-m4": 0x40010028,
    "m4": 0x40004404,
    "mips": 0xB0030000,
}


# one of each architecture, and two cores at once
SHORT = {"rv32", "a7-m4", "mips"}


@pytest.fixture(
    params=mostly_long(TARGETS.values(), SHORT, key=lambda target: target.name), ids=TARGETS
)
def target(request: pytest.FixtureRequest) -> Target:
    return request.param


def what_counts(result: dict[str, Any]) -> dict[str, Any]:
    """A result without the host's part of it, and the program's name."""
    return {key: value for key, value in result.items() if key not in ("host", "firmware")}


def test_a_session_changes_no_cycle(target: Target, tmp_path: Path) -> None:
    plain = target.load().run(limit=LIMIT).to_dict()
    held = session(
        target,
        tmp_path,
        "info threads",
        f"break {target.function}",
        "continue",
        "backtrace 3",
        "info registers pc sp",
        "stepi",
        "stepi 300",
        "next",
        # the same value again
        "set {unsigned int}$sp = {unsigned int}$sp",
        "set $saved = $pc",
        "set $pc = $saved",
        "monitor time",
        "monitor cycles",
        "monitor events",
        "delete",
        "detach",
    )
    output = held.output
    assert re.search(r"Breakpoint 1(\.1)?, ", output), output
    assert re.search(r"#0 .*\n#1 .* in \w+ \(", output), output
    assert output.count(" instructions\n") == len(plain["cores"])
    assert "rror" not in output, output
    assert held.errors == ""
    assert held.status == 0
    assert what_counts(held.result) == what_counts(plain)


def test_a_device_register_is_watched(target: Target, tmp_path: Path) -> None:
    plain = target.load().run(limit=LIMIT).to_dict()
    addr = UARTS[target.name]
    held = session(
        target,
        tmp_path,
        f"awatch *(unsigned char *) {addr:#x}",
        "continue",
        'printf "<%u>\\n", $pc',
        "backtrace 2",
        "stepi",
        'printf "<%u>\\n", $pc',
        "delete",
        "detach",
    )
    # as it is set, and as it is hit
    assert held.output.count("watchpoint 1: ") == 2, held.output
    # after the access, as in Python, and the user's step is one step
    debugger = target.load().debug()
    debugger.watch(addr, 1, loads=True)
    halts = [debugger.run(limit=LIMIT), debugger.core.step()]
    assert [int(pc) for pc in re.findall(r"<(\d+)>", held.output)] == [halt.pc for halt in halts]
    assert what_counts(held.result) == what_counts(plain)
