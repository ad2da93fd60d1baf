"""Typed input, and standard input that a firmware reads, is repeated when a run is replayed."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import hosted
import pytest
import rsp
from conftest import Command
from elf_files import symbols
from shell import BOARDS, shell
from test_gdb import what_counts
from tiers import mostly_long


def goes_back_and_forth(client: rsp.Client) -> None:
    """Some instructions back and forth again, the machine is where it was."""
    here = client.ask("g"), client.monitor("stack")
    for _ in range(3):
        assert client.ask("bs").startswith("T05")
    for _ in range(3):
        assert client.ask("vCont;s:1").startswith("T05")
    assert (client.ask("g"), client.monitor("stack")) == here


class Typing:
    """Somebody who types at a run's standard input and reads what the board sends."""

    def __init__(self, run: subprocess.Popen[str]) -> None:
        self._run = run
        self.seen = ""

    def type(self, text: str) -> None:
        assert self._run.stdin is not None
        self._run.stdin.write(text)
        self._run.stdin.flush()

    def read_until(self, text: str) -> None:
        """Read on until this has come."""
        assert self._run.stdout is not None
        begin = len(self.seen)
        while text not in self.seen[begin:]:
            character = self._run.stdout.read(1)
            assert character, self.seen
            self.seen += character


def time_of(client: rsp.Client) -> int:
    match = re.search(r"\((\d+) ps\)", client.monitor("time"))
    assert match is not None
    return int(match[1])


def straight(cyclescope: Command, board: str, folder: Path) -> dict[str, Any]:
    """The result of a run without a debugger, in which the same is typed at the same times."""
    script = folder / "typed.txt"
    done = cyclescope(
        "run", shell(board), "--board", board, "--script", script, "-q",
        "--json", folder / "straight.json", "--limit", "1000s",
    )  # fmt: skip
    assert done.status == 3, done.error
    result: dict[str, Any] = json.loads((folder / "straight.json").read_text())
    return result


@pytest.mark.parametrize(
    "board",
    mostly_long(["minimal-rv32", "stm32f4-disco", "stm32mp157c-dk2"], short={"minimal-rv32"}),
)
def test_typed_input_is_repeated_in_a_replay(
    cyclescope: Command, tmp_path: Path, board: str
) -> None:
    arguments = (shell(board), "--board", board, "--console", "stdio", "--no-pace", "-q")
    files = ("--json", "held.json", "--save-script", "typed.txt")
    with rsp.served(tmp_path, *arguments, *files, stdin=subprocess.PIPE) as (run, client):
        assert isinstance(client, rsp.Client)
        person = Typing(run)
        client.ask("!")
        client.send("vCont;c")
        person.read_until("> ")
        client.interrupt()
        person.type("echo one two\r")
        client.send("vCont;c")
        person.read_until("\none two\n> ")
        person.type("echo three\r")
        person.read_until("\nthree\n> ")
        client.interrupt()
        goes_back_and_forth(client)
        # to the start, and input that is typed now follows all earlier input
        assert "replaylog:begin" in client.ask("bc")
        assert client.ask("vCont;s:1").startswith("T05")
        person.type("echo four\r")
        client.send("vCont;c")
        person.read_until("\nfour\n> ")
        client.interrupt()
        # the whole again, with what was typed
        assert client.ask("vRun;").startswith("T05")
        client.send("vCont;c")
        person.read_until("\none two\n> ")
        person.read_until("\nthree\n> ")
        person.read_until("\nfour\n> ")
        person.type("exit 3\r")
        assert client.answer() == "W03"
        client.line.close()
        status, stdout, errors = rsp.wait(run)
    assert (status, errors) == (3, "")
    # output is not printed twice, except by the run that started again
    assert (person.seen + stdout).count("\nthree\n") == 2
    held = json.loads((tmp_path / "held.json").read_text())
    counts = held["counters"]
    assert counts[f"{BOARDS[board]}.rx_characters"] == len(
        "echo one two.echo three.echo four.exit 3."
    )
    assert what_counts(held) == what_counts(straight(cyclescope, board, tmp_path))


@pytest.mark.parametrize("seed", mostly_long(range(3), short={0}))
@pytest.mark.parametrize(
    "board", mostly_long(["minimal-rv32", "nucleo-l4r5zi"], short={"minimal-rv32"})
)
def test_any_way_back_and_forth_leads_to_the_same_end(
    cyclescope: Command, tmp_path: Path, board: str, seed: int
) -> None:
    numbers = random.Random(seed)
    arguments = (shell(board), "--board", board, "--console", "stdio", "--no-pace", "-q")
    files = ("--json", "held.json", "--save-script", "typed.txt")
    address = symbols(shell(board))["line_read"] & ~1
    with rsp.served(tmp_path, *arguments, *files, stdin=subprocess.PIPE) as (run, client):
        assert isinstance(client, rsp.Client)
        person = Typing(run)
        client.ask("!")
        furthest_ps = 0
        assert client.ask(f"Z0,{address:x},2") == "OK"
        for _ in range(60):
            way = numbers.choice(["c", "c", "type", "s", "bs", "bs", "bc"])
            if way == "type":
                person.type(f"echo {numbers.randrange(10**6)}\r")
            elif way == "c":
                client.send("vCont;c")
                time.sleep(0.01)
                assert client.interrupt().startswith("T0")
            else:
                assert client.ask("vCont;s:1" if way == "s" else way).startswith("T0")
            furthest_ps = max(furthest_ps, time_of(client))
        assert client.ask(f"z0,{address:x},2") == "OK"
        # input faster than the shell reads may be lost, and half a line may be there
        for text in ("", "\x15", "exit 3\r"):
            until_ps = furthest_ps + 10**11
            person.type(text)
            while furthest_ps < until_ps:
                client.send("vCont;c")
                time.sleep(0.01)
                stopped = client.interrupt() if text != "exit 3\r" else client.answer()
                if stopped == "W03":
                    break
                # it may answer an interrupt that came too late
                assert stopped.startswith("T02")
                furthest_ps = max(furthest_ps, time_of(client))
        assert stopped == "W03"
        client.line.close()
        status, stdout, errors = rsp.wait(run)
    assert (status, errors) == (3, "")
    held = json.loads((tmp_path / "held.json").read_text())
    assert what_counts(held) == what_counts(straight(cyclescope, board, tmp_path))
    # each character was printed once
    assert held["counters"][f"{BOARDS[board]}.tx_characters"] == len(stdout.replace("\n", "\r\n"))


def read_in_two_pieces(board: str, folder: Path) -> dict[str, Any]:
    """The result of a run without a debugger that gets its standard input so."""
    run = [sys.executable, "-m", "cyclescope", "run", str(hosted.built(board)), "--board", board]
    options = ["-q", "--stdin", "-", "--json", "straight.json", "--", "lines"]
    with subprocess.Popen(
        [*run, *options], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        person = Typing(process)
        person.type("one\n")
        person.read_until("one\n")
        person.type("two\nthr")
        person.read_until("two\n")
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=120) == 0
    result: dict[str, Any] = json.loads((folder / "straight.json").read_text())
    return result


# a board each for Arm's semihosting and for that of MIPS
@pytest.mark.parametrize(
    "board", mostly_long(hosted.BOARDS, short={"minimal-armv7m", "minimal-mips32"})
)
def test_standard_input_is_read_again_in_a_replay(tmp_path: Path, board: str) -> None:
    arguments = (hosted.built(board), "--board", board, "--stdin", "-", "-q", "--json", "held.json")
    with rsp.served(tmp_path, *arguments, "--", "lines", stdin=subprocess.PIPE) as (run, client):
        assert isinstance(client, rsp.Client)
        assert run.stdin is not None
        person = Typing(run)
        client.ask("!")
        person.type("one\n")
        client.send("vCont;c")
        person.read_until("one\n")
        client.interrupt()
        goes_back_and_forth(client)
        assert "replaylog:begin" in client.ask("bc")
        client.send("vCont;c")
        person.type("two\nthr")
        person.read_until("two\n")
        client.interrupt()
        assert "replaylog:begin" in client.ask("bc")
        run.stdin.close()
        run.stdin = None
        assert client.ask("vCont;c") == "W00"
        # all of it is there for the next run, too
        assert client.ask("vRun;").startswith("T05")
        assert client.ask("vCont;c") == "W00"
        client.line.close()
        status, stdout, errors = rsp.wait(run)
    assert (status, errors) == (0, "")
    assert (person.seen + stdout).count("one\n") == 2
    assert (person.seen + stdout).count("end 0\n") == 2
    held = json.loads((tmp_path / "held.json").read_text())
    assert what_counts(held) == what_counts(read_in_two_pieces(board, tmp_path))


def test_no_one_else_has_the_debuggers_standard_input(cyclescope: Command) -> None:
    board = "minimal-rv32"
    run = ("run", shell(board), "--board", board, "--gdb=pipe")
    for others in (("--console", "stdio"), ("--stdin", "-")):
        refused = cyclescope(*run, *others)
        assert refused.status == 121
        assert "another option already uses the standard input" in refused.error
