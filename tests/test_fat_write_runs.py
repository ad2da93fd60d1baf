"""fat-write in little: all sizes in both orders of writes, each card judged after its run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Command

from cyclescope import bench, experiments, planning
from cyclescope.experiments import fat_write
from cyclescope.experiments.fat_write import EXPERIMENT, SIZES

NAME = EXPERIMENT.name
SHORT = [("fat_write.file_bytes", "6000"), ("fat_write.gap_s", "0")]


@pytest.mark.parametrize("port", ["mmc", "spi"])
def test_all_sizes_are_written_right_in_both_orders(port: str) -> None:
    jobs = planning.plan([EXPERIMENT], [*SHORT, ("fat_write.port", port)])
    assert [job.run.settings["write_order"] for job in jobs] == ["r006", "current"]
    # run_job fails a run whose card is damaged or has other bytes in a file
    records = [bench.run_job(job) for job in jobs]
    assert [record.error for record in records] == [None, None]
    (result,) = bench.tabulate(jobs, records)
    totals = {
        (row.settings["write_order"], row.settings["transfer"]): row.simulated
        for row in result.rows
        if row.metric == "total_time"
    }
    assert list(totals) == [(order, size) for order in ("r006", "current") for size in SIZES]
    for size in fat_write.ODD_SIZES:
        # going back behind the open block costs the card a merge each time
        assert totals["r006", size] > 2 * totals["current", size]
    for size in (512, 4096):
        assert totals["r006", size] == pytest.approx(totals["current", size], rel=0.02)
    (sentence,) = result.notes[len(EXPERIMENT.notes) :]
    assert "768, 1280 and 1636 bytes" in sentence


def test_cards_with_crcs_on_take_the_same_files() -> None:
    jobs = planning.plan([EXPERIMENT], [*SHORT, ("fat_write.crc", "on")])
    assert [bench.run_job(job).error for job in jobs] == [None, None]


def test_the_same_bench_is_byte_identical_at_any_number_of_jobs(
    cyclescope: Command, tmp_path: Path
) -> None:
    sets = [word for path, value in SHORT for word in ("--set", f"{path}={value}")]
    outputs = []
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        done = cyclescope("bench", NAME, *sets, "--out", out, "--jobs", jobs)
        assert done.status == 0, done.stderr
        outputs.append([(out / name).read_bytes() for name in ("results.json", "report.html")])
    assert outputs[0] == outputs[1]
    assert b"cyclescope-disk" not in outputs[0][1]
    rows = json.loads(outputs[0][0])
    assert len(rows) == 2 * len(SIZES) * len(EXPERIMENT.cells)


def test_the_write_order_is_fatfss_own_setting() -> None:
    assert experiments.ALL[NAME] is EXPERIMENT
    (job,) = planning.plan([EXPERIMENT], [("fatfs.write-order", "current")])
    assert job.run.settings["write_order"] == "current"
    assert not job.experiment.has_published(job.run)
    (job,) = planning.plan([EXPERIMENT], [("fatfs.write-order", "r006")])
    assert job.experiment.has_published(job.run)
