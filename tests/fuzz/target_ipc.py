"""Input of `cyclescope ipc`: requests to the clock, a terminal's bytes, answers to a client."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from cyclescope.errors import IpcError
from cyclescope.ipc import clock
from cyclescope.ipc.client import run_test
from cyclescope.ipc.protocol import COUNT, TtyTest, parse_test
from cyclescope.ipc.server import Server
from cyclescope.ipc.virtual import VirtualTty
from fuzz.inputs import Input, MisbehaviourError, corpus

_TIMEOUT_PS = 10**9
# within which a server on this host answers
_HOST_S = 8.0
_WORDS = ("now", "taken", "sent", "at", "error", "", "Now", "now now", "taken 1", "\x00", "é" * 9)
_NUMBERS = (
    "0",
    "1",
    "2",
    "500",
    "70000",
    "-1",
    "1e3",
    "",
    "9" * 20,
    "9" * 5000,
    "٣",
    "0x10",
    "1 1",
)
_TIMES = ("0", "1", "2", "64", "500", "10000000", "20000000000000")
_TESTS = ("512x1", "6x1", "512x8", "4096x3", "65535x1")


class Ipc:
    """A server with a machine that costs nothing, or a client with a server that answers anyhow."""

    name = "ipc"

    def __init__(self) -> None:
        self._seeds = corpus(self.name)

    def make(self, seed: str) -> Input:
        """Lines and bytes, most of them nearly as they should be."""
        random = Random(seed)
        kind = random.choice(("server", "server", "clock", "client"))
        made: Input = {"target": self.name, "kind": kind}
        if kind == "server":
            return {**made, "steps": _steps(random)}
        if kind == "clock":
            return {**made, "answers": b"".join(_answer(random) for _ in range(4))}
        test = random.choice(_TESTS)
        total = parse_test(test).total_bytes
        answer = random.choice((COUNT.pack(total), random.randbytes(random.randrange(6)), b""))
        checked = random.random() < 0.5
        return {**made, "test": test, "answer": answer, "checked": checked}

    def run(self, made: Input) -> str:
        """That the server still serves; that the client raises nothing but its own error."""
        os.environ["XDG_RUNTIME_DIR"] = os.fspath(Path.cwd())
        if made["kind"] == "server":
            _serve(made["steps"])
            return "done"
        act = _ask_clock if made["kind"] == "clock" else _run_client
        try:
            act(made)
        except IpcError as error:
            if not str(error).strip() or "\n" in str(error):
                raise MisbehaviourError(
                    f"a message that is not one line of text: {error!r}"
                ) from error
            return "refused"
        return "done"


def _steps(random: Random) -> list[list[Any]]:
    """Requests ask for no more bytes than have arrived: the server waits for bytes under way."""
    steps: list[list[Any]] = []
    written, is_connected = 0, False
    for _ in range(random.randrange(1, 9)):
        chance = random.random()
        if chance < 0.55:
            steps.append(["clock", _request(random, written)])
            is_connected = True
        elif chance < 0.85:
            data = random.randbytes(random.choice((0, 1, 6, 64))) * random.choice((1, 1, 9, 30))
            steps.append(["terminal", data])
            written += len(data) if is_connected else 0
        else:
            steps.append([random.choice(("leave", "second", "read"))])
            written, is_connected = 0, False
    return steps


def _request(random: Random, written: int) -> bytes:
    chance = random.random()
    if chance < 0.3:
        return f"taken {random.randrange(written + 1)} {random.choice(_TIMES)}\n".encode()
    if chance < 0.5:
        return f"sent {random.choice(_TIMES)} {random.choice(_TIMES)}\n".encode()
    if chance < 0.8:
        words = [word for word in _WORDS if not word.startswith("taken")]
        word, numbers = random.choice(words), [random.choice(_NUMBERS) for _ in range(2)]
        if word == "sent":
            numbers[1] = random.choice(_TIMES)
        parts = [word, *numbers]
        end = random.choice((b"\n", b"\n", b"", b"\r\n"))
        return " ".join(parts[: random.randrange(1, 4)]).encode() + end
    if chance < 0.9:
        return b"now\n" * random.randrange(1, 300)
    return random.randbytes(random.choice((1, 10, 2000)))


def _answer(random: Random) -> bytes:
    chance = random.random()
    if chance < 0.5:
        return f"at {random.choice(_NUMBERS)} {random.choice(_NUMBERS)}\n".encode()
    if chance < 0.8:
        return f"{random.choice(_WORDS)} {random.choice(_NUMBERS)}\n".encode()
    return random.randbytes(random.randrange(30)) + random.choice((b"\n", b""))


# ---- The server


class _Board:
    """A board whose machine is `_Echo`."""

    name = "echo"

    def load(self, elf: object) -> _Board:
        """Nothing."""
        return self

    def start(self) -> _Echo:
        """The machine."""
        return _Echo()


class _Echo:
    """A machine for a `VirtualTty`: it takes a byte in a microsecond, and sends it back."""

    def __init__(self) -> None:
        self._now_ps = 0
        self._waiting = b""
        self._output = b""
        self._taken = self._sent = 0

    def pipe(self) -> str:
        return "tty0"

    def now(self) -> int:
        return self._now_ps

    def feed(self, port: str, data: bytes) -> None:
        self._waiting += data

    def drain(self, port: str) -> bytes:
        output, self._output = self._output, b""
        return output

    def piped(self, port: str) -> tuple[int, int]:
        return self._taken, self._sent

    def advance(
        self, port: str, until_ps: int, goal: tuple[str, int] | None, *sinks: object
    ) -> tuple[int | None, dict[str, Any] | None]:
        what, count = goal or ("", 0)
        done = min(len(self._waiting), max(0, until_ps - self._now_ps) // 10**6)
        if what in ("taken", "sent"):
            done = min(done, max(0, count - (self._taken if what == "taken" else self._sent)))
        data, self._waiting = self._waiting[:done], self._waiting[done:]
        self._taken += done
        self._sent += done
        self._output += data
        self._now_ps += done * 10**6
        reached = {"taken": self._taken, "sent": self._sent}.get(what, count) >= count
        if not reached:
            self._now_ps = max(self._now_ps, until_ps)
        ended = {"outcome": "exit", "code": 3, "message": None} if b"\x04END" in data else None
        return (self._now_ps if reached else None), ended


def _serve(steps: list[list[Any]]) -> None:
    with Server(VirtualTty(_Board(), "none")) as server, contextlib.ExitStack() as open_things:
        terminal = os.open(server.port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        open_things.callback(os.close, terminal)
        client: socket.socket | None = None
        for what, *data in steps:
            with contextlib.suppress(
                BlockingIOError, BrokenPipeError, ConnectionError, TimeoutError
            ):
                if what == "clock":
                    if client is None:
                        client = open_things.enter_context(_connected(server.port))
                        # bytes written from now on belong to this client
                        client.sendall(b"now\n")
                        client.recv(200)
                    client.sendall(data[0])
                elif what == "terminal":
                    os.write(terminal, data[0])
                elif what == "read":
                    os.read(terminal, 4096)
                elif what == "second":
                    open_things.enter_context(_connected(server.port)).sendall(b"now\n")
                elif client is not None:
                    client.close()
                    client = None
        if client is not None:
            client.close()
        _still_serves(server.port)


def _connected(port: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_HOST_S)
    connection.connect(os.fspath(clock.socket_path(port)))
    return connection


def _still_serves(port: str) -> None:
    """Raises `MisbehaviourError` unless the next client is answered, or the program has ended."""
    try:
        with _connected(port) as connection:
            connection.sendall(b"now\n")
            answer = connection.recv(200)
    except (ConnectionError, FileNotFoundError):
        return
    except TimeoutError as error:
        raise MisbehaviourError("the server serves no further client") from error
    if answer and not answer.startswith((b"at ", b"error ")):
        raise MisbehaviourError(f"the server answers {answer!r}")


# ---- The client


def _ask_clock(made: Input) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(made["answers"])
        theirs.shutdown(socket.SHUT_WR)
        asked = clock.Clock("PORT", ours)
        for _ in range(5):
            asked.now_ps()
            asked.sent(1, 1)


class _Link:
    """A port that answers at once."""

    port, clock = "PORT", "host"

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._times: Iterator[int] = iter(range(10**9))

    def now_ps(self) -> int:
        return next(self._times)

    def discard(self) -> None:
        pass

    def write(self, block: bytes) -> None:
        pass

    def read(self, count: int) -> tuple[bytes, int]:
        data, self._answer = self._answer[:count], self._answer[count:]
        return data, self.now_ps()

    def close(self) -> None:
        pass


def _run_client(made: Input) -> None:
    test: TtyTest = parse_test(made["test"])
    run_test(_Link(made["answer"]), test, _TIMEOUT_PS, made["checked"])
