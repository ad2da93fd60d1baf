"""fat-write in little: all sizes in both orders of writes, each card judged after its run."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import tiers
from conftest import Command

from cyclescope import bench, experiments
from cyclescope.bench import planning
from cyclescope.bench.rows import DERIVED, RunRecord
from cyclescope.board.results import Settings
from cyclescope.experiments import fat_write
from cyclescope.experiments.fat_write import EXPERIMENT, SIZES

NAME = EXPERIMENT.name
CLUSTER_BYTES = 64 * 512
SHORT = [("fat_write.file_bytes", "6000"), ("fat_write.gap_s", "0")]


@cache
def short_bench(*more: tuple[str, str]) -> tuple[list[planning.Job], list[RunRecord]]:
    """The experiment's jobs with a short file, and their records."""
    jobs = planning.plan([EXPERIMENT], [*SHORT, *more])
    return jobs, [bench.run_job(job) for job in jobs]


@pytest.mark.parametrize("port", tiers.mostly_long(["mmc", "spi"], ["mmc"]))
def test_all_sizes_are_written_right_in_both_orders(port: str) -> None:
    # run_job fails a run whose card is damaged or has other bytes in a file, or where one was
    jobs, records = short_bench(("fat_write.port", port))
    ran = [(job.run.settings["write_order"], job.run.settings["crc"]) for job in jobs]
    assert ran == [("r006", "computed"), ("current", "computed"), ("r006", "off")]
    assert [record.error for record in records] == [None, None, None]
    (result,) = bench.tabulate(jobs, records)
    totals = {
        (row.settings["write_order"], row.settings["transfer"]): row.simulated
        for row in result.rows
        if row.metric == "total_time" and row.settings["crc"] == "computed"
    }
    assert list(totals) == [(order, size) for order in ("r006", "current") for size in SIZES]
    for size in fat_write.ODD_SIZES:
        # going back before the open block costs the card a merge each time
        assert totals["r006", size] > 2 * totals["current", size]
    for size in (512, 4096):
        assert totals["r006", size] == pytest.approx(totals["current", size], rel=0.02)
    sentences = result.notes[len(EXPERIMENT.notes) :]
    assert len(sentences) == 3
    assert all("768" in sentence for sentence in sentences)
    no_crcs = [row for row in result.rows if row.settings["crc"] == "off"]
    for metric in ("crc_time", "crc_occurrences"):
        assert [row.simulated for row in no_crcs if row.metric == metric] == [0] * len(SIZES)
    rates = {
        (row.settings["crc"], row.settings["transfer"]): row.simulated
        for row in result.rows
        if row.metric == "rate"
    }
    for size in SIZES:
        assert rates["off", size] > rates["computed", size]


def test_cards_with_crcs_on_take_the_same_files() -> None:
    jobs = planning.plan([EXPERIMENT], [*SHORT, ("fat_write.crc", "on")])
    # in the short tier one order of writes: with CRCs that nobody checks there are both
    errors = [bench.run_job(job).error for job in jobs[: tiers.sized(1, 2)]]
    assert errors == [None] * tiers.sized(1, 2)
    assert len(jobs) == 2
    assert all(job.run.settings["crc"] == "on" for job in jobs)


def test_counts_of_what_f_write_does_are_those_of_its_algorithm() -> None:
    """A file of 6000 bytes and less than a cluster: 12 sectors at most, in one chain."""
    jobs, records = (found[:2] for found in short_bench(("fat_write.port", "mmc")))
    (result,) = bench.tabulate(jobs, records)

    def count(metric: str, size: int) -> float:
        (found,) = (
            row.simulated
            for row in result.rows
            if row.metric == metric and row.settings["transfer"] == size
        )
        return found

    for size in SIZES:
        calls = -(-6000 // size)
        assert count("f_write_calls", size) == calls
        assert count("clusters", size) == -(-calls * size // CLUSTER_BYTES)
        assert count("buffer_reads", size) == 0
        is_whole = size % 512 == 0
        assert (count("copies", size) == 0) == is_whole
        assert (count("flushes", size) == 0) == is_whole
    # 8 calls: sector 0, half of 1 | half of 1, 2 | 3, half of 4 | half of 4, 5 | ...: the buffer
    # the sector of 1 is written when the buffer is needed for 4, and that of 10 with the file
    assert count("copies", 768) == 8
    assert count("flushes", 768) == 3
    assert count("single_writes", 768) == 8 + 3
    assert count("data_blocks", 768) == 11
    # each of 4 calls has three whole sectors, or two and parts of two more
    assert count("multi_writes", 1636) == 4
    assert count("multi_writes", 512) == 0
    # a call of two clusters
    assert count("multi_writes", 65536) == 2


def test_the_clusters_of_deleted_files_are_checked(tmp_path: Path) -> None:
    (job, *_) = planning.plan([EXPERIMENT], SHORT)
    other = replace(job, run=replace(job.run, deleted=_with_a_wrong_byte))
    assert bench.run_job(other).error == "deleted file 3 differs from byte 5999 on"


def _with_a_wrong_byte(settings: Settings) -> list[bytes]:
    found = list(fat_write.deleted(settings))
    found[2] = found[2][:5999] + bytes([found[2][5999] ^ 1]) + found[2][6000:]
    return found


def test_the_same_bench_is_byte_identical_at_any_number_of_jobs(
    cyclescope: Command, tmp_path: Path
) -> None:
    # in the short tier a size of transfers, an order of writes, and no flame graphs
    chosen = [("fat_write.transfer", "512"), ("fatfs.write-order", "r006")]
    chosen = [] if tiers.ALL else chosen
    sets = [word for path, value in SHORT + chosen for word in ("--set", f"{path}={value}")]
    sets += [] if tiers.ALL else ["--no-profiles"]
    outputs = []
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        done = cyclescope("bench", NAME, *sets, "--out", out, "--jobs", jobs, "--again")
        assert done.status == 0, done.stderr
        outputs.append([(out / name).read_bytes() for name in ("results.json", "report.html")])
    assert outputs[0] == outputs[1]
    assert b"cyclescope-disk" not in outputs[0][1]
    rows = [row for row in json.loads(outputs[0][0]) if row["basis"] != DERIVED]
    assert len(rows) == tiers.sized(2, 3 * len(SIZES)) * len(EXPERIMENT.cells)


def test_the_write_order_is_fatfss_own_setting() -> None:
    assert experiments.ALL[NAME] is EXPERIMENT
    (job, _) = planning.plan([EXPERIMENT], [("fatfs.write-order", "current")])
    assert job.run.settings["write_order"] == "current"
    assert not job.experiment.has_published(job.run)
    (job, _) = planning.plan([EXPERIMENT], [("fatfs.write-order", "r006")])
    assert job.experiment.has_published(job.run)
