"""After the end of a run, `run` starts the firmware again, in extended mode."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import rsp
from conftest import BOARD
from debugged import TARGETS
from gdb_sessions import LIMIT, gdb_for, session
from test_gdb import what_counts
from tiers import mostly_long

RV32 = TARGETS["rv32"]
NEEDS_GDB = pytest.mark.skipif(gdb_for(RV32) is None, reason="no GDB for this core")
LINE = "2 interrupts, "


@NEEDS_GDB
@pytest.mark.parametrize("name", ["rv32", "a7-m4"])
def test_run_starts_again_and_breakpoints_stay(tmp_path: Path, name: str) -> None:
    target = TARGETS[name]
    if gdb_for(target) is None:
        pytest.skip("no GDB for this core")
    plain = target.load().run(limit=LIMIT).to_dict()
    held = session(
        target,
        tmp_path,
        f"break {target.function}",
        "continue",
        'printf "<%u>\\n", $pc',
        "stepi 100",
        # while it runs, after its end, and after it was killed
        "run",
        'printf "<%u>\\n", $pc',
        "delete",
        "set {unsigned int}$sp = 0x12345678",
        "continue",
        f"break {target.function}",
        "run",
        'printf "<%u>\\n", $pc',
        "kill",
        "run",
        'printf "<%u>\\n", $pc',
        "delete",
        "continue",
        # GDB leaves after the end
    )
    where = [line for line in held.output.splitlines() if line.startswith("<")]
    assert len(where) == 4, held.output
    assert len(set(where)) == 1, held.output
    assert held.output.count("exited normally]") == 2, held.output
    assert held.output.count("killed]") == 1, held.output
    # the console, the metrics and the cycles are those of the last run
    assert what_counts(held.result) == what_counts(plain)
    assert (held.status, held.errors) == (0, "")


@NEEDS_GDB
def test_kill_ends_the_run(tmp_path: Path) -> None:
    held = session(RV32, tmp_path, "break clock_ticks", "continue", "kill")
    assert held.result["outcome"] == "interrupted", held.output
    assert held.status == 0


def extended(client: rsp.Client) -> None:
    assert client.ask("!") == "OK"
    assert "multiprocess+" in client.ask("qSupported:multiprocess+")


def test_a_client_that_stays_may_ask_after_the_end_and_start_again(tmp_path: Path) -> None:
    with rsp.served(tmp_path, RV32.elf, "--board", BOARD, "-q") as (run, client):
        assert isinstance(client, rsp.Client)
        extended(client)
        begin = client.ask("g")
        assert client.ask("vCont;c") == "W00"
        # there is no process
        assert client.ask("qfThreadInfo") == "m"
        assert client.ask("?") == "W00;"
        assert "instruction" in client.monitor("last-write 0x40600004")
        assert client.monitor("reset") == "the run is over; run begins another one\n"
        # each attempt to resume it gets this answer
        assert client.ask("vCont;c") == "X09"
        assert client.ask("vCont;s:1") == "X09"
        assert client.ask("bc") == "X09"
        assert client.ask("vRun;").startswith("T05thread:p01.01;")
        assert client.ask("Hgp1.1") == "OK"
        assert client.ask("g") == begin
        assert client.ask("vKill;1") == "OK"
        assert client.ask("vKill;1") == "OK"
        assert client.ask("vRun;").startswith("T05thread:p01.01;")
        assert client.ask("vCont;c") == "W00"
        client.line.close()
        status, stdout, errors = rsp.wait(run)
    assert (status, errors) == (0, "")
    # of each run that came so far
    assert stdout.count(LINE) == 2


@pytest.mark.parametrize(
    "name", mostly_long(["rv32", "picorv32", "m4", "mips"], short={"rv32", "m4"})
)
def test_characters_that_lines_still_send_are_in_the_result(tmp_path: Path, name: str) -> None:
    target = TARGETS[name]
    plain = target.load().run(limit=LIMIT)
    run_it = (target.elf, "--board", target.board, "--limit", LIMIT, "-q")
    with rsp.served(tmp_path, *run_it) as (run, client):
        assert isinstance(client, rsp.Client)
        extended(client)
        assert client.ask("vCont;c") == f"W{plain.exit_code:02x}"
        assert run.stdout is not None
        shown = os.read(run.stdout.fileno(), 1 << 16).decode()
        client.line.close()
        _, rest, _ = rsp.wait(run)
    # and not once more when the run is ended
    assert (shown, rest) == (plain.console, "")


def test_a_breakpoint_is_forgotten_with_its_run(tmp_path: Path) -> None:
    # GDB sets it again; one that it did not know of any more would halt for nothing
    with rsp.served(tmp_path, RV32.elf, "--board", BOARD, "-q") as (run, client):
        assert isinstance(client, rsp.Client)
        extended(client)
        pc = int.from_bytes(bytes.fromhex(client.ask("p20")), "little")
        assert client.ask(f"Z0,{pc + 4:x},4") == "OK"
        assert client.ask("vCont;c").startswith("T05")
        assert client.ask("vRun;").startswith("T05")
        assert client.ask("vCont;c") == "W00"
        assert client.ask("vRun;").startswith("T05")
        assert client.ask("D;1") == "OK"
        status, stdout, _ = rsp.wait(run)
    assert status == 0
    assert stdout.count(LINE) == 2


def test_a_client_that_does_not_stay_ends_with_the_run(tmp_path: Path) -> None:
    with rsp.served(tmp_path, RV32.elf, "--board", BOARD, "-q") as (run, client):
        assert isinstance(client, rsp.Client)
        assert client.ask("vCont;c") == "W00"
        with pytest.raises((EOFError, ConnectionError)):
            client.ask("?")
        status, stdout, errors = rsp.wait(run)
    assert (status, errors) == (0, "")
    assert stdout.count(LINE) == 1


def test_k_ends_the_session_of_those_that_stay_too(tmp_path: Path) -> None:
    with rsp.served(tmp_path, RV32.elf, "--board", BOARD, "-q") as (run, client):
        assert isinstance(client, rsp.Client)
        extended(client)
        client.send("k")
        status, stdout, errors = rsp.wait(run)
    assert (status, stdout, errors) == (0, "", "")
