"""Landlock (Linux 5.13 or newer): a process gives up the file system, but for some places.

See Documentation/userspace-api/landlock.rst of the kernel. It needs no privileges, and holds for
all that the process starts.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_SET_NO_NEW_PRIVS = 38

# Rights, by the version of the interface that brought them.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_HANDLED = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF}
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_READ = _EXECUTE | _READ_FILE | _READ_DIR


class NotAvailableError(Exception):
    """The kernel has no Landlock, or it is switched off."""


def version() -> int:
    """The kernel's version of the interface. Raises `NotAvailableError`."""
    try:
        return _call(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError as error:
        raise NotAvailableError(f"no Landlock in this kernel: {error.strerror}") from error


def restrict(
    readable: Iterable[str | os.PathLike[str]], writable: Iterable[str | os.PathLike[str]]
) -> None:
    """From now on this process opens files only in these places, below them if they are folders.

    What is writable may be read as well, and files may be made and removed there. Places that do
    not exist are left out. Raises `NotAvailableError`.
    """
    handled = _HANDLED[min(version(), max(_HANDLED))]
    ruleset = _call(_CREATE_RULESET, struct.pack("<Q", handled), 8, 0)
    try:
        for path in readable:
            _allow(ruleset, path, _READ & handled)
        for path in writable:
            _allow(ruleset, path, handled & ~_EXECUTE)
        _prctl_no_new_privileges()
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str | os.PathLike[str], rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _OF_A_FILE
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("<Qi", rights, place), 0)
    finally:
        os.close(place)


def _prctl_no_new_privileges() -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _call(number: int, *arguments: int | bytes | None) -> int:
    """A system call that the C library has no function for. Raises `OSError`."""
    library = ctypes.CDLL(None, use_errno=True)
    exact = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = library.syscall(ctypes.c_long(number), *exact)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return int(result)
