"""Two runs as plain data: differences sum exactly, functions are paired, words say why."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import any_core

from cyclescope.board.results import Metric, RunResult
from cyclescope.comparing import compare, limits, markdown, of_result, words
from cyclescope.comparing.differences import Change, Comparison
from cyclescope.comparing.directions import LESS, MORE, worse
from cyclescope.comparing.plain import plain
from cyclescope.comparing.runs import Core, Function, Run, functions
from cyclescope.errors import UsageError
from cyclescope.profile.model import CoreProfile


def function(name: str, file: str | None = None, calls: int | None = 1, **causes: int) -> Function:
    cycles = sum(causes.values())
    return Function(name, file, None, cycles, cycles, causes.get("issue", 0), calls, causes)


def core(*ones: Function, name: str = "cpu0") -> Core:
    causes: dict[str, int] = {}
    for one in ones:
        for cause, cycles in one.causes.items():
            causes[cause] = causes.get(cause, 0) + cycles
    cycles = sum(one.cycles for one in ones)
    return Core(name, cycles, sum(one.instructions for one in ones), causes, ones)


def run(*cores: Core, label: str = "a.elf", **more: Any) -> Run:
    usual = {"outcome": "exit", "exit_code": 0, "elapsed_ps": 1}
    return Run(label, "a-board", label, cores=cores, **(usual | more))


def compared(before: tuple[Function, ...], after: tuple[Function, ...]) -> Comparison:
    return compare(run(core(*before)), run(core(*after), label="b.elf"))


def of_profile(profile: CoreProfile) -> Core:
    causes = profile.by_cause(profile.costs)
    found = functions(profile)
    return Core("cpu0", profile.cycles, profile.instructions, causes, found)


@given(any_core(), any_core(), st.integers(0, 4))
def test_differences_sum_to_that_of_the_core_whatever_the_profiles(
    before: CoreProfile, after: CoreProfile, top: int
) -> None:
    (change,) = compare(run(of_profile(before)), run(of_profile(after))).cores
    assert change.functions is not None
    total = after.cycles - before.cycles
    assert sum(one.cycles.difference for one in change.functions) == total
    assert sum(change.causes.values()) == total
    for one in change.functions:
        assert sum(one.causes.values()) == one.cycles.difference
    shown = change.differing[:top]
    rest = words.rest(change, shown)
    printed = [one.cycles.difference for one in shown] + ([rest[1].difference] if rest else [])
    assert sum(printed) == total


@given(any_core())
def test_a_run_does_not_differ_from_itself(profile: CoreProfile) -> None:
    found = compare(run(of_profile(profile)), run(of_profile(profile)))
    assert found.is_equal
    assert f"Cyclescope: {words.NO_DIFFERENCE}\n" in markdown.markdown(found, {})


def test_functions_are_paired_by_name_and_file_and_moved_ones_by_name() -> None:
    before = (
        function("init", "/old/a.c", issue=10),
        function("init", "/old/b.c", issue=20),
        function("moved", "/old/a.c", issue=5),
        function("left", "/old/a.c", issue=7),
    )
    after = (
        function("init", "/new/a.c", issue=11),
        function("init", "/new/b.c", issue=20),
        function("moved", "/new/c.c", issue=5),
        function("came", None, issue=9),
    )
    (change,) = compared(before, after).cores
    assert change.functions is not None
    states = {one.name: (one.state, one.cycles.difference) for one in change.functions}
    assert states == {
        "came": ("new", 9),
        "left": ("gone", -7),
        "init (a.c)": (None, 1),
        "init (b.c)": (None, 0),
        "moved": (None, 0),
    }
    assert [one.name for one in change.differing] == ["came", "left", "init (a.c)"]


def test_words_say_causes_then_calls_and_instructions() -> None:
    before = function("f_write", calls=3, issue=1_000, **{"load: ddr": 9_000, "store: ddr": 40})
    after = function("f_write", calls=5, issue=1_300, **{"load: ddr": 11_100, "store: ddr": 41})
    (change,) = compared((before,), (after,)).cores[0].functions or ()
    assert words.why(change) == (
        "load: ddr +2,100, issue +300; 2 more calls, 300 more instructions"
    )
    inlined = function("f_write", calls=None, issue=1_000)
    (change,) = compared((function("f_write", issue=1_000),), (inlined,)).cores[0].functions or ()
    assert words.why(change) == "now inlined, 1 fewer call"
    assert not change.is_equal


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (100, 102, "+2.0 %"),
        (3_000, 2_999, "-0.03 %"),
        (10**9, 10**9 + 1, "+<0.01 %"),
        (10**9, 10**9 - 1, "-<0.01 %"),
        (0, 5, "new"),
        (7, 7, ""),
        (0, 0, ""),
    ],
)
def test_a_change_in_percent_is_never_shown_as_nothing(before: int, after: int, shown: str) -> None:
    assert words.percent(Change(before, after)) == shown


@pytest.mark.parametrize(
    ("name", "unit", "expected"),
    [
        ("write", "us", MORE),
        ("write", "cycles", MORE),
        ("copy", "cycles/byte", MORE),
        ("context switch", "ns per switch", MORE),
        ("write", "kB/s", LESS),
        ("write", "MiB/s", LESS),
        ("radio", "kbps", LESS),
        ("score", "iterations/s", LESS),
        ("score", "CoreMark/MHz", LESS),
        ("preemption", "loops", LESS),
        ("irq_latency", "", MORE),
        ("throughput", "", LESS),
        ("checksum", "crc16", None),
        ("iterate", "crc16", None),
        ("stack", "bytes", None),
        ("load", "%", None),
    ],
)
def test_a_metric_gets_worse_in_the_expected_direction(
    name: str, unit: str, expected: str | None
) -> None:
    assert worse(name, unit) == expected


def metrics(**values: float) -> tuple[Metric, ...]:
    units = {"time": "us", "rate": "kB/s", "size": "bytes"}
    return tuple(Metric(name, units[name], value) for name, value in values.items())


def exceeded(before: Run, after: Run, percent: str, *names: str, **more: str) -> list[str]:
    found = limits.exceeded(compare(before, after, more), limits.parse_percent(percent), names)
    return [one.what for one in found]


def test_a_metric_exceeds_only_for_the_worse() -> None:
    old = run(metrics=metrics(time=100, rate=100, size=100))
    assert exceeded(old, run(metrics=metrics(time=103, rate=103, size=103)), "2%") == ["time"]
    assert exceeded(old, run(metrics=metrics(time=97, rate=97, size=97)), "2%") == ["rate"]
    grown = run(metrics=metrics(time=100, rate=100, size=103))
    assert exceeded(old, grown, "2%", size=MORE) == ["size"]
    assert exceeded(old, grown, "3%", size=MORE) == []
    assert exceeded(old, run(metrics=metrics(time=102, rate=98, size=1)), "2%") == []


@pytest.mark.parametrize(
    ("before", "after", "moves"),
    [
        (100, 102, False),
        (10**17, 102 * 10**15, False),
        (10**17, 102 * 10**15 + 1, True),
        (100.1, 102.102, False),
        (100.1, 102.11, True),
        (-5.0, -5.2, True),
        (0, 0, False),
        (0, 0.1, True),
    ],
)
def test_a_change_of_more_than_two_percent_exceeds_the_limit(
    before: int | float, after: int | float, moves: bool
) -> None:
    assert limits.exceeds(Change(before, after), limits.parse_percent("2%")) is moves


def test_metrics_of_any_digits_are_compared() -> None:
    found = []
    for value in ("1", "9" * 400, "Infinity", "-Infinity", "NaN", "-1e400", "1e308"):
        line = f'{{"metric":"time","unit":"us","value":{value}}}'
        result = RunResult("b", "f", "exit", 0, None, 1, line, (), {})
        found.append(of_result(result, value))
    for one in found:
        assert compare(one, one).is_equal
        for other in found:
            change = compare(one, other)
            limits.exceeded(change, limits.parse_percent("2%"), ())
            assert markdown.markdown(change, {})
            json.dumps(plain(change, {}), allow_nan=False)


def test_cycles_and_functions_exceed_by_more_than_was_allowed_and_no_less() -> None:
    old = run(core(function("f", issue=100), function("g", issue=900)))
    new = run(core(function("f", issue=102), function("g", issue=901), function("h", issue=1)))
    assert exceeded(old, new, "0.4%") == []
    assert exceeded(old, new, "0.3%") == ["cpu0: all cycles"]
    assert exceeded(old, new, "1%", "f", "g", "h") == [
        "cpu0: f with all it calls",
        "cpu0: h with all it calls",
    ]
    assert exceeded(old, new, "2%", "f") == []
    assert exceeded(new, old, "0%", "f") == []
    with pytest.raises(UsageError, match="--function ff: it ran in neither; did you mean 'f'"):
        exceeded(old, new, "2%", "ff")


@pytest.mark.parametrize("text", ["2", "", "%", "-1%", "two%", "1e3%", "2%%", "nan%", "9" * 20])
def test_an_invalid_percentage_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected percent such as 2%"):
        limits.parse_percent(text)


def test_markdown_has_a_table_that_sums_and_no_name_breaks_it() -> None:
    old = [function(f"f{number}", issue=100) for number in range(20)]
    new = [function(f"f{number}", issue=100 + number) for number in range(20)]
    odd = function("operator|(a<b>)`", issue=1_000)
    text = markdown.markdown(compared(tuple(old), (*new, odd)), {}, (), "2%")
    assert text.startswith("### Cyclescope: cpu0 +59.5 % (+1,190 cycles)\n")
    assert "Nothing got worse" in text
    table = [line for line in text.splitlines() if line.startswith("| `") or "other" in line]
    differences = [int(re.split(r"(?<!\\)\|", line)[4].replace(",", "")) for line in table]
    assert len(differences) == 11
    assert sum(differences) == 1_190
    assert r"| `operator\|(a<b>)'` |" in text


def test_metrics_of_one_name_are_paired_by_their_settings_then_by_their_turn() -> None:
    def read(*values: tuple[int, int]) -> Run:
        return run(metrics=tuple(Metric("read", "us", v, {"bytes": size}) for size, v in values))

    found = compare(read((1, 10), (2, 20), (2, 21)), read((2, 20), (2, 22), (4, 5))).metrics
    assert [(one.settings["bytes"], one.before, one.after, one.verdict) for one in found] == [
        (1, 10, None, "gone"),
        (2, 20, 20, "same"),
        (2, 21, 22, "worse"),
        (4, None, 5, "new"),
    ]
