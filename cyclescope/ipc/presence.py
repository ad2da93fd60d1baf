"""Locks that show which links to terminals belong to running servers.

A killed server leaves a stale link, and another program may get the terminal's name later. So a
server holds a lock beside its clock's socket, which the kernel releases in any case, and writes its
link there: links of others are never replaced.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from cyclescope.ipc.clock import socket_path


class Presence:
    """A server's lock on its own terminal. Raises `OSError` if the lock can't be made."""

    def __init__(self, terminal: str) -> None:
        self._path = _lock_path(terminal)
        self._lock = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.truncate(self._lock, 0)

    def record_link(self, link: Path) -> None:
        """Record the link to the terminal."""
        os.pwrite(self._lock, _named(link), 0)

    def end(self) -> None:
        """Release the lock when the terminal is closed."""
        self._path.unlink(missing_ok=True)
        os.close(self._lock)


def is_stale(terminal: str, link: Path) -> bool:
    """Whether a link to a terminal belongs to a server that has ended."""
    with contextlib.suppress(OSError), _lock_path(terminal).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return lock.read() == _named(link)
    return False


def _lock_path(terminal: str) -> Path:
    return socket_path(terminal).with_suffix(".lock")


def _named(link: Path) -> bytes:
    return os.fsencode(link.absolute())
