"""Runs with a disk: each has its own copy, results don't name it, damage fails the run."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import BOARD, Command

from cyclescope import bench, disks
from cyclescope.bench import result_files
from cyclescope.bench.experiment import Cell, Experiment, Run
from cyclescope.bench.planning import Job
from cyclescope.bench.rows import RunRecord
from cyclescope.board.results import Settings
from cyclescope.disks import Disk
from cyclescope.errors import DiskError
from cyclescope.statuses import Status

# The flash of this board takes an image too: one app reads it, another erases it.
SLOT = "flash0.cyclescope,image"
DISK = Disk(16 * 2**20, fat_bits=12, sectors_per_cluster=16)


def slot(settings: Settings) -> str:
    return SLOT


READS = Run("xip_read", BOARD, {"bytes": 1024}, {"spi0.xlnx,xip-mode": 1}, disk=DISK, slot=slot)
ERASES = Run("quad_spi_throughput", BOARD, {"pages": 1}, limit="600s", disk=DISK, slot=slot)


def of(run: Run) -> Job:
    cells = tuple(
        Cell(app, metric, label="time")
        for app, metric in (("xip_read", "read_time"), ("quad_spi_throughput", "write_time"))
    )
    return Job(Experiment("disks", "Disks", "xapp797_axi_quad_spi", (run,), cells), run)


def outcome(run: Run) -> RunRecord:
    (record,) = bench.run_jobs([of(run)], threads=1)
    assert record is not None
    return record


def test_a_run_that_leaves_its_disk_sound_succeeds_and_does_not_name_its_place() -> None:
    record = outcome(READS)
    assert record.error is None
    assert record.result is not None
    assert record.settings == {"bytes": 1024, "spi0.xlnx,xip-mode": 1}
    (result,) = bench.tabulate([of(READS)], [record])
    written = result_files.to_json([result]) + record.label + json.dumps(record.result.to_dict())
    assert "cyclescope-disk" not in written
    assert ".img" not in written


def test_a_run_that_damages_its_disk_has_failed_and_the_next_finds_it_sound() -> None:
    record = outcome(ERASES)
    assert record.error is not None
    assert record.error.startswith("the disk has no FAT volume: its boot sector has ")
    (result,) = bench.tabulate([of(ERASES)], [record])
    assert result.rows == ()
    disks.check(disks.image(DISK))
    assert outcome(READS).error is None


def test_a_file_that_is_not_as_expected_fails_the_run() -> None:
    def files(settings: Settings) -> Mapping[str, bytes]:
        return {f"OF{settings['bytes']}.BIN": b""}

    record = outcome(replace(READS, files=files))
    assert record.error is not None
    assert "OF1024.BIN" in record.error


def test_the_disk_of_a_run_that_fails_is_kept_where_the_user_asks_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    assert bench.run_job(of(READS), folder).error is None
    assert not folder.exists()
    record = bench.run_job(of(ERASES), folder)
    (kept,) = folder.iterdir()
    assert record.error is not None
    assert record.error.endswith(f"its disk is {kept}")
    with pytest.raises(DiskError, match="no FAT volume"):
        disks.check(kept)


def test_an_image_that_the_user_names_is_copied_too(tmp_path: Path) -> None:
    own = tmp_path / "own.img"
    disks.copy_sparse(disks.image(DISK), own)
    before = own.read_bytes()
    job = replace(of(ERASES), extra={SLOT: str(own)})
    record = bench.run_job(job)
    assert record.error is not None
    assert "no FAT volume" in record.error
    assert own.read_bytes() == before
    missing = replace(of(READS), extra={SLOT: str(tmp_path / "none.img")})
    record = bench.run_job(missing)
    assert record.error is not None
    assert "none.img" in record.error


def test_an_impossible_disk_is_reported_before_the_run() -> None:
    record = outcome(replace(READS, disk=replace(DISK, fat_bits=16)))
    assert record.result is None
    assert record.error is not None
    assert "can't be FAT16: it has 2043 clusters" in record.error


@pytest.mark.parametrize("size_bytes", [0, 1000, 1049088, 3 * 2**40, None])
def test_an_image_that_is_no_card_is_refused_before_anything_runs(
    cyclescope: Command, tmp_path: Path, size_bytes: int | None
) -> None:
    own = tmp_path / "own.img"
    if size_bytes is None:
        own.mkdir()
    else:
        with own.open("wb") as new:
            new.truncate(size_bytes)
    done = cyclescope("bench", "fat-write", "--set", f"card0.cyclescope,image={own}")
    assert done.status == Status.USAGE
    assert done.error.startswith("--set: mmc@0: cyclescope,image is ")
    assert done.stderr.count("\n") == 1


def test_without_room_for_copies_a_run_fails_and_says_where(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    disks.image(DISK)
    monkeypatch.setattr(os, "pwrite", full)
    record = outcome(READS)
    assert record.result is None
    assert record.error is not None
    assert f"can't be copied to {tempfile.gettempdir()}: No space left on device" in record.error
