"""Clients of the debugger's port: they interrupt, resume, leave, or send nonsense."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import rsp
from conftest import BOARD, Command
from debugged import TARGETS
from tiers import mostly_long

from cyclescope.statuses import Status

RV32 = TARGETS["rv32"]


def test_a_client_interrupts_and_lets_go(tmp_path: Path, program: Callable[[str], Path]) -> None:
    elf = program("endless_loop")
    with rsp.served(tmp_path, elf, "--board", BOARD, "--limit", "20s", "-q") as (run, client):
        assert isinstance(client, rsp.Client)
        assert client.ask("?").startswith("T05thread:01;")
        client.send("vCont;c")
        time.sleep(0.1)
        assert client.interrupt().startswith("T02thread:01;")
        assert re.match(r"cpu0 +\d", client.monitor("time"))
        assert "cycles" in client.monitor("cycles")
        client.send("vCont;c")
        time.sleep(0.1)
        client.interrupt()
        assert client.ask("D") == "OK"
        status, _, errors = rsp.wait(run)
    # the firmware goes on to its limit, which is said as ever
    assert status == 124
    assert "cyclescope: error:" in errors


def test_a_client_gets_a_message_that_nothing_ends_a_sleep(
    tmp_path: Path, program: Callable[[str], Path]
) -> None:
    elf = program("sleep_forever")
    with rsp.served(tmp_path, elf, "--board", BOARD, "-q") as (run, client):
        assert isinstance(client, rsp.Client)
        # SIGWAITING
        assert client.ask("vCont;c").startswith("T24thread:01;")
        assert client.ask("D") == "OK"
        status, _, errors = rsp.wait(run)
    assert status == Status.ASLEEP
    assert "nothing on the board is due to raise one" in errors


def test_a_client_ends_the_run(tmp_path: Path) -> None:
    with rsp.served(tmp_path, RV32.elf, "--board", BOARD, "-q") as (run, client):
        assert isinstance(client, rsp.Client)
        client.send("k")
        status, stdout, errors = rsp.wait(run)
    assert (status, stdout, errors) == (0, "", "")


NONSENSE = [b"", b"$vCont;c#a8", b"$zzz", b"GET / HTTP/1.1\r\n\r\n", b"$g#00"]


@pytest.mark.parametrize("said", mostly_long(NONSENSE, short={b"", b"$zzz"}))
def test_a_client_that_leaves_or_sends_nonsense_is_reported_and_the_run_goes_on(
    tmp_path: Path, said: bytes
) -> None:
    arguments = (RV32.elf, "--board", BOARD, "-q")
    with rsp.served(tmp_path, *arguments, client=False) as (run, line):
        assert isinstance(line, socket.socket)
        line.sendall(said)
        line.close()
        status, stdout, errors = rsp.wait(run)
    assert status == 0
    assert stdout.startswith("2 interrupts")
    assert errors == ""


def test_why_a_client_was_lost_is_a_note(tmp_path: Path) -> None:
    with rsp.served(tmp_path, RV32.elf, "--board", BOARD, client=False) as (run, line):
        assert isinstance(line, socket.socket)
        line.sendall(b"$g#00")
        status, _, errors = rsp.wait(run)
    assert status == 0
    notes = [line for line in errors.splitlines() if "gdb" in line]
    assert len(notes) == 1, errors
    assert notes[0].startswith("cyclescope: note: gdb: the debugger sent what can't be understood")
    assert notes[0].endswith("the run goes on without it")


def test_the_port_is_this_machines_own(cyclescope: Command) -> None:
    run = ("run", RV32.elf, "--board", BOARD)
    for host in ("0.0.0.0", "[::]"):
        refused = cyclescope(*run, f"--gdb={host}:0")
        assert refused.status == 121
        assert "--gdb-any-address" in refused.error
    for address in ("localhost", "localhost:x", "localhost:70000", str(RV32.elf)):
        refused = cyclescope(*run, f"--gdb={address}")
        assert refused.status == 121
        assert "expected HOST:PORT" in refused.error


def test_two_can_not_have_one_port(cyclescope: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = cyclescope("run", RV32.elf, "--board", BOARD, f"--gdb=127.0.0.1:{port}")
    assert refused.status == 121
    assert "Address already in use" in refused.error
