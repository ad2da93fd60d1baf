"""Whether a FAT volume is sound: both FATs alike, each cluster in one chain, sizes as chains are.

The rules are those of Microsoft's fatgen103, as in `fat_volume`.
"""

from __future__ import annotations

import struct
from pathlib import Path

from cyclescope.disks.fat_layout import SECTOR_BYTES
from cyclescope.disks.fat_volume import FIRST_CLUSTER, Chain, Entry, Volume
from cyclescope.errors import DiskError

# What fatgen103 has no name of 8 and 3 characters contain.
_NOT_IN_NAMES = frozenset(range(0x20)) | frozenset(b'"*+,./:;<=>?[\\]|')
_DOTS = (b".          ", b"..         ")
_UNKNOWN = 0xFFFFFFFF
# Far beyond any card of an experiment, and seconds of a host.
_MOST_ENTRIES = 2**18


def findings(path: Path) -> list[str]:
    """What is wrong with the volume of an image, a sentence each; none if it is sound.

    Raises `DiskError` if there is no volume.
    """
    return _Check(Volume(path)).findings


class _Check:
    """A walk over a volume: each cluster has one owner."""

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
        """The FATs are alike, and begin as they should."""
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
        """All directories from the root on. Each one's clusters are met once, so this ends."""
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
        """The entries of a directory that lies in clusters; none if its chain is not whole."""
        chain = self._volume.chain(first, self._owners)
        self._own(path, chain)
        found = [] if chain.fault else list(self._volume.directory(chain))
        self._entries += len(found)
        if self._entries > _MOST_ENTRIES:
            raise DiskError(f"the disk has more than {_MOST_ENTRIES} files: too many to check")
        return found

    def _own(self, name: str, chain: Chain) -> None:
        """A chain's clusters are its own, and it is whole."""
        if chain.fault is not None:
            self._found(f"{name}: {chain.fault}")
        self._owners |= dict.fromkeys(chain.clusters, name)

    def _dots(self, path: str, entries: list[Entry], own: int, parent: int) -> None:
        """A directory other than the root begins with itself and the one that it is in."""
        found = [(entry.raw_name, entry.is_directory, entry.first) for entry in entries]
        if found != [(_DOTS[0], True, own), (_DOTS[1], True, parent)]:
            self._found(f"{path} does not begin with itself and the directory that it is in")

    def _names(self, path: str, entries: list[Entry]) -> None:
        seen = set()
        where = f" in {path}" if path else ""
        for entry in entries:
            if entry.is_label:
                continue
            # 0x05 stands for 0xE5, which would be an entry without a file
            plain = entry.raw_name.replace(b"\x05", b"x", 1)
            if plain[0] == 0x20 or not _NOT_IN_NAMES.isdisjoint(plain):
                self._found(f"a name that can't be{where}: {entry.raw_name!r}")
            if entry.raw_name in seen:
                self._found(f"two entries{where} are named {entry.name}")
            seen.add(entry.raw_name)
            if entry.is_directory and entry.size_bytes:
                self._found(f"{entry.name} is a directory{where} with a size")

    def _lost(self) -> None:
        """Clusters that are in use and nobody's."""
        volume = self._volume
        lost = [
            at
            for at, entry in enumerate(volume.fat)
            if entry not in (0, volume.bad) and at >= FIRST_CLUSTER and at not in self._owners
        ]
        if lost:
            self._found(f"cluster {lost[0]} is in use and of no file, {len(lost)} in all")

    def _info(self) -> None:
        """What FAT32 says a second time."""
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
