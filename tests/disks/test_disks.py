"""Disk images: made once, copied for each run, checked and read by others than the firmware."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fat_disks import put

from cyclescope import disks
from cyclescope.disks import Disk, Extent, fat_tools
from cyclescope.errors import DiskError

MIB = 2**20
SMALL = Disk(8 * MIB, fat_bits=12, sectors_per_cluster=4)
IN_USE = Disk(160 * MIB, extents=(Extent(3, 2), Extent(0, 1), Extent(5, 0)))
CLUSTER_BYTES = 64 * 512


def test_an_image_is_a_clean_volume_of_the_size_that_was_asked_for() -> None:
    image = disks.image(SMALL)
    assert image.stat().st_size == SMALL.size_bytes
    disks.check(image)
    assert b"FAT12" in image.read_bytes()[:512]
    assert b"FAT16" in disks.image(IN_USE).read_bytes()[:512]


def test_a_card_in_use_has_its_free_clusters_where_they_were_asked_for() -> None:
    with disks.copy_of(disks.image(IN_USE)) as image:
        disks.check(image)
        # 3 used, 2 free and 1 free, 5 used: the next file gets the free ones, then what follows
        put(image, "NEW.BIN", b"x" * (4 * CLUSTER_BYTES))
        assert disks.clusters_of(image, "USED000.BIN") == [(2, 4)]
        assert disks.clusters_of(image, "USED002.BIN") == [(8, 12)]
        assert disks.clusters_of(image, "NEW.BIN") == [(5, 7), (13, 13)]
        if mshowfat := fat_tools.find("mshowfat"):
            shown = subprocess.run([mshowfat, "-i", image, "::NEW.BIN"], capture_output=True)
            assert shown.stdout.split(maxsplit=1)[1].strip() == b"<5-7> <13>"
        disks.check(image)


def test_an_image_is_made_once_and_is_the_same_when_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = disks.image(IN_USE)
    assert disks.image(IN_USE) == first
    contents = first.read_bytes()
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path))
    again = disks.image(IN_USE)
    assert again != first
    assert again.read_bytes() == contents
    assert disks.image(SMALL) != again


def test_a_copy_is_a_runs_own_takes_little_space_and_goes() -> None:
    master = disks.image(IN_USE)
    before = master.read_bytes()
    with disks.copy_of(master) as image:
        assert image.stat().st_blocks * 512 < 2 * MIB
        put(image, "NEW.BIN", b"new")
    assert not image.exists()
    assert master.read_bytes() == before


def test_a_sparse_copy_has_the_same_bytes(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as new:
        for place, text in (
            (0, b"begin"),
            (100_000, b"middle"),
            (5_000_000, b"\0" * 70_000 + b"!"),
        ):
            new.seek(place)
            new.write(text)
        new.truncate(9_000_001)
    disks.copy_sparse(source, target)
    assert target.read_bytes() == source.read_bytes()
    assert target.stat().st_blocks < 1000


def test_a_damaged_volume_is_found() -> None:
    with disks.copy_of(disks.image(IN_USE)) as image:
        put(image, "LONG.BIN", b"x" * (3 * CLUSTER_BYTES))
        disks.check(image)
        with image.open("r+b") as volume:
            volume.seek(_fat_start(image) + 2 * 5)  # the chain of LONG.BIN begins at cluster 5
            volume.write(b"\0\0")
        with pytest.raises(DiskError, match="damaged") as found:
            disks.check(image)
        assert "LONG.BIN" in str(found.value)
        assert str(image) not in str(found.value)


def _fat_start(image: Path) -> int:
    """The reserved sectors, as the boot sector has them, are before the first FAT."""
    sector = image.open("rb").read(512)
    return int.from_bytes(sector[14:16], "little") * 512


def test_files_are_compared_byte_for_byte() -> None:
    with disks.copy_of(disks.image(SMALL)) as image:
        put(image, "A.BIN", b"0123456789" * 1000)
        put(image, "B.BIN", b"")
        disks.compare(image, {"A.BIN": b"0123456789" * 1000, "B.BIN": b""})
        with pytest.raises(DiskError, match=r"B\.BIN has 0 bytes, expected 1"):
            disks.compare(image, {"A.BIN": b"0123456789" * 1000, "B.BIN": b"x"})
        changed = bytearray(b"0123456789" * 1000)
        changed[4321] = 0x7F
        with pytest.raises(DiskError, match=r"A\.BIN differs from byte 4321 on: 0x31 on the disk"):
            disks.compare(image, {"A.BIN": bytes(changed)})
        with pytest.raises(DiskError, match=r"C\.BIN"):
            disks.compare(image, {"C.BIN": b""})


@pytest.mark.parametrize(
    ("disk", "said"),
    [
        (Disk(8 * MIB, 16, 128), "can't be FAT16: it has 124 clusters, FAT16 4085 to 65524"),
        (Disk(2048 * MIB), "can't be FAT16: it has 65525 clusters"),
        (Disk(160 * MIB, sectors_per_cluster=48), "a cluster can't have 48 sectors"),
        (Disk(160 * MIB, fat_bits=24), "FAT24 does not exist"),
        (Disk(0), "it has 0 clusters"),
        (Disk(8 * MIB, 12, 4, (Extent(5000, 0),)), "extents of 5000 clusters: the volume has 4081"),
        (
            Disk(8 * MIB, 12, 4, (Extent(1, 1),) * 256),
            "extents of 512 files: the root directory has 512",
        ),
    ],
)
def test_a_disk_that_can_not_be_is_one_line(disk: Disk, said: str) -> None:
    with pytest.raises(DiskError) as found:
        disks.image(disk)
    assert said in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("tool", "answer", "said"),
    [
        ("findings", ["bad"], "fsck.fat finds the disk damaged, Cyclescope does not, .*: bad"),
        ("read_file", b"0123x", r"A\.BIN: Cyclescope reads 0x34 at byte 4, mtools 0x78"),
        ("read_file", b"0123", r"A\.BIN: Cyclescope reads 5 bytes, mtools 4"),
    ],
)
def test_checkers_that_disagree_are_reported(
    monkeypatch: pytest.MonkeyPatch, tool: str, answer: object, said: str
) -> None:
    look = {"findings": disks.check, "read_file": lambda path: disks.read_file(path, "A.BIN")}[tool]
    with disks.copy_of(disks.image(SMALL)) as image:
        put(image, "A.BIN", b"01234")
        monkeypatch.setattr(fat_tools, tool, lambda *asked: answer)
        with pytest.raises(DiskError, match=said):
            look(image)


def test_damage_that_fsck_does_not_find_is_reported_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with disks.copy_of(disks.image(SMALL)) as image:
        with image.open("r+b") as volume:
            volume.seek(_fat_start(image) + 3)
            volume.write(b"\xff\xff")
        monkeypatch.setattr(fat_tools, "findings", lambda path: [])
        with pytest.raises(DiskError, match=r"cluster 2 is in use.*; fsck\.fat finds no damage"):
            disks.check(image)
        monkeypatch.setattr(fat_tools, "findings", lambda path: None)
        with pytest.raises(DiskError, match=r"cluster 2 is in use but belongs to no file[^;]*$"):
            disks.check(image)
