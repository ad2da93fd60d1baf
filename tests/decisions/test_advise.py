"""Changes that make a program faster: each what-if is a run, ranked by the time that it saves."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, ROOT, Command
from test_schemas import faults

import cyclescope as package
from cyclescope._engine import Stop
from cyclescope.advising import hot_code, options
from cyclescope.advising.hot_code import Function
from cyclescope.advising.results import Tried
from cyclescope.advising.study import study
from cyclescope.advising.whatifs import WhatIf, together
from cyclescope.board import Board, board_tree, shipped_boards
from cyclescope.board.description.presets import Preset
from cyclescope.errors import SettingError, UsageError
from cyclescope.firmware import build_app, load_app
from cyclescope.sweeps.measures import Measure
from cyclescope.sweeps.requests import Request

Program = Callable[[str], Path]
TIME = Measure("t", "us", is_printed=True)
RATE = Measure("r", "KiB/s", is_printed=True)
SMALL = {"cpu0.i-cache-size": 1024, "cpu0.i-cache-sets": 64}


def advised(elf: Path, board: str = BOARD, **more: object) -> package.Advice:
    return package.advise(elf, board, **more)  # type: ignore[arg-type]


def test_a_line_is_what_a_run_with_that_change_gives() -> None:
    elf = build_app("coremark_like", BOARD, {"iterations": 1})
    found = advised(elf, overrides=SMALL)
    alone = package.Board(BOARD, SMALL).load(elf).run()
    assert found.before["elapsed_ps"] == alone.elapsed_ps
    one = next(one for one in found.tried if "instruction cache of 4 KiB" in one.what_if.what)
    larger = {"cpu0.i-cache-size": 4096, "cpu0.i-cache-sets": 256}
    changed = package.Board(BOARD, larger).load(elf).run()
    assert one.what_if.changes == {path: str(value) for path, value in larger.items()}
    assert one.gain_pct == pytest.approx((1 - changed.elapsed_ps / alone.elapsed_ps) * 100)
    assert one.is_gain
    ranked = [gain for one in found.tried if (gain := one.gain_pct) is not None]
    # equal lines stay in the order of the what-ifs
    assert all(after <= before + 0.1 for before, after in itertools.pairwise(ranked))


def test_a_register_and_all_at_once() -> None:
    board = "sama5d2-xplained"
    elf = build_app("coremark_like", board, {"iterations": 1})
    found = advised(elf, board)
    gains = {one.what_if.how: one for one in found.gains}
    assert {"SCTLR.I = 1", "SCTLR.Z = 1"} <= set(gains)
    assert found.at_once is not None
    assert found.at_once.gain_pct is not None
    assert found.at_once.gain_pct > max(one.gain_pct or 0 for one in found.gains)
    assert any("data caches" in reason for reason in found.untried)


def test_a_cache_that_the_board_leaves_out(tmp_path: Path) -> None:
    source = (ROOT / "boards" / f"{BOARD}.dts").read_text()
    lines = [line for line in source.splitlines() if "d-cache" not in line]
    (tmp_path / "own.dts").write_text("\n".join(lines))
    elf = build_app("coremark_like", BOARD, {"iterations": 1})
    found = advised(elf, str(tmp_path / "own.dts"))
    new = [one for one in found.tried if "data cache of" in one.what_if.what]
    assert [one.what_if.adds["cpu0.d-cache-size"] for one in new] == [4096, 16384]
    with_it = package.Board(BOARD).load(elf).run()
    assert new[1].after["elapsed_ps"] == with_it.elapsed_ps
    assert new[1].is_gain


def test_a_metric_and_what_the_user_wants_tried(program: Program) -> None:
    found = advised(
        program("results"),
        metrics=["main.ps"],
        sections=("main",),
        tries={"cpu0.cyclescope,divide-cycles": "1"},
    )
    assert [one.name for one in found.measures] == ["main.ps"]
    own = next(one for one in found.tried if one.what_if.source == "--try")
    assert own.error is None
    assert own.what_if.changes == {"cpu0.cyclescope,divide-cycles": "1"}


SWITCHES = {"rhealstone.operation": "task-switch", "rhealstone.loops": 100}


def test_what_ifs_of_an_experiment_include_settings_of_its_app() -> None:
    request = Request("rhealstone", sets=SWITCHES, metrics=("cycles",))
    allowed = {one.how: one for one in study(request, {}, False, Stop()).what_ifs}
    assert allowed["--set rhealstone.memory=sram"].takes
    levels = [one for how, one in allowed.items() if "O2" in how or "Os" in how]
    assert len(levels) > 1


# each what-if is a kernel that is compiled
@pytest.mark.long
def test_an_experiment_by_settings_of_its_app() -> None:
    found = package.advise("rhealstone", overrides=SWITCHES, metrics=["cycles"])
    gains = {one.what_if.how: one for one in found.gains}
    in_sram = gains["--set rhealstone.memory=sram"]
    assert in_sram.after["cycles"] < found.before["cycles"]
    assert in_sram.what_if.takes
    # levels of optimisation are one thing, whichever way they are asked for
    assert found.at_once is not None
    levels = [
        name for name in found.at_once.what_if.how.split("; ") if "O2" in name or "Os" in name
    ]
    assert len(levels) <= 1


# ---- what is tried


@pytest.mark.parametrize("board", shipped_boards())
def test_boards_take_what_can_be_chosen_about_them(board: str) -> None:
    root = board_tree(board)
    for one in options.of_board(root):
        assert one.what
        assert one.takes
        assert one.source
        if not one.adds:
            Board(board, dict(one.changes))


@pytest.mark.parametrize("board", ["nucleo-f411re", "nucleo-l4r5zi", "sama5d2-xplained"])
def test_registers_can_be_set_where_main_begins(board: str) -> None:
    elf = build_app("hello", board, {})
    found = advised(elf, board)
    presets = [one for one in found.tried if one.what_if.presets]
    assert presets
    assert [one.error for one in presets] == [None] * len(presets)


def test_apps_advise_what_they_allow() -> None:
    advising = 0
    for toml in sorted((ROOT / "firmware" / "apps").glob("*/app.toml")):
        app = load_app(toml.parent.name)
        for name, kind in app.settings.items():
            if kind.advice is None:
                continue
            advising += 1
            assert kind.advice.takes, (app.name, name)
            for value in kind.advice.tries:
                assert kind.parse(str(value)) == value, (app.name, name)
    assert advising > 20


# ---- ranking


def tried(before: dict[str, float], after: dict[str, float], **more: object) -> Tried:
    measures = [one for one in (TIME, RATE) if one.name in before]
    return Tried(WhatIf("", "", ""), before, after, measures, **more)  # type: ignore[arg-type]


def test_a_gain_is_time_saved() -> None:
    assert tried({"t": 100}, {"t": 75}).gain_pct == pytest.approx(25)
    assert tried({"r": 100}, {"r": 200}).gain_pct == pytest.approx(50)
    both = tried({"t": 100, "r": 100}, {"t": 50, "r": 50})
    assert both.ratio == pytest.approx(math.sqrt(0.5 * 2))
    assert not both.is_gain
    assert tried({"t": 100}, {}).gain_pct is None
    assert tried({"t": 100}, {"t": 50}, error="a fault").gain_pct is None


def test_other_results_are_no_gain() -> None:
    assert tried({"t": 100}, {"t": 50}).is_gain
    assert not tried({"t": 100}, {"t": 50}, differs=("sum",)).is_gain


def test_what_ifs_with_a_common_target_are_not_combined() -> None:
    first, second = (WhatIf("", "", "", presets=(Preset(4, bits, bits),)) for bits in (1, 3))
    assert first.touches & second.touches
    level = WhatIf("", "", "", changes={"flags": "-O3"})
    setting = WhatIf("", "", "", changes={"rhealstone.optimise": "O2"})
    assert level.touches & setting.touches
    cache = WhatIf("a", "", "", changes={"cpu0.d-cache-size": "1"})
    assert not cache.touches & first.touches
    whole = together([cache, first])
    assert whole.changes == cache.changes
    assert whole.presets == first.presets


def test_a_board_without_what_ifs_is_reported(program: Program) -> None:
    board = "minimal-rv32"
    found = advised(build_app("hello", board, {}), board)
    assert found.at_once is None
    assert found.untried


# ---- the command


def test_the_command_ranks_and_keeps(cyclescope: Command, tmp_path: Path) -> None:
    elf = build_app("coremark_like", BOARD, {"iterations": 1})
    small = [word for path, value in SMALL.items() for word in ("--set", f"{path}={value}")]
    call = ("advise", elf, "--board", BOARD, *small, "--json", "a.json")
    done = cyclescope(*call)
    assert done.status == 0, done.stderr
    assert "where time goes: " in done.stdout
    assert "instruction cache" in done.stdout
    data = json.loads((tmp_path / "a.json").read_text())
    assert faults("advise", data) == []
    assert faults("advise", {**data, "wall_ns": 1})
    first = data["what_ifs"][0]
    assert f"{first['gain_pct']:.1f} %" in done.stdout
    assert json.loads(cyclescope(*call[:-1], "-").stdout) == data


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--try", "cpu0.nothing=1"), "--try cpu0.nothing: no such board property"),
        (("--try", "cpu0"), "--try cpu0: expected PATH=VALUE"),
        (("--try", "cpu0.i-cache-size=12345"), "i-cache-size"),
        (("--metric", "elapsed"), "--metric elapsed: no run has it; did you mean 'elapsed_ps'"),
        (("--limit", "soon"), "soon"),
    ],
)
def test_impossible_options_are_one_line(
    cyclescope: Command, program: Program, options: tuple[str, ...], words: str
) -> None:
    done = cyclescope("advise", program("results"), "--board", BOARD, *options)
    assert done.status == 121
    assert words in done.error
    assert done.stdout == ""


def test_a_program_that_fails_is_reported(program: Program) -> None:
    with pytest.raises(UsageError, match="the run itself fails: "):
        advised(program("exit_code"))


def test_a_program_that_never_ends_needs_a_metric(program: Program) -> None:
    elf = program("endless_loop")
    with pytest.raises(UsageError, match="it does not end, and prints no time or rate"):
        advised(elf, limit="1ms")
    found = advised(
        elf, limit="1ms", metrics=["cpu0.instructions"], less_is_worse=["cpu0.instructions"]
    )
    assert [one.is_more_better for one in found.measures] == [True]


def test_a_board_is_required(cyclescope: Command, program: Program) -> None:
    done = cyclescope("advise", program("results"))
    assert "--board is missing" in done.error
    assert BOARD in done.error


def test_an_unknown_try_of_an_experiment() -> None:
    with pytest.raises(SettingError, match=r"--try rhealstone\.lops: "):
        package.advise("rhealstone", tries={"rhealstone.lops": "1"})


# ---- hot code in other memories


def test_hot_code_is_what_a_board_with_that_overlay_gives(tmp_path: Path) -> None:
    board = "picosoc-icebreaker"
    elf = build_app("coremark_like", board, {"iterations": 1})
    found = advised(elf, board)
    hottest, all_hot = (
        one for one in sorted(found.tried, key=_moved_bytes) if one.what_if.move is not None
    )
    assert all_hot.gain_pct is not None
    assert hottest.gain_pct is not None
    assert all_hot.gain_pct > 80 > hottest.gain_pct > 20
    # a board of the user's own with the same overlay
    ((address, size),) = hottest.what_if.move.ranges if hottest.what_if.move else ()
    name = hottest.what_if.how.rpartition(".text.")[2]
    places = {name: begin for begin, _, name in Board(board).load(elf).functions("cpu0")}
    assert address <= places[name] < address + size
    (tmp_path / "own.dts").write_text(
        f"""/dts-v1/;
/include/ "{ROOT / "boards" / board}.dts"
/ {{ hot: sram@{address:x} {{
    compatible = "mmio-sram"; reg = <{address:#x} {size:#x}>; clocks = <&sys_clk>;
    cyclescope,overlay; cyclescope,first-word-cycles = <1>; cyclescope,beat-cycles = <2>;
    cyclescope,sources = "*: assumed: as of sram";
}}; }};
"""
    )
    own = Board(str(tmp_path / "own.dts")).load(elf).run()
    assert hottest.after["elapsed_ps"] == own.elapsed_ps


def _moved_bytes(one: Tried) -> int:
    return one.what_if.move.size_bytes if one.what_if.move is not None else 0


def test_functions_that_touch_move_as_one_range() -> None:
    functions = [
        Function("b", 0x1044, 100, 1),
        Function("a", 0x1010, 0x30, 2),
        Function("c", 0x2000, 1, 3),
    ]
    assert hot_code.ranges(functions) == [(0x1000, 0xC0), (0x2000, 0x40)]
