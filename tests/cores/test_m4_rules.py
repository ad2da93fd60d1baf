"""Sequences of instructions on a Cortex-M4: each takes what manual and measurements say."""

from __future__ import annotations

import csv
import re
from dataclasses import replace

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
    """The instructions beside the expected cycles are those that the program runs."""
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
    # the manual gives a range for them
    assert {name for name, *_ in written - table} == {"isb"}
    assert all(line["sum"] and line["source"] for line in csv.DictReader(lines))


# Sums that are words, or have words before or after them.
_TERMS = re.compile(r"(?:^|: )([\d BP x+/()-]*[\d)])(?:$|[:,])")
_LETTER = re.compile(r", ([BP]) = (\d)$")
_IN_WORDS = {"an operand is 0": 2, "3 bits by 7": 3, "three cycles total": 3}


def of_sum(text: str) -> int:
    """The value of a sum of the table; a quotient is rounded down."""
    if text in _IN_WORDS:
        return _IN_WORDS[text]
    terms = _TERMS.search(text)
    assert terms is not None, text
    letter = _LETTER.search(text)
    expression = terms[1].replace(letter[1], letter[2]) if letter else terms[1]
    value = eval(expression.replace(" x ", " * ").replace("/", "//"), {"__builtins__": {}})
    assert isinstance(value, int)
    return value


def test_the_sums_give_the_cycles() -> None:
    lines = (ROOT / "published" / "m4_rules.csv").read_text(encoding="utf-8").splitlines()
    table = list(csv.DictReader(lines))
    assert len(table) > 70
    for line in table:
        assert of_sum(line["sum"]) == int(line["cycles"]), line["sequence"]


def test_the_answer_counts_what_is_met(result: ExperimentResult) -> None:
    compared = [row for row in result.rows if row.published is not None]
    total = len(compared)
    assert result.answer.startswith(f"{total} of {total} sequences take as many cycles")
    off = [replace(compared[0], simulated=compared[0].simulated + 1), *compared[1:]]
    answer = m4_rules.EXPERIMENT.answer(off)
    assert answer.startswith(f"{total - 1} of {total} sequences take as many cycles")
    assert m4_rules.EXPERIMENT.answer(()) == ""


def test_compiled_code_takes_the_same() -> None:
    elf = firmware.build_app(m4_rules.APP, m4_rules.BOARD, {})
    interpreted, compiled = (
        package.Board(m4_rules.BOARD).load(elf).run("1s", compile_after=after).console
        for after in (0, 1)
    )
    assert interpreted == compiled
    assert '"value":' in interpreted
