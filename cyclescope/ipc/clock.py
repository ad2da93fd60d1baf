"""The clock of a virtual board, for a client at its pseudo-terminal.

Bytes go through the terminal. The clock is a Unix socket beside it, which a client finds by the
terminal's real path. While a client is connected to the clock, the board runs only on request, so
the client's measurements do not depend on the speed of the host.

A request is a line, and so is its answer:

    now                  at PS          the time that the board has reached, in picoseconds
    taken BYTES FOR_PS   at PS BYTES    since the connection BYTES were written to the terminal: run
                                        on until the firmware is done with them, or for FOR_PS
    sent BYTES FOR_PS    at PS BYTES    run on until since the connection BYTES came to the
                                        terminal, or for FOR_PS

The answer has the time at which the condition was met, and the number of bytes by then, which is
smaller than requested after a time-out. The answer "error WHY" means that the board's program has
ended, that another client is connected, or that the request is invalid.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import socket
import tempfile
from pathlib import Path

from cyclescope.errors import IpcError

MOST_LINE_BYTES = 1024
# the most digits of a 64-bit number
_TIME_AND_COUNT = re.compile(r"[0-9]{1,20}( [0-9]{1,20})?")


def socket_path(terminal: str | os.PathLike[str]) -> Path:
    """The path of a pseudo-terminal's clock, if it is a virtual board's; links are followed."""
    real = os.path.realpath(terminal)
    return _folder() / ("clock" + real.replace("/", "-"))


def _folder() -> Path:
    if chosen := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(chosen) / "cyclescope"
    return Path(tempfile.gettempdir()) / f"cyclescope-{os.getuid()}"


def listen(terminal: str | os.PathLike[str]) -> socket.socket:
    """The socket for the clock of a terminal; removes a leftover socket.

    Raises `IpcError` if it can't be made.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path = socket_path(terminal)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        listener.listen()
    except OSError as error:
        listener.close()
        raise IpcError(
            f"{_folder()}: can't make the clock's socket there: {error.strerror or error}; "
            "set XDG_RUNTIME_DIR to another folder"
        ) from error
    return listener


def forget(terminal: str | os.PathLike[str]) -> None:
    """Remove the socket of a closed terminal."""
    socket_path(terminal).unlink(missing_ok=True)


class Lines:
    """Lines over a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._rest = b""

    def is_there(self) -> bool:
        """Whether the other side is still connected; it may have ended its output."""
        gone = select.poll()
        gone.register(self.connection, 0)
        return not gone.poll(0)

    def receive(self) -> str | None:
        """The next line; None at the end, or for a line that is too long."""
        while b"\n" not in self._rest:
            with contextlib.suppress(ConnectionError):
                chunk = self.connection.recv(MOST_LINE_BYTES)
                self._rest += chunk
                if chunk and len(self._rest) <= MOST_LINE_BYTES:
                    continue
            return None
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode(errors="replace")

    def send(self, line: str) -> None:
        """Send a line; it is lost if the other side has disconnected."""
        with contextlib.suppress(ConnectionError):
            self.connection.sendall(line.encode() + b"\n")


class Clock:
    """A client's end of the clock."""

    def __init__(self, terminal: str, connection: socket.socket) -> None:
        self._terminal = terminal
        self._lines = Lines(connection)

    def now_ps(self) -> int:
        """The board's time. Raises `IpcError` if the board has ended."""
        return self._ask("now")[0]

    def taken(self, total_bytes: int, for_ps: int) -> tuple[int, int]:
        """Run until the firmware has processed `total_bytes`; the time, and the bytes by then."""
        return self._ask(f"taken {total_bytes} {for_ps}")

    def sent(self, total_bytes: int, for_ps: int) -> tuple[int, int]:
        """Run until the firmware has sent `total_bytes`; the time, and the bytes by then."""
        return self._ask(f"sent {total_bytes} {for_ps}")

    def close(self) -> None:
        """Disconnect; the board then runs freely again."""
        self._lines.connection.close()

    def _ask(self, request: str) -> tuple[int, int]:
        self._lines.send(request)
        answer = self._lines.receive()
        if answer is None:
            raise IpcError(f"{self._terminal}: the virtual board has ended: start it again")
        word, _, rest = answer.partition(" ")
        if word != "at":
            raise IpcError(f"{self._terminal}: {rest}")
        if not _TIME_AND_COUNT.fullmatch(rest):
            raise IpcError(
                f"{self._terminal}: invalid clock answer {answer!r}: is it another program?"
            )
        at, _, count = rest.partition(" ")
        return int(at), int(count or 0)


def connect(terminal: str) -> Clock | None:
    """The clock of a terminal; None if it is not a virtual board's.

    From then on the board stands still. Raises `IpcError` if another client has the clock.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(socket_path(terminal)))
    except OSError:
        connection.close()
        return None
    found = Clock(terminal, connection)
    # the answer confirms the connection
    found.now_ps()
    return found
