"""Where a debugger comes to a run: a port of this machine, or standard input and output.

A port is open to this machine alone, unless more is asked for: whoever reaches it can read and
write all of the simulated machine. Once a client is there, nobody else can connect.
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
_LOOPBACK_ONLY = "others could reach the debugger there; say --gdb-any-address if that is meant"


def pipe() -> Gdb:
    """The client at standard input and output, which are nobody else's from now on.

    What is printed goes to standard error then, and the firmware's console to the client.
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
    """A port at which one client is waited for; `close` it, or use it with `with`."""

    def __init__(self, address: str, any_address: bool = False) -> None:
        """Open the port HOST:PORT; port 0 is any that is free.

        Raises `UsageError` for what is no address, cannot be opened, or is not this machine's own
        while `any_address` is false.
        """
        host, number = _host_and_number(address)
        only = None if any_address else _LOOPBACK_ONLY
        self._socket = ports.listening(host, number, f"--gdb {address}", only)
        self.address = f"{host}:{self._socket.getsockname()[1]}"

    def wait(self, stop: Stop) -> Gdb | None:
        """The client, once one has connected; None if the user does not wait any longer."""
        while not stop.requested:
            if not select.select([self._socket], [], [], _WAIT_S)[0]:
                continue
            with contextlib.suppress(OSError):  # it has gone again
                client, _ = self._socket.accept()
                with client:
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self.close()
                    return Gdb(client.fileno(), client.fileno())
        return None

    def close(self) -> None:
        """Close the port; a client that has connected stays."""
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
        raise UsageError(f"--gdb {address}: expected HOST:PORT, as localhost:3333, or pipe")
    return host.strip("[]") or "localhost", int(number)
