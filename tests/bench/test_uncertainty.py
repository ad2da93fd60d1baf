"""The range of a run's numbers over the assumptions of its board."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, Command
from test_schemas import faults

import cyclescope as package
from cyclescope import sweeps
from cyclescope._engine import Stop
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED
from cyclescope.errors import UsageError
from cyclescope.sweeps import uncertainty
from cyclescope.sweeps.effects import is_significant
from cyclescope.sweeps.requests import Request
from cyclescope.sweeps.uncertainty import Uncertainty

Program = Callable[[str], Path]
SAMPLES = 20


def measured(elf: Path, **more: object) -> Uncertainty:
    request = Request(str(elf), BOARD, **more)  # type: ignore[arg-type]
    with sweeps.runner(2) as runner:
        return uncertainty.study(request, SAMPLES).measure(runner, Stop(), None, lambda *_: None)


def test_intervals_are_those_of_a_sweep_of_all_ranges(program: Program) -> None:
    elf = program("results")
    found = measured(elf)
    ranged = [
        one
        for one in package.Board(BOARD).parameters
        if one.basis in (ASSUMED, CALIBRATED) and len(set(one.plausible_values)) > 1
    ]
    assert [one.property_name for one in found.ranged] == [one.property_name for one in ranged]
    vary = {
        uncertainty.path(one): (
            ":".join(map(str, sorted(one.plausible_values)))
            if one.is_span
            else [str(value) for value in sorted(one.plausible_values)]
        )
        for one in ranged
    }
    rows = package.sweep(elf, BOARD, vary, samples=SAMPLES, sampling="latin").rows
    alone = package.Board(BOARD).load(elf).run()
    intervals = {one.measure.name: one for one in found.intervals}
    assert intervals["elapsed_ps"].nominal == alone.elapsed_ps
    for name in ("elapsed_ps", "cpu0.cycles"):
        values = sorted(row.values[name] for row in rows)
        # 5 % of 20 runs: a twentieth of the way from the first to the second, 19 intervals
        low = values[0] + 0.95 * (values[1] - values[0])
        high = values[-1] - 0.95 * (values[-1] - values[-2])
        one = intervals[name]
        assert one.low == pytest.approx(min(low, one.nominal))
        assert one.high == pytest.approx(max(high, one.nominal))
        assert one.low < one.high


def test_values_that_the_user_sets_are_not_varied(program: Program) -> None:
    elf = program("results")
    first = measured(elf).ranged
    path = uncertainty.path(first[0])
    fewer = measured(elf, sets={path: first[0].value}).ranged
    assert [uncertainty.path(one) for one in first if one not in fewer] == [path]
    everything = {uncertainty.path(one): one.value for one in first}
    with pytest.raises(UsageError, match="no assumed or calibrated value with a range"):
        measured(elf, sets=everything)


def test_the_same_is_significant_twice(program: Program) -> None:
    assert measured(program("results")) == measured(program("results"))


def test_a_run_that_fails_is_significant_at_once(program: Program) -> None:
    with pytest.raises(UsageError, match="the run itself fails"):
        measured(program("endless_loop"), limit="1ms")


def test_the_command_prints_intervals(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    elf = program("results")
    done = cyclescope(
        "run",
        elf,
        "--board",
        BOARD,
        "--uncertainty",
        SAMPLES,
        "--section",
        "main",
        "--json",
        tmp_path / "u.json",
    )
    assert done.status == 0, done.stderr
    assert f"{SAMPLES} runs with" in done.stdout
    assert "main.ps" in done.stdout
    data = json.loads((tmp_path / "u.json").read_text())
    assert faults("uncertainty", data) == []
    names = [one["name"] for one in data["intervals"]]
    assert {"elapsed_ps", "main.ps", "cpu0.cycles"} <= set(names)
    for one in data["intervals"]:
        assert one["low"] <= one["value"] <= one["high"]
        assert sum(cause["part"] for cause in one["causes"]) <= 1.001


def test_few_runs_name_no_causes(cyclescope: Command, program: Program, tmp_path: Path) -> None:
    """With 10 runs any value goes along with a number by chance: none can be named."""
    out = tmp_path / "u.json"
    options = ("--board", BOARD, "--uncertainty", 10, "--json", out)
    done = cyclescope("run", program("results"), *options)
    assert done.status == 0, done.stderr
    assert "mostly because of" not in done.stdout
    assert "Causes: 10 runs are too few to distinguish them from chance" in done.stdout
    data = json.loads(out.read_text())
    assert [one["causes"] for one in data["intervals"]] == [[]] * len(data["intervals"])


def test_a_value_without_an_effect_is_hardly_ever_named() -> None:
    """22 values, as many as a board draws, that no number depends on; and one that it does on."""
    chance = random.Random(51)
    named = found = 0
    for _ in range(200):
        rows = chance.choice((10, 14, 20, 30, 100))
        columns = [chance.sample(range(rows), rows) for _ in range(22)]
        numbers = [chance.lognormvariate(0, 2) for _ in range(rows)]
        named += any(is_significant(column, numbers, 22) for column in columns)
        # two thirds of the variance are of the first value
        moved = [place + chance.gauss(0, rows / 5) for place in columns[0]]
        found += rows > 14 and is_significant(columns[0], moved, 22)
    assert named <= 4  # 1 % of 200, and three deviations
    assert found > 80


def test_ranks_are_significant_with_as_many_rows_as_chance_needs() -> None:
    # 1 % at two ends: 2.576 deviations of 1 / sqrt(rows - 1)
    assert [is_significant(range(rows), range(0, -rows, -1), 1) for rows in (1, 7, 8)] == [
        False,
        False,
        True,
    ]
    # 20 settings: 3.48 deviations, 14 rows
    assert [is_significant(range(rows), range(rows), 20) for rows in (13, 14)] == [False, True]
    # a value that never differs has no rank; the order of two values, or of words, has one
    assert not is_significant([1] * 50, range(50), 1)
    assert is_significant([1] * 25 + [2] * 25, range(50), 1)
    assert is_significant(["a"] * 25 + ["b"] * 25, range(50), 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--uncertainty", "--waves", "x.vcd"), "--waves is for a single run"),
        (("--uncertainty", "--verbose"), "-v is for a single run"),
        (("--uncertainty", "9"), "10<=x<=100000"),
        (("--uncertainty", "--set", "ddr.nothing=1"), "no such board property"),
    ],
)
def test_conflicting_options_are_one_line(
    cyclescope: Command, program: Program, options: tuple[str, ...], words: str
) -> None:
    done = cyclescope("run", program("results"), "--board", BOARD, *options)
    assert done.status == 121
    assert words in done.error
    assert done.stdout == ""
