"""Results as words on a port: records become metrics, rows and failures like console lines."""

from __future__ import annotations

import dataclasses

import pytest

from cyclescope import bench
from cyclescope.bench import planning, published
from cyclescope.bench.planning import Job
from cyclescope.board.results import Metric, RunResult, parse_metrics
from cyclescope.errors import FirmwareError, SettingError
from cyclescope.experiments.picosoc_xip import EXPERIMENT, KERNELS
from cyclescope.firmware.records import Records

RECORDS = Records(0x100, (("cycles", "cycles"), ("sum", "")), ({"mode": "a"}, {"mode": "b"}))
# The board does not matter to how words become rows.
RUNS = [dataclasses.replace(run, board="minimal-rv32") for run in EXPERIMENT.runs[:3]]
SMALL = dataclasses.replace(EXPERIMENT, runs=tuple(RUNS))


def result(*words: int) -> RunResult:
    return RunResult("b", "f", "exit", 0, None, 30_000, "", (), {}, results={"user0": words})


def recorded(job: Job, **changes: int) -> RunResult:
    """The words of a run as the RTL gave them, mode 7's changed."""
    words = []
    where = dict(job.run.settings) | dict(job.run.where)
    for index in range(19):
        at = where | {"mode_index": index}
        row = {
            name: published.load("picosoc_rtl").find(name, at) or 1
            for name in ("cycles", "instret", "checksum")
        }
        if index == 7:
            row |= changes
        words += [0xCA5E0000 + index, *row.values()]
    return result(*words)


def finish(**changes: int) -> bench.ExperimentResult:
    """The experiment with recorded results, those of its first run changed."""
    jobs = planning.plan([SMALL])
    records = []
    for number, job in enumerate(jobs):
        run = recorded(job, **({} if number else changes))
        records.append(bench.judged(job, run))
    (table,) = bench.tabulate(jobs, records)
    return table


def test_words_become_metrics_in_the_settings_of_their_case() -> None:
    assert RECORDS.metrics(result(0x100, 5, 6, 0x101, 7, 8)) == (
        Metric("cycles", "cycles", 5, {"mode": "a"}),
        Metric("sum", "", 6, {"mode": "a"}),
        Metric("cycles", "cycles", 7, {"mode": "b"}),
        Metric("sum", "", 8, {"mode": "b"}),
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "wrote 0 words of results, expected 3 for each of 2 cases"),
        ((0x100, 5, 6), "wrote 3 words"),
        ((0x100, 5, 6, 0x101, 7, 8, 9), "wrote 7 words"),
        (
            (0x100, 5, 6, 0x100, 7, 8),
            "record 1 of the results begins with 0x00000100, expected 0x00000101",
        ),
    ],
)
def test_words_that_are_no_such_records_are_refused(words: tuple[int, ...], said: str) -> None:
    with pytest.raises(FirmwareError, match=said):
        RECORDS.metrics(result(*words))


def test_a_console_line_may_carry_the_settings_of_its_measurement() -> None:
    line = '{"metric":"cycles","mode":"quad","dummy":4,"unit":"cycles","value":12,"odd":[1]}'
    assert list(parse_metrics(line)) == [
        Metric("cycles", "cycles", 12, {"mode": "quad", "dummy": 4})
    ]


def test_each_case_is_a_row_beside_its_published_number() -> None:
    table = finish()
    assert not table.failures
    assert table.exact
    assert len(table.rows) == 3 * 19
    compared = [row for row in table.rows if row.published is not None]
    assert len(compared) == 3 * 15
    assert all(row.is_exact and row.basis == "predicted" for row in compared)
    row = compared[0]
    assert (row.settings["program"], row.settings["flash_mode"]) == ("align", "dual")
    assert row.to_dict()["error_pct"] == 0


def test_a_case_that_is_off_is_a_row_with_its_error() -> None:
    (row,) = [row for row in finish(cycles=9999).rows if row.simulated == 9999]
    assert row.settings["mode_index"] == 7
    assert row.published is not None
    assert not row.is_exact


@pytest.mark.parametrize("name", ["instret", "checksum"])
def test_another_count_or_checksum_fails_the_run(name: str) -> None:
    table = finish(**{name: 12345})
    (failure,) = table.failures
    assert failure.error is not None
    assert failure.error.startswith(
        f"mode_index=7 flash_mode=quad dummy=8: {name} is 12345, published "
    )
    assert len(table.rows) == 2 * 19


def test_a_run_without_its_words_has_failed() -> None:
    (job,) = planning.plan([dataclasses.replace(SMALL, runs=SMALL.runs[:1])])
    record = bench.judged(job, result())
    assert record.error == "the firmware wrote 0 words of results, expected 4 for each of 19 cases"
    (table,) = bench.tabulate([job], [record])
    assert table.rows == ()


def test_a_setting_of_the_user_leaves_what_the_table_has() -> None:
    jobs = planning.plan([EXPERIMENT], [("picosoc-xip.program", "sort")])
    known = [job for job in jobs if job.experiment.has_published(job.run)]
    programs = [run.settings["program"] for run in EXPERIMENT.runs if run.app == KERNELS]
    assert {job.run.settings["program"] for job in jobs if job.run.app == KERNELS} == {"sort"}
    # runs without a file are left out; without any file nothing can be run
    with pytest.raises(SettingError, match="picosoc_kernels has no prebuilt ELF"):
        planning.plan([EXPERIMENT], [("picosoc-xip.program", "sort"), ("picosoc-xip.opt", "asm")])
    assert len(jobs) == len(known) + 2 == programs.count("sort") + 2
