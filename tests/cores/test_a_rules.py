"""Sequences of instructions on a Cortex-A5 and an A7: each takes what it should."""

from __future__ import annotations

import csv
import re

import pytest
from conftest import ROOT

from cyclescope import bench, experiments
from cyclescope.bench import planning, published
from cyclescope.bench.results import ExperimentResult
from cyclescope.experiments import a_rules

RULES = ROOT / "firmware" / "apps" / a_rules.APP / "rules.def"
TABLE = ROOT / "published" / "a_rules.csv"
_RULE = re.compile(r'^RULE\((\w+), "(.*?)", "(.*?)", (\d+)\)', re.M)
# docs/cortex-a.md says why
_MISSED = [("cortex-a7", "clz", 15, 8)]


def lines() -> list[dict[str, str]]:
    return list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    """The whole experiment, as `cyclescope bench a-rules` runs it."""
    jobs = planning.plan(experiments.select(["a-rules"]))
    (table,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads=2))
    return table


def test_each_sequence_takes_the_cycles_that_it_should(result: ExperimentResult) -> None:
    assert [(run.label, run.error) for run in result.failures] == []
    compared = [row for row in result.rows if row.published is not None]
    off = [
        (row.settings["core"], row.settings["sequence"], row.simulated, row.published)
        for row in compared
        if row.simulated != row.published
    ]
    assert off == _MISSED
    assert len(compared) == len(published.load(a_rules.TABLE).results)
    assert result.answer.startswith(f"{len(compared) - len(off)} of {len(compared)} sequences")


def test_the_table_has_the_programs_sequences() -> None:
    written = {
        (name, copies, set_up, code)
        for name, set_up, code, copies in _RULE.findall(RULES.read_text(encoding="utf-8"))
    }
    table = {(line["sequence"], line["copies"], line["set_up"], line["code"]) for line in lines()}
    assert table <= written
    # no source says how long it takes
    assert {name for name, *_ in written - table} == {"load_then_address"}


def test_the_sums_give_the_cycles() -> None:
    for line in lines():
        terms = line["sum"].split(":")[0].replace(" x ", " * ")
        assert eval(terms, {"__builtins__": {}}) == int(line["cycles"]), line["sequence"]
        assert line["source"]
