"""Disk images for cards, made and checked by programs that are not ours: dosfstools and mtools.

A `Disk` describes a FAT volume. Its image is made once and kept by content; each run gets a sparse
copy, which is checked afterwards with the same programs: what the firmware wrote must be right for
someone who knows nothing of it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import IO

from cyclescope import kept, leftovers, resources
from cyclescope.errors import DiskError

SECTOR_BYTES = 512
# Each tool that is called, with the Debian package that has it.
TOOLS = {"mkfs.fat": "dosfstools", "fsck.fat": "dosfstools"} | dict.fromkeys(
    ("mcopy", "mdel", "mshowfat"), "mtools"
)
_SBIN = ("/usr/sbin", "/sbin")  # where Debian has mkfs.fat and a user's PATH does not look
# 2009-03-02: file times are no reason for images to differ
_EPOCH_S = "1235952000"


@dataclass(frozen=True)
class Stretch:
    """Clusters of a volume in order: so many that a file takes, then so many that are free."""

    used: int
    free: int


@dataclass(frozen=True)
class Disk:
    """A FAT volume over a whole card.

    A card with byte addresses can express sizes that are a multiple of 512 KiB, to 2 GiB.
    `stretches` says what the volume holds from its first cluster on; all behind them is free.
    """

    size_bytes: int
    fat_bits: int = 16
    sectors_per_cluster: int = 64
    stretches: tuple[Stretch, ...] = ()

    @property
    def cluster_bytes(self) -> int:
        """Bytes of a cluster, the unit in which files take space."""
        return self.sectors_per_cluster * SECTOR_BYTES


def missing_packages() -> list[str]:
    """The Debian packages of the tools that are not installed."""
    return sorted({package for tool, package in TOOLS.items() if _find(tool) is None})


@contextmanager
def copy_of(master: Path) -> Iterator[Path]:
    """A copy of an image for one run, gone afterwards.

    Raises `DiskError` if it can't be copied: another run may be writing it.
    """
    with leftovers.scratch(prefix="cyclescope-disk-") as folder:
        copy = folder / "disk.img"
        try:
            copy_sparse(master, copy)
        except BlockingIOError as error:
            raise DiskError(f"{master}: another run has it: wait for its end") from error
        except OSError as error:
            # the folder's own name is another each time
            place = folder.parent
            raise DiskError(f"{master} can't be copied to {place}: {error.strerror}") from error
        yield copy


def image(disk: Disk) -> Path:
    """The image of a disk as it is before any run, made if it was not yet: only to be read.

    Raises `DiskError` if a tool is missing or fails.
    """
    described = f"{disk!r} {_tools()}"
    digest = hashlib.sha256(described.encode()).hexdigest()[:16]
    folder = resources.cache() / "disks"
    path = folder / f"fat{disk.fat_bits}-{digest}.img"
    if kept.is_whole(path):
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with leftovers.scratch(dir=folder) as scratch:
            made = scratch / "disk.img"
            _make(disk, made)
            packed = scratch / "packed.img"
            copy_sparse(made, packed)
            kept.keep(packed, path)
    except OSError as error:
        raise DiskError(f"{folder}: no disk image can be made there: {error.strerror}") from error
    return path


def check(path: Path) -> None:
    """Raises `DiskError` with what fsck.fat says if it finds anything wrong with a volume."""
    done = _call("fsck.fat", "-n", path)
    if done.returncode != 0:
        # the first line is the program's version; the last names the image, whose place is nothing
        lines = [line.strip() for line in _words(done).splitlines()[1:] if str(path) not in line]
        found = " / ".join(filter(None, lines))
        raise DiskError(f"fsck.fat finds the disk damaged: {found}")


def read_file(path: Path, name: str) -> bytes:
    """A file's bytes as mtools reads them. Raises `DiskError` if it can't."""
    return _run("mcopy", "-i", path, f"::{name}", "-").stdout


def compare(path: Path, files: Mapping[str, bytes]) -> None:
    """Raises `DiskError` if a volume's files are not what they should be, byte for byte."""
    for name, expected in files.items():
        found = read_file(path, name)
        if len(found) != len(expected):
            raise DiskError(f"{name} has {len(found)} bytes, {len(expected)} were to be written")
        if found != expected:
            place = next(at for at in count() if found[at] != expected[at])
            raise DiskError(
                f"{name} differs from byte {place} on: 0x{found[place]:02x} on the disk, "
                f"0x{expected[place]:02x} was to be written"
            )


def clusters_of(path: Path, *names: str) -> list[str]:
    """Where files lie as mtools shows it, a line a file: "<2-65> <70-77>"."""
    text = _words(_run("mshowfat", "-i", path, *(f"::{name}" for name in names)))
    return [line.partition(" ")[2] for line in text.splitlines() if line.startswith("::")]


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a file with holes where it has none but zeros.

    Raises `OSError`: `BlockingIOError` if a run has the file, and may be writing it.
    """
    with target.open("wb", buffering=0) as new:
        copy_into(source, new)


def copy_into(source: Path, new: IO[bytes]) -> None:
    """As `copy_sparse`, into a new file that is open."""
    with source.open("rb", buffering=0) as old:
        fcntl.flock(old, fcntl.LOCK_SH | fcntl.LOCK_NB)
        new.truncate(os.fstat(old.fileno()).st_size)
        for at, chunk in kept.chunks(old.fileno()):
            os.pwrite(new.fileno(), chunk, at)


def _make(disk: Disk, path: Path) -> None:
    with path.open("wb") as new:
        new.truncate(disk.size_bytes)
    geometry = ("-F", disk.fat_bits, "-s", disk.sectors_per_cluster)
    _run("mkfs.fat", *geometry, "--invariant", "-n", "CYCLESCOPE", path)
    if disk.stretches:
        _occupy(disk, path)


def _occupy(disk: Disk, path: Path) -> None:
    """Files one behind the other, as mtools places them; then those in the free places go."""
    with leftovers.scratch(dir=path.parent) as folder:
        used, free = [], []
        files = []
        for number, stretch in enumerate(disk.stretches):
            for name, clusters, kind in (
                (f"USED{number:03}.BIN", stretch.used, used),
                (f"FREE{number:03}.BIN", stretch.free, free),
            ):
                if clusters:
                    files.append(_zeros(folder / name, clusters * disk.cluster_bytes))
                    kind.append(name)
        _run("mcopy", "-i", path, *files, "::")
        _check_places(disk, path)
        if free:
            _run("mdel", "-i", path, *(f"::{name}" for name in free))


def _check_places(disk: Disk, path: Path) -> None:
    """mtools promises no places; what the disk says of them must be so."""
    first = 2  # the number of a FAT volume's first cluster
    for number, stretch in enumerate(disk.stretches):
        for name, clusters in (("USED", stretch.used), ("FREE", stretch.free)):
            if not clusters:
                continue
            (found,) = clusters_of(path, f"{name}{number:03}.BIN")
            last = first + clusters - 1
            wanted = f"<{first}>" if clusters == 1 else f"<{first}-{last}>"
            if found.strip() != wanted:
                raise DiskError(f"mtools put a file at {found} that was to be at {wanted}")
            first += clusters


def _zeros(path: Path, size_bytes: int) -> Path:
    with path.open("wb") as new:
        new.truncate(size_bytes)
    return path


# ---- the tools


def _run(tool: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    done = _call(tool, *arguments)
    if done.returncode != 0:
        raise DiskError(f"{tool} failed: {' / '.join(_words(done).splitlines()) or 'no reason'}")
    return done


def _call(tool: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    # the user's own drive letters and language would change what the tools do and say
    settings = {"LC_ALL": "C", "MTOOLSRC": os.devnull, "SOURCE_DATE_EPOCH": _EPOCH_S, "TZ": "UTC"}
    command = [_found(tool), *map(str, arguments)]
    return leftovers.call(command, env=os.environ | settings)


def _found(tool: str) -> str:
    found = _find(tool)
    if found is None:
        raise DiskError(
            f"{tool} is not installed: disk images need Debian's "
            f"{' and '.join(missing_packages())}, which scripts/install-debian-packages installs"
        )
    return found


def _find(tool: str) -> str | None:
    return shutil.which(tool, path=os.pathsep.join((os.environ.get("PATH", ""), *_SBIN)))


@cache
def _tools() -> str:
    """The tools that make images, by content: an image is theirs as much as ours."""
    digest = hashlib.sha256()
    for tool in ("mkfs.fat", "mcopy", "mdel"):
        digest.update(Path(_found(tool)).read_bytes())
    return digest.hexdigest()


def _words(done: subprocess.CompletedProcess[bytes]) -> str:
    return (done.stdout + done.stderr).decode(errors="replace").strip()
