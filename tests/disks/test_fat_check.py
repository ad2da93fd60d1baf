"""The check of a FAT volume finds what fsck.fat finds, and ends whatever it reads."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import tiers
from fat_disks import put
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cyclescope import _engine, disks
from cyclescope.disks import Disk, Extent, fat_check, fat_tools
from cyclescope.disks.fat_volume import Volume
from cyclescope.errors import DiskError, EngineError

# Two files in a row, then a hole.
SMALL = {
    12: Disk(5 * 2**20, 12, 8, (Extent(3, 2), Extent(5, 0))),
    16: Disk(9 * 2**20, 16, 4, (Extent(3, 2), Extent(5, 0))),
    32: Disk(34 * 2**20, 32, 1, (Extent(3, 2), Extent(5, 0))),
}


class Image:
    """A volume to spoil."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.volume = Volume(path)
        self.first = 3 if self.volume.is_wide else 2  # cluster of the first file

    def write(self, place: int, data: bytes) -> None:
        with self.path.open("r+b") as image:
            image.seek(place)
            image.write(data)

    def link(self, cluster: int, entry: int, fats: tuple[int, ...] = (0, 1)) -> None:
        """Set a cluster's entry in FATs."""
        bits = self.volume.bits
        for fat in fats:
            start = (self.volume.reserved + fat * self.volume.fat_sectors) * 512
            at = start + cluster * bits // 8
            if bits != 12:
                self.write(at, struct.pack("<H" if bits == 16 else "<I", entry & (2**bits - 1)))
                continue
            (old,) = struct.unpack("<H", self.volume.read(at, 2))
            low, keep = (entry & 0xFFF) << 4 * (cluster % 2), 0xF if cluster % 2 else 0xF000
            self.write(at, struct.pack("<H", old & keep | low))

    def entry(self, name: str) -> int:
        """The offset of a file's entry."""
        return self.volume.file(name)[0].place


@pytest.fixture(params=SMALL)
def image(request: pytest.FixtureRequest) -> Iterator[Image]:
    with disks.copy_of(disks.image(SMALL[request.param])) as copy:
        yield Image(copy)


def spoil_chain_freed(image: Image) -> None:
    image.link(image.first + 1, 0)


def spoil_chain_short(image: Image) -> None:
    image.link(image.first + 1, 0x0FFFFFFF)


def spoil_chain_long(image: Image) -> None:
    image.link(image.first + 2, image.first + 3)
    image.link(image.first + 3, 0x0FFFFFFF)


def spoil_chain_loop(image: Image) -> None:
    image.link(image.first + 2, image.first)


def spoil_chain_crossed(image: Image) -> None:
    image.link(image.first + 1, image.first + 7)


def spoil_chain_out_of_the_volume(image: Image) -> None:
    image.link(image.first + 2, image.volume.clusters + 2)


def spoil_lost(image: Image) -> None:
    image.link(image.first + 30, 0x0FFFFFFF)


def spoil_second_fat(image: Image) -> None:
    image.link(image.first + 1, 0, fats=(1,))


def spoil_size(image: Image) -> None:
    image.write(image.entry("USED001.BIN") + 28, struct.pack("<I", 2**32 - 1))


def spoil_start(image: Image) -> None:
    image.write(image.entry("USED001.BIN") + 26, struct.pack("<H", 0xFFF0))


def spoil_both_at_one_place(image: Image) -> None:
    image.write(image.entry("USED001.BIN") + 26, struct.pack("<H", image.first))


def spoil_name(image: Image) -> None:
    image.write(image.entry("USED001.BIN"), b"US?D")


def spoil_name_twice(image: Image) -> None:
    image.write(image.entry("USED001.BIN"), b"USED000 BIN")


def spoil_directory(image: Image) -> None:
    place = image.entry("USED001.BIN")
    image.write(place + 11, b"\x10")
    image.write(place + 28, bytes(4))
    image.write(image.volume.place(image.first + 5), b"NEITHER BIN ")


SPOILS = [spoil for name, spoil in globals().items() if name.startswith("spoil_")]


def test_an_undamaged_volume_has_no_findings(image: Image) -> None:
    put(image.path, "NEW.BIN", b"x" * 100_000)
    put(image.path, "EMPTY.BIN", b"")
    assert fat_check.findings(image.path) == []
    assert fat_tools.findings(image.path) in ([], None)


@pytest.mark.parametrize("spoil", SPOILS, ids=lambda spoil: spoil.__name__)
def test_damage_is_found(image: Image, spoil: Callable[[Image], None]) -> None:
    spoil(image)
    found = fat_check.findings(image.path)
    assert found
    # where fsck.fat is installed it finds something too
    assert fat_tools.findings(image.path) != []
    assert all("\n" not in sentence for sentence in found)


@pytest.mark.parametrize(
    ("place", "data", "said"),
    [
        (0, bytes(512), "no signature"),
        (11, b"\x00\x04", "sectors of 1024 bytes"),
        (13, b"\x03", "clusters of 3 sectors"),
        (14, b"\x00\x00", "no reserved sector"),
        (16, b"\x07", "7 FATs"),
        (22, b"\x01\x00", "entries in FATs of 1 sectors"),
        (22, bytes(2), "no room for a cluster"),
        (32, b"\xff\xff\xff\x7f", "more than the image has"),
    ],
)
def test_a_boot_sector_that_can_not_be_is_no_volume(place: int, data: bytes, said: str) -> None:
    with disks.copy_of(disks.image(Disk(136 * 2**20))) as copy:
        Image(copy).write(place, data)
        with pytest.raises(DiskError, match=f"no FAT volume: its boot sector has .*{said}"):
            disks.check(copy)


def test_directories_are_walked_and_their_files_belong_to_the_volume(tmp_path: Path) -> None:
    with disks.copy_of(disks.image(SMALL[16])) as copy:
        image = Image(copy)
        own, inside = image.first + 3, image.first + 4  # the hole
        image.link(own, 0xFFFF)
        image.link(inside, 0xFFFF)

        def entry(name: bytes, attributes: int, first: int, size_bytes: int = 0) -> bytes:
            return struct.pack("<11sB14xHI", name, attributes, first, size_bytes)

        dots = entry(b".          ", 0x10, own) + entry(b"..         ", 0x10, 0)
        image.write(image.volume.place(own), dots + entry(b"A       BIN", 0x20, inside, 5))
        image.write(image.entry("USED001.BIN") + 32, entry(b"SUB        ", 0x10, own))
        assert fat_check.findings(copy) == []
        assert fat_tools.findings(copy) in ([], None)
        image.link(inside, 0)
        (found,) = fat_check.findings(copy)
        assert found.startswith("SUB/A.BIN: ")


def test_an_image_that_is_gone_or_cut_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DiskError, match="can't be read: No such file"):
        disks.check(tmp_path / "none.img")
    with disks.copy_of(disks.image(SMALL[12])) as copy:
        os.truncate(copy, 5 * 2**20 - 512)
        with pytest.raises(DiskError, match="more than the image has"):
            disks.check(copy)
        os.truncate(copy, 100)
        with pytest.raises(DiskError, match="ends before byte 512"):
            disks.check(copy)


places = st.one_of(
    st.integers(0, 127),  # the boot sector
    st.integers(0, 40_000),  # FATs and directory
)
changes = st.lists(st.tuples(places, st.binary(min_size=1, max_size=40)), min_size=1, max_size=12)


@pytest.mark.parametrize("bits", SMALL)
@settings(max_examples=tiers.sized(30, 120), suppress_health_check=list(HealthCheck))
@given(changes=changes)
@example(changes=[(40, b"\x82")])  # FAT number 2 is the one in use
def test_any_bytes_give_findings_or_one_line(bits: int, changes: list[tuple[int, bytes]]) -> None:
    with disks.copy_of(disks.image(SMALL[bits])) as copy:
        for place, data in changes:
            with copy.open("r+b") as image:
                image.seek(place)
                image.write(data)
        os.truncate(copy, SMALL[bits].size_bytes)
        fault = looked_at(copy)
        assert "\n" not in fault
        assert "fault of Cyclescope" not in fault


def looked_at(image: Path) -> str:
    """The error of the checks that a run's disk goes through; empty without an error."""
    try:
        fat_check.findings(image)
        entry, _ = Volume(image).file("USED000.BIN")
        assert len(_engine.fat_read(image, entry.name, entry.size_bytes)) == entry.size_bytes
    except EngineError as error:
        return str(error)
    return ""
