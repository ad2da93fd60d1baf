"""Output of a bench before, while and after it runs, and its tables from stored results."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Command
from few_runs import FEW
from rich.console import Console

from cyclescope import bench, experiments, resources
from cyclescope.bench import calibration, costs, explaining, order, planning, result_files
from cyclescope.bench.costs import Costs, Table
from cyclescope.bench.forecast import Forecast
from cyclescope.bench.planning import Explained, Job
from cyclescope.bench.results import ExperimentResult
from cyclescope.cli import bench_progress
from cyclescope.cli.bench_progress import Watch
from cyclescope.cli.tables import bench_lines, bench_summary
from cyclescope.cli.tables import experiment as experiment_tables
from cyclescope.cli.tables.bench_summary import Took
from cyclescope.statuses import Status

NAME = "quad-spi-throughput"
SHORT = [
    (f"{NAME}.pages", "4"),
    (f"{NAME}.bytes", "1024"),
    ("flash0.cyclescope,bulk-erase-typical-ms", "10"),
]
ARGUMENTS = [part for path, value in SHORT for part in ("--set", f"{path}={value}")]
# A bench of fewer runs in `make test`, and how many there are.
QUICKER = [*ARGUMENTS, *FEW]
CHANGES = [tuple(word.split("=", 1)) for word in QUICKER[1::2]]
RUNS = len(planning.plan(experiments.select([NAME]), CHANGES))


@pytest.fixture(scope="module")
def jobs() -> list[Job]:
    """Those of PicoSoC and a short form of another: exact cells, and rows without a cell."""
    return planning.plan(experiments.select([NAME, "picosoc-xip"]), SHORT)


@pytest.fixture(scope="module")
def results() -> list[ExperimentResult]:
    fewer = planning.plan(experiments.select([NAME, "picosoc-xip"]), CHANGES)
    return bench.tabulate(fewer, bench.run_jobs(fewer, threads=2))


def text(shown: object, width: int = 120) -> str:
    screen = Console(width=width, file=io.StringIO())
    screen.print(shown)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


# ---- the last screen


def test_the_last_screen_fits_24_lines_of_80_characters(results: list[ExperimentResult]) -> None:
    all_of_them = [results[0]] * (len(experiments.ALL) - 1) + [results[1]]
    lines = text(bench_summary.screen(all_of_them, Path("results/report.html"), Took(61.2)), 80)
    assert len(lines.splitlines()) <= 24
    assert "1 min 01 s" in lines
    assert "results/report.html" in lines


def test_the_last_screen_counts_what_the_rows_say(results: list[ExperimentResult]) -> None:
    lines = text(bench_summary.screen(results, None, Took(5))).splitlines()
    (quad,) = (line.split() for line in lines if NAME in line)
    (picosoc,) = (line.split() for line in lines if "picosoc-xip" in line)
    assert quad[1] == "-"
    assert picosoc[1:4] == ["1960", "1960", "equal"]


# ---- tables from results


def test_tables_are_the_same_from_the_file_as_from_the_runs(
    results: list[ExperimentResult], tmp_path: Path
) -> None:
    path = tmp_path / "results.json"
    path.write_text(result_files.to_json(results))
    (tmp_path / "notes.json").write_text(result_files.to_notes(results))
    again = result_files.load(path, experiments.ALL)
    assert [result.name for result in again] == [result.name for result in results]
    for loaded, run in zip(again, results, strict=True):
        if run.name == "picosoc-xip":
            assert text(experiment_tables.experiment_table(loaded)) == text(
                experiment_tables.experiment_table(run)
            )
        # a row of a run that --set has changed has all of its settings
        assert [row.to_dict() for row in loaded.rows] == [row.to_dict() for row in run.rows]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "`cyclescope bench` makes it"),
        ("{", "not JSON"),
        ("{}", "not a results.json of a bench"),
        ('[{"experiment": "quad"}]', "row 0 belongs to no experiment"),
        ("[3]", "row 0 belongs to no experiment"),
        (f'[{{"experiment": "{NAME}"}}]', "not a results.json of this version"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_file_that_has_no_results_is_refused(
    cyclescope: Command, tmp_path: Path, content: str | None, message: str
) -> None:
    path = tmp_path / "rows.json"
    if content is not None:
        path.write_text(content)
    done = cyclescope("show", "--results", path)
    assert done.status == Status.USAGE
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


# `test_bench` has it of a bench that it makes anyway.
@pytest.mark.long
def test_why_runs_failed_is_shown_again(cyclescope: Command) -> None:
    # a core in XIP mode can't write: all fail but those that read through its window
    cyclescope("bench", NAME, *ARGUMENTS, "--set", "spi0.xlnx,xip-mode=1")
    words = " ".join(cyclescope("show").stdout.split())
    writing = [run for run in experiments.ALL[NAME].runs if run.app == "quad_spi_throughput"]
    assert words.count("failed: quad_spi_throughput mode=") == len(writing)


def test_an_experiment_that_the_file_lacks_is_named(cyclescope: Command, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "results.json").write_text("[]")
    done = cyclescope("show", NAME)
    assert done.status == Status.USAGE
    assert f"`cyclescope bench {NAME}`" in done.stderr


# ---- before and while it runs


def test_without_a_terminal_there_are_lines_of_first_cells_and_of_the_end(
    cyclescope: Command,
) -> None:
    done = cyclescope("bench", NAME, *QUICKER, "--again")
    assert done.status == 0, done.stderr
    said, expected, first, last = done.stderr.splitlines()
    assert said.startswith(f"{RUNS} runs of 1 experiment on 1 board")
    assert expected.startswith("About ")
    # 4 pages are not those that were published
    assert re.fullmatch(rf"{NAME}  \w+ write: simulated \d+ us \(no published number\)", first)
    assert re.fullmatch(rf"\[{RUNS}/{RUNS}\] {NAME} done after \d+ s", last)


def test_a_published_cell_is_said_with_its_error_and_an_end_with_what_is_met(
    jobs: list[Job], results: list[ExperimentResult]
) -> None:
    own = [job for job in jobs if job.experiment.name == "picosoc-xip"]
    records = results[1].runs
    lines = bench_lines.Lines(own)
    said = [
        line
        for job, record in zip(own, records, strict=True)
        for line in lines.finished(job, record, 3.2)
    ]
    first, last = said
    assert re.fullmatch(
        r"picosoc-xip  .*: published (\d+) \| simulated \1 cycles \| \+0\.0 %", first
    )
    assert last.startswith(
        f"[{len(own)}/{len(own)}] picosoc-xip done after 3 s: 1,960 cells, 1960 "
    )


def test_why_a_run_failed_is_said_at_once(jobs: list[Job]) -> None:
    record = jobs[0].record(None, "it fell over")
    said = list(bench_lines.Lines(jobs[:2]).finished(jobs[0], record, 1))
    assert said == [f"cyclescope: failed: {record.label}: it fell over"]


def test_on_a_terminal_there_is_one_line_that_is_gone_in_the_end(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cyclescope", "bench", NAME, *QUICKER, "--again"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100", "LINES": "24"}
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=theirs, stdout=subprocess.DEVNULL, env=environment
    ) as program:
        os.close(theirs)
        said = _all_of(ours)
    assert program.returncode == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)
    assert "runs, " in plain
    assert " left: quad_spi_throughput mode=" in plain
    # above it stand the experiment's first cells and its end; the line is replaced in place
    shown = plain[plain.index("About ") :].split("\n", 1)[1]
    assert shown.count("\n") <= 3
    assert " write: simulated " in shown
    assert f" {NAME} done after " in shown
    # how long that is depends on the host
    assert "\x1b[2K" in said[said.rindex(" left") :]


def _all_of(terminal: int) -> str:
    """The output of programs to a terminal until all of them have closed it."""
    parts = []
    until_s = time.monotonic() + 120
    while time.monotonic() < until_s:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            parts.append(os.read(terminal, 4096))
        except OSError:  # EIO: nobody has it open
            break
    os.close(terminal)
    return b"".join(parts).decode().replace("\r\n", "\n")


# ---- costs


def test_costs_of_runs_are_known_the_next_time(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # objects are compiled in seconds: here programs are only linked
    objects = resources.cache() / "objects"
    objects.mkdir(parents=True, exist_ok=True)
    (tmp_path / "objects").symlink_to(objects)
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path))
    few = [job for job in jobs if job.experiment.name == NAME][:2]
    forecast = Forecast(few, costs.load(), 2)
    said = bench_progress.announcement(few, forecast, 2)
    assert "by how fast this machine is now, 2 programs to be built" in said
    watch = Watch(few, forecast)
    bench.run_jobs(few, 1, bench.Following(watch.started, watch.built, watch.finished))
    costs.keep(watch.took)
    known = costs.load()
    assert known.are_from_here(few)
    assert known.total(few) == pytest.approx(sum(map(known.here.runs.get, map(costs.key, few))))
    assert list(known.here.builds) == [costs.build_key(few[0])]
    again = Forecast(few, known, 2)
    assert again.builds == 0
    assert "as last time here" in bench_progress.announcement(few, again, 2)


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"runs": []}', '{"runs": {"a": "b"}}', '{"runs": {"a": -1}}', "\0", '{"a": NaN}'],
)
def test_an_invalid_table_of_costs_is_ignored(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str
) -> None:
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path))
    (tmp_path / "bench-costs.json").write_text(content)
    assert costs.load().here.runs == {}
    assert costs.load().total(jobs) > 0


def test_a_new_run_counts_what_is_shipped_times_what_a_unit_takes_here(jobs: list[Job]) -> None:
    known, new = map(costs.key, jobs[:2])
    shipped = Table({known: 2.0, new: 5.0}, {costs.build_key(jobs[1]): 7.0})
    # measured, or else as much slower as this host is on the others
    assert Costs(Table(), shipped, unit_s=0.5).of(jobs[1]) == pytest.approx(2.5)
    assert Costs(Table(), shipped, unit_s=0.5).of_building(jobs[1]) == pytest.approx(3.5)
    assert Costs(Table({known: 6.0}), shipped).of(jobs[1]) == pytest.approx(15.0)


def test_a_run_that_is_explained_costs_more_where_it_is_known_without(jobs: list[Job]) -> None:
    plain = replace(jobs[0], explained=Explained.NOT)
    shipped = Table({costs.key(plain): 2.0})
    took = Costs(Table(), shipped, unit_s=1.0)
    assert took.of(jobs[0]) > took.of(plain) == 2.0


def test_the_guess_is_what_the_threads_take_one_job_after_the_other(jobs: list[Job]) -> None:
    few = [job for job in jobs if job.experiment.name == NAME][:3]
    took = dict(zip(map(costs.key, few), (4.0, 3.0, 2.0), strict=True))
    known = Costs(Table(took | {costs.REPORT: 0.5}), Table())
    # the cheapest is the headline: 2 + 3 beside 4, and the report
    assert Forecast(few, known, 2).expected_s == pytest.approx(5.0 + 1.5)
    assert Forecast(few, known, 1).expected_s == pytest.approx(9.0 + 1.5)


def test_this_machine_is_measured_in_well_below_a_second() -> None:
    assert 0 < calibration.unit_s(2) < 10


def test_the_shipped_costs_are_of_the_runs_of_the_bench() -> None:
    """scripts/bench_costs.py makes them anew; a run or two may be missing, not a half of them."""
    shipped = costs.load().shipped.runs
    every = planning.plan(experiments.select(()))
    keys = {costs.key(job) for job in (*every, *explaining.marked(every))}
    assert len(keys & shipped.keys()) > 0.9 * len(keys)
    assert len(shipped.keys() - keys) < 0.1 * len(keys)


# ---- order


def test_a_headline_of_each_experiment_begins_first_then_the_longest(jobs: list[Job]) -> None:
    ours = [job for job in jobs if job.experiment.name == NAME][:4]
    theirs = [job for job in jobs if job.experiment.name == "picosoc-xip"][:2]
    seconds = {
        id(job): took for job, took in zip((*ours, *theirs), (5, 3, 9, 8, 1, 2), strict=True)
    }
    few = [*ours, *theirs]
    assert [job.published for job in few] == [True, True, False, False, True, True]
    begun = [seconds[id(few[place])] for place in order.places(few, lambda job: seconds[id(job)])]
    # runs with a published number come before the others
    assert begun == [1, 3, 5, 2, 9, 8]


def test_runs_begin_in_that_order(jobs: list[Job]) -> None:
    few = [job for job in jobs if job.experiment.name == NAME][:3]
    took = Costs(Table(dict(zip(map(costs.key, few), (1.0, 3.0, 2.0), strict=True))), Table())
    begun: list[Job] = []
    following = bench.Following(started=begun.append)
    bench.run_jobs(few, threads=1, following=following, costs=took)
    assert begun == [few[0], few[1], few[2]]
