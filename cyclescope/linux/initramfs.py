"""Initial RAM file systems: cpio archives in the format that Linux unpacks at its start.

The format is "newc" (Linux, Documentation/driver-api/early-userspace/buffer-format.rst). The same
files give the same bytes, whoever owns them and whenever they were written.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cyclescope.errors import UsageError
from cyclescope.host import inputs

_MAGIC = b"070701"
_LAST = "TRAILER!!!"
_HEADER_BYTES = 110
# An archive is made of blocks, as cpio(1) does.
_BLOCK_BYTES = 512
_MOST_BYTES = 512 << 20
_MOST_FILES = 100_000

INIT = """\
#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs dev /dev 2>/dev/null
/bin/busybox --install -s /bin
export PATH=/bin:/sbin HOME=/ PS1='/ # '
cd /
exec setsid -c sh -c 'exec sh </dev/console >/dev/console 2>&1'
"""
"""The first program of `of_busybox`: it mounts file systems, and becomes a shell on the console."""


@dataclass(frozen=True)
class Entry:
    """A file, folder, link or device: its mode with its type, its contents, a device's number."""

    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def folder() -> Entry:
    """A folder that all may read."""
    return Entry(stat.S_IFDIR | 0o755)


def file(data: bytes, mode: int = 0o755) -> Entry:
    """A regular file."""
    return Entry(stat.S_IFREG | mode, data)


def archive(entries: Mapping[str, Entry]) -> bytes:
    """A cpio archive of entries by their paths, without a leading slash.

    Folders that a path needs are added before it.
    """
    whole: dict[str, Entry] = {}
    for path, entry in entries.items():
        for parent in reversed(Path(path).parents[:-1]):
            whole.setdefault(parent.as_posix(), folder())
        whole[path] = entry
    parts = [_record(number, path, entry) for number, (path, entry) in enumerate(whole.items(), 1)]
    data = b"".join([*parts, _record(0, _LAST, Entry(0))])
    return data + bytes(-len(data) % _BLOCK_BYTES)


def _record(number: int, path: str, entry: Entry) -> bytes:
    name = path.encode("utf-8", "surrogateescape") + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    major, minor = entry.device
    # inode, mode, user, group, links, time, size, device, device of a device, name's size, check
    words = (number, entry.mode, 0, 0, links, 0, len(entry.data), 0, 0, major, minor, len(name), 0)
    header = _MAGIC + b"".join(f"{word:08x}".encode() for word in words) + name
    return _padded(header) + _padded(entry.data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def files_in(data: bytes) -> Iterator[tuple[str, int, int]]:
    """The paths of the files of archives, one after the other, with their offsets and sizes.

    It ends where no archive of this format is: a compressed one has no such files.
    """
    at = 0
    while data[at : at + len(_MAGIC)] == _MAGIC:
        try:
            words = [int(data[at + 6 + 8 * field :][:8], 16) for field in range(13)]
        except ValueError:
            return
        size, name_size = words[6], words[11]
        begin = at + _HEADER_BYTES + name_size
        begin += -begin % 4
        name = data[at + _HEADER_BYTES :][: name_size - 1].decode("utf-8", "replace")
        if stat.S_ISREG(words[1]) and begin + size <= len(data):
            yield name, begin, size
        at = begin + size + -size % 4
        if name == _LAST:
            # zeroes fill the archive's last block
            while data[at : at + 1] == b"\0":
                at += 1


def of_busybox(busybox: bytes, programs: Mapping[str, bytes] | None = None) -> bytes:
    """An initramfs with a static busybox, whose shell is on the console, and other programs.

    `programs` are static programs by their paths, such as "bin/measure".
    """
    base = busybox_files(busybox) | {"init": file(INIT.encode())}
    return archive(base | {path: file(data) for path, data in (programs or {}).items()})


def busybox_files(busybox: bytes) -> dict[str, Entry]:
    """The files that a shell script as /init needs."""
    return {
        "dev/console": Entry(stat.S_IFCHR | 0o600, device=(5, 1)),
        "dev/null": Entry(stat.S_IFCHR | 0o666, device=(1, 3)),
        "init": file(b""),
        "bin/busybox": file(busybox),
    }


def of_files(files: Mapping[str, bytes]) -> bytes:
    """An archive of files by their paths, for everyone to read and execute.

    Linux unpacks it over the files of an archive before it.
    """
    return archive({path: file(data) for path, data in files.items()})


def of_folder(path: Path) -> bytes:
    """An initramfs with the files of a folder, by their names' order; /dev/console is added.

    Raises `UsageError` for a folder without /init, with sockets or the like, or with more than RAM
    holds, `OSError` if a file can't be read.
    """
    shown = inputs.printable(path)
    entries: dict[str, Entry] = {}
    size = 0
    for name, file in _walked(path):
        entries[name] = _entry(file)
        size += len(entries[name].data)
        if size > _MOST_BYTES or len(entries) > _MOST_FILES:
            raise UsageError(f"{shown}: its files are more than any board's RAM holds")
    if "init" not in entries:
        raise UsageError(f"{shown}: it has no file init, the first program that Linux starts there")
    entries.setdefault("dev/console", Entry(stat.S_IFCHR | 0o600, device=(5, 1)))
    return archive(entries)


def _walked(root: Path) -> Iterator[tuple[str, Path]]:
    for one in sorted(root.iterdir()):
        yield one.relative_to(root).as_posix(), one
        if one.is_dir() and not one.is_symlink():
            for name, inner in _walked(one):
                yield f"{one.name}/{name}", inner


def _entry(path: Path) -> Entry:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return Entry(stat.S_IFLNK | 0o777, str(path.readlink()).encode("utf-8", "surrogateescape"))
    if stat.S_ISDIR(found.st_mode):
        return Entry(found.st_mode)
    if stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
        return Entry(found.st_mode, device=(os.major(found.st_rdev), os.minor(found.st_rdev)))
    if stat.S_ISREG(found.st_mode):
        return Entry(found.st_mode, inputs.read(path, _MOST_BYTES))
    raise UsageError(f"{inputs.printable(path)}: no file, folder, link or device: remove it")
