"""A new FAT volume: the layout of its parts, and the sectors that describe it.

The fields are from Microsoft's *FAT: General Overview of On-Disk Format* (fatgen103, version 1.03),
with its names in comments. Choices that the document leaves open follow mkfs.fat of dosfstools 4.2
(`mkfs.fat -F BITS -s SECTORS --invariant -n CYCLESCOPE`), so that both make the same volume. Only
the boot code for a PC is left out: a card is not a boot disk.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from cyclescope.errors import DiskError

SECTOR_BYTES = 512
# fatgen103, "FAT Type Determination": the number of clusters alone determines the type.
CLUSTERS = {12: (1, 4084), 16: (4085, 65524), 32: (65525, 2**28 - 12)}

_FATS = 2
_ENTRY_BYTES = 32
_ROOT_ENTRIES = 512  # "for maximum compatibility"
_RESERVED = {12: 1, 16: 1, 32: 32}  # sectors before the first FAT
_MEDIA = 0xF8  # a fixed disk
_LABEL = b"CYCLESCOPE "
_VOLUME_ID = 0x1234ABCD
_LABELLED_AT = struct.pack("<HH", 0x4B5A, 0x466E)  # 2015-03-14, 9:26:52
_BACKUP_SECTOR = 6  # of FAT32: a second boot sector, followed by a second FSInfo
_ROOT_CLUSTER = 2  # of FAT32
# mkfs.fat aligns the parts to clusters, except on a volume of up to 4 MiB.
_UNALIGNED_SECTORS = 8192
# SD Specifications Part 2, File System, "CHS Recommendation": up to a size in MiB, heads and
# sectors
# per track. No FAT depends on it, but mkfs.fat leaves out sectors that fill no track.
_TRACKS = ((2, 2, 16), (16, 2, 32), (32, 4, 32), (128, 8, 32), (256, 16, 32))
_LARGE_TRACKS = ((504, 16, 63), (1008, 32, 63), (2016, 64, 63), (4032, 128, 63))
_LARGEST_TRACKS = (255, 63)


@dataclass(frozen=True)
class Layout:
    """The places of the parts of a volume, all in sectors."""

    bits: int
    sectors_per_cluster: int
    sectors: int
    heads: int
    sectors_per_track: int
    reserved: int
    root_entries: int
    fat_sectors: int

    @property
    def root(self) -> int:
        """The first sector of the root directory; in FAT32, of the first cluster."""
        return self.reserved + _FATS * self.fat_sectors

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        data = self.sectors - self.root - self.root_entries * _ENTRY_BYTES // SECTOR_BYTES
        return data // self.sectors_per_cluster

    @property
    def has_room(self) -> bool:
        """Whether the FAT has an entry for each cluster, and the two reserved ones."""
        return (self.clusters + 2) * self.bits <= self.fat_sectors * SECTOR_BYTES * 8


def of(size_bytes: int, bits: int, sectors_per_cluster: int) -> Layout:
    """The layout of a volume over a whole card. Raises `DiskError` if no layout fits."""
    if bits not in CLUSTERS:
        raise DiskError(f"FAT{bits} does not exist: use FAT12, FAT16 or FAT32")
    if sectors_per_cluster not in (1, 2, 4, 8, 16, 32, 64, 128):
        raise DiskError(
            f"a cluster can't have {sectors_per_cluster} sectors: use a power of two up to 128"
        )
    heads, track = _tracks(size_bytes)
    sectors = size_bytes // SECTOR_BYTES // track * track
    aligned = sectors_per_cluster if sectors > _UNALIGNED_SECTORS else 1
    per_sector = SECTOR_BYTES // _ENTRY_BYTES
    root_sectors = 0 if bits == 32 else _up(_ROOT_ENTRIES // per_sector, aligned)
    reserved = _up(_RESERVED[bits], aligned)

    def with_fats(fat_sectors: int) -> Layout:
        return Layout(
            bits,
            sectors_per_cluster,
            sectors,
            heads,
            track,
            reserved,
            root_sectors * per_sector,
            fat_sectors,
        )

    # the smallest FAT with an entry for each cluster that fits beside it
    lengths = range(aligned, max(sectors, 2 * aligned), aligned)
    place = bisect_left(lengths, True, key=lambda length: with_fats(length).has_room)
    layout = with_fats(lengths[min(place, len(lengths) - 1)])
    least, most = CLUSTERS[bits]
    if not least <= layout.clusters <= most:
        raise DiskError(
            f"a volume of {size_bytes} bytes in clusters of {sectors_per_cluster} sectors can't be "
            f"FAT{bits}: it has {max(layout.clusters, 0)} clusters, FAT{bits} {least} to {most}"
        )
    return layout


def blank(layout: Layout) -> Iterator[tuple[int, bytes]]:
    """The nonzero parts of a new volume: the first byte's position, and the bytes."""
    starts = [(0, _boot_sector(layout))]
    if layout.bits == 32:
        starts += [(1, _fs_info(layout))]
        starts += [(_BACKUP_SECTOR + sector, data) for sector, data in starts]
    for number in range(_FATS):
        starts.append((layout.reserved + number * layout.fat_sectors, _fat(layout.bits)))
    starts.append((layout.root, _label_entry()))
    for sector, data in starts:
        yield sector * SECTOR_BYTES, data


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def _tracks(size_bytes: int) -> tuple[int, int]:
    """Heads, and sectors per track."""
    for mebibytes, heads, sectors in _TRACKS + _LARGE_TRACKS:
        if size_bytes <= mebibytes * 2**20:
            return heads, sectors
    return _LARGEST_TRACKS


def _boot_sector(layout: Layout) -> bytes:
    """fatgen103, "Boot Sector and BPB"."""
    wide = layout.bits == 32
    short = layout.sectors < 2**16 and not wide
    bpb = struct.pack(
        "<3s8sHBHBHHBHHHII",
        b"\xeb\x58\x90" if wide else b"\xeb\x3c\x90",  # BS_jmpBoot, over the BPB
        b"mkfs.fat",  # BS_OEMName, which "some FAT drivers" check: mkfs.fat's
        SECTOR_BYTES,  # BPB_BytsPerSec
        layout.sectors_per_cluster,  # BPB_SecPerClus
        layout.reserved,  # BPB_RsvdSecCnt
        _FATS,  # BPB_NumFATs
        layout.root_entries,  # BPB_RootEntCnt
        layout.sectors if short else 0,  # BPB_TotSec16
        _MEDIA,  # BPB_Media
        0 if wide else layout.fat_sectors,  # BPB_FATSz16
        layout.sectors_per_track,  # BPB_SecPerTrk
        layout.heads,  # BPB_NumHeads
        0,  # BPB_HiddSec
        0 if short else layout.sectors,  # BPB_TotSec32
    )
    if wide:
        bpb += struct.pack(
            "<IHHIHH12x",
            layout.fat_sectors,  # BPB_FATSz32
            0,  # BPB_ExtFlags: both FATs are written
            0,  # BPB_FSVer
            _ROOT_CLUSTER,  # BPB_RootClus
            1,  # BPB_FSInfo
            _BACKUP_SECTOR,  # BPB_BkBootSec
        )
    bpb += struct.pack(
        "<BxBI11s8s",
        0x80,  # BS_DrvNum
        0x29,  # BS_BootSig: three fields follow
        _VOLUME_ID,  # BS_VolID
        _LABEL,  # BS_VolLab
        b"FAT%d   " % layout.bits,  # BS_FilSysType
    )
    return _signed(bpb)


def _fs_info(layout: Layout) -> bytes:
    """fatgen103, "FAT32 FSInfo Sector Structure": the root's cluster alone is in use."""
    return _signed(
        struct.pack(
            "<I480xIII",
            0x41615252,  # FSI_LeadSig
            0x61417272,  # FSI_StrucSig
            layout.clusters - 1,  # FSI_Free_Count
            _ROOT_CLUSTER,  # FSI_Nxt_Free
        )
    )


def _signed(data: bytes) -> bytes:
    return data.ljust(SECTOR_BYTES - 2, b"\0") + b"\x55\xaa"


def _fat(bits: int) -> bytes:
    """fatgen103, "FAT Data Structure": two entries are reserved; the root of FAT32 is a chain."""
    if bits == 32:
        return struct.pack("<III", 0x0FFFFF00 | _MEDIA, 0x0FFFFFFF, 0x0FFFFFF8)
    return bytes([_MEDIA]) + b"\xff" * (2 if bits == 12 else 3)


def _label_entry() -> bytes:
    """fatgen103, "FAT Directory Structure": the entry of the volume's name."""
    attribute = 0x08  # ATTR_VOLUME_ID
    created = _LABELLED_AT + _LABELLED_AT[2:]  # and the date of the last access
    return struct.pack("<11sB2x6s2x4s6x", _LABEL, attribute, created, _LABELLED_AT)
