"""A small fat-write with polling loops skipped and with every iteration run: equal results."""

from __future__ import annotations

import hashlib

import pytest
import tiers
from fat_disks import FRESH

from cyclescope import Board, disks, firmware
from cyclescope.bench import planning
from cyclescope.board.results import RunResult
from cyclescope.experiments.fat_write import EXPERIMENT

SHORT = {"file_bytes": "4096", "gap_s": "0"}


def run(job: planning.Job, skip_polling: bool) -> tuple[RunResult, str]:
    """A job's run on an empty card, and what the card holds afterwards."""
    settings = job.run.settings
    elf = firmware.build_app(job.run.app, job.run.board, settings)
    sections = [name for cell in EXPERIMENT.cells for name in cell.timed]
    with disks.copy_of(disks.image(FRESH)) as image:
        board = Board(job.run.board, {job.run.slot(settings): str(image)}).load(elf)
        result = board.run(job.run.limit, sections=sections, skip_polling=skip_polling)
        disks.check(image)
        disks.compare(image, job.run.files(settings))
        return result, hashlib.sha256(image.read_bytes()).hexdigest()


# One that writes whole sectors in order, and one that goes back before the card's open block.
@pytest.mark.parametrize(
    "case",
    tiers.mostly_long(["mmc-512", "mmc-768", "spi-512", "spi-768"], ["mmc-768", "spi-512"]),
)
def test_skipping_polling_loops_changes_no_result(case: str) -> None:
    port, transfer = case.split("-")
    chosen = {"port": port, "transfer": transfer} | SHORT
    sets = [(f"{EXPERIMENT.runs[0].app}.{name}", value) for name, value in chosen.items()]
    job = next(
        job
        for job in planning.plan([EXPERIMENT], sets)
        if job.run.settings["write_order"] == "r006"
    )
    (skipping, skipped_disk), (polling, polled_disk) = (run(job, skip) for skip in (True, False))
    assert skipping.exit_code == 0
    assert skipping.to_dict() == polling.to_dict()
    assert skipping == polling  # the console too
    assert skipped_disk == polled_disk
    # much of it is polling, so that there is something to skip
    times = {metric.name: metric.value for metric in skipping.metrics}
    assert times["busy_time"] > times["total_time"] / 3
