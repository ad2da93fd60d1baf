"""Experiments with a card need no program of the system's, and are the same where there is one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import tiers

from cyclescope import bench, resources
from cyclescope.bench import planning, result_files
from cyclescope.bench.experiment import Experiment
from cyclescope.bench.planning import Job
from cyclescope.disks import fat_tools
from cyclescope.experiments import card_probe, fat_access, fat_write
from cyclescope.host import programs

# Required by builds: cargo names the folders of FatFs's sources.
TOOLS = ("cargo", "rustc")
SHORT = [
    ("fat_write.file_bytes", "6000"),
    ("fat_write.gap_s", "0"),
    ("fat_access.file_bytes", "65536"),
    ("fat_access.calls", "2"),
    ("card_probe.blocks", "4"),
]


def rows(jobs: list[Job], threads: int = 1) -> str:
    records = bench.run_jobs(jobs, threads)
    assert [record.error for record in records if record] == [None] * len(jobs)
    return result_files.to_json(bench.tabulate(jobs, records))


# In the short tier a size of the first one; the others differ in what they do with the same card.
@pytest.mark.parametrize(
    "experiment",
    tiers.mostly_long(
        [fat_write.EXPERIMENT, fat_access.EXPERIMENT, card_probe.EXPERIMENT],
        [fat_write.EXPERIMENT.name],
        key=lambda experiment: experiment.name,
    ),
    ids=lambda experiment: experiment.name,
)
def test_card_experiments_give_the_same_rows_where_no_disk_tool_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, experiment: Experiment
) -> None:
    app = experiment.runs[0].app
    sets = [(path, value) for path, value in SHORT if path.startswith(f"{app}.")]
    if not tiers.ALL:
        sets.append(("fat_write.transfer", "512"))
    jobs = planning.plan([experiment], sets)
    as_installed = rows(jobs)
    for tool in TOOLS:
        found = shutil.which(tool)
        if found is not None:
            (tmp_path / tool).symlink_to(found)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "_SBIN", ())
    # the same firmware, but no image that was made before
    cache = tmp_path / "cache"
    cache.mkdir()
    for folder in resources.cache().iterdir():
        if folder.name != "disks":
            (cache / folder.name).symlink_to(folder)
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(cache))
    assert [fat_tools.find(tool) for tool in ("mkfs.fat", "fsck.fat", "mcopy")] == [None] * 3
    assert rows(jobs) == as_installed
    assert list((cache / "disks").glob("*.img"))


@pytest.mark.parametrize(
    ("tool", "answer", "said"),
    [
        ("findings", ["bad"], "fsck.fat finds the disk damaged, Cyclescope does not"),
        ("read_file", b"other", "Cyclescope reads 6016 bytes, mtools 5"),
    ],
)
def test_a_run_has_failed_if_the_second_witness_disagrees(
    monkeypatch: pytest.MonkeyPatch, tool: str, answer: object, said: str
) -> None:
    job, *_ = planning.plan([fat_write.EXPERIMENT], [*SHORT[:2], ("fat_write.transfer", "64")])
    assert bench.run_job(job).error is None
    monkeypatch.setattr(fat_tools, tool, lambda *asked: answer)
    error = bench.run_job(job).error
    assert error is not None
    assert said in error
