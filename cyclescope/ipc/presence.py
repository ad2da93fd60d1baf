"""Which link to a terminal is a living server's.

A server that is killed leaves its link behind, and the terminal's name may be another's by then. So
a server holds a lock beside its clock's socket, which the kernel takes back in any case, and writes
there which link is its own: nobody else's is ever replaced.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from cyclescope.ipc.clock import socket_path


class Presence:
    """A server's lock on a terminal that is its own. Raises `OSError` if there can be none."""

    def __init__(self, terminal: str) -> None:
        self._path = _lock_path(terminal)
        self._lock = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.truncate(self._lock, 0)

    def tell_link(self, link: Path) -> None:
        """A link leads to the terminal from now on."""
        os.pwrite(self._lock, _named(link), 0)

    def end(self) -> None:
        """The terminal is offered no longer."""
        self._path.unlink(missing_ok=True)
        os.close(self._lock)


def is_left_behind(terminal: str, link: Path) -> bool:
    """Whether a link to a terminal is one of a server that lives no longer."""
    with contextlib.suppress(OSError), _lock_path(terminal).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return lock.read() == _named(link)
    return False


def _lock_path(terminal: str) -> Path:
    return socket_path(terminal).with_suffix(".lock")


def _named(link: Path) -> bytes:
    return os.fsencode(link.absolute())
