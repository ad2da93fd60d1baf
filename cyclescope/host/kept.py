"""Cached files: complete, or made again.

Each has a file with its digest, written last. After a power loss, a full disk or a killed process a
file may be truncated, empty or corrupt: then the digest does not match, or is missing. JSON needs
no digest: truncated JSON can't be parsed.
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
    """Whether a file exists and matches its digest."""
    try:
        return _digest_path(path).read_text(encoding="ascii") == _digest(path)
    except (OSError, UnicodeDecodeError):
        return False


def keep(made: Path, path: Path) -> None:
    """Move a new file to its place in the cache. Raises `OSError`.

    Another process may write the same file at the same time: the contents are equal.
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
    """Plain data from cached JSON; None if it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def write_json(path: Path, data: Any) -> None:
    """Cache plain data as JSON, completely or not at all.

    A cache that can't be written is not an error, as the data can be made again.
    """
    _write(path, f"{json.dumps(data)}\n".encode())


def read_bytes(path: Path) -> bytes | None:
    """Bytes from `write_bytes`; None if they are missing or damaged."""
    try:
        kept = path.read_bytes()
    except OSError:
        return None
    digest, data = kept[:_DIGEST_BYTES], kept[_DIGEST_BYTES:]
    return data if digest == hashlib.sha256(data).digest() else None


def write_bytes(path: Path, data: bytes) -> None:
    """Cache bytes with their digest. Like `write_json`, it does not fail."""
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
    """Digest of a file's size and bytes. Holes count as zeros, and take no time."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        digest.update(b"%d\n" % os.fstat(file.fileno()).st_size)
        for at, chunk in chunks(file.fileno()):
            digest.update(b"%d\n" % at + chunk)
    return digest.hexdigest()


def chunks(file: int) -> Iterator[tuple[int, bytes]]:
    """An open file's chunks that are not all zeros, with their positions. Raises `OSError`."""
    done = 0
    for start, end in _extents(file):
        # positions do not depend on the file's holes
        for at in range(max(start - start % CHUNK_BYTES, done), end, CHUNK_BYTES):
            done = at + CHUNK_BYTES
            chunk = os.pread(file, CHUNK_BYTES, at)
            if chunk != bytes(len(chunk)):
                yield at, chunk


def _extents(file: int) -> Iterator[tuple[int, int]]:
    """Ranges of a file that may have nonzero bytes: the first byte, and the end after the last."""
    end = os.fstat(file).st_size
    at = 0
    while at < end:
        try:
            start = os.lseek(file, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole from here on
                return
            raise
        at = os.lseek(file, start, os.SEEK_HOLE)
        yield start, at


def _to_disk(path: Path) -> None:
    """Flush a file or a folder to the disk, so that it survives a power loss."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
