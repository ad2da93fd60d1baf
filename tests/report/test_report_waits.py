"""Waits of rows: in the bench's rows and files, and first in the report."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from conftest import Command
from few_runs import FEW
from test_bench import NAME, SHORT
from test_report import Page, experiment, stack, usual
from test_report_views import VALUES

from cyclescope import bench, experiments
from cyclescope.bench import planning, result_files
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import DERIVED
from cyclescope.report import colours, render, stacks
from cyclescope.report.text import RowName

BENCH = ("bench", NAME, *SHORT, *FEW, "--explain", "--out", "out")
WAITS = stack(("CPU", 70 * 10**9), ("flash0: page program", 20 * 10**9), ("access: ddr", 5 * 10**9))


def waiting() -> ExperimentResult:
    """The usual experiment, whose rows know what they waited for."""
    found = experiment()
    rows = [dataclasses.replace(row, waits=WAITS) for row in found.rows]
    return dataclasses.replace(found, rows=tuple(rows))


@pytest.fixture(scope="module")
def run() -> ExperimentResult:
    """Runs of a few pages with DMA and the processor."""
    sets = [(f"{NAME}.pages", "4"), ("flash0.cyclescope,bulk-erase-typical-ms", "10")]
    jobs = planning.plan([experiments.ALL[NAME]], sets)[:2]
    (found,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads=2))
    return found


def test_each_row_has_all_of_its_time_once(run: ExperimentResult) -> None:
    assert not run.failures
    rows = [row for row in run.rows if row.basis != DERIVED]
    for row in rows:
        assert sum(entry.ps for entry in row.waits) == sum(entry.ps for entry in row.stack)
        assert row.waits[-1].cause == "CPU"
    (write, *_) = [row for row in rows if row.label == "quad write"]
    assert write.waits[0].cause == "spi0: shifting"
    assert not any(row.waits for row in run.rows if row.basis == DERIVED)


def test_waits_change_no_number(run: ExperimentResult) -> None:
    job = planning.plan([experiments.ALL[NAME]], [(f"{NAME}.pages", "4")])[0]
    with_all, without = (
        bench.run_job(job, recorded=bench.Recorded(waits=both, profiles=both))
        for both in (True, False)
    )
    assert with_all.profile is not None
    assert without.profile is None
    assert with_all.result is not None
    assert without.result is not None
    plain = without.result.to_dict()
    explained = with_all.result.to_dict()
    explained.pop("critical_path", None)
    for core in explained["cores"]:
        del core["waits"]
        for section in core["sections"]:
            del section["waits"]
    assert explained == plain


def test_waits_are_read_back_and_older_results_have_none(
    run: ExperimentResult, tmp_path: Path
) -> None:
    path = tmp_path / "results.json"
    path.write_text(result_files.to_json([run]))
    (again,) = result_files.load(path, experiments.ALL)
    assert [row.waits for row in again.rows] == [row.waits for row in run.rows]
    rows = json.loads(path.read_text())
    assert "waits" in path.read_text()
    for row in rows:
        row.pop("waits", None)
    path.write_text(json.dumps(rows))
    (older,) = result_files.load(path, experiments.ALL)
    assert not any(row.waits for row in older.rows)
    assert "waits" not in result_files.to_csv([run]).splitlines()[0]


def test_waits_are_the_first_chart_of_each_part() -> None:
    page = Page(render([waiting()]))
    words = page.words
    assert words.count("What the time was spent waiting for") == 2
    for part in ("Published and simulated", "Beyond the document"):
        after = words[words.rindex(part) :]
        first = after.index("What the time was spent waiting for")
        assert first < after.index("Where the time went")
    assert "quad write: flash0: page program, 20 ms, 21.1 %" in words


def test_rows_without_information_have_no_such_chart() -> None:
    assert "waiting for" not in Page(usual()).words


def test_the_cores_own_work_looks_like_no_wait_and_stands_last() -> None:
    styles = colours.styles([[("CPU", 100), ("flash0: page program", 10)]])
    assert styles["CPU"].role == "cpu"
    assert styles["flash0: page program"].role == "cause-0"
    many = [("CPU", 10**12), *((f"wait {n}", 10**9 * (50 - n)) for n in range(40))]
    panel = stacks.panel([(RowName("row", ""), stack(*many))])
    assert panel is not None
    assert panel.causes[-2:] == ("other", "CPU")
    assert [cause for cause, _ in panel.rows[0].shares] == list(panel.causes)
    assert panel.rows[0].total_ps == sum(ps for _, ps in many)


def test_a_run_divided_by_calls_shows_the_waits_of_the_whole_run() -> None:
    found = experiment()
    core = found.rows[0].run.result
    assert core is not None
    run = dataclasses.replace(
        found.rows[0].run,
        result=dataclasses.replace(
            core, cores=(dataclasses.replace(core.cores[0], waits=WAITS),), windows=()
        ),
    )
    rows = [
        dataclasses.replace(row, run=run, parts=stack(("the log", 10**9))) for row in found.rows[:2]
    ]
    page = Page(render([dataclasses.replace(found, rows=tuple(rows), runs=(run,))]))
    assert "whole run: flash0: page program, 20 ms" in page.words
    assert "quad write: the log, 1 ms, 100 %" in page.words


def test_a_bench_writes_waits_and_flame_graphs_beside_its_report(
    cyclescope: Command, tmp_path: Path
) -> None:
    done = cyclescope(*BENCH)
    assert done.status == 0, done.stderr
    page = Page((tmp_path / "out" / "report.html").read_text())
    assert "What the time was spent waiting for" in page.words
    links = {link for link in page.values("href") if not link.startswith("#")}
    names = {link.partition("#run=")[2].partition("&")[0] for link in links}
    assert {link.partition("#")[0] for link in links} == {"profiles/flame.html"}
    folder = tmp_path / "out" / "profiles"
    assert {path.stem for path in folder.glob("*.js")} == names
    assert all(name.startswith(f"{NAME}-") for name in names)
    # a user's file stays, and what belongs to no run of this report goes
    (folder / "own.js").write_text("let mine;\n")
    without = cyclescope(*BENCH, "--no-profiles")
    assert without.status == 0, without.stderr
    assert [path.name for path in folder.iterdir()] == ["own.js"]
    assert "profiles/" not in (tmp_path / "out" / "report.html").read_text()
    (folder / "flame.html").write_text("mine\n")
    refused = cyclescope(*BENCH)
    assert refused.status != 0
    assert "flame.html: not written by a bench" in refused.stderr
    assert (folder / "flame.html").read_text() == "mine\n"


def test_calls_that_tables_show_have_a_bar_each() -> None:
    found = experiment()
    rows = [
        dataclasses.replace(
            found.rows[1],
            pivot=VALUES,
            label=f"{size} B",
            settings=found.rows[1].settings | {"size": size},
            parts=stack(("the loop", size * 10**9)),
            waits=stack(("card0: busy", size * 10**9 // 2), ("CPU", size * 10**9 // 2)),
        )
        for size in (64, 512)
    ]
    page = Page(render([dataclasses.replace(found, rows=tuple(rows))]))
    assert "Timed calls" in page.words
    assert "Whole runs" not in page.words
    assert "The cycle stack of each row's timed part" in page.words
    assert "64 B: card0: busy, 32 ms, 50 %" in page.words
    assert "512 B: card0: busy, 256 ms, 50 %" in page.words
    assert "512 B: the loop, 512 ms, 100 %" in page.words
