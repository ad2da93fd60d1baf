"""Experiments that count the cycles of short sequences: their results, tables and programs."""

from __future__ import annotations

import csv
import re

from conftest import ROOT

from cyclescope import bench, experiments
from cyclescope.bench import planning
from cyclescope.bench.results import ExperimentResult

_RULE = re.compile(r'^RULE\((\w+), "(.*?)", "(.*?)", (\d+)\)', re.M)


def result_of(experiment: str) -> ExperimentResult:
    """The whole experiment, as `cyclescope bench` runs it."""
    jobs = planning.plan(experiments.select([experiment]))
    (table,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads=2))
    return table


def lines_of(table: str) -> list[dict[str, str]]:
    """The lines of a published table."""
    text = (ROOT / "published" / f"{table}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def left_out(app: str, table: str) -> set[str]:
    """The program's sequences that its table has not; all that it has are the program's."""
    rules = (ROOT / "firmware" / "apps" / app / "rules.def").read_text(encoding="utf-8")
    written = {(name, copies, set_up, code) for name, set_up, code, copies in _RULE.findall(rules)}
    listed = {
        (line["sequence"], line["copies"], line["set_up"], line["code"]) for line in lines_of(table)
    }
    assert listed <= written
    return {name for name, *_ in written - listed}
