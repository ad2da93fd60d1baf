"""Files that are kept in the cache: whole, or made anew.

Beside each there is its digest, written last. After a power loss, a full disk or a killed process a
file may be cut, empty or of other bytes: then the digest does not fit, or is not there. Plain data
need none: JSON that was cut can't be read.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cyclescope.host import leftovers

CHUNK_BYTES = 64 * 1024
_DIGEST_BYTES = hashlib.sha256().digest_size


def is_whole(path: Path) -> bool:
    """Whether a file is there and is the one that was kept."""
    try:
        return _digest_path(path).read_text(encoding="ascii") == _digest(path)
    except (OSError, UnicodeDecodeError):
        return False


def keep(made: Path, path: Path) -> None:
    """Move a file that was made to where it is kept. Raises `OSError`.

    Another process may keep the same file at the same time: either will do.
    """
    digest = _digest(made)
    _to_disk(made)
    with leftovers.scratch(dir=path.parent) as folder:
        written = folder / "digest"
        written.write_text(digest, encoding="ascii")
        _to_disk(written)
        made.replace(path)
        written.replace(_digest_path(path))
    _to_disk(path.parent)


def read_json(path: Path) -> Any:
    """Plain data that was kept as JSON; None if it is not there or not whole."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def write_json(path: Path, data: Any) -> None:
    """Keep plain data as JSON, whole or not at all.

    It can be had again: a cache that can't be written is no reason to fail.
    """
    _write(path, f"{json.dumps(data)}\n".encode())


def read_bytes(path: Path) -> bytes | None:
    """What `write_bytes` has kept; None if it is not there or not whole."""
    try:
        kept = path.read_bytes()
    except OSError:
        return None
    digest, data = kept[:_DIGEST_BYTES], kept[_DIGEST_BYTES:]
    return data if digest == hashlib.sha256(data).digest() else None


def write_bytes(path: Path, data: bytes) -> None:
    """Keep bytes after their digest. As with `write_json`, it does not fail."""
    _write(path, hashlib.sha256(data).digest() + data)


def _write(path: Path, data: bytes) -> None:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with leftovers.scratch(dir=path.parent) as folder:
            written = folder / path.name
            written.write_bytes(data)
            written.replace(path)


def _digest_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.digest")


def _digest(path: Path) -> str:
    """Of a file's size and bytes. Holes cost nothing, and are as good as zeros."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        digest.update(b"%d\n" % os.fstat(file.fileno()).st_size)
        for at, chunk in chunks(file.fileno()):
            digest.update(b"%d\n" % at + chunk)
    return digest.hexdigest()


def chunks(file: int) -> Iterator[tuple[int, bytes]]:
    """An open file's chunks that are not all zeros, with their places. Raises `OSError`."""
    behind = 0
    for start, end in _extents(file):
        # places do not depend on where the file has its holes
        for at in range(max(start - start % CHUNK_BYTES, behind), end, CHUNK_BYTES):
            behind = at + CHUNK_BYTES
            chunk = os.pread(file, CHUNK_BYTES, at)
            if chunk != bytes(len(chunk)):
                yield at, chunk


def _extents(file: int) -> Iterator[tuple[int, int]]:
    """Where a file may have other than zeros: first byte, and the one behind the last."""
    end = os.fstat(file).st_size
    at = 0
    while at < end:
        try:
            start = os.lseek(file, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole from here on
                return
            raise
        at = os.lseek(file, start, os.SEEK_HOLE)
        yield start, at


def _to_disk(path: Path) -> None:
    """Have a file or a folder on the disk for certain, also after a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
