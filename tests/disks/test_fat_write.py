"""fat-write: the card that it starts from, the files that it expects, the cells it compares."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from cyclescope import Board, disks, firmware
from cyclescope.bench import published
from cyclescope.bench.experiment import Choice
from cyclescope.bench.rows import PREDICTED, Row, RunRecord
from cyclescope.disks import Disk
from cyclescope.experiments import fat_write
from cyclescope.experiments.fat_write import EXPERIMENT, SIZES

TABLE = "fatfs_write_nios2"
R006 = EXPERIMENT.runs[0]
SETTINGS = {
    "write_order": "r006",
    "transfer": "all",
    "file_bytes": 2097152,
    "port": "mmc",
    "files": "each",
}
CLUSTER_BYTES = 64 * 512
CLUSTERS_A_FAT_SECTOR = 256
# Writes of a moved FAT window: it goes there, back and there again, and each FAT has two copies.
WRITES_A_CROSSING = 3 * 2


def free_clusters(disk: Disk) -> list[int]:
    free = []
    cluster = 2
    for extent in disk.extents:
        cluster += extent.used
        free += range(cluster, cluster + extent.free)
        cluster += extent.free
    return free + list(range(cluster, disk.size_bytes // disk.cluster_bytes))


def documented() -> list[dict[str, int]]:
    rows = [dict(row) for row in published.load(TABLE).results if row.get("kind") == "fwrite"]
    return sorted(rows, key=lambda row: row["run_order"])


@pytest.mark.parametrize("fragments", [1, 5, 12, 20])
def test_files_on_the_card_cross_fat_sectors_as_often_as_the_document_counted(
    fragments: int,
) -> None:
    """With free space in one piece, as the runs have it, all do but the first."""
    disk = fat_write.DISK if fragments == 1 else fat_write.scattered_card(fragments)
    free = free_clusters(disk)
    for row in documented():
        clusters = -(-row["derived_file_bytes"] // CLUSTER_BYTES)
        chain, free = free[:clusters], free[clusters:]
        sectors = [cluster // CLUSTERS_A_FAT_SECTOR for cluster in chain]
        crossings = sum(one != other for one, other in itertools.pairwise(sectors))
        if fragments == 1 and row["run_order"] == 1:
            assert crossings == 0
            assert row["derived_fat_dir_writes"] == 4 * WRITES_A_CROSSING + 1
            continue
        # and the directory's sector once
        assert crossings * WRITES_A_CROSSING + 1 == row["derived_fat_dir_writes"], row
        if row["run_order"] == 1:
            breaks = sum(b != a + 1 for a, b in itertools.pairwise(chain))
            assert breaks + 1 == fragments
            assert min(chain) * CLUSTER_BYTES > 4 * 2**20
        else:
            assert chain[-1] - chain[0] == clusters - 1


def test_the_card_is_a_clean_fat16_volume_that_a_card_with_byte_addresses_can_have() -> None:
    disk = fat_write.DISK
    assert disk.size_bytes % (512 * 1024) == 0
    assert disk.size_bytes <= 2 * 2**30
    image = disks.image(disk)
    disks.check(image)
    assert image.stat().st_blocks * 512 < 2 * 2**20


def test_the_sizes_run_in_the_documents_order() -> None:
    assert [row["transfer_bytes"] for row in documented()] == list(SIZES)


def test_all_55_published_cells_are_compared() -> None:
    labels = EXPERIMENT.published_labels(R006)
    assert len(labels) == len(set(labels)) == 55
    assert "65536 B total" in labels
    assert "1636 B CRC occurrences" in labels
    assert EXPERIMENT.published_labels(EXPERIMENT.runs[1]) == []
    values = {
        (cell.metric, size): EXPERIMENT.published_value(R006, cell, {"transfer": size})
        for cell in EXPERIMENT.cells
        for size in SIZES
    }
    assert values["total_time", 768] == 199.459
    assert values["xmit_time", 64] == 1.46502
    assert values["crc_time", 2048] == 3.19086
    assert values["xmit_occurrences", 32768] == values["crc_occurrences", 32768] == 4185
    assert values["busy_time", 512] is None
    # a result without its size is not in the document
    assert EXPERIMENT.published_value(R006, EXPERIMENT.cells[0]) is None


def test_files_are_the_buffers_start_in_whole_calls() -> None:
    buffer = fat_write.buffer(2 * 2**20 + 2048)
    files = fat_write.files(SETTINGS)
    assert len(files) == 11
    for row in documented():
        contents = files[f"W{row['transfer_bytes']}.BIN"]
        assert len(contents) == row["derived_file_bytes"]
        assert buffer.startswith(contents)
    one = fat_write.files(SETTINGS | {"transfer": "1280", "file_bytes": 4096})
    assert {name: len(contents) for name, contents in one.items()} == {"W1280.BIN": 5120}
    assert fat_write.deleted(SETTINGS) == ()


def test_a_file_that_is_written_repeatedly_keeps_its_last_size() -> None:
    settings = SETTINGS | {"files": "one"}
    each = list(fat_write.files(SETTINGS).values())
    assert fat_write.files(settings) == {"BENCH.BIN": each[-1]}
    assert fat_write.deleted(settings) == each[:-1]


def test_the_disk_is_in_the_slot_of_the_chosen_controller() -> None:
    assert fat_write.slot(SETTINGS) == "card0.cyclescope,image"
    assert fat_write.slot(SETTINGS | {"port": "spi"}) == "card1.cyclescope,image"


def total(order: str, size: int, simulated: float, published: float | None = None) -> Row:
    settings = {"write_order": order, "transfer": size}
    run = RunRecord("run", "fat_write", "nios2-mmc", settings, None)
    return Row(
        "fat-write",
        "nios2-mmc",
        settings,
        "total_time",
        "s",
        simulated,
        published,
        PREDICTED,
        f"{size} B total",
        run,
    )


def test_findings_give_the_cost_of_the_write_order() -> None:
    old = [total("r006", size, size / 4, 200.25) for size in fat_write.ODD_SIZES]
    new = [total("current", size, size / 100) for size in fat_write.ODD_SIZES]
    (sentence,) = EXPERIMENT.findings([*old, *new])
    assert "192, 320 and 409 s" in sentence
    assert "(published: 200.2, 200.2 and 200.2 s)" in sentence
    assert "7.68, 12.8 and 16.36 s" in sentence
    assert list(EXPERIMENT.findings(old)) == []
    short = [dataclasses.replace(row, published=None) for row in old]
    (sentence,) = EXPERIMENT.findings([*short, *new])
    assert "published" not in sentence


def test_cells_that_follow_from_one_another_count_once() -> None:
    # eight counts, nine totals, and times a block: one of xmit, two of CRC
    assert len(EXPERIMENT.independent_numbers(R006)) == 8 + 9 + 3


@pytest.mark.parametrize("choice", EXPERIMENT.choices, ids=lambda choice: choice.name)
def test_each_choice_has_an_alternative_that_the_board_and_the_app_take(choice: Choice) -> None:
    run = EXPERIMENT.short_form(R006)
    other = choice.change(run)
    assert other != run
    Board(other.board, other.overrides)
    firmware.build_app(other.app, other.board, other.settings)
    if other.disk is not None:
        disks.check(disks.image(other.disk))
