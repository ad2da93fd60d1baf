"""Profiles: what is made of the engine's numbers, and the sums over functions, lines and files."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from hypothesis import given
from profiles import CYCLES, PLACES, any_core, core, made_up, places_of, raw

from cyclescope.errors import EngineError
from cyclescope.profile.building import core_profile
from cyclescope.profile.calls import calls_of, latencies, spread
from cyclescope.profile.model import Call, CoreProfile
from cyclescope.profile.tables import NOWHERE, UNKNOWN, VIEWS, rows


def test_cycles_sum_to_those_of_the_core() -> None:
    assert core().cycles == CYCLES
    assert core().total_cycles[0] == CYCLES


def test_other_cycles_than_the_runs_are_a_fault() -> None:
    with pytest.raises(EngineError, match=f"cpu0 has {CYCLES:,} cycles, the run {CYCLES + 1:,}"):
        core_profile(raw(), places_of(PLACES), CYCLES + 1, ["work"])


def test_inlined_functions_are_frames_of_their_own() -> None:
    made = core()
    deepest = [cost for cost in made.costs if len(cost.places) == 3]
    assert [made.names(cost.path) for cost in deepest] == [
        ["from reset", "main", "work", "fill", "set_words", "set_word"]
    ]
    kinds = [made.paths[index].kind for index in made.chain(deepest[0].path)]
    assert kinds == ["task", "function", "function", "function", "inlined", "inlined"]


def test_a_function_without_a_caller_is_below_its_task() -> None:
    made = core()
    starts = [cost for cost in made.costs if cost.place.function == "_start"]
    assert [made.names(cost.path) for cost in starts] == [["from reset", "_start"]]
    assert [made.names(cost.path) for cost in made.costs if cost.address is None] == [
        ["from reset"],
        ["from reset", "main", "work", "IRQ 28"],
    ]


def test_functions_have_their_own_cycles_and_those_of_what_they_call() -> None:
    table = {row.name: row for row in rows(core(), "function")}
    assert (table["work"].self_cycles, table["work"].total_cycles) == (270, 900)
    assert (table["work"].calls, table["work"].instructions) == (3, 150)
    assert table["work"].cpi == 1.8
    assert table["work"].causes == {"issue": 150, "load: ddr": 120}
    assert (table["work"].longest_cycles, table["work"].longest_at_ps) == (400, 7_000)
    # an inlined function has cycles and no calls
    assert (table["set_word"].self_cycles, table["set_word"].calls) == (497, None)
    assert (table["set_words"].self_cycles, table["set_words"].total_cycles) == (100, 597)
    # a recursion counts once
    assert (table["fib"].self_cycles, table["fib"].total_cycles, table["fib"].calls) == (70, 70, 3)
    assert (table["IRQ 28"].self_cycles, table["IRQ 28"].total_cycles) == (6, 30)
    # without a symbol it is an address
    assert table["0x00000600"].self_cycles == 11
    assert (table["main"].total_cycles, table["main"].longest_path) == (CYCLES - 9, None)


def test_lines_files_tasks_and_addresses() -> None:
    lines = {row.name: row.self_cycles for row in rows(core(), "line")}
    assert lines["fill.h:5"] == 497
    assert lines["app.c:40"] == 40
    assert lines[UNKNOWN] == 11
    assert lines[NOWHERE] == 13
    files = {row.name: row for row in rows(core(), "file")}
    assert files["/src/fill.h"].self_cycles == 597
    assert (files["/src/app.c"].self_cycles, files["/src/app.c"].total_cycles) == (381, CYCLES - 9)
    (task,) = rows(core(), "task")
    assert (task.name, task.self_cycles) == ("from reset", CYCLES)
    addresses = {row.name: row.self_cycles for row in rows(core(), "address")}
    assert addresses["0x80000400"] == 40
    assert addresses[NOWHERE] == 13


@given(any_core())
def test_each_view_sums_to_all_cycles(made: CoreProfile) -> None:
    for by in VIEWS:
        table = rows(made, by)
        assert sum(row.self_cycles for row in table) == made.cycles
        assert sum(row.instructions for row in table) == made.instructions
        for row in table:
            assert sum(row.causes.values()) == row.self_cycles
            assert row.total_cycles is None or row.self_cycles <= row.total_cycles <= made.cycles
    roots = [index for index, path in enumerate(made.paths) if path.parent is None]
    assert sum(made.total_cycles[index] for index in roots) == made.cycles


def test_functions_of_one_name_in_two_files_are_two() -> None:
    two = dict(PLACES)
    two[0x8000_0200] = [("fill", "/src/other.c", 3, None)]
    names = [
        row.name for row in rows(core_profile(raw(), places_of(two), CYCLES, ["work"]), "function")
    ]
    assert {"fill (app.c)", "fill (other.c)"} < set(names)


def test_calls_are_spread_over_bins() -> None:
    few = spread([Call(0, at, cycles) for at, cycles in enumerate((200, 300, 400, 300, 300))])
    assert few is not None
    assert (few.calls, few.shortest, few.median, few.longest, few.mean) == (5, 200, 300, 400, 300)
    assert sum(found.calls for found in few.bins) == 5
    assert few.bins[0].least <= 200 < few.bins[0].below
    assert few.bins[-1].least <= 400 < few.bins[-1].below
    assert few.worst == Call(0, 2, 400)
    wide = spread([Call(0, 0, cycles) for cycles in (0, 1, 3, 5_000)])
    assert wide is not None
    assert [(one.least, one.below, one.calls) for one in wide.bins[:3]] == [
        (0, 1, 1),
        (1, 2, 1),
        (2, 4, 1),
    ]
    assert (wide.bins[-1].least, wide.bins[-1].below, wide.bins[-1].calls) == (4096, 8192, 1)
    assert (wide.median, wide.p99) == (1, 5_000)
    assert spread([]) is None


def test_latency_of_interrupts() -> None:
    (timer,) = latencies(core())
    assert (timer.line, timer.taken) == ("IRQ 28", 2)
    assert (timer.least_ps, timer.mean_ps, timer.most_ps) == (200, 230, 260)
    assert (timer.most_at_ps, timer.longest_response_ps) == (9_700, 400)
    unknown = raw() | {"interrupts": [(6, None, None, None, 5, 6, 7)]}
    (own,) = latencies(core_profile(unknown, places_of(PLACES), CYCLES, ["work"]))
    assert (own.taken, own.most_ps, own.longest_response_ps) == (1, None, None)
    # One that another one interrupts, and a device that is known once.
    taken = [(6, None, None, None, 10, 11, 50, 40), (6, "timer", 28, 20, 21, 22, 30, 9)]
    (one,) = latencies(
        core_profile(raw() | {"interrupts": taken}, places_of(PLACES), CYCLES, ["work"])
    )
    assert one.line.startswith("timer (")
    assert (one.taken, one.handler_ps, one.handler_cycles) == (2, 40, 40)


def test_calls_are_known_by_the_name_that_was_asked_for() -> None:
    two = raw("cm4") | {"calls": [[(2, 1, 2)], [(3, 4, 5)]]}
    made = core_profile(two, places_of(PLACES), CYCLES, ["cm4:work", "cpu0:main", "cm4:fill"])
    assert {name: calls[0].path for name, calls in made.calls.items()} == {
        "cm4:work": 2,
        "cm4:fill": 3,
    }
    assert calls_of(made, "cm4:work") == (Call(2, 1, 2),)
    assert calls_of(made, "cpu0:work") == ()
    mixed = core_profile(two, places_of(PLACES), CYCLES, ["work", "cpu0:main", "cm4:fill"])
    assert calls_of(mixed, "work") == (Call(2, 1, 2),)
    assert calls_of(mixed, "cm4:fill") == (Call(3, 4, 5),)


def test_data_frames() -> None:
    pytest.importorskip("pandas")
    profile = made_up()
    functions = profile.functions()
    assert functions["self_cycles"].sum() == CYCLES
    assert functions.set_index("function")["load: ddr"]["set_word"] == 377
    assert profile.lines()["cycles"].sum() == CYCLES
    calls = profile.calls()
    assert list(calls["cycles"]) == [400, 200, 300]
    assert calls["path"][0] == "from reset;main;work"
    assert list(profile.interrupts()["latency_ps"])[:2] == [200, 260]
    assert profile.notes == ("cpu0: a jump at 0x8000020c is no call and no return",)


def test_data_frames_of_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType("polars")
    stand_in.DataFrame = lambda columns, strict: columns  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "polars", stand_in)
    columns = made_up().functions(polars=True)
    assert sum(columns["self_cycles"]) == CYCLES
    assert len(columns["function"]) == len(columns["load: ddr"])
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"pip install 'cyclescope\[polars\]'"):
        made_up().functions(polars=True)
