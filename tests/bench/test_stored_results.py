"""docs/results.csv: a whole bench is kept as it was, and it is what runs give."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import store
from stored_results import source
from tiers import ALL, mostly_long, sized

from cyclescope import bench, experiments
from cyclescope.bench import costs, planning
from cyclescope.bench.costs import Costs, Table
from cyclescope.bench.experiment import Experiment
from cyclescope.bench.planning import Job
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import DERIVED, Row
from cyclescope.errors import UsageError
from cyclescope.experiments import fat_write

# Experiments whose runs are compared if they take less than MOST_S seconds of processor time.
SHORT_RUNS = (
    "quad-spi-throughput",
    "rhealstone",
    "bitbang-spi",
    "rpmsg-tty",
    "m4-rules",
    "a-rules",
    "thread-metric",
)
MOST_S = 2

# ---- the store


def test_results_are_kept_as_they_were() -> None:
    row = next(row for row in source().results.experiments["rhealstone"].rows if row.published)
    stored = list(store.lines(with_rows("rhealstone", row)))
    assert dict(zip(store.COLUMNS, stored[0], strict=True)) == row.to_dict() | {
        "settings": " ".join(f"{name}={value}" for name, value in row.settings.items()),
        "calibrated_by": "; ".join(row.calibrated_by),
    }


def with_rows(name: str, *rows: Row) -> ExperimentResult:
    return replace(source().results.experiments[name], rows=rows)


@pytest.fixture
def results_json(tmp_path: Path) -> Path:
    """The results that a bench would write, except the exact experiment's, from the store."""
    rows = [
        row.to_dict()
        for result in source().results.experiments.values()
        if not result.exact
        for row in result.rows
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_a_part_of_a_bench_is_refused_and_named(results_json: Path) -> None:
    with pytest.raises(UsageError) as error:
        store.to_csv(results_json)
    assert str(error.value).endswith("missing: picosoc-xip")
    rows = json.loads(results_json.read_text(encoding="utf-8"))
    kept = [row for row in rows if row["settings"].get("mode") != "quad"]
    results_json.write_text(json.dumps(kept), encoding="utf-8")
    with pytest.raises(UsageError, match=r"missing: quad-spi-throughput \(.*mode=quad.*picosoc"):
        store.to_csv(results_json)


def test_runs_of_another_configuration_are_no_bench(results_json: Path) -> None:
    rows = json.loads(results_json.read_text(encoding="utf-8"))
    for row in rows:
        if row["experiment"] == "rpmsg-tty":
            row["settings"]["spi0.clock-frequency"] = 1
    results_json.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(UsageError, match=r"missing: .*rpmsg-tty \(rpmsg_tty.* and \d+ more\)"):
        store.to_csv(results_json)


# ---- the store beside real runs


def published_jobs(experiment: Experiment) -> list[Job]:
    """The runs of an experiment that have published numbers."""
    return [job for job in planning.plan([experiment]) if experiment.has_published(job.run)]


def tabulated(jobs: list[Job]) -> list[Row]:
    """The rows of some runs, but for those that follow from the rows of others."""
    (result,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads=2))
    assert not result.failures, [run.error for run in result.failures]
    return [row for row in result.rows if row.basis != DERIVED]


def identity(row: Row) -> tuple[object, ...]:
    return row.board, row.label, row.metric, tuple(sorted(row.settings.items()))


def stored(name: str) -> dict[tuple[object, ...], Row]:
    return {identity(row): row for row in source().results.experiments[name].rows}


def test_the_store_has_all_experiments_and_published_numbers() -> None:
    assert list(source().results.experiments) == list(experiments.ALL)
    for result in source().results.named("all"):
        experiment = experiments.ALL[result.name]
        jobs = published_jobs(experiment)
        labels = {label for job in jobs for label in experiment.published_labels(job.run)}
        cells = [row for row in result.rows if row.published is not None and row.basis != DERIVED]
        assert {row.label for row in cells} == labels
        assert len(cells) == len(labels)


# In the short tier one run of each experiment, except the one whose runs take seconds.
@pytest.mark.parametrize("name", mostly_long(SHORT_RUNS, {*SHORT_RUNS} - {"quad-spi-throughput"}))
def test_short_published_runs_give_what_is_stored(name: str) -> None:
    # the shipped costs, in units of some 20 ms: the same runs on each host
    known = Costs(Table(), costs.load().shipped, unit_s=0.02)
    every = sorted(published_jobs(experiments.ALL[name]), key=known.of)
    jobs = [job for job in every if known.of(job) < MOST_S][: sized(1, len(every))] or every[:1]
    # sizes of code are those of all runs
    rows = [row for row in tabulated(jobs) if jobs == every or row.metric != "code_size"]
    assert len(rows) >= len(jobs) > 0
    # waits are not stored
    assert [replace(row, waits=()).to_dict() for row in rows] == [
        stored(name)[identity(row)].to_dict() for row in rows
    ]


def test_exact_numbers_are_met_as_often_as_is_stored() -> None:
    experiment = experiments.ALL["picosoc-xip"]
    jobs = published_jobs(experiment)[:: sized(10, 1)]
    rows = [row for row in tabulated(jobs) if row.published is not None]
    met = sum(row.is_exact for row in rows)
    kept = source().results.trust(experiment.name)
    # the short tier has some of the runs: no more of them are off than of all runs
    assert 0 <= len(rows) - met <= kept.published - kept.met
    if ALL:
        assert (met, len(rows)) == (kept.met, kept.published)


@pytest.mark.long
def test_the_long_run_begins_as_is_stored() -> None:
    """The first of fat-write's sizes alone, on the same card as in the run of them all.

    It is another program, whose code lies elsewhere in caches of one way.
    """
    (job,) = published_jobs(experiments.ALL["fat-write"])
    alone = {**job.run.settings, "transfer": str(fat_write.SIZES[0])}
    rows = tabulated([replace(job, run=replace(job.run, settings=alone))])
    assert len([row for row in rows if row.published is not None]) == 5
    for row in rows:
        there = stored("fat-write")[identity(row)]
        assert row.published == there.published
        assert row.simulated == pytest.approx(there.simulated, rel=1e-4)


def test_every_experiment_is_compared() -> None:
    names = [result.name for result in source().results.published]
    assert sorted(names) == sorted([*SHORT_RUNS, "picosoc-xip", "fat-write"])
