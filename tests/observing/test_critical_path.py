"""The critical path through runs: which core or device waited for which, as in sums by hand."""

from __future__ import annotations

import json
import os
import re
from functools import cache

import pytest
import tiers
from conftest import BOARD, Command
from test_schemas import faults
from warm_start import WarmStart

from cyclescope import Board, firmware
from cyclescope.board.observing.critical_path import CriticalPath, HandOver
from cyclescope.board.results import RunResult, Value
from cyclescope.statuses import Status

TWO_CORES = "stm32mp157c-dk2"
BLOCK = {"tests": "one", "block_bytes": 4096, "blocks": 1}
# docs/rpmsg-tty.md, "By hand": the M4's log of 4096 B x 1.
LOG_US = 36404
CHARACTERS = 414
CHARACTER_NS = 86_720


@cache
def rpmsg(**settings: Value) -> RunResult:
    """A test of 4096 bytes."""
    elf = firmware.build_app("rpmsg_tty", TWO_CORES, {**BLOCK, **settings})
    result = Board(TWO_CORES).load(elf).run("10s", waits=True)
    assert result.outcome == "exit", result.message
    return result


def path_of(result: RunResult) -> CriticalPath:
    assert result.critical_path is not None
    return result.critical_path


def held(path: CriticalPath, waited_for: str, held_up: str, device: str) -> HandOver:
    names = (waited_for, held_up, device)
    (found,) = (
        one for one in path.hand_overs if (one.waited_for, one.held_up, one.device) == names
    )
    return found


def test_the_path_is_all_of_the_time() -> None:
    result = rpmsg()
    path = path_of(result)
    assert sum(row.ps for row in path.rows) == result.elapsed_ps
    assert [row.ps for row in path.rows] == sorted((row.ps for row in path.rows), reverse=True)
    assert all(row.ps > 0 for row in path.rows)
    # one follows the other
    ends = [stay.end_ps for stay in path.stays]
    assert [stay.begin_ps for stay in path.stays] == [0, *ends[:-1]]
    assert ends[-1] == result.elapsed_ps


def test_the_m4s_log_holds_the_a7_up() -> None:
    path = path_of(rpmsg())
    by_m4 = held(path, "cm4", "cpu0", "ipcc")
    assert by_m4.longest_ps / 1e6 == pytest.approx(LOG_US, rel=0.01)
    wire = max(path.stays, key=lambda stay: stay.mostly_ps)
    assert (wire.core, wire.mostly) == ("cm4", "uart7: character sent")
    assert wire.mostly_ps / 1000 == pytest.approx(CHARACTERS * CHARACTER_NS, rel=0.01)


def test_the_a7_holds_the_m4_up() -> None:
    path = path_of(rpmsg())
    assert held(path, "cpu0", "cm4", "rcc").times == 1  # the core was released from reset
    # then it waits for messages, in a loop: it looks at flags that its interrupt's handler sets
    assert held(path, "cpu0", "cm4", "ipcc").ps > 3e8
    work = {row.core: row.ps for row in path.rows if row.what == "CPU and accesses"}
    assert work["cm4"] < work["cpu0"]


def test_without_a_log_nobody_holds_up_for_long() -> None:
    path = path_of(rpmsg(log="off"))
    assert held(path, "cm4", "cpu0", "ipcc").longest_ps / 1e6 < LOG_US / 10


def test_the_path_does_not_depend_on_how_a_run_is_simulated() -> None:
    # two cores that wake each other, and one that waits in a loop between
    elf = firmware.build_app("ipc_modes", TWO_CORES, {})
    board = Board(TWO_CORES).load(elf)
    limit = f"{tiers.sized(30, 50)}ms"
    usual = board.run(limit, waits=True)
    again = board.run(limit, waits=True, skip_polling=False, compile_after=1, profile=True)
    path = path_of(usual)
    assert again.critical_path == path
    assert sum(row.ps for row in path.rows) == usual.elapsed_ps
    assert held(path, "cm4", "cpu0", "ipcc").times > 1
    assert held(path, "cpu0", "cm4", "ipcc").times > 1


def test_one_core_holds_itself_up() -> None:
    elf = firmware.build_app("hello", BOARD, {})
    result = Board(BOARD).load(elf).run("10s", waits=True)
    path = path_of(result)
    assert sum(row.ps for row in path.rows) == result.elapsed_ps
    waits = {entry.cause: entry.ps for entry in result.cores[0].waits or ()}
    assert path.hand_overs == ()
    assert {row.core for row in path.rows} == {"cpu0"}
    for row in path.rows:
        assert row.what == "CPU and accesses" or waits[row.what] == row.ps
    assert Board(BOARD).load(elf).run("10s").critical_path is None


@pytest.fixture(scope="module")
def outputs(command_line: WarmStart, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The command's output for the test of 4096 bytes, and the JSON that it writes."""
    elf = str(firmware.build_app("rpmsg_tty", TWO_CORES, BLOCK))
    call = ["run", elf, "--board", TWO_CORES, "--waits", "--json", "run.json"]
    folder = tmp_path_factory.mktemp("outputs")
    status, output, errors = command_line.call(call, folder, os.environ, timeout_s=300)
    assert status == Status.SUCCESS, errors.decode()
    return output.decode(), (folder / "run.json").read_text()


def test_the_command_shows_it_of_several_cores(
    outputs: tuple[str, str], cyclescope: Command
) -> None:
    shown, _ = outputs
    assert re.search("^critical path by cause +$", shown, re.M)
    assert re.search("^│ cm4 +│ uart7: character sent +│ .* % │$", shown, re.M)
    assert re.search("^│ cm4 +│ cpu0 +│ ipcc +│ .* 36.3[0-9]* ms", shown, re.M)
    elf = firmware.build_app("rpmsg_tty", TWO_CORES, BLOCK)
    plain = cyclescope("run", elf, "--board", TWO_CORES, "--limit", "1ms")
    assert "simulated time" in plain.stdout
    assert "critical path" not in plain.stdout


def test_the_json_has_it_if_waits_are_asked_for(
    outputs: tuple[str, str], cyclescope: Command
) -> None:
    data = json.loads(outputs[1])
    assert faults("run", data) == []
    assert data["critical_path"] == path_of(rpmsg()).to_dict()
    elf = firmware.build_app("rpmsg_tty", TWO_CORES, BLOCK)
    call = ("run", elf, "--board", TWO_CORES, "--quiet", "--json", "-")
    assert "critical_path" not in json.loads(cyclescope(*call, "--limit", "1ms").stdout)
