"""Runs of benches before: which are made again, and which are not."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Command
from few_runs import FEW

from cyclescope import bench, experiments
from cyclescope.bench import planning
from cyclescope.bench.costs import Costs, Table
from cyclescope.bench.forecast import Forecast
from cyclescope.bench.kept_runs import KeptRuns
from cyclescope.bench.planning import Job
from cyclescope.bench.rows import RunRecord
from cyclescope.bench.running import Recorded, run_job
from cyclescope.board.description import digests

NAME = "quad-spi-throughput"
SHORT = [
    "--set",
    f"{NAME}.pages=4",
    "--set",
    f"{NAME}.bytes=1024",
    "--set",
    "flash0.cyclescope,bulk-erase-typical-ms=10",
    *FEW,
]
RECORDED = Recorded(waits=False)


def planned(*changes: str) -> list[Job]:
    sets = [*SHORT[1::2], *changes]
    chosen = [tuple(change.split("=", 1)) for change in sets]
    return planning.plan(experiments.select([NAME]), chosen)[:1]


@pytest.fixture(scope="module")
def record() -> RunRecord:
    """The record of the one run of `planned`."""
    (job,) = planned()
    return run_job(job)


def files(out: Path) -> dict[Path, bytes]:
    return {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_a_second_bench_makes_no_run_again_and_writes_the_same(
    cyclescope: Command, tmp_path: Path
) -> None:
    first = cyclescope("bench", NAME, *SHORT, "--out", "first", "--again")
    assert first.status == 0, first.stderr
    assert "made before" not in first.stderr + first.stdout
    # runs of `--again` are not kept; runs of this bench are, if they were not kept yet
    assert cyclescope("bench", NAME, *SHORT, "--out", "second").status == 0
    third = cyclescope("bench", NAME, *SHORT, "--out", "third")
    assert third.status == 0, third.stderr
    runs = third.stderr.split()[0]
    assert (
        f"{runs} of them were made before, and nothing they depend on has changed." in third.stderr
    )
    assert f"{runs} of {runs} runs were made before (--again makes all)" in third.stdout
    assert files(tmp_path / "first") == files(tmp_path / "second") == files(tmp_path / "third")


def test_a_run_is_kept_whole_and_given_back(record: RunRecord, tmp_path: Path) -> None:
    jobs = planned()
    before = KeptRuns(jobs, RECORDED, tmp_path)
    assert not before.has(jobs[0])
    assert before.get(jobs[0]) is None
    before.put(jobs[0], record)
    # a bench after it, which plans anew
    jobs = planned()
    after = KeptRuns(jobs, RECORDED, tmp_path)
    assert after.has(jobs[0])
    assert after.get(jobs[0]) == record
    # the place of the ELF on this machine is not part of a result
    assert record.result is not None
    assert record.result.firmware == jobs[0].run.app
    forecast = Forecast(jobs, Costs(Table(), Table()), 2, after)
    assert forecast.kept == 1
    assert forecast.of(jobs[0]) == 0.0
    assert forecast.builds == 0


@pytest.mark.parametrize(
    "changed",
    [
        lambda job: replace(job, extra={"cpu0.clock-frequency": "99000000"}),
        lambda job: replace(job, run=replace(job.run, limit="9s")),
        lambda job: replace(job, run=job.run.changed({"pages": 8})),
        lambda job: replace(job, run=replace(job.run, watched=("main",))),
        lambda job: replace(job, explained=planning.Explained.NOT),
    ],
)
def test_a_run_that_is_another_is_made(
    record: RunRecord, tmp_path: Path, changed: Callable[[Job], Job]
) -> None:
    jobs = planned()
    KeptRuns(jobs, RECORDED, tmp_path).put(jobs[0], record)
    other = [changed(job) for job in jobs]
    assert not KeptRuns(other, RECORDED, tmp_path).has(other[0])
    assert KeptRuns(jobs, RECORDED, tmp_path).has(jobs[0])
    # and a run from which more is asked
    assert not KeptRuns(jobs, Recorded(), tmp_path).has(jobs[0])


def test_another_build_keeps_its_own_runs(
    record: RunRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = planned()
    KeptRuns(jobs, RECORDED, tmp_path).put(jobs[0], record)
    monkeypatch.setattr(digests, "of_build", lambda: "0" * 64)
    assert not KeptRuns(jobs, RECORDED, tmp_path).has(jobs[0])


def test_a_damaged_kept_run_is_not_used(record: RunRecord, tmp_path: Path) -> None:
    jobs = planned()
    before = KeptRuns(jobs, RECORDED, tmp_path)
    before.put(jobs[0], record)
    (kept,) = tmp_path.rglob("*.run")
    data = kept.read_bytes()
    for damaged in (data[:-1], data[:20], b"", data[:-1] + b"\0", pickle.dumps(record)):
        kept.write_bytes(damaged)
        assert before.get(jobs[0]) is None
    kept.write_bytes(data)
    assert before.get(jobs[0]) == record


def test_a_run_that_failed_is_not_kept(record: RunRecord, tmp_path: Path) -> None:
    jobs = planned()
    before = KeptRuns(jobs, RECORDED, tmp_path)
    failed = replace(record, error="no room on the disk")
    before.put(jobs[0], failed)
    before.put(jobs[0], replace(record, short=failed))
    assert not before.has(jobs[0])


def test_kept_runs_finish_without_a_start(record: RunRecord, tmp_path: Path) -> None:
    jobs = planned()
    before = KeptRuns(jobs, RECORDED, tmp_path)
    before.put(jobs[0], record)
    begun, ended = list[Job](), list[RunRecord]()
    following = bench.Following(
        started=begun.append, finished=lambda job, record: ended.append(record)
    )
    assert bench.run_jobs(jobs, 1, following, before=before) == ended == [record]
    assert begun == []


def test_a_run_whose_firmware_can_not_be_built_says_so_itself(tmp_path: Path) -> None:
    jobs = [replace(job, run=replace(job.run, app="no-such-app")) for job in planned()]
    before = KeptRuns(jobs, RECORDED, tmp_path)
    assert not before.has(jobs[0])
    (made,) = bench.run_jobs(jobs, 1, before=before)
    assert made is not None
    assert "no-such-app" in (made.error or "")
