"""Sequences of instructions on a Cortex-M4: each takes what manual and measurements say."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rule_tables import left_out, lines_of, result_of

import cyclescope as package
from cyclescope import firmware
from cyclescope.bench import published
from cyclescope.bench.results import ExperimentResult
from cyclescope.experiments import m4_rules


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    return result_of("m4-rules")


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
    # the manual gives a range for them
    assert left_out(m4_rules.APP, m4_rules.TABLE) == {"isb"}
    assert all(line["sum"] and line["source"] for line in lines_of(m4_rules.TABLE))


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
    table = lines_of(m4_rules.TABLE)
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
