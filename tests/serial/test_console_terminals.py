"""Serial lines at the host's own ends: a pseudo-terminal, a TCP port, the terminal, a pipe."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import ROOT, Command
from shell import shell

from cyclescope.statuses import Status

BOARD = "minimal-rv32"
# The console is another UART than the shell's.
TWO_UARTS = f"""
/include/ "{ROOT}/boards/minimal-rv32.dts"
/ {{
	aliases {{ serial1 = &uart1; }};
	chosen {{ stdout-path = "serial1"; }};
	uart1: serial@10001000 {{
		compatible = "xlnx,xps-uartlite-1.00.a";
		reg = <0x10001000 0x1000>;
		clocks = <&sys_clk>;
		current-speed = <115200>;
		xlnx,data-bits = <8>;
		xlnx,use-parity = <0>;
		cyclescope,read-cycles = <1>;
		cyclescope,write-cycles = <1>;
		cyclescope,sources = "cyclescope,read-cycles, cyclescope,write-cycles: assumed: for a test";
	}};
}};
"""
PATIENCE_S = 60


class Line:
    """Our end of a line, by a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.heard = b""

    def expect(self, text: bytes) -> bytes:
        """The output up to a text."""
        until_s = time.monotonic() + PATIENCE_S
        while text not in self.heard:
            ready, _, _ = select.select([self._descriptor], [], [], PATIENCE_S)
            assert ready, self.heard
            assert time.monotonic() < until_s, self.heard
            piece = os.read(self._descriptor, 4096)
            assert piece, self.heard
            self.heard += piece
        came, _, self.heard = self.heard.partition(text)
        return came + text

    def send(self, text: bytes) -> None:
        """Type."""
        assert os.write(self._descriptor, text) == len(text)


@contextmanager
def running(
    folder: Path, *options: str, stdin: int = subprocess.DEVNULL, both: int = subprocess.PIPE
) -> Iterator[subprocess.Popen[bytes]]:
    """The shell on a board, as a command that runs meanwhile."""
    command = [sys.executable, "-m", "cyclescope", "run", str(shell(BOARD)), "--board", BOARD]
    with subprocess.Popen(
        [*command, *options],
        cwd=folder,
        stdin=stdin,
        stdout=both,
        stderr=both,
        start_new_session=True,
    ) as program:
        try:
            yield program
        finally:
            program.kill()


def place(program: subprocess.Popen[bytes]) -> str:
    """The place of the line, from the command's message."""
    assert program.stderr is not None
    said = program.stderr.readline().decode()
    match = re.fullmatch(r"cyclescope: uart0 is at (\S+)\n", said)
    assert match, said
    return match[1]


@contextmanager
def terminal(path: str) -> Iterator[Line]:
    """A pseudo-terminal that is opened as terminal programs do."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try:
        yield Line(descriptor)
    finally:
        os.close(descriptor)


def result(folder: Path) -> dict[str, object]:
    """The run's facts, but for what the host decides."""
    return json.loads((folder / "run.json").read_text())  # type: ignore[no-any-return]


@pytest.mark.parametrize("pace", [["--no-pace"], []])
def test_a_session_over_a_pseudo_terminal_is_saved_and_gives_the_same_cycles_again(
    cyclescope: Command, tmp_path: Path, pace: Sequence[str]
) -> None:
    options = ("--console", "pty", "--save-script", "s.txt", "--json", "run.json", *pace)
    with running(tmp_path, *options) as program, terminal(place(program)) as line:
        assert line.expect(b"> ") == b"shell on minimal-rv32; help lists the commands\r\n> "
        line.send(b"echo one two\r")
        assert line.expect(b"> ") == b"echo one two\r\none two\r\n> "
        line.send(b"pee")
        line.send(b"k\x7fk 0x80000000 2\r")
        assert line.expect(b"\r\n> ").count(b"8000000") == 3
        line.send(b"exit 5\r")
        # the last words come before the end
        assert line.expect(b"exit 5\r\n") == b"exit 5\r\n"
        assert program.wait(PATIENCE_S) == 5
    typed = result(tmp_path)
    script = (tmp_path / "s.txt").read_text()
    assert script.startswith("at ")
    assert 'send "echo one two\\r"' in script
    options = ("--board", BOARD, "--script", "s.txt", "--json", "run.json")
    assert cyclescope("run", shell(BOARD), *options).status == 5
    assert result(tmp_path) == typed


def test_a_terminal_program_may_leave_and_come_back(tmp_path: Path) -> None:
    with running(tmp_path, "--console", "pty") as program:
        path = place(program)
        with terminal(path) as line:
            line.expect(b"> ")
            line.send(b"echo a\r")
            line.expect(b"\r\na\r\n> ")
        time.sleep(0.05)
        with terminal(path) as line:
            line.send(b"exit 6\r")
            assert program.wait(PATIENCE_S) == 6


def test_a_tcp_port_takes_a_client_after_the_other(tmp_path: Path) -> None:
    with running(tmp_path, "--console", "uart0=tcp") as program:
        host, _, port = place(program).rpartition(":")
        assert host == "127.0.0.1"
        with socket.create_connection((host, int(port)), PATIENCE_S) as client:
            line = Line(client.fileno())
            line.expect(b"> ")
            with socket.create_connection((host, int(port)), PATIENCE_S) as second:
                assert second.recv(1) == b""
        with socket.create_connection((host, int(port)), PATIENCE_S) as client:
            line = Line(client.fileno())
            line.send(b"exit 8\r")
            line.expect(b"exit 8\r\n")
            assert program.wait(PATIENCE_S) == 8


def test_a_client_that_has_sent_all_reads_the_rest(tmp_path: Path) -> None:
    with running(tmp_path, "--console", "tcp") as program:
        host, _, port = place(program).rpartition(":")
        with socket.create_connection((host, int(port)), PATIENCE_S) as client:
            line = Line(client.fileno())
            line.expect(b"> ")
            line.send(b"echo a\rexit 4\r")
            client.shutdown(socket.SHUT_WR)
            line.expect(b"exit 4\r\n")
            assert program.wait(PATIENCE_S) == 4


def test_a_reader_that_takes_nothing_holds_the_board_and_no_signal(tmp_path: Path) -> None:
    with running(tmp_path, "--console", "tcp", "--no-pace") as program:
        host, _, port = place(program).rpartition(":")
        with socket.create_connection((host, int(port)), PATIENCE_S) as client:
            line = Line(client.fileno())
            line.expect(b"> ")
            for _ in range(2000):
                client.sendall(b"help\r" * 10)
            time.sleep(0.2)
            program.send_signal(signal.SIGTERM)
            assert program.wait(PATIENCE_S) == Status.TERMINATED


def test_a_port_that_is_taken_is_refused(cyclescope: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"tcp:127.0.0.1:{taken.getsockname()[1]}"
        done = cyclescope("run", shell(BOARD), "--board", BOARD, "--console", where)
    assert done.status == Status.USAGE
    assert done.error == f"{where}: Address already in use"


@contextmanager
def at_a_terminal(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], Line]]:
    """The command at a terminal of its own, which is as before in the end."""
    master, slave = os.openpty()
    try:
        before = termios.tcgetattr(slave)
        if "--console" not in options:
            options = ("--console", "stdio", *options)
        with running(folder, *options, stdin=slave, both=slave) as program:
            yield program, Line(master)
        assert termios.tcgetattr(slave) == before
    finally:
        os.close(master)
        os.close(slave)


def test_keys_go_to_the_board_and_those_after_ctrl_a_to_the_command(tmp_path: Path) -> None:
    with at_a_terminal(tmp_path, "--save-script", "s.txt") as (program, line):
        line.expect(b"> ")
        line.send(b"ab\x7f\x01\x03")
        # the board's echo of a Ctrl-C that it got
        line.expect(b"^C")
        line.send(b"\x01h")
        line.expect(b"x ends the run")
        line.send(b"\x01x")
        line.expect(b"simulated time")
        assert program.wait(PATIENCE_S) == Status.SUCCESS
    script = (tmp_path / "s.txt").read_text()
    assert "".join(re.findall(r'"(.*)"', script)) == r"ab\x7f\x03"
    assert script.endswith("\nend 0\n")


def test_a_line_beside_the_console_shows_what_is_no_whole_line_yet(tmp_path: Path) -> None:
    (tmp_path / "two.dts").write_text(TWO_UARTS)
    options = ("--board", "two.dts", "--console", "uart0=stdio")
    with at_a_terminal(tmp_path, *options) as (program, line):
        line.expect(b"\n> ")
        line.send(b"exit 3\r")
        line.expect(b"exit 3\r")
        line.expect(b"simulated time")
        assert program.wait(PATIENCE_S) == 3


def test_ctrl_c_stops_the_run(tmp_path: Path) -> None:
    with at_a_terminal(tmp_path) as (program, line):
        line.expect(b"> ")
        line.send(b"\x03")
        line.expect(b"interrupted by SIGINT")
        assert program.wait(PATIENCE_S) == Status.INTERRUPT


def test_a_pipe_in_the_terminals_place_ends_and_the_run_ends_by_itself(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with running(tmp_path, "--console", "stdio", stdin=reader) as program:
        os.close(reader)
        assert program.stdout is not None
        line = Line(program.stdout.fileno())
        line.expect(b"> ")
        os.write(writer, b"echo \x01x\r")
        os.close(writer)
        # Ctrl-A commands do not work at a pipe
        line.expect(b"echo x")
        out, error = program.communicate(timeout=PATIENCE_S)
        assert program.returncode == Status.LIMIT
        assert b"the limit of 10." in error
        assert b"simulated time" in out
