"""FatFs when a card fails: the app names the error and ends; what was acknowledged is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fat_disks
import pytest
from fat_disks import FILE_BYTES, FRESH

from cyclescope import disks
from cyclescope.disks import SECTOR_BYTES, Disk, Extent
from cyclescope.errors import DiskError
from cyclescope.experiments import fat_write

CONTENTS = fat_write.buffer(FILE_BYTES)
# The file's sectors among the first 18 blocks. R0.06's order is 0 2 3 1 5 6 4 8 ...: 16 is to come.
ORDERS = {"current": list(range(17)), "r006": [*range(16), 17]}


@pytest.fixture
def image() -> Iterator[Path]:
    with disks.copy_of(disks.image(FRESH)) as copy:
        yield copy


def test_without_a_fault_all_is_written(image: Path) -> None:
    left = fat_disks.run(image, {})
    assert left.result.exit_code == 0
    disks.check(image)
    disks.compare(image, {"W512.BIN": CONTENTS})
    assert left.stored(CONTENTS) == list(range(FILE_BYTES // SECTOR_BYTES))


@pytest.mark.parametrize("blocks", [1, 2, 9, 20])
def test_a_card_pulled_mid_write_keeps_each_block_that_it_acknowledged(
    image: Path, blocks: int
) -> None:
    left = fat_disks.run(image, {}, removed_after_blocks=blocks)
    assert left.result.outcome == "exit"
    assert left.result.exit_code == 1
    assert left.last_line.startswith("f_write W512.BIN: FR_DISK_ERR (1) after ")
    assert left.counter("blocks_written") == len(left.changed) == blocks
    # the first was the directory's
    assert left.stored(CONTENTS) == list(range(blocks - 1))
    assert left.reported_bytes == (blocks - 1) * SECTOR_BYTES


@pytest.mark.parametrize("order", ORDERS)
def test_a_pulled_card_has_the_sectors_that_the_write_order_brought_it(
    image: Path, order: str
) -> None:
    left = fat_disks.run(image, {"write_order": order, "transfer": "768"}, removed_after_blocks=18)
    assert left.result.exit_code == 1
    assert left.counter("blocks_written") == len(left.changed) == 18
    assert left.stored(CONTENTS) == ORDERS[order]


def test_a_card_pulled_in_a_multi_block_write_keeps_its_blocks(image: Path) -> None:
    left = fat_disks.run(image, {"transfer": "4096"}, removed_after_blocks=13)
    assert left.result.exit_code == 1
    assert left.last_line.startswith("f_write W4096.BIN: FR_")
    assert left.counter("blocks_written") == len(left.changed) == 13
    assert left.stored(CONTENTS) == list(range(12))
    assert left.reported_bytes == 8 * SECTOR_BYTES


def test_a_damaged_block_is_refused_where_the_card_checks_crcs(image: Path) -> None:
    left = fat_disks.run(image, {"crc": "on"}, crc_error_block=5)
    assert left.result.exit_code == 1
    assert left.last_line.startswith("f_write W512.BIN: FR_DISK_ERR (1) after ")
    assert left.last_line.endswith("card: CRC error")
    assert left.counter("crc_errors") == 1
    # the fifth block was the file's fourth sector; what came before it was acknowledged
    assert left.stored(CONTENTS) == [0, 1, 2]
    assert left.reported_bytes == 3 * SECTOR_BYTES


@pytest.mark.parametrize("crc", ["computed", "off"])
def test_a_damaged_block_goes_unnoticed_where_it_does_not(image: Path, crc: str) -> None:
    left = fat_disks.run(image, {"crc": crc}, crc_error_block=5)
    assert left.result.exit_code == 0
    assert left.counter("crc_errors") == 0
    # no other check but the experiment's own finds it
    disks.check(image)
    with pytest.raises(DiskError, match=r"W512\.BIN differs from byte (1[5-9]|20)\d\d on"):
        disks.compare(image, {"W512.BIN": CONTENTS})


@pytest.mark.parametrize("transfer", ["512", "4096"])
def test_a_card_that_never_leaves_busy_times_out(image: Path, transfer: str) -> None:
    left = fat_disks.run(image, {"transfer": transfer}, stuck_busy_block=5)
    assert left.result.outcome == "exit"
    assert left.result.exit_code == 1
    assert left.last_line.startswith(f"f_write W{transfer}.BIN: FR_DISK_ERR (1) after ")
    assert left.last_line.endswith("card: timed out waiting for ready")
    assert left.stored(CONTENTS) == [0, 1, 2, 3]


def test_a_full_disk_holds_what_the_app_says_was_written() -> None:
    # all but some 50 of its clusters are in use
    small = Disk(6 * 2**20, fat_bits=12, sectors_per_cluster=4, extents=(Extent(3000, 0),))
    with disks.copy_of(disks.image(small)) as image:
        left = fat_disks.run(image, {"transfer": "4096", "file_bytes": 2**20})
        assert left.result.exit_code == 1
        assert left.last_line.startswith("f_write W4096.BIN: disk full after ")
        disks.check(image)
        written = left.reported_bytes
        assert 30 < written / small.cluster_bytes < 70
        disks.compare(image, {"W4096.BIN": fat_write.buffer(written)})


def test_a_volume_without_its_boot_sector_is_no_volume(image: Path) -> None:
    with image.open("r+b") as volume:
        volume.write(bytes(SECTOR_BYTES))
    left = fat_disks.run(image, {})
    assert left.result.exit_code == 1
    assert left.last_line == "f_mount card: FR_NO_FILESYSTEM (13)"
    assert left.counter("blocks_written") == 0


def test_a_broken_chain_in_the_fat_is_an_internal_error(image: Path) -> None:
    fat_disks.put(image, "W512.BIN", bytes(3 * FRESH.cluster_bytes))
    with image.open("r+b") as volume:
        boot = volume.read(SECTOR_BYTES)
        reserved, fat_sectors = (int.from_bytes(boot[at : at + 2], "little") for at in (14, 22))
        for copy in range(2):
            # cluster 1, which there is not, follows the file's first
            volume.seek((reserved + copy * fat_sectors) * SECTOR_BYTES + 2 * 2)
            volume.write((1).to_bytes(2, "little"))
    left = fat_disks.run(image, {})
    assert left.result.exit_code == 1
    assert left.last_line.startswith("f_unlink W512.BIN: FR_INT_ERR (2)")
