"""New volumes are the ones that mkfs.fat, mcopy and mdel make, byte for byte."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiers
from fat_disks import FRESH

from cyclescope import disks, experiments
from cyclescope.disks import Disk, Extent, fat_layout, fat_tools
from cyclescope.errors import DiskError
from cyclescope.experiments import fat_access, fat_write
from cyclescope.host import kept

MIB = 2**20
SOME = (Extent(3, 2), Extent(0, 1), Extent(5, 0))
# Volumes, and what `digest` gives of those that dosfstools 4.2 and mtools 4.0.32 make.
DISKS = {
    "fat-write": (fat_write.DISK, "7b3370b3e7cb6566"),
    "fat-write, scattered": (fat_write.scattered_card(), "cee743663ec524ec"),
    "fat-access": (fat_access.DISK, "ccce9ed4045c1b0e"),
    "fresh": (FRESH, "6347d9506721eaeb"),
    "FAT16, 8 sectors": (Disk(136 * MIB, 16, 8, SOME), "7a222f8aed9b2435"),
    "FAT16, 16 sectors": (Disk(136 * MIB, 16, 16, SOME), "d9ce4c761b919ac5"),
    "FAT16, 32 sectors": (Disk(136 * MIB, 16, 32, SOME), "39f82746a436c468"),
    "FAT16, 33 MiB": (Disk(33 * MIB, 16, 8), "993edab3d5de4785"),
    "FAT12": (Disk(8 * MIB, 12, 4, SOME), "9842dd8871a5dc21"),
    "FAT12, not aligned": (Disk(3 * MIB, 12, 2, SOME), "3997e075c2470fc6"),
    "FAT12, fragmented": (Disk(12 * MIB, 12, 8, (Extent(1, 60),) * 24), "1c64649ebacf1bbc"),
    "FAT12, 128 sectors": (Disk(200 * MIB, 12, 128), "24f069cf0302dd55"),
    "FAT32, in use": (Disk(64 * MIB, 32, 1, SOME), "5e7e4bc5f3c27455"),
    "FAT32, SDHC": (Disk(4096 * MIB, 32, 8), "59ffffcbbd0ecd87"),
}
# All geometries of a size in MiB, and what `digest_of_geometries` gives of those of mkfs.fat 4.2.
GEOMETRIES = {
    2: "d098b14f39e12bd2",
    4: "f1c4c40e5471b616",
    5: "9dc5045b9a215fb1",
    16: "4f2a34e7b6d385c3",
    17: "7216c54ad2d20333",
    33: "69c6bb6429998c05",
    65: "c7453a828b92dc68",
    129: "8dc7de77fb853b5b",
    256: "a109b46760ce16c9",
    257: "b4858c54200386ec",
    505: "3c5f257dfeccc936",
    1009: "e06f43ab3d24a35c",
    1900: "220459b7d847ad7e",
    2017: "ebcb59fad2373a77",
    4033: "22466bc88163e590",
    8064: "18b6e0c971248622",
    32768: "b87862426f891b66",
}
HAVE_TOOLS = all(fat_tools.find(tool) for tool in ("mkfs.fat", "mcopy", "mdel"))


def by_tools(disk: Disk, folder: Path) -> Path:
    """The volume as the programs of dosfstools and mtools make it."""
    image = mkfs(disk, folder)
    used, free = [], []
    files = []
    for number, extent in enumerate(disk.extents):
        for name, clusters, kind in (("USED", extent.used, used), ("FREE", extent.free, free)):
            if clusters:
                file = folder / f"{name}{number:03}.BIN"
                with file.open("wb") as new:
                    new.truncate(clusters * disk.cluster_bytes)
                files.append(file)
                kind.append(f"::{file.name}")
    if files:
        call("mcopy", "-i", image, *files, "::")
    if free:
        call("mdel", "-i", image, *free)
    return image


def mkfs(disk: Disk, folder: Path) -> Path:
    image = folder / "theirs.img"
    with image.open("wb") as new:
        new.truncate(disk.size_bytes)
    geometry = ("-F", disk.fat_bits, "-s", disk.sectors_per_cluster)
    call("mkfs.fat", *geometry, "--invariant", "-n", "CYCLESCOPE", image)
    return image


def call(tool: str, *arguments: object) -> None:
    fixed = {"LC_ALL": "C", "MTOOLSRC": os.devnull, "SOURCE_DATE_EPOCH": "1235952000", "TZ": "UTC"}
    command = [str(fat_tools.find(tool)), *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | fixed)


def differing(one: Path, other: Path) -> Iterator[int]:
    """The places where two images of one size differ."""
    assert one.stat().st_size == other.stat().st_size
    with one.open("rb") as first, other.open("rb") as second:
        pieces = [dict(kept.chunks(image.fileno())) for image in (first, second)]
    for start in sorted(pieces[0].keys() | pieces[1].keys()):
        zeros = bytes(kept.CHUNK_BYTES)
        bytes_of_both = zip(*(found.get(start, zeros) for found in pieces), strict=True)
        yield from (at for at, (a, b) in enumerate(bytes_of_both, start) if a != b)


def unlike(bits: int) -> set[int]:
    """The bytes that may be others than the tools'.

    The code of a PC that boots from the disk (BS_BootCode), which ours does not have. With FAT32
    the hint where to look for a free cluster first (FSI_Nxt_Free): mtools names the last it took.
    """
    if bits != 32:
        return set(range(62, 510))
    code = {start + at for start in (0, 6 * 512) for at in range(90, 510)}
    return code | set(range(512 + 492, 512 + 496))


def digest(image: Path, bits: int) -> str:
    """The digest of an image without the bytes that are `unlike`."""
    skipped = unlike(bits)
    found = hashlib.sha256()
    with image.open("rb") as file:
        for start, chunk in kept.chunks(file.fileno()):
            own = bytearray(chunk)
            for place in skipped:
                if 0 <= place - start < len(own):
                    own[place - start] = 0
            found.update(b"%d\n" % start + own)
    return found.hexdigest()[:16]


@pytest.mark.parametrize("name", DISKS)
def test_an_image_is_the_one_that_the_tools_make(name: str, tmp_path: Path) -> None:
    disk, expected = DISKS[name]
    image = disks.image(disk)
    assert digest(image, disk.fat_bits) == expected
    if HAVE_TOOLS:
        assert set(differing(image, by_tools(disk, tmp_path))) <= unlike(disk.fat_bits)


def test_the_images_of_all_experiments_are_compared() -> None:
    runs = [run for experiment in experiments.ALL.values() for run in experiment.runs]
    assert {run.disk for run in runs if run.disk} <= {disk for disk, _ in DISKS.values()}


def layouts(size_mib: int) -> Iterator[tuple[Disk, fat_layout.Layout]]:
    """All volumes that a card of a size can hold."""
    for bits in fat_layout.CLUSTERS:
        for sectors in (1, 2, 4, 8, 16, 32, 64, 128):
            disk = Disk(size_mib * MIB, bits, sectors)
            try:
                yield disk, fat_layout.of(disk.size_bytes, bits, sectors)
            except DiskError:
                continue


def digest_of_geometries(size_mib: int, tools: Path | None = None) -> str:
    """The digest of the first sectors of all volumes, or of those that `tools`' mkfs.fat makes."""
    found = hashlib.sha256()
    for disk, layout in layouts(size_mib):
        skipped = unlike(disk.fat_bits)
        theirs = mkfs(disk, tools) if tools else None
        for start, data in fat_layout.blank(layout):
            own = bytearray(data)
            if theirs is not None:
                with theirs.open("rb") as image:
                    own = bytearray(os.pread(image.fileno(), len(data), start))
            own = bytearray(0 if start + at in skipped else byte for at, byte in enumerate(own))
            found.update(f"{disk} {start}".encode() + own)
    return found.hexdigest()[:16]


@pytest.mark.parametrize("size_mib", tiers.mostly_long(GEOMETRIES, lambda size: size < 8000))
def test_geometries_are_those_of_mkfs(size_mib: int, tmp_path: Path) -> None:
    assert digest_of_geometries(size_mib) == GEOMETRIES[size_mib]
    if HAVE_TOOLS:
        assert digest_of_geometries(size_mib, tmp_path) == GEOMETRIES[size_mib]


def test_the_card_of_the_experiments_is_laid_out_as_ever() -> None:
    layout = fat_layout.of(1900 * MIB, 16, 64)
    assert (layout.reserved, layout.root_entries, layout.fat_sectors) == (64, 1024, 256)
    assert (layout.sectors, layout.clusters) == (3891195, 60789)
    assert (layout.heads, layout.sectors_per_track) == (64, 63)
