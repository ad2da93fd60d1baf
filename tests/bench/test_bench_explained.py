"""The runs that a bench makes and explains by default, and how reports show it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from cyclescope import bench, experiments
from cyclescope.bench import explaining, planning, result_files
from cyclescope.bench.planning import Explained, Job
from cyclescope.bench.results import ExperimentResult
from cyclescope.cli.tables import bench_summary
from cyclescope.cli.tables import experiment as experiment_tables
from cyclescope.cli.tables.bench_summary import Took
from cyclescope.cli.tables.run import console
from cyclescope.report import profiles, render

NAME = "quad-spi-throughput"
SHORT = [
    (f"{NAME}.pages", "4"),
    (f"{NAME}.bytes", "1024"),
    ("flash0.cyclescope,bulk-erase-typical-ms", "10"),
]


@pytest.fixture(scope="module")
def jobs() -> list[Job]:
    return planning.plan(experiments.select([NAME]), SHORT)


@pytest.fixture(scope="module")
def result(jobs: list[Job]) -> ExperimentResult:
    few = explaining.narrowed(jobs)
    recorded = bench.Recorded(profiles=True, moments=True)
    records = bench.run_jobs(few, threads=2, recorded=recorded)
    assert [record and record.error for record in records] == [None] * len(few)
    (found,) = bench.tabulate(few, records, {NAME: len(jobs) - len(few)})
    return found


def shown(*parts: object) -> str:
    screen = console()
    with screen.capture() as captured:
        screen.print(*parts)
    return " ".join(captured.get().split())


def test_a_bench_makes_all_published_runs_and_explains_one_of_each_experiment() -> None:
    every = planning.plan(experiments.select(()))
    few = explaining.narrowed(every)
    published = [job.run for job in every if job.experiment.has_published(job.run)]
    assert published == [job.run for job in few if job.published]
    explained = Counter(job.experiment.name for job in few if job.explained is not Explained.NOT)
    assert explained == Counter(experiments.ALL.keys())
    # the short form of a run that nothing was published of is made in its place
    (access,) = [job for job in few if job.experiment.name == "fat-access"]
    assert access.run.settings["file_bytes"] == 65536
    assert access.explained is Explained.ITSELF
    # a run without a published number is explained, or needed
    assert all(
        job.published or job.run.is_needed or job.explained is not Explained.NOT for job in few
    )


def test_with_names_all_runs_are_made_and_one_is_explained(jobs: list[Job]) -> None:
    marked = explaining.marked(jobs)
    assert [job.run for job in marked] == [job.run for job in jobs]
    (one,) = [job for job in marked if job.explained is not Explained.NOT]
    # the moment's run, which has a short form
    assert one.explained is Explained.IN_SHORT
    assert (one.run.settings["mode"], one.run.settings["access"]) == ("quad", "dma")


def test_a_users_settings_do_not_change_the_choice_of_runs(jobs: list[Job]) -> None:
    plain = explaining.narrowed(planning.plan(experiments.select([NAME])))
    few = explaining.narrowed(jobs)
    assert [job.run.settings["mode"] for job in few] == [job.run.settings["mode"] for job in plain]
    assert [job.explained for job in few] == [job.explained for job in plain]


def test_without_a_moment_the_first_published_run_is_explained() -> None:
    jobs = planning.plan(experiments.select(["m4-rules"]))
    assert [job.explained for job in explaining.marked(jobs)] == [Explained.ITSELF]


def test_only_the_short_form_has_waits_and_a_profile(result: ExperimentResult) -> None:
    assert all(not row.waits for row in result.rows)
    assert all(run.profile is None for run in result.runs)
    short = [run.short for run in result.runs if run.short]
    assert [run.settings["pages"] for run in short] == [64]
    assert short[0].profile is not None
    assert {row.label for row in result.in_short} == {"quad write", "quad read"}
    assert all(row.waits and row.published is None for row in result.in_short)
    # its moment is that of the run
    assert [len(run.moments) for run in result.runs] == [1, 0]


def test_the_report_shows_the_short_form_and_leads_to_its_flame_graph(
    result: ExperimentResult, tmp_path: Path
) -> None:
    page = render([result])
    assert "A shorter run, explained" in page
    assert result.lacks in page
    (profile,) = [run.short.profile for run in result.runs if run.short]
    assert f"profiles/flame.html#run={profile.name}&amp;view=left-heavy" in page
    assert tmp_path / f"{profile.name}.js" in profiles.files([result], tmp_path)


def test_tables_and_files_say_what_explain_gives(result: ExperimentResult, tmp_path: Path) -> None:
    assert result.lacks == (
        f"`cyclescope bench --explain {NAME}` gives waits and a profile of each run and "
        "31 further runs."
    )
    assert result.lacks in shown(experiment_tables.experiment_table(result))
    last = shown(bench_summary.screen([result], None, Took(5, 4)))
    assert "5 s (guessed: 4 s)" in last
    assert "--explain: waits and profiles of all, and 31 further runs." in last
    (tmp_path / "results.json").write_text(result_files.to_json([result]))
    (tmp_path / "notes.json").write_text(result_files.to_notes([result]))
    (again,) = result_files.load(tmp_path / "results.json", experiments.ALL)
    assert again.lacks == result.lacks


def test_a_bench_that_explains_all_lacks_nothing(jobs: list[Job]) -> None:
    few = jobs[:1]
    (found,) = bench.tabulate(few, bench.run_jobs(few, threads=1))
    assert found.lacks == ""
    assert "unexplained" not in result_files.to_notes([found])
    assert all(row.waits for row in found.rows if row.basis != "derived")
