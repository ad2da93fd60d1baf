"""A virtual board's tty as a pseudo-terminal of the host, with the board's clock beside it."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import socket
import threading
import time
import tty
from pathlib import Path

from cyclescope.errors import IpcError
from cyclescope.ipc import clock, presence
from cyclescope.ipc.virtual import VirtualTty, Wanted
from cyclescope.units import MAX_PS

# Without a client at the clock, the board runs for this time after the last byte: most programs are
# idle by then, and an idle board need not run.
LINGER_PS = 250 * 10**9
_CHUNK_BYTES = 65536
# the most unread bytes at the terminal: a board that sends endlessly waits
_MOST_OUTPUT_BYTES = 1 << 20
# for bytes that are in transit between two programs on the host
_HOST_S = 10.0
# the interval of checks that the client is connected
_LOOK_S = 0.1


class Server:
    """Offers a virtual board's tty until stopped; also a context manager that uses a thread.

    `port` is the terminal's path; `link` a symbolic link to it. The board runs while a client at
    the clock asks for it, and without one, while bytes come and a little longer.
    """

    def __init__(self, board: VirtualTty, link: Path | None = None) -> None:
        self._board = board
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.port = os.ttyname(self._slave)
        self._listener, self._presence = self._begin()
        self._wake_read, self._wake_write = os.pipe()
        self._client: clock.Lines | None = None
        # read from the terminal but not fed yet; and not yet written to it for lack of room
        self._fresh = b""
        self._output = b""
        self._fed_before = self._sent_before = 0
        self._run_until_ps = 0
        self._thread: threading.Thread | None = None
        self._link: Path | None = None
        if link is not None:
            self._set_link(link)

    def _begin(self) -> tuple[socket.socket, presence.Presence]:
        """The clock's socket, and the lock that shows that its server runs."""
        try:
            return clock.listen(self.port), presence.Presence(self.port)
        except OSError as error:
            reason = f"can't make the lock there: {error.strerror}"
            raise IpcError(f"{clock.socket_path(self.port).parent}: {reason}") from error

    def _set_link(self, link: Path) -> None:
        try:
            if link.is_symlink() and str(link.readlink()).startswith("/dev/pts/"):
                terminal = str(link.readlink())
                # a stale link of a killed server may lead to another's terminal by now, or to ours
                is_dead = terminal == self.port or not link.exists()
                if not is_dead and not presence.is_stale(terminal, link):
                    self.close()
                    raise IpcError(f"{link}: links to an existing terminal: remove the link first")
                link.unlink()
            link.symlink_to(self.port)
            self._presence.record_link(link)
        except OSError as error:
            self.close()
            raise IpcError(f"{link}: can't link the terminal there: {error.strerror}") from error
        self._link = link

    def __enter__(self) -> Server:
        self._thread = threading.Thread(target=self._quietly, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()
        if self._thread:
            self._thread.join()
        self.close()

    def _quietly(self) -> None:
        # the client got the error
        with contextlib.suppress(IpcError):
            self.run()
        # a late client must not wait
        self._listener.close()

    def stop(self) -> None:
        """Make `run` return; called from another thread."""
        self._board.stop()
        os.write(self._wake_write, b"x")

    def close(self) -> None:
        """Close the terminal, the clock and the lock."""
        if self._link and self._link.is_symlink() and str(self._link.readlink()) == self.port:
            self._link.unlink()
        clock.forget(self.port)
        self._presence.end()
        self._drop_client()
        self._listener.close()
        for descriptor in (self._master, self._slave, self._wake_read, self._wake_write):
            os.close(descriptor)

    def run(self) -> None:
        """Serve until stopped. Raises `IpcError` if the board's program ends."""
        while True:
            ready = self._wait()
            if self._wake_read in ready:
                return
            if self._master in ready:
                self._read_terminal()
            try:
                # a client that disconnects makes room for the next
                if self._client and self._client.connection in ready:
                    self._serve_request(self._client)
                if self._listener in ready:
                    self._accept()
                if not self._client:
                    self._run_freely()
            except IpcError as ended:
                if self._client:
                    self._client.send(f"error {ended}")
                self._drop_client()
                raise
            self._write_terminal()

    def _wait(self) -> list[int | socket.socket]:
        sources: list[int | socket.socket] = [self._master, self._wake_read, self._listener]
        if self._client:
            sources.append(self._client.connection)
        room_for = [self._master] if self._output else []
        is_full = len(self._output) >= _MOST_OUTPUT_BYTES
        is_idle = self._client or is_full or self._board.now_ps() >= self._run_until_ps
        return select.select(sources, room_for, [], None if is_idle else 0)[0]

    # ---- The terminal

    def _read_terminal(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._fresh += os.read(self._master, _CHUNK_BYTES)

    def _write_terminal(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._output:
                self._output = self._output[os.write(self._master, self._output) :]

    def _feed(self) -> None:
        if self._fresh:
            self._board.feed(self._fresh)
            self._fresh = b""

    def _fetch(self) -> None:
        self._output += self._board.drain()
        self._write_terminal()

    def _run_freely(self) -> None:
        """Run a step of the time that is left after the last byte."""
        if self._fresh:
            self._feed()
            self._run_until_ps = self._board.now_ps() + LINGER_PS
        left_ps = self._run_until_ps - self._board.now_ps()
        if left_ps <= 0 or len(self._output) >= _MOST_OUTPUT_BYTES:
            return
        sent = self._board.sent_bytes
        self._board.run_until_sent(sent + 1, min(left_ps, LINGER_PS // 50))
        if self._board.sent_bytes > sent:
            self._run_until_ps = self._board.now_ps() + LINGER_PS
        self._fetch()

    # ---- The clock

    def _accept(self) -> None:
        if self._client:
            self._refuse()
            return
        connection, _ = self._listener.accept()
        # earlier input belongs to its writer, not to this client
        self._read_terminal()
        self._feed()
        self._client = clock.Lines(connection)
        self._fed_before, self._sent_before = self._board.fed_bytes, self._board.sent_bytes

    def _refuse(self) -> None:
        connection, _ = self._listener.accept()
        clock.Lines(connection).send("error another client has the board's clock")
        connection.close()

    def _is_wanted(self, client: clock.Lines) -> bool:
        """Whether the requesting client is still connected; refuses other clients meanwhile."""
        is_there = client.is_there()
        if is_there and select.select([self._listener], [], [], 0)[0]:
            self._refuse()
        return is_there

    def _drop_client(self) -> None:
        if self._client:
            self._client.connection.close()
            self._client = None

    def _serve_request(self, client: clock.Lines) -> None:
        line = client.receive()
        if line is None:
            self._drop_client()
            return
        word, *numbers = line.split()[:3] or [""]
        wanted = {"now": 0, "taken": 2, "sent": 2}.get(word)
        if wanted != len(numbers) or not all(number.isdecimal() for number in numbers):
            client.send(f"error unknown request {line!r}")
        elif word == "now":
            client.send(f"at {self._board.now_ps()}")
        else:
            total_bytes, for_ps = (min(int(number), MAX_PS // 4) for number in numbers)
            serve = self._serve_taken if word == "taken" else self._serve_sent
            client.send(serve(total_bytes, for_ps, lambda: self._is_wanted(client)))
        if not client.is_there():
            # the next client need not wait
            self._drop_client()

    def _serve_taken(self, total_bytes: int, for_ps: int, wanted: Wanted) -> str:
        missing = self._fed_before + total_bytes - self._board.fed_bytes
        until_s = time.monotonic() + _HOST_S
        while len(self._fresh) < missing and wanted():
            # written bytes arrive at once
            if select.select([self._master], [], [], _LOOK_S)[0]:
                self._read_terminal()
                until_s = time.monotonic() + _HOST_S
            elif time.monotonic() > until_s:
                return f"error {missing - len(self._fresh)} bytes did not arrive at the terminal"
        self._feed()
        at = self._board.run_until_taken(self._fed_before + total_bytes, for_ps, wanted)
        self._fetch()
        return f"at {at} {self._board.taken_bytes - self._fed_before}"

    def _serve_sent(self, total_bytes: int, for_ps: int, wanted: Wanted) -> str:
        at = self._board.run_until_sent(self._sent_before + total_bytes, for_ps, wanted)
        self._fetch()
        return f"at {at} {self._board.sent_bytes - self._sent_before}"
