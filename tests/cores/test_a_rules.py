"""Sequences of instructions on a Cortex-A5 and an A7: each takes what it should."""

from __future__ import annotations

import pytest
from rule_tables import left_out, lines_of, result_of

from cyclescope.bench import published
from cyclescope.bench.results import ExperimentResult
from cyclescope.experiments import a_rules

# docs/cortex-a.md says why
_MISSED = [("cortex-a7", "clz", 15, 8)]


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    return result_of("a-rules")


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
    # no source says how long it takes
    assert left_out(a_rules.APP, a_rules.TABLE) == {"load_then_address"}


def test_the_sums_give_the_cycles() -> None:
    for line in lines_of(a_rules.TABLE):
        terms = line["sum"].split(":")[0].replace(" x ", " * ")
        assert eval(terms, {"__builtins__": {}}) == int(line["cycles"]), line["sequence"]
        assert line["source"]
