"""What a bench says before, while and after it runs, and its tables again from its results."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Command
from rich.console import Console
from tiers import sized

from cyclescope import bench, experiments, resources
from cyclescope.bench import costs, planning, result_files
from cyclescope.bench.costs import Costs
from cyclescope.bench.planning import Job
from cyclescope.bench.results import ExperimentResult
from cyclescope.cli import bench_progress, bench_summary, experiment_tables
from cyclescope.statuses import Status

NAME = "quad-spi-throughput"
SHORT = [
    (f"{NAME}.pages", "4"),
    (f"{NAME}.bytes", "1024"),
    ("flash0.cyclescope,bulk-erase-typical-ms", "10"),
]
ARGUMENTS = [part for path, value in SHORT for part in ("--set", f"{path}={value}")]
# A bench of one run, and one of many: what is called, and the first of what its runs are called.
BENCHES = [
    pytest.param("m4-rules", [], "m4_rules", id="one run"),
    pytest.param(
        *(NAME, ARGUMENTS, "quad_spi_throughput mode="), id="many runs", marks=pytest.mark.long
    ),
]


@pytest.fixture(scope="module")
def jobs() -> list[Job]:
    """Those of PicoSoC and a short form of another: exact cells, and rows without a cell."""
    return planning.plan(experiments.select([NAME, "picosoc-xip"]), SHORT)


@pytest.fixture(scope="module")
def results(jobs: list[Job]) -> list[ExperimentResult]:
    return bench.tabulate(jobs, bench.run_jobs(jobs, threads=2))


def text(shown: object, width: int = 120) -> str:
    screen = Console(width=width, file=io.StringIO())
    screen.print(shown)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


# ---- the last screen


def test_the_last_screen_fits_24_lines_of_80_characters(results: list[ExperimentResult]) -> None:
    all_of_them = [results[0]] * (len(experiments.ALL) - 1) + [results[1]]
    lines = text(bench_summary.screen(all_of_them, Path("results/report.html"), 61.2), 80)
    assert len(lines.splitlines()) <= 24
    assert "1 min 01 s" in lines
    assert "results/report.html" in lines


def test_the_last_screen_counts_what_the_rows_say(results: list[ExperimentResult]) -> None:
    lines = text(bench_summary.screen(results, None, 5)).splitlines()
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
    for told, run in zip(again, results, strict=True):
        if run.name == "picosoc-xip":
            assert text(experiment_tables.experiment_table(told)) == text(
                experiment_tables.experiment_table(run)
            )
        # that of a run that --set has changed has all of its settings
        assert [row.to_dict() for row in told.rows] == [row.to_dict() for row in run.rows]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "`cyclescope bench` makes it"),
        ("{", "it is no JSON"),
        ("{}", "it is no results.json of a bench"),
        ('[{"experiment": "quad"}]', "row 0 is of no experiment"),
        ("[3]", "row 0 is of no experiment"),
        (f'[{{"experiment": "{NAME}"}}]', "no results.json of this version"),
        ("[" * 100_000, "it is no JSON"),
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


@pytest.mark.parametrize(("name", "arguments", "label"), BENCHES)
def test_without_a_terminal_there_are_milestones_alone(
    cyclescope: Command, name: str, arguments: list[str], label: str
) -> None:
    done = cyclescope("bench", name, *arguments)
    assert done.status == 0, done.stderr
    said, expected, milestone = done.stderr.splitlines()
    runs = len(experiments.ALL[name].runs)
    assert said.startswith(f"{runs} run{'s' * (runs > 1)} of 1 experiment on 1 board")
    assert label not in done.stderr
    assert expected.startswith("About ")
    assert re.fullmatch(rf"\[{runs}/{runs}\] {name} done after \d+ s", milestone)


@pytest.mark.parametrize(("name", "arguments", "label"), BENCHES)
def test_on_a_terminal_there_is_one_line_that_is_gone_in_the_end(
    tmp_path: Path, name: str, arguments: list[str], label: str
) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cyclescope", "bench", name, *arguments]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100", "LINES": "24"}
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=theirs, stdout=subprocess.DEVNULL, env=environment
    ) as program:
        os.close(theirs)
        said = _all_of(ours)
    assert program.returncode == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)
    assert "runs, " in plain
    assert f" left: {label}" in plain
    # of one line each: what is shown is replaced in place
    shown = plain[plain.index("About ") :].split("\n", 1)[1]
    assert shown.count("\n") <= 1
    assert "\x1b[2K" in said[said.rindex("0 s left") :]


def _all_of(terminal: int) -> str:
    """What programs write to a terminal until all of them have closed it."""
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


def test_what_runs_took_here_is_known_the_next_time(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path))
    few = [job for job in jobs if job.experiment.name == NAME][: sized(1, 2)]
    assert not costs.load().are_from_here(few)
    assert "not run here before" in bench_progress.announcement(few, costs.load(), 2)
    costs.keep(few, bench.run_jobs(few, threads=1))
    known = costs.load()
    assert known.are_from_here(few)
    assert known.total(few) == pytest.approx(sum(known.here.values()))
    assert "as last time here" in bench_progress.announcement(few, known, 2)


@pytest.mark.parametrize("content", ["", "[]", '{"a": "b"}', '{"a": -1}', "\0", '{"a": NaN}'])
def test_a_table_of_costs_that_is_none_is_as_good_as_absent(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str
) -> None:
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path))
    (tmp_path / "bench-costs.json").write_text(content)
    assert costs.load().here == {}
    assert costs.load().total(jobs) > 0


def test_a_new_run_counts_as_on_another_host_times_how_much_slower_this_one_is(
    jobs: list[Job],
) -> None:
    known, new = map(costs.key, jobs[:2])
    assert Costs({known: 6.0}, {known: 2.0, new: 5.0}).of(jobs[1]) == pytest.approx(15.0)


def test_the_longest_runs_begin_first(jobs: list[Job]) -> None:
    few = [job for job in jobs if job.experiment.name == NAME][:3]
    took = Costs(dict(zip(map(costs.key, few), (1.0, 3.0, 2.0), strict=True)), {})
    begun: list[Job] = []
    following = bench.Following(started=begun.append)
    bench.run_jobs(few, threads=1, following=following, costs=took)
    assert begun == [few[1], few[2], few[0]]


def test_the_shipped_costs_are_of_the_runs_of_the_bench() -> None:
    """scripts/bench_costs.py makes them anew; a run or two may be missing, not a half of them."""
    shipped = json.loads(resources.bench_costs().read_text())
    keys = set(map(costs.key, planning.plan(experiments.select(()))))
    assert len(keys & shipped.keys()) > 0.9 * len(keys)
    assert len(shipped.keys() - keys) < 0.1 * len(keys)
