"""Connections of a debugger to a run: a TCP port, or standard input and output.

By default, a port is open to this machine only: a client can read and write all of the simulated
machine. Only one client can connect.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket

from cyclescope._engine import Gdb, Stop
from cyclescope.errors import UsageError
from cyclescope.host import ports

DEFAULT = "localhost:3333"
PIPE = "pipe"
_WAIT_S = 0.1
_LOOPBACK_ONLY = "other machines could connect there; give --gdb-any-address to allow it"


def pipe() -> Gdb:
    """The client at standard input and output, which nothing else can use from now on.

    Other output then goes to standard error, and the firmware's console to the client.
    """
    taken = (os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    client = Gdb(*taken, console=True)
    for number in taken:
        os.close(number)
    return client


class Port:
    """A port that waits for one client; `close` it, or use it in a `with` block."""

    def __init__(self, address: str, any_address: bool = False) -> None:
        """Open the port HOST:PORT; port 0 is any free port.

        Raises `UsageError` for an invalid address, for a port that can't be opened, and for an
        address that other machines can reach unless `any_address`.
        """
        host, number = _host_and_number(address)
        only = None if any_address else _LOOPBACK_ONLY
        self._socket = ports.listening(host, number, f"--gdb {address}", only)
        self.address = f"{host}:{self._socket.getsockname()[1]}"

    def wait(self, stop: Stop) -> Gdb | None:
        """The client, once one has connected; None if `stop` is requested."""
        while not stop.requested:
            if not select.select([self._socket], [], [], _WAIT_S)[0]:
                continue
            with contextlib.suppress(OSError):  # it has disconnected again
                client, _ = self._socket.accept()
                with client:
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self.close()
                    return Gdb(client.fileno(), client.fileno())
        return None

    def close(self) -> None:
        """Close the port; a connected client stays connected."""
        self._socket.close()

    def __enter__(self) -> Port:
        """The port itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()


def _host_and_number(address: str) -> tuple[str, int]:
    host, _, number = address.rpartition(":")
    if not number.isascii() or not number.isdecimal() or int(number) > 65535:
        raise UsageError(f"--gdb {address}: expected HOST:PORT, such as localhost:3333, or pipe")
    return host.strip("[]") or "localhost", int(number)
