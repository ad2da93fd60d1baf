"""Sweeps: each row is the run that its settings say, made once, and failed ones say why."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import BOARD
from tiers import sized

import cyclescope as package
from cyclescope import firmware, sweeps
from cyclescope._engine import Stop
from cyclescope.board.results import Metric
from cyclescope.comparing import directions
from cyclescope.errors import SettingError, UsageError
from cyclescope.sweeps import caches, designs, files, measures, requests, words
from cyclescope.sweeps.axes import Axis, Span
from cyclescope.sweeps.designs import Design
from cyclescope.sweeps.measures import Measure
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.results import SweepResult, SweepRow

Program = Callable[[str], Path]

# Values of a setting: two such settings make too many runs; one setting may have a million.
MANY = sized(10_000, 1_000_000)
SHORT = {
    "rhealstone.operation": "task-switch",
    "rhealstone.loops": "20",
    "rhealstone.tick": "on",
    "rhealstone.pins": "off",
    "rhealstone.width": "quad-io",
    "rhealstone.continuous_read": "on",
    "rhealstone.cache": "on",
    "rhealstone.spck_divider": "3",
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of other tests are not there; what was built is."""
    from cyclescope import resources

    shared = resources.cache()
    own = tmp_path / "cache"
    own.mkdir()
    for name in ("firmware", "objects", "zig"):
        (shared / name).mkdir(parents=True, exist_ok=True)
        (own / name).symlink_to(shared / name)
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(own))


def test_each_row_is_the_run_of_its_settings(program: Program) -> None:
    elf = program("results")
    found = package.sweep(
        elf,
        BOARD,
        {"cpu0.d-cache-size": "0,16K", "ddr.cyclescope,first-word-cycles": [20, 40]},
        sections=["main"],
    )
    assert len(found.rows) == found.planned == 4
    for row in found.rows:
        assert row.error is None
        overrides = {path: int(value) for path, value in row.settings.items()}
        alone = package.Board(BOARD, overrides).load(elf).run(sections=["main"])
        assert row.values["elapsed_ps"] == alone.elapsed_ps
        assert row.values["cpu0.cycles"] == alone.cycles
        assert row.values["main.ps"] == alone.cores[0].sections[0].ps
        printed = {metric.name: metric.value for metric in alone.metrics}
        assert {name: row.values[name] for name in printed} == printed
        stack = {name: ps for name, ps in row.values.items() if name.startswith("cpu0.stack.")}
        assert sum(stack.values()) == alone.elapsed_ps


def test_runs_that_were_made_are_not_made_again(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    elf, vary = program("results"), {"ddr.cyclescope,first-word-cycles": "20,40"}
    first = package.sweep(elf, BOARD, vary)
    assert [row.is_kept for row in first.rows] == [False, False]
    # one more value, one of the old ones in other words
    second = package.sweep(elf, BOARD, {"ddr.cyclescope,first-word-cycles": "0x14,30,40"})
    assert [row.is_kept for row in second.rows] == [True, False, True]
    assert second.rows[0].values == first.rows[0].values
    assert [row.is_kept for row in package.sweep(elf, BOARD, vary, again=True).rows] == [False] * 2
    # another program, a limit, a function to watch: other runs
    assert not any(row.is_kept for row in package.sweep(program("exit_code"), BOARD, vary).rows)
    assert not any(row.is_kept for row in package.sweep(elf, BOARD, vary, limit="9s").rows)
    assert not any(row.is_kept for row in package.sweep(elf, BOARD, vary, sections=["main"]).rows)


def test_a_damaged_outcome_is_made_again(program: Program, tmp_path: Path) -> None:
    elf, vary = program("results"), {"ddr.cyclescope,first-word-cycles": "20,40"}
    first = package.sweep(elf, BOARD, vary)
    for kept, text in zip(tmp_path.glob("cache/runs/*/*/*.json"), ("{", "[]"), strict=True):
        kept.write_text(text)
    second = package.sweep(elf, BOARD, vary)
    assert [row.is_kept for row in second.rows] == [False, False]
    assert second == first


def test_a_board_file_that_changes_is_another_board(program: Program, tmp_path: Path) -> None:
    source = f'/dts-v1/;\n/include/ "{package.board.find_board(BOARD).resolve()}"\n'
    own = tmp_path / "own.dts"
    own.write_text(source)
    vary = {"cpu0.d-cache-size": "0,16K"}
    elf = program("results")
    before = package.sweep(elf, own, vary)
    own.write_text(source + "&ddr { cyclescope,first-word-cycles = <90>; };\n")
    after = package.sweep(elf, own, vary)
    assert not any(row.is_kept for row in after.rows)
    assert before.rows[0].values["elapsed_ps"] < after.rows[0].values["elapsed_ps"]


def test_runs_that_fail_are_rows_with_their_reason(program: Program) -> None:
    elfs = [str(program(name)) for name in ("results", "endless_loop")]
    found = package.sweep(elfs[0], BOARD, {"elf": elfs}, limit="100ms")
    assert [row.error is None for row in found.rows] == [True, False]
    assert "did not end" in str(found.rows[1].error)
    assert found.rows[1].value("elapsed_ps") is None
    assert found.failures == (found.rows[1],)


def test_programs_may_print_different_metrics(program: Program) -> None:
    elfs = [str(program(name)) for name in ("results", "flash_readback")]
    vary = {"elf": elfs}
    found = package.sweep(elfs[0], BOARD, vary)
    assert found.failures == ()
    assert found.rows[0].value("answer") is not None
    assert found.rows[1].value("answer") is None
    # unless one is asked for
    asked = package.sweep(elfs[0], BOARD, vary, metrics=["answer"])
    assert [row.error for row in asked.rows] == [None, "it gave no answer"]


def test_a_stopped_sweep_resumes(program: Program) -> None:
    elf, vary = program("results"), {"ddr.cyclescope,first-word-cycles": "20:60:1"}
    stop = Stop()

    def ended(row: int, outcome: Outcome) -> None:
        if row == 5:
            stop.request()

    part = package.sweep(elf, BOARD, vary, threads=1, stop=stop, ended=ended)
    assert 6 <= len(part.rows) < part.planned == 41
    whole = package.sweep(elf, BOARD, vary, threads=2)
    assert sum(row.is_kept for row in whole.rows) == len(part.rows)
    assert whole.rows[: len(part.rows)] == part.rows
    assert whole == package.sweep(elf, BOARD, vary, threads=1, again=True)


def test_boards_are_a_dimension(program: Program) -> None:
    elf = program("results")
    found = package.sweep(elf, vary={"board": [BOARD]})
    assert found.rows[0].settings == {"board": BOARD}
    with pytest.raises(SettingError, match="--vary board=nios2-mmc: "):
        package.sweep(elf, vary={"board": [BOARD, "nios2-mmc"]})


# ---- experiments


def test_an_experiment_with_its_settings_and_flags() -> None:
    found = package.sweep(
        "rhealstone",
        vary={"app.memory": "qspi,sram", "flags": "-O0,-O2"},
        overrides={**SHORT, "rhealstone.debug_drivers": "off"},
    )
    assert found.columns == ("app.memory", "flags")
    assert found.metrics == ("cycles",)
    cycles = {
        (row.settings["app.memory"], row.settings["flags"]): row.value("cycles")
        for row in found.rows
    }
    assert len(cycles) == 4
    for memory in ("qspi", "sram"):
        assert 0 < float(cycles[memory, "-O2"] or 0) < float(cycles[memory, "-O0"] or 0)


def test_an_app_that_does_not_build_is_a_row() -> None:
    found = package.sweep("m4-rules", vary={"flags": "-O0,-include_nothing.h"})
    assert [row.error is None for row in found.rows] == [True, False]
    assert "does not build" in str(found.rows[1].error)


# ---- what is refused before anything runs


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({}, "nothing is varied"),
        ({"ddr.nothing": "1,2"}, "--vary ddr.nothing: no such board property"),
        ({"ddr.cyclescope,first-word-cycles": "1:2"}, "a grid needs a step"),
        ({"ddr.cyclescope,first-word-cycles": "20,x"}, "expected an integer"),
        ({"cpu0.d-cache-size": "3K,4K"}, "--vary cpu0.d-cache-size=3K: "),
        ({"elf": "no-*.elf"}, "no such files"),
        ({"flags": "-Os"}, "name an experiment"),
        ({"app.loops": "1,2"}, "name an experiment"),
        (
            {"ddr.cyclescope,first-word-cycles": f"1:{MANY}:1", "cpu0.d-cache-size": f"1:{MANY}:1"},
            f"this sweep would be {MANY * MANY:,} runs",
        ),
    ],
)
def test_an_impossible_sweep_runs_nothing(
    program: Program, vary: Mapping[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("something runs")

    monkeypatch.setattr("cyclescope.sweeps.running.run", never)
    with pytest.raises(UsageError) as refused:
        package.sweep(program("results"), BOARD, vary)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_metric_that_no_run_has_ends_the_sweep_early(program: Program) -> None:
    ended: list[int] = []
    with pytest.raises(SettingError, match="--metric elapsed: no run has it"):
        package.sweep(
            program("results"),
            BOARD,
            {"ddr.cyclescope,first-word-cycles": "20:60:1"},
            metrics=["elapsed"],
            ended=lambda row, outcome: ended.append(row),
            threads=1,
        )
    assert ended == []


# ---- caches of other sizes


@pytest.mark.parametrize(("size", "sets"), [("32K", 2048), ("1K", 64), ("0", None), ("x", None)])
def test_a_cache_of_another_size_keeps_its_ways(size: str, sets: int | None) -> None:
    tree = package.board.board_tree(BOARD)
    # 16 KiB of one way: 1024 sets of 16 bytes
    assert caches.sets_for(tree, "cpu0.d-cache-size", size) == sets
    assert caches.sets_path("cpu0.d-cache-size") == "cpu0.d-cache-sets"
    assert caches.sets_path("l2.cache-size") == "l2.cache-sets"
    assert caches.sets_path("ddr.size") is None


# ---- TOML


def test_a_file_says_what_python_says(program: Program, tmp_path: Path) -> None:
    elf = program("results")
    toml = tmp_path / "own.toml"
    toml.write_text(
        f"""
target = "{elf}"
board = "{BOARD}"
sections = ["main"]
less_is_worse = ["main.ps"]

[vary]
"ddr.cyclescope,first-word-cycles" = "20:40:20"
"cpu0.d-cache-size" = [0, "16K"]

[prices]
"cpu0.d-cache-size" = {{ 0 = 0, 16K = 0.2 }}
"""
    )
    vary = {"ddr.cyclescope,first-word-cycles": "20:40:20", "cpu0.d-cache-size": [0, "16K"]}
    found = package.sweep(toml)
    prices = {"cpu0.d-cache-size": "0:0,16K:0.2"}
    given = {"sections": ["main"], "less_is_worse": ["main.ps"], "prices": prices}
    assert found == package.sweep(elf, BOARD, vary, **given)
    assert [row.price for row in found.rows] == [0, 0.2, 0, 0.2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x", "own.toml: "),
        ("taget = 'a'", "taget: no such key in a sweep; did you mean 'target'?"),
        ("vary = 3", "vary: expected a table, not 3"),
        ("board = 'x'", "target is missing"),
        ("target = 'rhealstone'\nsampling = 'all'", "there are random, latin, sobol"),
        ("target = 'rhealstone'\n[vary]\na = []", "--vary a: there are no values"),
        (
            "target = 'rhealstone'\nless_is_worse = ['a', 'b']\nmore_is_worse = ['b']",
            "--more-is-worse and --less-is-worse name the same metric: b",
        ),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    toml = tmp_path / "own.toml"
    toml.write_text(text)
    with pytest.raises(UsageError) as refused:
        requests.read_toml(toml)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


# ---- what is made of the rows


def made_up(
    axes: tuple[Axis, ...], design: Design, value: Callable[..., float], unit: str = "cycles"
) -> SweepResult:
    """A result whose rows have a value that is worked out from the point."""
    names = [axis.path for axis in axes]
    points = [tuple(map(int, point)) for point in design.points(axes)]
    rows = tuple(
        SweepRow(
            dict(zip(names, point, strict=True)), {"cost": value(*point)}, None, point[0], False
        )
        for point in points
    )
    measures = {"cost": Measure("cost", unit, True)}
    return SweepResult(
        "t.elf", "b", axes, design, tuple(names), ("cost",), measures, rows, len(rows)
    )


def test_main_effects_of_a_sum_are_its_terms() -> None:
    """10 a + 4 b over a, b in 0, 1: variances 25 and 4, and no interaction."""
    axes = (Axis("a", ("0", "1")), Axis("b", ("0", "1")))
    found = sweeps.effects(made_up(axes, Design(), lambda a, b: 10 * a + 4 * b))
    assert [effect.name for effect in found.effects] == ["a", "b"]
    assert [effect.first for effect in found.effects] == pytest.approx([25 / 29, 4 / 29])
    assert found.rest == pytest.approx(0)
    first = found.effects[0]
    assert (first.best, first.best_mean, first.worst, first.worst_mean) == (0, 2, 1, 12)


def test_interactions_of_two_settings_are_the_rest() -> None:
    axes = (Axis("a", ("0", "1")), Axis("b", ("0", "1")))
    found = sweeps.effects(made_up(axes, Design(), lambda a, b: a ^ b))
    assert [effect.first for effect in found.effects] == pytest.approx([0, 0])
    assert found.rest == pytest.approx(1)


@pytest.mark.parametrize("kind", [designs.RANDOM, designs.LATIN])
@pytest.mark.parametrize("samples", [20, 60, 500])
def test_points_that_were_drawn_show_what_matters_and_no_more(kind: str, samples: int) -> None:
    axes = tuple(Axis(name, (), Span(0, 10**6)) for name in "abcdefgh")
    found = sweeps.effects(made_up(axes, Design(kind, samples), lambda a, *others: a + 10**5))
    assert found.effects[0].name == "a"
    assert found.effects[0].first > 0.7
    # seven that do nothing: what chance has of them averages out
    others = [effect.first for effect in found.effects[1:]]
    assert sum(others) / len(others) < 0.1
    assert max(others) < 0.5


def test_sobol_indices_are_those_of_the_ishigami_function() -> None:
    """Its indices are known: first order 0.3139, 0.4424, 0; total 0.5576, 0.4424, 0.2437."""
    whole = 10**6
    axes = tuple(Axis(name, (), Span(-whole, whole)) for name in "abc")

    def ishigami(*point: int) -> float:
        a, b, c = (math.pi * part / whole for part in point)
        return math.sin(a) + 7 * math.sin(b) ** 2 + 0.1 * c**4 * math.sin(a)

    found = sweeps.effects(made_up(axes, Design(designs.SOBOL, 1024), ishigami))
    indices = {effect.name: (effect.first, effect.total) for effect in found.effects}
    assert indices["a"] == pytest.approx((0.3139, 0.5576), abs=0.03)
    assert indices["b"] == pytest.approx((0.4424, 0.4424), abs=0.03)
    assert indices["c"] == pytest.approx((0.0, 0.2437), abs=0.03)


def test_rows_that_are_worth_their_price_are_found() -> None:
    axes = (Axis("a", ("1", "2", "3", "4")), Axis("b", ("0", "5")))
    times = made_up(axes, Design(), lambda a, b: 10 - a + (a == 3) * 4 + b)
    assert [(row.price, row.values["cost"]) for row in times.pareto()] == [(1, 9), (2, 8), (4, 6)]
    # for a rate, more is better
    rates = made_up(axes, Design(), lambda a, b: a + b, unit="kB/s")
    assert [row.values["cost"] for row in rates.pareto()] == [6, 7, 8, 9]
    best = rates.best()
    assert best is not None
    assert best.settings == {"a": 4, "b": 5}


def test_the_user_says_which_way_a_metric_gets_worse(program: Program) -> None:
    """A given direction overrides that of the unit, here ps, and reverses best row and effects."""
    elf, vary = program("results"), {"ddr.cyclescope,first-word-cycles": "20,40"}
    given = {"sections": ["main"], "prices": {"ddr.cyclescope,first-word-cycles": "20:0,40:1"}}
    by_unit = package.sweep(elf, BOARD, vary, metrics=["main.ps"], **given)
    turned = package.sweep(
        elf, BOARD, vary, metrics=["main.ps"], less_is_worse=["main.ps"], **given
    )
    fast, slow = by_unit.rows
    assert fast.values["main.ps"] < slow.values["main.ps"]
    assert (by_unit.best(), turned.best()) == (fast, slow)
    assert (by_unit.pareto(), turned.pareto()) == ((fast,), (fast, slow))
    best = [sweeps.effects(one).effects[0].best for one in (by_unit, turned)]
    assert best == [20, 40]
    assert [words.guess(one, "main.ps") for one in (by_unit, turned)] == ["", ""]
    assert "less of main.calls counts as better" in words.guess(by_unit, "main.calls")
    for way in ("more_is_worse", "less_is_worse"):
        with pytest.raises(SettingError, match=rf"^--{way.replace('_', '-')} anser: .*'answer'"):
            package.sweep(elf, BOARD, vary, **{way: ["anser"]})


def test_a_metric_in_several_settings_has_its_own_direction() -> None:
    """A name without settings is of all of them, one with settings of that alone."""
    run = Outcome(None, "exit", metrics=tuple(Metric("x", "", n, {"n": n}) for n in (1, 2)))
    chosen = {"x": directions.MORE, "x[n=2]": directions.LESS}
    found = measures.all_measures(measures.Namer([run]), [run], chosen)
    ways = {name: measure.worse for name, measure in found.items() if measure.is_printed}
    assert ways == {"x[n=1]": directions.MORE, "x[n=2]": directions.LESS}


def test_files_have_the_same_rows(program: Program, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    found = package.sweep(
        program("results"),
        BOARD,
        {"elf": [str(program("results")), str(program("endless_loop"))]},
        limit="100ms",
    )
    rows = list(csv.DictReader(files.to_csv(found).splitlines()))
    data = json.loads(files.to_json(found))
    files.to_parquet(found, tmp_path / "t.parquet")
    table = parquet.read_table(tmp_path / "t.parquet").to_pylist()
    assert len(rows) == len(data["rows"]) == len(table) == 2
    for line, one, other, row in zip(rows, data["rows"], table, found.rows, strict=True):
        assert one["settings"] == row.settings
        assert one["values"] == row.values
        assert line["error"] == (row.error or "")
        for name, value in row.values.items():
            assert float(line[name]) == other[name] == value


def test_a_program_is_known_by_its_settings() -> None:
    modes = ("quad", "standard")
    quad, other = (firmware.digest_of("quad_spi_throughput", BOARD, {"mode": one}) for one in modes)
    assert quad != other
