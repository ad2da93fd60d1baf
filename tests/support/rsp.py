"""A minimal client of GDB's remote protocol: it sends the same packets as GDB."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Client:
    """A client that acknowledges nothing, as GDB does after `QStartNoAckMode`."""

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.output = b""
        self._received = b""
        self._acknowledges = True
        assert self.ask("QStartNoAckMode") == "OK"
        self._acknowledges = False

    def send(self, packet: str) -> None:
        body = packet.encode("latin-1")
        self.line.sendall(b"$" + body + b"#" + b"%02x" % (sum(body) % 256))

    def answer(self) -> str:
        """The next packet that is no console output."""
        while True:
            packet = self._packet()
            if packet[:1] == b"O" and packet != b"OK":
                self.output += bytes.fromhex(packet[1:].decode())
                continue
            return packet.decode("latin-1")

    def ask(self, packet: str) -> str:
        self.send(packet)
        return self.answer()

    def monitor(self, command: str) -> str:
        """The output of a monitor command."""
        before = len(self.output)
        assert self.ask("qRcmd," + command.encode().hex()) == "OK"
        text = self.output[before:].decode()
        self.output = self.output[:before]
        return text

    def memory(self, addr: int, length: int) -> bytes:
        return bytes.fromhex(self.ask(f"m{addr:x},{length:x}"))

    def interrupt(self) -> str:
        self.line.sendall(b"\x03")
        return self.answer()

    def _packet(self) -> bytes:
        while True:
            begin = self._received.find(b"$")
            end = self._received.find(b"#", begin)
            if begin >= 0 and 0 <= end <= len(self._received) - 3:
                packet, self._received = self._received[begin + 1 : end], self._received[end + 3 :]
                if self._acknowledges:
                    self.line.sendall(b"+")
                return _expanded(packet)
            piece = self.line.recv(1 << 16)
            if not piece:
                raise EOFError(self._received)
            self._received += piece


def _expanded(packet: bytes) -> bytes:
    """A packet without its run-length encoding."""
    text = bytearray()
    at = 0
    while at < len(packet):
        if packet[at] == ord("*"):
            text += text[-1:] * (packet[at + 1] - 29)
            at += 2
        else:
            text.append(packet[at])
            at += 1
    return bytes(text)


@contextmanager
def served(
    folder: Path, *arguments: object, client: bool = True, stdin: int = subprocess.DEVNULL
) -> Iterator[tuple[subprocess.Popen[str], socket.socket | Client]]:
    """`cyclescope run` with these arguments and `--gdb`, and a client that has connected."""
    command = [sys.executable, "-m", "cyclescope", "run", "--gdb=127.0.0.1:0"]
    run = subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=folder,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert run.stderr is not None
        announced = run.stderr.readline()
        assert "waiting for a debugger" in announced, announced + run.stderr.read()
        line = socket.create_connection(("127.0.0.1", int(announced.rpartition(":")[2])))
        line.settimeout(120)
        with line:
            yield run, Client(line) if client else line
    finally:
        if run.poll() is None:
            run.kill()
        run.communicate()


def wait(run: subprocess.Popen[str]) -> tuple[int, str, str]:
    """The end of a run: its status and its output."""
    begun = time.monotonic()
    stdout, stderr = run.communicate(timeout=120)
    assert time.monotonic() - begun < 120
    return run.returncode, stdout, stderr
