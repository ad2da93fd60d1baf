"""New volumes are the ones that mkfs.fat, mcopy and mdel make, byte for byte."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import NEEDS_DISK_TOOLS
from fat_disks import FRESH

from cyclescope import disks, experiments, fat_layout, fat_tools, kept
from cyclescope.disks import Disk, Extent
from cyclescope.errors import DiskError

MIB = 2**20
SOME = (Extent(3, 2), Extent(0, 1), Extent(5, 0))
OF_EXPERIMENTS = {
    run.disk for experiment in experiments.ALL.values() for run in experiment.runs if run.disk
}
DISKS = [
    *sorted(OF_EXPERIMENTS, key=repr),
    FRESH,
    *(Disk(136 * MIB, 16, sectors, SOME) for sectors in (8, 16, 32)),
    Disk(33 * MIB, 16, 8),
    Disk(8 * MIB, 12, 4, SOME),
    Disk(3 * MIB, 12, 2, SOME),
    Disk(12 * MIB, 12, 8, (Extent(1, 60),) * 24),
    Disk(200 * MIB, 12, 128),
    Disk(64 * MIB, 32, 1),
    Disk(4096 * MIB, 32, 8),
]
# Geometries alone: no image is made of these.
SIZES_MIB = (2, 4, 5, 16, 17, 33, 65, 129, 256, 257, 505, 1009, 1900, 2017, 4033, 8064, 32768)


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


def boot_code(bits: int) -> set[int]:
    """The bytes for a PC that boots from the disk, which ours does not have (BS_BootCode)."""
    if bits != 32:
        return set(range(62, 510))
    return {start + at for start in (0, 6 * 512) for at in range(90, 510)}


@NEEDS_DISK_TOOLS
@pytest.mark.parametrize("disk", DISKS, ids=str)
def test_an_image_is_the_one_that_the_tools_make(disk: Disk, tmp_path: Path) -> None:
    theirs = by_tools(disk, tmp_path)
    assert set(differing(disks.image(disk), theirs)) <= boot_code(disk.fat_bits)


@NEEDS_DISK_TOOLS
def test_in_use_fat32_differs_in_a_hint_alone(tmp_path: Path) -> None:
    """FSI_Nxt_Free: where to look for a free cluster first. mtools names the last that it took."""
    disk = Disk(64 * MIB, 32, 1, SOME)
    theirs = by_tools(disk, tmp_path)
    assert set(differing(disks.image(disk), theirs)) - boot_code(32) == {512 + 492}


@NEEDS_DISK_TOOLS
@pytest.mark.parametrize("size_mib", SIZES_MIB)
def test_geometries_are_those_of_mkfs(size_mib: int, tmp_path: Path) -> None:
    tried = 0
    for bits in fat_layout.CLUSTERS:
        for sectors in (1, 2, 4, 8, 16, 32, 64, 128):
            disk = Disk(size_mib * MIB, bits, sectors)
            try:
                layout = fat_layout.of(disk.size_bytes, bits, sectors)
            except DiskError:
                continue
            tried += 1
            with mkfs(disk, tmp_path).open("rb") as theirs:
                for place, data in fat_layout.blank(layout):
                    theirs.seek(place)
                    skipped = boot_code(bits) if place in (0, 6 * 512) else set()
                    for at, byte in enumerate(theirs.read(len(data)), start=place):
                        assert byte == data[at - place] or at in skipped, (disk, at)
    assert tried


def test_the_card_of_the_experiments_is_laid_out_as_ever() -> None:
    layout = fat_layout.of(1900 * MIB, 16, 64)
    assert (layout.reserved, layout.root_entries, layout.fat_sectors) == (64, 1024, 256)
    assert (layout.sectors, layout.clusters) == (3891195, 60789)
    assert (layout.heads, layout.sectors_per_track) == (64, 63)
