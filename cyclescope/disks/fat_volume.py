"""A reader of FAT volumes: the boot sector, the FATs, and the entries of directories.

Written from Microsoft's *FAT: General Overview of On-Disk Format* (fatgen103, version 1.03). The
image may hold anything: an invalid volume is a `DiskError`, and no chain is followed endlessly.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cyclescope.disks.fat_layout import CLUSTERS, SECTOR_BYTES
from cyclescope.errors import DiskError

FIRST_CLUSTER = 2
ENTRY_BYTES = 32
ARCHIVE = 0x20  # an attribute of files
# fatgen103, "FAT Directory Structure": no directory has more than 2^16 entries.
_MOST_BYTES = 2**16 * ENTRY_BYTES
_DIRECTORY, _LABEL, _LONG_NAME, _ATTRIBUTES = 0x10, 0x08, 0x0F, 0x3F
_END, _DELETED = 0x00, 0xE5
_ONE_FAT, _ACTIVE_FAT = 1 << 7, 0xF
NOBODYS: Mapping[int, str] = {}


@dataclass(frozen=True)
class Entry:
    """An entry of a directory, with a name of 8 and 3 characters."""

    raw_name: bytes
    attributes: int
    first: int  # cluster
    size_bytes: int
    place: int  # the entry's byte position in the image

    @property
    def name(self) -> str:
        """The name in the usual form: "USED000.BIN"."""
        stem, extension = (
            part.rstrip(b" ").decode("ascii", "backslashreplace")
            for part in (self.raw_name[:8], self.raw_name[8:])
        )
        return f"{stem}.{extension}" if extension else stem

    @property
    def is_directory(self) -> bool:
        """Whether the entry is a directory."""
        return bool(self.attributes & _DIRECTORY)

    @property
    def is_label(self) -> bool:
        """Whether the entry is the volume's label, not a file."""
        return bool(self.attributes & _LABEL)


@dataclass(frozen=True)
class Chain:
    """A chain of clusters, and the fault at its end, if any."""

    clusters: tuple[int, ...]
    fault: str | None


class Volume:
    """A FAT volume that begins at the first byte of an image; the image is only read.

    Raises `DiskError` if the image can't be read, or if its boot sector is invalid.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.boot = self.read(0, SECTOR_BYTES)
        sector_bytes, self.sectors_per_cluster, self.reserved, self.fats, self.root_entries = (
            struct.unpack_from("<HBHBH", self.boot, 11)
        )
        short_sectors, self.media, short_fat = struct.unpack_from("<HBH", self.boot, 19)
        long_sectors, long_fat = struct.unpack_from("<II", self.boot, 32)
        self.sectors = short_sectors or long_sectors
        self.fat_sectors = short_fat or long_fat
        self.is_wide = short_fat == 0
        # fatgen103, "BPB_ExtFlags" of FAT32: with bit 7, only the FAT with this number is written
        (flags,) = struct.unpack_from("<H", self.boot, 40)
        self.is_mirrored = not (self.is_wide and flags & _ONE_FAT)
        self.active_fat = 0 if self.is_mirrored else flags & _ACTIVE_FAT
        faults = {
            "no signature": self.boot[510:] != b"\x55\xaa",
            f"sectors of {sector_bytes} bytes": sector_bytes != SECTOR_BYTES,
            f"clusters of {self.sectors_per_cluster} sectors": (
                self.sectors_per_cluster.bit_count() != 1
            ),
            "no reserved sector": self.reserved == 0,
            f"{self.fats} FATs": self.fats not in (1, 2),
            "FATs without sectors": self.fat_sectors == 0,
        }
        self._refuse(faults)
        root_sectors = -(-self.root_entries * ENTRY_BYTES // SECTOR_BYTES)
        self._root_sector = self.reserved + self.fats * self.fat_sectors
        self._data_sector = self._root_sector + root_sectors
        self.clusters = (self.sectors - self._data_sector) // self.sectors_per_cluster
        self.bits = next((bits for bits in (12, 16) if self.clusters <= CLUSTERS[bits][1]), 32)
        entries = self.clusters + FIRST_CLUSTER
        faults = {
            "no room for a cluster": self.clusters < 1,
            f"{self.sectors} sectors, more than the image has": (
                self.sectors * SECTOR_BYTES > self._size_bytes
            ),
            f"the fields of another type than FAT{self.bits}, which {self.clusters} clusters make "
            "it": self.is_wide != (self.bits == 32),
            f"{self.fats} FATs, and number {self.active_fat} is the one in use": (
                self.active_fat >= self.fats
            ),
            f"{entries} entries in FATs of {self.fat_sectors} sectors": (
                entries * self.bits > self.fat_sectors * SECTOR_BYTES * 8
            ),
        }
        self._refuse(faults)

    def _refuse(self, faults: dict[str, bool]) -> None:
        found = [fault for fault, is_so in faults.items() if is_so]
        if found:
            raise DiskError(f"the disk has no FAT volume: its boot sector has {found[0]}")

    @property
    def cluster_bytes(self) -> int:
        """Bytes of a cluster."""
        return self.sectors_per_cluster * SECTOR_BYTES

    @cached_property
    def fat(self) -> list[int]:
        """The active FAT: two reserved entries, then one for each cluster."""
        return self.copy_of_fat(self.active_fat)

    def copy_of_fat(self, number: int) -> list[int]:
        """One of the FATs."""
        entries = self.clusters + FIRST_CLUSTER
        start = (self.reserved + number * self.fat_sectors) * SECTOR_BYTES
        data = self.read(start, -(-entries * self.bits // 8))
        if self.bits == 16:
            return list(struct.unpack(f"<{entries}H", data))
        if self.bits == 32:
            # the upper four bits are reserved
            return [entry & 0x0FFFFFFF for entry in struct.unpack(f"<{entries}I", data)]
        pairs = (int.from_bytes(data[at : at + 3], "little") for at in range(0, len(data), 3))
        unpacked = [entry for pair in pairs for entry in (pair & 0xFFF, pair >> 12)]
        return unpacked[:entries]

    @property
    def bad(self) -> int:
        """The entry that marks a bad cluster; greater ones end a chain."""
        return {12: 0xFF7, 16: 0xFFF7, 32: 0x0FFFFFF7}[self.bits]

    def chain(self, first: int, taken: Mapping[int, str] = NOBODYS) -> Chain:
        """The clusters from `first` on, up to one in `taken` (owners' names by cluster)."""
        found: dict[int, None] = {}
        at = first
        while FIRST_CLUSTER <= at < len(self.fat) and at not in found and at not in taken:
            found[at] = None
            if self.fat[at] > self.bad:
                return Chain(tuple(found), None)
            at = self.fat[at]
        if at in found:
            fault = f"its chain returns to cluster {at}"
        elif at in taken:
            fault = f"its chain continues at cluster {at}, which belongs to {taken[at]}"
        elif at == 0:
            fault = "its chain continues in clusters that the FAT marks as free"
        else:
            fault = f"its chain continues at 0x{at:x}, which is not a cluster"
        return Chain(tuple(found), fault)

    def root(self) -> Iterator[Entry]:
        """The entries of the root directory, without entries of long names."""
        if not self.is_wide:
            place = self._root_sector * SECTOR_BYTES
            return self._entries([place], self.root_entries * ENTRY_BYTES)
        return self.directory(self.chain(self.root_cluster))

    @property
    def root_cluster(self) -> int:
        """The first cluster of FAT32's root directory; 0 for other types."""
        return int.from_bytes(self.boot[44:48], "little") if self.is_wide else 0

    def directory(self, chain: Chain) -> Iterator[Entry]:
        """The entries of a directory in clusters."""
        if len(chain.clusters) * self.cluster_bytes > max(_MOST_BYTES, self.cluster_bytes):
            raise DiskError(f"the disk has a directory of {len(chain.clusters)} clusters")
        return self._entries(map(self.place, chain.clusters), self.cluster_bytes)

    def place(self, cluster: int) -> int:
        """The byte position of a cluster in the image."""
        sectors = (cluster - FIRST_CLUSTER) * self.sectors_per_cluster
        return (self._data_sector + sectors) * SECTOR_BYTES

    def file(self, name: str) -> tuple[Entry, tuple[int, ...]]:
        """A file in the root directory and its clusters. Raises `DiskError` for a broken chain."""
        found = [
            entry
            for entry in self.root()
            if not (entry.is_directory or entry.is_label) and entry.name == name.upper()
        ]
        if len(found) != 1:
            raise DiskError(f"the disk has {len(found) or 'no'} files named {name}")
        (entry,) = found
        chain = self.chain_of(entry)
        if chain.fault is not None:
            raise DiskError(f"{entry.name}: {chain.fault}")
        return entry, chain.clusters

    def chain_of(self, entry: Entry, taken: Mapping[int, str] = NOBODYS) -> Chain:
        """The clusters of a file; a fault if their number does not fit its size."""
        chain = self.chain(entry.first, taken) if entry.first else Chain((), None)
        wanted = -(-entry.size_bytes // self.cluster_bytes)
        if chain.fault is None and len(chain.clusters) != wanted:
            fault = f"{entry.size_bytes} bytes in {len(chain.clusters)} clusters"
            return Chain(chain.clusters, f"{fault}, not {wanted}")
        return chain

    def read(self, start: int, size_bytes: int) -> bytes:
        """Bytes of the image. Raises `DiskError` if the image ends before them."""
        try:
            with self.path.open("rb", buffering=0) as image:
                data = os.pread(image.fileno(), size_bytes, start)
        except OSError as error:
            raise DiskError(f"{self.path} can't be read: {error.strerror}") from error
        if len(data) != size_bytes:
            raise DiskError(f"the disk ends before byte {start + size_bytes}")
        return data

    def _entries(self, places: Iterable[int], size_bytes: int) -> Iterator[Entry]:
        """The entries in pieces of the image, up to the end mark."""
        for start in places:
            data = self.read(start, size_bytes)
            for at in range(0, size_bytes, ENTRY_BYTES):
                name, attributes, high, low, length = struct.unpack_from("<11sB8xH4xHI", data, at)
                if name[0] == _END:
                    return
                if name[0] != _DELETED and attributes & _ATTRIBUTES != _LONG_NAME:
                    # only FAT32 uses the upper half of the cluster number
                    first = high << 16 | low if self.is_wide else low
                    yield Entry(name, attributes, first, length, start + at)

    @cached_property
    def _size_bytes(self) -> int:
        try:
            return self.path.stat().st_size
        except OSError as error:
            raise DiskError(f"{self.path} can't be read: {error.strerror}") from error
