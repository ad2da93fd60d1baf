"""GDB halts where a condition becomes true, goes back there, and changes nothing."""

from __future__ import annotations

import re
from pathlib import Path

import logger_firmware
import pytest
from conftest import BOARD
from debugged import Target
from gdb_sessions import gdb_for, session

from cyclescope.statuses import Status

pytestmark = pytest.mark.skipif(
    gdb_for(Target("rv32", BOARD, Path, "main")) is None, reason="no GDB is installed"
)
REPORT = re.compile(r"condition (\d), ([^\n]*), has become true at [^(]* \((\d+) ps\)")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    elf = logger_firmware.build(tmp_path_factory.mktemp("logger"))
    return Target("rv32", BOARD, lambda: elf, "write_page")


def test_conditions_halt_forth_and_back(target: Target, tmp_path: Path) -> None:
    plain = target.load().run(count_when=["flash0.busy", "time >= duration('9ms')"])
    busy, late = plain.triggers
    held = session(
        target,
        tmp_path,
        "monitor break-when flash0.busy",
        "monitor count-when time >= duration('9ms')",
        "monitor break-when flash0.bussy",
        "continue",
        "info symbol $pc",
        "continue",
        "continue",
        "reverse-continue",
        "reverse-continue",
        "monitor triggers",
        "monitor remove-trigger 0",
        "monitor remove-trigger 7",
        "break write_page",
        "continue",
        "monitor triggers",
        "delete",
        "detach",
    )
    reported = REPORT.findall(held.output)
    assert [number for number, *_ in reported] == ["0"] * 5, held.output
    at_ps = [int(ps) for *_, ps in reported]
    assert at_ps[0] == busy.first_ps
    assert sorted(set(at_ps)) == at_ps[:3]
    # from the third to the second, and to the first
    assert at_ps[3:] == [at_ps[1], at_ps[0]]
    assert "flash0 has no signal or counter 'bussy'" in held.output
    assert "transfer in section" in held.output or "transfer + " in held.output
    assert "0: break-when flash0.busy: once" in held.output
    assert "1: count-when time >= duration('9ms'): 0 times" in held.output
    assert "there is no trigger '7'" in held.output
    assert "0: count-when time >= duration('9ms'): 0 times" in held.output
    assert held.result["cores"] == plain.to_dict()["cores"]
    assert [trigger["first_ps"] for trigger in held.result["triggers"]] == [late.first_ps]
    assert held.status == Status.SUCCESS
