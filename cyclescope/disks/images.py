"""Disk images for cards: FAT volumes, made for a run and checked after it.

A `Disk` describes a volume. Its image is made once and cached by content; each run gets a sparse
copy. The firmware's own FatFs must not be the only one that can read the result: `fat_check` checks
the volume, the crate `fatfs` reads its files, and dosfstools and mtools repeat both if installed
(`fat_tools`).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import IO, ParamSpec, TypeVar

from cyclescope import _engine, resources
from cyclescope.disks import fat_check, fat_layout, fat_tools
from cyclescope.disks.fat_layout import SECTOR_BYTES, Layout
from cyclescope.disks.fat_volume import ARCHIVE, FIRST_CLUSTER, Volume
from cyclescope.errors import DiskError, EngineError
from cyclescope.host import kept, leftovers

# The version of cached images: a new one makes all of them again.
_LAYOUT_VERSION = 1
# The most findings in a message.
_MOST_FINDINGS = 5

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Extent:
    """Clusters of a volume in order: `used` ones of a file, then `free` ones."""

    used: int
    free: int


@dataclass(frozen=True)
class Disk:
    """A FAT volume over a whole card.

    A card with byte addresses can express sizes that are a multiple of 512 KiB, to 2 GiB. `extents`
    are the volume's contents from its first cluster on; all clusters after them are free.
    """

    size_bytes: int
    fat_bits: int = 16
    sectors_per_cluster: int = 64
    extents: tuple[Extent, ...] = ()

    @property
    def cluster_bytes(self) -> int:
        """Bytes of a cluster, the unit in which files are allocated."""
        return self.sectors_per_cluster * SECTOR_BYTES


@contextmanager
def copy_of(master: Path) -> Iterator[Path]:
    """A copy of an image for one run, deleted afterwards.

    Raises `DiskError` if it can't be copied: another run may be writing it.
    """
    with leftovers.scratch(prefix="cyclescope-disk-") as folder:
        copy = folder / "disk.img"
        try:
            copy_sparse(master, copy)
        except BlockingIOError as error:
            raise DiskError(f"{master}: another run uses it: wait until it ends") from error
        except OSError as error:
            # the name of the scratch folder changes each time
            place = folder.parent
            raise DiskError(f"{master} can't be copied to {place}: {error.strerror}") from error
        yield copy


def image(disk: Disk) -> Path:
    """The image of a disk before any run, made if needed; callers must only read it.

    Raises `DiskError` if there is no such volume, or if its image can't be written.
    """
    described = f"{disk!r} {_LAYOUT_VERSION}"
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
        raise DiskError(f"{folder}: can't make a disk image there: {error.strerror}") from error
    return path


def check(path: Path) -> None:
    """Raises `DiskError` with the faults of a volume that is not sound.

    If fsck.fat is installed, it must find no fault, either.
    """
    found, witness = fat_check.findings(path), fat_tools.findings(path)
    if found:
        alone = "; fsck.fat finds no damage, so one of the two is wrong"
        raise DiskError(f"the disk is damaged: {_some(found)}{alone if witness == [] else ''}")
    if witness:
        raise DiskError(
            "fsck.fat finds the disk damaged, Cyclescope does not, so one of the "
            f"two is wrong: {_some(witness)}"
        )


def read_file(path: Path, name: str) -> bytes:
    """The bytes of a file in the root directory.

    Raises `DiskError` if the file is missing or incomplete, or if mtools, if installed, reads other
    bytes.
    """
    return _read_file(Volume(path), name)


def compare(path: Path, files: Mapping[str, bytes]) -> None:
    """Raises `DiskError` if a volume's files differ from the expected bytes."""
    volume = Volume(path)
    for name, expected in files.items():
        size_bytes = volume.file(name)[0].size_bytes
        if size_bytes != len(expected):
            raise DiskError(f"{name} has {size_bytes} bytes, expected {len(expected)}")
        found = _read_file(volume, name)
        place = _first_difference(found, expected)
        if place is not None:
            raise DiskError(
                f"{name} differs from byte {place} on: 0x{found[place]:02x} on the disk, "
                f"expected 0x{expected[place]:02x}"
            )


def compare_deleted(path: Path, disk: Disk, deleted: Iterable[bytes]) -> None:
    """Raises `DiskError` if a volume's clusters don't hold the contents of deleted files.

    FatFs searches for a free cluster after the last one that it allocated: so the clusters that
    were free before the run hold the files one after the other, up to the end of the volume.
    """
    volume = Volume(path)
    fat = Volume(image(disk)).fat
    free = (cluster for cluster in range(FIRST_CLUSTER, len(fat)) if fat[cluster] == 0)
    for number, expected in enumerate(deleted, 1):
        clusters = islice(free, -(-len(expected) // volume.cluster_bytes))
        pieces = [volume.read(volume.place(one), volume.cluster_bytes) for one in clusters]
        place = _first_difference(b"".join(pieces)[: len(expected)], expected)
        if place is not None:
            raise DiskError(f"deleted file {number} differs from byte {place} on")


def _first_difference(found: bytes, expected: bytes) -> int | None:
    """The first position at which two byte strings differ; None if they are equal."""
    if found == expected:
        return None
    pairs = enumerate(zip(found, expected, strict=False))
    return next((at for at, (one, other) in pairs if one != other), len(found))


def _read_file(volume: Volume, name: str) -> bytes:
    entry, _ = volume.file(name)
    found = _fatfs(_engine.fat_read, volume.path, name, entry.size_bytes)
    witness = fat_tools.read_file(volume.path, name)
    if witness is not None and witness != found:
        raise DiskError(f"{name}: {_difference(found, witness, 'Cyclescope', 'mtools')}")
    return found


def clusters_of(path: Path, name: str) -> list[tuple[int, int]]:
    """The clusters of a file in the root directory: the first and last cluster of each piece.

    Raises `DiskError` if the file is missing or incomplete.
    """
    _, clusters = Volume(path).file(name)
    pieces = groupby(enumerate(clusters), lambda numbered: numbered[1] - numbered[0])
    pieces_of = [[cluster for _, cluster in piece] for _, piece in pieces]
    return [(piece[0], piece[-1]) for piece in pieces_of]


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a file, with holes in place of zeros.

    Raises `OSError`: `BlockingIOError` if a run uses the file, and may be writing it.
    """
    with target.open("wb", buffering=0) as new:
        copy_into(source, new)


def copy_into(source: Path, new: IO[bytes]) -> None:
    """Like `copy_sparse`, into an open new file."""
    with source.open("rb", buffering=0) as old:
        fcntl.flock(old, fcntl.LOCK_SH | fcntl.LOCK_NB)
        new.truncate(os.fstat(old.fileno()).st_size)
        for at, chunk in kept.chunks(old.fileno()):
            os.pwrite(new.fileno(), chunk, at)


def _make(disk: Disk, path: Path) -> None:
    layout = fat_layout.of(disk.size_bytes, disk.fat_bits, disk.sectors_per_cluster)
    with path.open("wb") as new:
        new.truncate(disk.size_bytes)
        for at, data in fat_layout.blank(layout):
            new.seek(at)
            new.write(data)
    if disk.extents:
        _occupy(disk, layout, path)


def _occupy(disk: Disk, layout: Layout, path: Path) -> None:
    """Make files one after the other, then delete those in the free places."""
    files = []
    for number, extent in enumerate(disk.extents):
        files.append((f"USED{number:03}.BIN", extent.used))
        files.append((f"FREE{number:03}.BIN", extent.free))
    files = [(name, clusters) for name, clusters in files if clusters]
    total = sum(clusters for _, clusters in files)
    if total > layout.clusters:
        raise DiskError(f"extents of {total} clusters: the volume has {layout.clusters}")
    if len(files) >= layout.root_entries > 0:  # FAT32 has room for any number
        raise DiskError(
            f"extents of {len(files)} files: the root directory has {layout.root_entries} entries, "
            "one of them the label"
        )
    zeros = bytes(disk.cluster_bytes)
    _fatfs(_engine.fat_add, path, [(name, zeros, clusters) for name, clusters in files])
    _check_places(path, files)
    _mark_as_new(path)
    _fatfs(_engine.fat_remove, path, [name for name, _ in files if name.startswith("FREE")])


def _check_places(path: Path, files: list[tuple[str, int]]) -> None:
    """Check the files' clusters on the disk, as the crate does not guarantee them."""
    first = FIRST_CLUSTER + (1 if Volume(path).is_wide else 0)  # FAT32: after the root
    for name, clusters in files:
        found, wanted = clusters_of(path, name), [(first, first + clusters - 1)]
        if found != wanted:
            raise DiskError(f"{name} is in the clusters {found}, expected {wanted}")
        first += clusters


def _mark_as_new(path: Path) -> None:
    """Set the archive attribute of each file, which the crate does not set."""
    with path.open("r+b", buffering=0) as image:
        for entry in Volume(path).root():
            if not entry.is_label:
                os.pwrite(image.fileno(), bytes([entry.attributes | ARCHIVE]), entry.place + 11)


def _fatfs(
    call: Callable[_Arguments, _Result], *arguments: _Arguments.args, **named: _Arguments.kwargs
) -> _Result:
    try:
        return call(*arguments, **named)
    except EngineError as error:
        raise DiskError(str(error)) from error


def _some(findings: list[str]) -> str:
    more = len(findings) - _MOST_FINDINGS
    return " / ".join(findings[:_MOST_FINDINGS]) + (f" / and {more} more" if more > 0 else "")


def _difference(found: bytes, witness: bytes, one: str, other: str) -> str:
    """The first difference between two readings of a file."""
    if len(found) != len(witness):
        return f"{one} reads {len(found)} bytes, {other} {len(witness)}"
    place = next(at for at, byte in enumerate(found) if byte != witness[at])
    return f"{one} reads 0x{found[place]:02x} at byte {place}, {other} 0x{witness[place]:02x}"
