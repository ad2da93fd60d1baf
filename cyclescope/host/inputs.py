"""Reading whole input files: only regular files and pipes, up to a size limit."""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from pathlib import Path

from cyclescope.errors import UsageError

MOST_ELF_BYTES = 512 * 2**20
# how long a named pipe may be without a writer
_WRITER_S = 2.0
_LOOK_S = 0.05
_CHUNK_BYTES = 2**20

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def read(path: Path, most_bytes: int) -> bytes:
    """A file's bytes, or all bytes from a pipe.

    Raises `UsageError` for another kind of file and for more than `most_bytes`, `OSError` if it
    can't be read.
    """
    if "\0" in os.fspath(path):
        raise UsageError(f"{printable(path)}: a file's name can't contain a zero byte")
    # a pipe without a writer must not block
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        _check_kind(path, found)
        if found.st_size > most_bytes:
            raise _too_large(path, most_bytes)
        begin = _first_bytes(descriptor) if stat.S_ISFIFO(found.st_mode) else b""
        return _read(path, descriptor, bytearray(begin), most_bytes)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        os.close(descriptor)


def begin(path: Path, most_bytes: int) -> bytes | None:
    """The first bytes of a regular file; None for any other, which can be read only once.

    Raises `OSError` if it can't be read.
    """
    if "\0" in os.fspath(path) or not stat.S_ISREG(path.stat().st_mode):
        return None
    with path.open("rb") as file:
        return file.read(most_bytes)


def check(path: Path) -> None:
    """Check that a path is a regular file; a pipe is refused. Raises as `read` does."""
    found = path.stat()
    if stat.S_ISFIFO(found.st_mode):
        raise UsageError(f"{printable(path)}: this is a pipe, not a file")
    _check_kind(path, found)


def printable(name: str | os.PathLike[str]) -> str:
    r"""A name for messages: bytes that are not UTF-8 become \xff, control characters \n."""
    return "".join(map(_shown, os.fspath(name)))


def _shown(letter: str) -> str:
    if letter.isprintable():
        return letter
    # Python's surrogate for a byte that is not UTF-8
    byte = ord(letter) - 0xDC00
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else repr(letter)[1:-1]


def _check_kind(path: Path, found: os.stat_result) -> None:
    kind = stat.S_IFMT(found.st_mode)
    if kind in _KINDS:
        raise UsageError(f"{printable(path)}: this is {_KINDS[kind]}, not a file")


def _too_large(path: Path, most_bytes: int) -> UsageError:
    return UsageError(f"{printable(path)}: larger than the limit of {most_bytes // 2**20} MiB")


def _first_bytes(descriptor: int) -> bytes:
    """The available bytes of a pipe, once a writer has opened it."""
    until_s = time.monotonic() + _WRITER_S
    events = select.poll()
    events.register(descriptor, select.POLLIN)
    while True:
        try:
            chunk = os.read(descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return b""
        has_ended = any(event & select.POLLHUP for _, event in events.poll(0))
        if chunk or has_ended:
            return chunk
        if time.monotonic() > until_s:
            raise OSError(errno.ETIMEDOUT, "this pipe has no writer")
        time.sleep(_LOOK_S)


def _read(path: Path, descriptor: int, data: bytearray, most_bytes: int) -> bytes:
    os.set_blocking(descriptor, True)
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        data += chunk
        if len(data) > most_bytes:
            raise _too_large(path, most_bytes)
    return bytes(data)
