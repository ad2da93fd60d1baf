"""Sequences of instructions on a Cortex-M4: each takes what manual and measurements say."""

from __future__ import annotations

import csv
import re

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import bench, experiments, firmware
from cyclescope.bench import planning, published
from cyclescope.bench.results import ExperimentResult
from cyclescope.experiments import m4_rules

RULES = ROOT / "firmware" / "apps" / m4_rules.APP / "rules.def"
_RULE = re.compile(r'^RULE\((\w+), "(.*?)", "(.*?)", (\d+)\)', re.M)


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    """The whole experiment, as `cyclescope bench m4-rules` runs it."""
    jobs = planning.plan(experiments.select(["m4-rules"]))
    (table,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads=2))
    return table


def test_each_sequence_takes_the_cycles_that_it_should(result: ExperimentResult) -> None:
    assert [(run.label, run.error) for run in result.failures] == []
    compared = [row for row in result.rows if row.published is not None]
    off = [
        (row.settings["sequence"], row.simulated, row.published)
        for row in compared
        if row.simulated != row.published
    ]
    assert off == []
    assert len(compared) == len(published.load(m4_rules.TABLE).results)


def test_the_table_has_the_programs_sequences() -> None:
    """What stands beside the expected cycles is what the program runs."""
    written = {
        (name, copies, set_up, code)
        for name, set_up, code, copies in _RULE.findall(RULES.read_text(encoding="utf-8"))
    }
    lines = (ROOT / "published" / "m4_rules.csv").read_text(encoding="utf-8").splitlines()
    table = {
        (line["sequence"], line["copies"], line["set_up"], line["code"])
        for line in csv.DictReader(lines)
    }
    assert table <= written
    assert all(line["sum"] and line["source"] for line in csv.DictReader(lines))


def test_compiled_code_takes_the_same() -> None:
    elf = firmware.build_app(m4_rules.APP, m4_rules.BOARD, {})
    interpreted, compiled = (
        package.Board(m4_rules.BOARD).load(elf).run("1s", compile_after=after).console
        for after in (0, 1)
    )
    assert interpreted == compiled
    assert '"value":' in interpreted
