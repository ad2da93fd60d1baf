"""A check of FAT volumes: equal FATs, each cluster in one chain, sizes that fit the chains.

The rules are those of Microsoft's fatgen103, as in `fat_volume`.
"""

from __future__ import annotations

import struct
from pathlib import Path

from cyclescope.disks.fat_layout import SECTOR_BYTES
from cyclescope.disks.fat_volume import FIRST_CLUSTER, Chain, Entry, Volume
from cyclescope.errors import DiskError

# Characters that fatgen103 does not allow in a name of 8 and 3 characters.
_NOT_IN_NAMES = frozenset(range(0x20)) | frozenset(b'"*+,./:;<=>?[\\]|')
_DOTS = (b".          ", b"..         ")
_UNKNOWN = 0xFFFFFFFF
# Far more than any experiment's card has, and seconds of host time.
_MOST_ENTRIES = 2**18


def findings(path: Path) -> list[str]:
    """The faults of an image's volume, one sentence each; empty if it is sound.

    Raises `DiskError` if the image has no volume.
    """
    return _Check(Volume(path)).findings


class _Check:
    """A walk over a volume that gives each cluster one owner."""

    def __init__(self, volume: Volume) -> None:
        self.findings: list[str] = []
        self._volume = volume
        self._owners: dict[int, str] = {}
        self._entries = 0
        self._heads()
        self._directories()
        self._lost()
        if volume.is_wide:
            self._info()

    def _heads(self) -> None:
        """Check that the FATs are equal, and that their first entries are right."""
        volume = self._volume
        if volume.fats == 2 and volume.is_mirrored:
            first, second = volume.fat, volume.copy_of_fat(1)
            if first != second:
                apart = [at for at, entry in enumerate(first) if entry != second[at]]
                self._found(f"the FATs differ at entry {apart[0]}, {len(apart)} in all")
        if volume.fat[0] & 0xFF != volume.media:
            self._found("the first entry of the FAT is not that of the medium")
        if volume.boot[65 if volume.is_wide else 37] & 1:
            self._found("the volume is marked as in use")

    def _directories(self) -> None:
        """Check all directories from the root on. Each cluster is visited once, so this ends."""
        volume = self._volume
        if volume.is_wide:
            entries = self._directory("the root directory", volume.root_cluster)
        else:
            entries = list(volume.root())
        ahead = [("", 0, entries)]
        while ahead:
            path, first, entries = ahead.pop()
            self._names(path, entries)
            for entry in entries:
                place = f"{path}/{entry.name}" if path else entry.name
                if entry.is_label:
                    continue
                if not entry.is_directory:
                    self._own(place, volume.chain_of(entry, self._owners))
                    continue
                inside = self._directory(place, entry.first)
                self._dots(place, inside[:2], entry.first, first)
                ahead.append((place, entry.first, inside[2:]))

    def _directory(self, path: str, first: int) -> list[Entry]:
        """The entries of a directory in clusters; empty if its chain is broken."""
        chain = self._volume.chain(first, self._owners)
        self._own(path, chain)
        found = [] if chain.fault else list(self._volume.directory(chain))
        self._entries += len(found)
        if self._entries > _MOST_ENTRIES:
            raise DiskError(f"the disk has more than {_MOST_ENTRIES} files: too many to check")
        return found

    def _own(self, name: str, chain: Chain) -> None:
        """Check that a chain is complete, and take its clusters for `name`."""
        if chain.fault is not None:
            self._found(f"{name}: {chain.fault}")
        self._owners |= dict.fromkeys(chain.clusters, name)

    def _dots(self, path: str, entries: list[Entry], own: int, parent: int) -> None:
        """Check that a directory other than the root begins with "." and ".."."""
        found = [(entry.raw_name, entry.is_directory, entry.first) for entry in entries]
        if found != [(_DOTS[0], True, own), (_DOTS[1], True, parent)]:
            self._found(f'{path} does not begin with the entries "." and ".."')

    def _names(self, path: str, entries: list[Entry]) -> None:
        seen = set()
        where = f" in {path}" if path else ""
        for entry in entries:
            if entry.is_label:
                continue
            # 0x05 stands for 0xE5, which would mark a free entry
            plain = entry.raw_name.replace(b"\x05", b"x", 1)
            if plain[0] == 0x20 or not _NOT_IN_NAMES.isdisjoint(plain):
                self._found(f"invalid name{where}: {entry.raw_name!r}")
            if entry.raw_name in seen:
                self._found(f"two entries{where} are named {entry.name}")
            seen.add(entry.raw_name)
            if entry.is_directory and entry.size_bytes:
                self._found(f"{entry.name} is a directory{where} with a size")

    def _lost(self) -> None:
        """Find clusters that are in use but belong to no file."""
        volume = self._volume
        lost = [
            at
            for at, entry in enumerate(volume.fat)
            if entry not in (0, volume.bad) and at >= FIRST_CLUSTER and at not in self._owners
        ]
        if lost:
            self._found(f"cluster {lost[0]} is in use but belongs to no file, {len(lost)} in all")

    def _info(self) -> None:
        """Check FAT32's copy of the boot sector, and its FSInfo sector."""
        volume = self._volume
        info, backup = (int.from_bytes(volume.boot[at : at + 2], "little") for at in (48, 50))
        sectors = range(1, volume.reserved)
        if backup in sectors and volume.read(backup * SECTOR_BYTES, SECTOR_BYTES) != volume.boot:
            self._found("the boot sector and its copy differ")
        if info not in sectors:
            self._found(f"sector {info} can't be the FSInfo sector")
            return
        data = volume.read(info * SECTOR_BYTES, SECTOR_BYTES)
        lead, structure, free = struct.unpack("<I480xII20x", data)
        if (lead, structure) != (0x41615252, 0x61417272):
            self._found("the FSInfo sector has no signature")
        counted = volume.fat[FIRST_CLUSTER:].count(0)
        if free not in (counted, _UNKNOWN):
            self._found(f"the FSInfo sector has {free} free clusters, the FAT {counted}")

    def _found(self, what: str) -> None:
        self.findings.append(what)
