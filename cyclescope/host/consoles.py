"""The host's ends of serial lines: the terminal, a pseudo-terminal, a TCP port.

Nothing here waits: output that can't be written yet is kept, and reading returns only available
input. The board's run polls the terminals, and pauses while a connected reader does not read.
"""

from __future__ import annotations

import abc
import array
import contextlib
import errno
import fcntl
import os
import select
import signal
import socket
import stat
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterator
from typing import Any

from cyclescope.errors import UsageError
from cyclescope.host import leftovers, ports

# The last bytes that the board sends before a reader connects are kept for it.
KEPT_BYTES = 1 << 20
_PIECE_BYTES = 1 << 16
# how long the end of a run waits for a reader
_PATIENCE_S = 1.0
_NAP_S = 0.005
_ESCAPE = 0x01  # Ctrl-A
_CTRL_C = 0x03
_HELP = "Ctrl-A then: Ctrl-A or Ctrl-C sends that character, x ends the run, h shows this"


class _Descriptor(abc.ABC):
    """Bytes to and from a descriptor that does not block."""

    is_over = False
    wants_end = False
    takes_output = True

    def __init__(self) -> None:
        self._kept = bytearray()

    def write(self, data: bytes) -> None:
        """Write as much as the reader accepts, and keep the rest."""
        self._kept += data
        self.flush()

    def flush(self) -> bool:
        """Write the kept bytes. False while a connected reader has not accepted all of them."""
        descriptor = self._connected()
        if descriptor is None:
            del self._kept[:-KEPT_BYTES]
            return True
        try:
            while self._kept:
                with memoryview(self._kept)[:_PIECE_BYTES] as piece:
                    written = os.write(descriptor, piece)
                del self._kept[:written]
        except BlockingIOError:
            return False
        except OSError:
            self._gone()
        return True

    def read(self) -> bytes:
        """What has come since the last call."""
        descriptor = self._connected()
        if descriptor is None:
            return b""
        try:
            data = os.read(descriptor, _PIECE_BYTES)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._gone()
        return data

    @abc.abstractmethod
    def _connected(self) -> int | None:
        """The descriptor, if its other end is connected."""

    @abc.abstractmethod
    def _gone(self) -> None:
        """Called when the other end has disconnected."""


class PseudoTerminal(_Descriptor):
    """A pseudo-terminal that picocom, minicom, screen and pyserial can open by `name`."""

    def __init__(self) -> None:
        super().__init__()
        self._master, slave = os.openpty()
        try:
            tty.setraw(slave)
            self.name = os.ttyname(slave)
        finally:
            # while the master reports a hang-up, no program has the terminal open
            os.close(slave)
        os.set_blocking(self._master, False)
        self._poll = select.poll()
        self._poll.register(self._master, select.POLLIN)

    def _connected(self) -> int | None:
        return None if self._events() & select.POLLHUP else self._master

    def _gone(self) -> None:
        """Called when the other end has closed the terminal: another program may open it."""

    def read(self) -> bytes:
        """What has come since the last call."""
        # input from before the writer left can still be read
        return super().read() if self._connected() else self._left()

    def _left(self) -> bytes:
        if not self._events() & select.POLLIN:
            return b""
        with contextlib.suppress(OSError):
            return os.read(self._master, _PIECE_BYTES)
        return b""

    def _let_read(self) -> None:
        slave = os.open(self.name, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            until_s = time.monotonic() + _PATIENCE_S
            unread = array.array("i", [1])
            while unread[0] and time.monotonic() < until_s:
                fcntl.ioctl(slave, termios.FIONREAD, unread)
                time.sleep(_NAP_S)
        finally:
            os.close(slave)

    def _events(self) -> int:
        return dict(self._poll.poll(0)).get(self._master, 0)

    def close(self) -> None:
        """Close the pseudo-terminal, once a program that has it open has read the rest."""
        with contextlib.suppress(OSError):
            if self._connected() is not None:
                self._let_read()
        os.close(self._master)


class TcpPort(_Descriptor):
    """A TCP port for one client at a time; `name` is its address.

    A client that has ended its input stays connected for output, until another client connects.
    """

    def __init__(self, host: str, port: int) -> None:
        super().__init__()
        self._client: socket.socket | None = None
        self._next: socket.socket | None = None
        self._sends = False
        self._listener = ports.listening(host, port, f"tcp:{host}:{port}")
        self._listener.setblocking(False)
        bound = self._listener.getsockname()
        self.name = f"[{bound[0]}]:{bound[1]}" if ":" in bound[0] else f"{bound[0]}:{bound[1]}"

    def read(self) -> bytes:
        """What has come since the last call."""
        descriptor = self._connected()
        if descriptor is None or not self._sends:
            return b""
        try:
            data = os.read(descriptor, _PIECE_BYTES)
        except BlockingIOError:
            return b""
        except OSError:
            self._gone()
            return b""
        self._sends = bool(data)
        return data

    def _connected(self) -> int | None:
        with contextlib.suppress(OSError):
            client, _ = self._listener.accept()
            if self._next is not None or self._is_taken():
                client.close()
            else:
                client.setblocking(False)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._next = client
        if self._next is not None and not self._sends:
            self._gone()
            self._client, self._next, self._sends = self._next, None, True
        return None if self._client is None else self._client.fileno()

    def _is_taken(self) -> bool:
        """Whether a client is connected that may still send."""
        if self._client is None or not self._sends:
            return False
        leaving = select.poll()
        leaving.register(self._client, select.POLLRDHUP)
        return not leaving.poll(0)

    def _gone(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client, self._sends = None, False

    def close(self) -> None:
        """Close the port."""
        self._gone()
        if self._next is not None:
            self._next.close()
        self._listener.close()


class StandardInput:
    """The command's own terminal, or a pipe in its place.

    At a terminal each key is sent unchanged, and Ctrl-A begins commands. The board's output is
    shown as in any run.
    """

    takes_output = False
    name = "standard input"
    _show: Callable[[bytes], None] | None = None

    def __init__(self) -> None:
        if sys.stdin is None:
            raise UsageError("--console stdio: the standard input is closed")
        try:
            self._descriptor = sys.stdin.fileno()
            self._mode = os.fstat(self._descriptor).st_mode
        except (OSError, ValueError):
            raise UsageError("--console stdio: the standard input is closed") from None
        self.is_over = False
        self.wants_end = False
        self._escaped = False
        self._before: list[Any] | None = None
        if os.isatty(self._descriptor):
            self._before = termios.tcgetattr(self._descriptor)
            raw = termios.tcgetattr(self._descriptor)
            raw[tty.IFLAG] &= ~(termios.ICRNL | termios.IXON | termios.ISTRIP | termios.INLCR)
            raw[tty.LFLAG] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
            raw[tty.CC][termios.VMIN], raw[tty.CC][termios.VTIME] = 1, 0
            leftovers.undo(self.close)
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, raw)

    def read(self) -> bytes:
        """The input since the last call, without commands."""
        if self.is_over or not self._is_ready():
            return b""
        try:
            data = os.read(self._descriptor, _PIECE_BYTES)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EINTR):
                return b""
            data = b""
        self.is_over = not data
        return data if self._before is None else bytes(self._keys(data))

    def _is_ready(self) -> bool:
        if stat.S_ISREG(self._mode):
            return True
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(0))

    def _keys(self, data: bytes) -> Iterator[int]:
        for key in data:
            if self._escaped:
                self._escaped = False
                if key in (_ESCAPE, _CTRL_C):
                    yield key
                elif key in b"xX\x18":
                    self.wants_end = True
                elif key in b"hH?\x08":
                    print(f"\ncyclescope: {_HELP}", file=sys.stderr)
            elif key == _ESCAPE:
                self._escaped = True
            elif key == _CTRL_C:
                # as the terminal does when it is not raw; only the main thread receives the signal
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:
                yield key

    def show_by(self, show: Callable[[bytes], None]) -> None:
        """Show this line's output with `show`, instead of as the console's."""
        self._show = show

    def write(self, data: bytes) -> None:
        """Write output of a line that is not the console."""
        if self._show is not None:
            self._show(data)

    def flush(self) -> bool:
        """Nothing to do: no output is kept."""
        return True

    def close(self) -> None:
        """Restore the terminal."""
        if self._before is not None:
            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)
            self._before = None
