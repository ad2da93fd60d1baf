"""`cyclescope bench`: tables, files, determinism, `--set`, and failures that lose nothing."""

import csv
import dataclasses
import json
from pathlib import Path

import pytest
from conftest import Command
from few_runs import FEW
from test_bitbang_spi import MEASURED
from tiers import ALL

from cyclescope import bench, experiments
from cyclescope.bench import planning, published
from cyclescope.errors import SettingError, UsageError
from cyclescope.statuses import Status

NAME = "quad-spi-throughput"
# The whole experiment in little: the mechanisms are the same, the published numbers are not.
SHORT = (
    "--set",
    f"{NAME}.pages=4",
    "--set",
    f"{NAME}.bytes=1024",
    "--set",
    "flash0.cyclescope,bulk-erase-typical-ms=10",
)
ROW_KEYS = [
    "experiment",
    "board",
    "label",
    "settings",
    "metric",
    "unit",
    "simulated",
    "published",
    "error_pct",
    "basis",
    "calibrated_by",
    "interval_low",
    "interval_high",
]


# `test_bitbang_spi` compares two benches of fewer runs.
@pytest.mark.long
def test_the_same_bench_twice_is_byte_identical_at_any_number_of_jobs(
    cyclescope: Command, tmp_path: Path
) -> None:
    outputs = []
    for number, jobs in enumerate((1, 2, 2)):
        out = tmp_path / str(number)
        options = ("--out", out, "--jobs", jobs, "--json", "-", "--again")
        done = cyclescope("bench", NAME, *SHORT, *options)
        assert done.status == 0, done.stderr
        assert done.stdout == (out / "results.json").read_text()
        outputs.append([path.read_bytes() for path in sorted(out.glob("results.*"))])
    assert outputs[0] == outputs[1] == outputs[2]


def test_rows_have_the_promised_form(cyclescope: Command, tmp_path: Path) -> None:
    sets = (*SHORT, *FEW)
    done = cyclescope("bench", NAME, *sets, "--explain", "--json", "rows.json")
    assert done.status == 0, done.stderr
    every = json.loads((tmp_path / "rows.json").read_text())
    assert all(list(row) == [*ROW_KEYS, *(["waits"] if "waits" in row else [])] for row in every)
    assert all(("waits" in row) == (row["basis"] != "derived") for row in every)
    rows = [row for row in every if row["basis"] != "derived"]
    experiment = experiments.ALL[NAME]
    changes = [tuple(change.split("=", 1)) for change in sets[1::2]]
    runs = [job.run for job in planning.plan([experiment], changes)]
    assert len(rows) == sum(len(experiment.cells_of(run)) for run in runs)
    for row in rows:
        assert row["simulated"] > 0
        # 4 pages are not the note's 4096
        assert row["published"] is None
        assert row["error_pct"] is None
        assert row["basis"] == "unpublished"
    modes = {"standard", "dual", "quad", None} if ALL else {"quad", None}
    assert {row["settings"].get("mode") for row in rows} == modes
    (found,) = (tmp_path / "results").glob("report.html")
    assert found.read_text().startswith("<!")
    with (tmp_path / "results" / "results.csv").open() as lines:
        assert [float(row["simulated"]) for row in csv.DictReader(lines)] == [
            row["simulated"] for row in every
        ]
    shown = cyclescope("show", NAME)
    assert shown.status == 0, shown.stderr
    for heading in ("published", "simulated", "error", "basis"):
        assert heading in shown.stdout


# The waiting times that cards ask for.
CARDS = [f"card{number}.cyclescope,initialisation-us" for number in (0, 1)]
# The tests of rhealstone say so of its runs.
SUMMED = [name for name in experiments.ALL if name != "rhealstone"]


@pytest.fixture(scope="module")
def summed() -> list[planning.Job]:
    """Short runs of all experiments except those that other tests cover."""
    short = {
        f"{NAME}.pages": "2",
        f"{NAME}.bytes": "512",
        "flash0.cyclescope,bulk-erase-typical-ms": "10",
        "fat-write.file_bytes": "4096",
        "fat-write.gap_s": "0",
        "fat-access.file_bytes": "65536",
        "fat-access.calls": "2",
        "card-probe.blocks": "4",
        "bitbang_spi.loops": "10",
        "rpmsg_tty.tests": "one",
        "ipc_modes.sizes": "one",
        "thread_metric.window_ms": "10",
        "flash_waits.sweep": "ends",
        "qspi_read.bytes": "256",
    }
    if not ALL:
        short |= {
            "fat-access.calls": "1",
            "card-probe.blocks": "1",
            "bitbang_spi.loops": "1",
            "bitbang_spi.frames": "1",
            "rpmsg_tty.block_bytes": "512",
            **dict.fromkeys(CARDS, "1000"),
        }
    # the tests of bitbang-spi cover these runs
    elsewhere = (*MEASURED, None)
    return [
        job
        for job in planning.plan(experiments.select(SUMMED), short.items())
        if job.experiment.name != "bitbang-spi"
        or job.run.settings.get("operation") not in elsewhere
    ]


@pytest.mark.parametrize("name", SUMMED)
def test_every_runs_cycle_stack_sums_to_its_elapsed_time(
    name: str, summed: list[planning.Job]
) -> None:
    jobs = [job for job in summed if job.experiment.name == name]
    assert jobs
    # in `make test`, one of the same app on the same board is enough
    few = {(job.run.app, job.run.board): job for job in jobs}
    for record in bench.run_jobs(jobs if ALL else [*few.values()], threads=2):
        assert record is not None
        assert record.result is not None, record.error
        for core in record.result.cores:
            assert sum(entry.ps for entry in core.stack) == record.result.elapsed_ps


def test_a_failed_run_loses_no_other(cyclescope: Command, tmp_path: Path) -> None:
    # a core in XIP mode can't write: all fail but those that read through its window
    done = cyclescope("bench", NAME, *SHORT, "--set", "spi0.xlnx,xip-mode=1")
    assert done.status == 1
    failed = [line for line in done.stderr.splitlines() if line.startswith("cyclescope: failed:")]
    reading = [run for run in experiments.ALL[NAME].runs if run.app == "xip_read"]
    assert len(failed) == len(experiments.ALL[NAME].runs) - len(reading)
    # the last screen has the first of them with their reasons, and how many there are
    words = " ".join(done.stdout.split())
    assert words.count("failed: quad_spi_throughput mode=") == 3
    assert f"and {len(failed) - 3} more failed: see the report" in words
    rows = json.loads((tmp_path / "results" / "results.json").read_text())
    measured = [row for row in rows if row["basis"] != "derived"]
    assert [row["settings"]["bytes"] for row in measured] == [1024] * len(reading)
    assert (tmp_path / "results" / "report.html").is_file()
    # and all of them are shown again
    words = " ".join(cyclescope("show").stdout.split())
    assert words.count("failed: quad_spi_throughput mode=") == len(failed)


def test_an_unknown_path_is_refused_with_near_matches(cyclescope: Command) -> None:
    done = cyclescope("bench", "--set", "spi0.clock-freqency=40000000")
    assert done.status == Status.USAGE
    assert "spi0.clock-freqency" in done.error
    assert "spi0.clock-frequency" in done.error
    done = cyclescope("bench", "--set", f"{NAME}.page=1")
    assert done.status == Status.USAGE
    assert f"{NAME}.pages" in done.error


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (f"{NAME}.pages=0", "1 to 65536"),
        (f"{NAME}.mode=octal", "standard, dual, quad"),
        ("pages", "PATH=VALUE"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused(
    cyclescope: Command, change: str, said: str
) -> None:
    done = cyclescope("bench", "--set", change)
    assert done.status == Status.USAGE
    assert said in done.error


def test_an_unknown_experiment_is_refused_with_near_matches(cyclescope: Command) -> None:
    done = cyclescope("bench", "quad-spi")
    assert done.status == Status.USAGE
    assert NAME in done.error


def test_the_published_cells_are_those_of_the_note() -> None:
    experiment = experiments.ALL[NAME]
    cells = {
        cell.label.format_map(run.settings): experiment.published_value(run, cell)
        for run in experiment.runs
        for cell in experiment.cells_of(run)
        if experiment.published_value(run, cell) is not None
    }
    assert cells == {
        "quad write": 94338,
        "quad read": 78820,
        "dual write": 146214,
        "dual read": 123289,
    }


def test_quick_shortens_only_what_was_not_published() -> None:
    for full, quick in zip(
        planning.plan(experiments.select([NAME])),
        planning.plan(experiments.select([NAME]), quick=True),
        strict=True,
    ):
        assert (full == quick) == full.experiment.has_published(full.run)


def test_larger_sweeps_run_only_when_all_is_asked_for() -> None:
    plain, *others = experiments.ALL[NAME].runs
    extra = dataclasses.replace(plain.changed({"pages": 7}), documented=False, is_extra=True)
    experiment = dataclasses.replace(experiments.ALL[NAME], runs=(plain, *others, extra))
    usual = planning.plan([experiment])
    assert all(job.run.settings.get("pages") != 7 for job in usual)
    (added,) = [job for job in planning.plan([experiment], with_extra=True) if job not in usual]
    assert added.run.settings["pages"] == 7


def test_no_published_number_waits_for_all() -> None:
    runs = [run for experiment in experiments.ALL.values() for run in experiment.runs]
    assert not any(run.is_extra and run.documented for run in runs)


def test_a_setting_reaches_only_the_apps_that_have_it() -> None:
    jobs = planning.plan(experiments.select([NAME]), [("quad_spi_throughput.pages", "7")])
    assert {job.run.settings.get("pages") for job in jobs} == {7, None}
    assert all(not job.experiment.has_published(job.run) for job in jobs)


def test_a_board_override_keeps_the_published_numbers_beside_it() -> None:
    jobs = planning.plan(experiments.select([NAME]), [("spi0.clock-frequency", "40M")])
    assert sum(job.experiment.has_published(job.run) for job in jobs) == 2
    assert all(job.configured.all_settings["spi0.clock-frequency"] == "40M" for job in jobs)


def test_configurations_that_become_the_same_run_once() -> None:
    jobs = planning.plan(experiments.select([NAME]), [("spi0.xlnx,fifo-depth", "16")])
    assert len(jobs) == len(experiments.ALL[NAME].runs) - 1
    assert len({job.configured.label for job in jobs}) == len(jobs)


def test_selection_keeps_the_benchs_order_and_knows_every_name() -> None:
    assert [experiment.name for experiment in experiments.select([])] == list(experiments.ALL)
    with pytest.raises(UsageError, match="there are quad-spi-throughput"):
        experiments.select(["no-such"])
    with pytest.raises(UsageError, match="did you mean 'quad-spi-throughput'"):
        experiments.select(["quad-spi-thruput"])


def test_a_question_with_two_answers_is_an_error() -> None:
    table = published.load("xapp797_axi_quad_spi")
    with pytest.raises(LookupError, match="2 rows"):
        table.find("time_us", {"operation": "write"})
    assert table.find("time_us", {"operation": "erase"}) is None


def test_sets_are_checked_before_anything_runs() -> None:
    with pytest.raises(SettingError):
        planning.plan(experiments.select([NAME]), [("nothing.at-all", "1")])
