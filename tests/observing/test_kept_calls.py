"""Single calls of functions: exact to the picosecond, the same however a run is simulated."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import BOARD, ROOT, Command
from test_schemas import faults
from test_waits import CARD, CARD_SECTION, HOWS, board, simulated
from tiers import ALL, mostly_long

from cyclescope import Board, firmware
from cyclescope.board.outcome.kept_calls import FRAME_COLUMNS, KINDS, MOST_CALLS, Call
from cyclescope.board.results import RunResult, Section
from cyclescope.errors import EngineError, UsageError
from cyclescope.statuses import Status

NAMES = ("page-programs", "two-cores", CARD)
# without the card, whose run takes longest
OFTEN = mostly_long(NAMES, short=NAMES[:2])
ARGUMENTS = ROOT / "tests" / "firmware" / "arguments.c"


def kept(name: str, most: int = MOST_CALLS, **how: Any) -> RunResult:
    with board(name) as (loaded, watched):
        return loaded.run("100s", calls=watched, longest_calls=most, **how)


@cache
def usual(name: str) -> RunResult:
    return kept(name)


def sections(result: RunResult) -> list[tuple[Section, tuple[Call, ...]]]:
    return [
        (section, section.longest_calls or ()) for core in result.cores for section in core.sections
    ]


def waited(parts: list[Section] | tuple[Call, ...]) -> Counter[tuple[str, str]]:
    sums: Counter[tuple[str, str]] = Counter()
    for part in parts:
        for entry in part.waits or ():
            sums[entry.kind, entry.cause] += entry.ps
    return sums


@pytest.mark.parametrize("name", NAMES)
def test_each_call_is_exact_and_all_are_those_of_the_function(name: str) -> None:
    counts = []
    for section, calls in sections(usual(name)):
        counts.append(section.calls)
        assert len(calls) == section.calls
        assert sorted(call.number for call in calls) == sorted({call.number for call in calls})
        assert [call.ps for call in calls] == sorted((call.ps for call in calls), reverse=True)
        assert section.shortest_ps == (calls[-1].ps if calls else None)
        for call in calls:
            assert sum(entry.ps for entry in call.waits) == call.ps
            assert sum(call.by_kind.values()) == call.ps
        assert sum(call.instructions for call in calls) == section.instructions
        cycles = sum(entry.cycles for call in calls for entry in call.stack)
        assert cycles == sum(entry.cycles for entry in section.stack)
        # edges of clocks that are no whole picoseconds: one a call at the most
        of_calls, of_section = waited(calls), waited([section])
        assert set(of_calls) | {("CPU", "CPU")} == set(of_section) | {("CPU", "CPU")}
        for entry, ps in of_section.items():
            is_activity = entry[0] in KINDS[: KINDS.index("looking")]
            assert abs(of_calls[entry] - ps) <= (0 if is_activity else 2 * section.calls), entry
    assert sum(counts) > 0


# a card that is not skipped over takes minutes; the engine's tests have polled devices in short.
# In the short tier the page programs run in each way, two cores without compiled blocks.
WAYS = mostly_long(
    [(name, how) for name in ("page-programs", "two-cores") for how in HOWS],
    lambda way: way[0] == "page-programs" or way[1] == {"compile_after": 0},
)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_calls_do_not_depend_on_how_a_run_is_simulated(way: tuple[str, dict[str, Any]]) -> None:
    name, how = way
    assert kept(name, **how) == usual(name)


@pytest.mark.parametrize("name", mostly_long(NAMES, {"page-programs"}))
def test_of_few_kept_calls_the_longest_are_the_same(name: str) -> None:
    few = kept(name, most=3)
    for (section, calls), (other, all_calls) in zip(
        sections(few), sections(usual(name)), strict=True
    ):
        assert calls == all_calls[:3]
        assert replace(section, longest_calls=None) == replace(other, longest_calls=None)


@pytest.mark.parametrize("name", OFTEN)
def test_kept_calls_change_nothing_else(name: str) -> None:
    data = usual(name).to_dict()
    for core in data["cores"]:
        for section in core["sections"]:
            del section["longest_calls"], section["shortest_ps"]
    assert data == simulated(name, waits=True).to_dict()


def test_a_call_of_f_write_says_why_it_took_so_long() -> None:
    ((section, calls),) = sections(usual(CARD))
    assert section.name == CARD_SECTION
    assert {call.caller for call in calls} == {"write_file"}
    assert all(call.file is not None and call.file.endswith("main.c") for call in calls)
    assert [argument.name for argument in calls[0].arguments] == ["fp", "buff", "btw", "bw"]
    assert [argument.is_address for argument in calls[0].arguments] == [True, True, False, True]
    sizes = {argument.value for call in calls for argument in call.arguments[2:3]}
    assert sizes == {65536, 32768, 4096, 2048, 1636, 1280, 1024, 768, 512, 256, 64}
    assert max(calls[0].by_kind, key=calls[0].by_kind.__getitem__) == "busy"


def built(board_name: str, *flags: str) -> Path:
    recipe = firmware.board_recipe("arguments", board_name, [ARGUMENTS])
    return firmware.build(replace(recipe, flags=(*recipe.flags, *flags)))


def arguments(board_name: str, elf: Path) -> RunResult:
    return Board(board_name).load(elf).run(calls=["mixed", "wide", "none"])


def arguments_of(result: RunResult, function: str) -> list[dict[str, str]]:
    """The arguments of a function's calls as text, in the order of the calls."""
    (calls,) = (calls for section, calls in sections(result) if section.name == function)
    in_order = sorted(calls, key=lambda call: call.number)
    return [{argument.name: argument.text for argument in call.arguments} for call in in_order]


BOARDS = (BOARD, "minimal-armv7m", "sama5d2-xplained", "ben-nanonote", "picosoc-icebreaker")


# each case is a program to compile
CASES = [(board_name, flags) for board_name in BOARDS for flags in ((), ("-O0",))]


@pytest.mark.parametrize("case", mostly_long(CASES, lambda case: BOARD in case or not case[1]))
def test_arguments_have_the_names_of_parameters(case: tuple[str, tuple[str, ...]]) -> None:
    board_name, flags = case
    result = arguments(board_name, built(board_name, *flags))
    mixed = arguments_of(result, "mixed")
    texts = {call.pop("text") for call in mixed}
    assert len(texts) == 1
    assert re.fullmatch("0x[0-9a-f]+", texts.pop())
    assert mixed == [
        {"small": "3", "negative": "-2", "colour": "7"},
        {"small": "200", "negative": "-300", "colour": "0"},
        {"small": "20", "negative": "5", "colour": "7"},
    ]
    assert arguments_of(result, "wide") == [{"first": "11"}]
    assert arguments_of(result, "none") == [{}]
    (longest, *_) = (calls for section, calls in sections(result) if section.name == "mixed")
    # the first call has code to fetch
    assert (longest[0].number, {call.number for call in longest}) == (2, {1, 2, 3})
    assert {(call.caller, Path(call.file or "").name) for call in longest} == {
        ("main", "arguments.c")
    }


def without_debug(board_name: str, path: Path) -> Path:
    """A program without debug information: in the short tier with the sections of another name.

    So nothing is compiled anew.
    """
    if ALL:
        return built(board_name, "-g0")
    whole = built(board_name).read_bytes()
    assert b".debug_info" in whole
    path.write_bytes(whole.replace(b".debug_", b".hidden"))
    return path


def test_without_debug_information_arguments_are_registers(tmp_path: Path) -> None:
    for board_name, letter in ((BOARD, "a"), ("minimal-armv7m", "r"), ("ben-nanonote", "a")):
        elf = without_debug(board_name, tmp_path / f"{board_name}.elf")
        result = arguments(board_name, elf)
        mixed = arguments_of(result, "mixed")
        assert list(mixed[0]) == [f"{letter}{number}" for number in range(4)]
        assert [call[f"{letter}1"] for call in mixed] == ["0x3", "0xc8", "0x14"]
        assert {call.caller for _, calls in sections(result) for call in calls} == {"main"}
        assert {call.line for _, calls in sections(result) for call in calls} == {None}


def test_the_data_frame_has_a_line_a_call() -> None:
    result = usual(CARD)
    frame = result.calls()
    assert list(frame.columns) == FRAME_COLUMNS
    ((_, calls),) = sections(result)
    assert len(frame) == len(calls)
    assert (frame[list(KINDS)].sum(axis=1) == frame["ps"]).all()
    assert "btw=" in frame["arguments"][0]
    assert Board(BOARD).load(firmware.build_app("hello", BOARD, {})).run().calls().empty


def test_the_command_shows_them(cyclescope: Command, tmp_path: Path) -> None:
    recipe = firmware.board_recipe("arguments", BOARD, [ARGUMENTS])
    call = ("run", firmware.build(recipe), "--board", BOARD)
    done = cyclescope(*call, "--calls", "mixed", "--calls", "wide", "--longest", "2")
    assert done.status == Status.SUCCESS, done.stderr
    assert "cpu0: mixed, 3 calls" in done.stdout
    assert "the longest 2 of 3" in done.stdout
    assert "each call" in done.stdout
    call_2 = r"^call 2: mixed\(text=0x\w+, small=200, negative=-300, colour=0\) *$"
    assert re.search(call_2 + r"\ntook [0-9.]+ us: [0-9.]+ % CPU", done.stdout, re.M)
    assert "cycle stack of cpu0" in done.stdout
    none = cyclescope(*call, "--calls", "main", "--limit", "1us")
    assert "main: no call of it has ended" in none.stdout


def test_the_json_has_them(cyclescope: Command) -> None:
    elf = firmware.build(firmware.board_recipe("arguments", BOARD, [ARGUMENTS]))
    done = cyclescope("run", elf, "--board", BOARD, "--calls", "mixed", "--json", "-")
    data = json.loads(done.stdout)
    assert faults("run", data) == []
    (section,) = data["cores"][0]["sections"]
    assert [call["number"] for call in section["longest_calls"]] == [2, 3, 1]
    assert section["shortest_ps"] == section["longest_calls"][2]["ps"]
    assert section["longest_calls"][0]["arguments"][1] == {
        "name": "small",
        "value": 200,
        "is_address": False,
    }


def test_an_unknown_function_is_reported(cyclescope: Command) -> None:
    elf = firmware.build(firmware.board_recipe("arguments", BOARD, [ARGUMENTS]))
    call = ("run", elf, "--board", BOARD)
    done = cyclescope(*call, "--calls", "mixer")
    assert (done.status, "no function 'mixer'" in done.error) == (Status.USAGE, True)
    assert "did you mean 'mixed'" in done.error
    done = cyclescope(*call, "--longest", "3")
    assert (done.status, "--calls" in done.error) == (Status.USAGE, True)
    assert cyclescope(*call, "--calls", "mixed", "--longest", "0").status == Status.USAGE
    loaded = Board(BOARD).load(elf)
    with pytest.raises(EngineError, match="no core cpu7"):
        loaded.run(calls=["cpu7:mixed"])
    for number in (0, MOST_CALLS + 1):
        with pytest.raises(UsageError, match=f"{number} calls"):
            loaded.run(calls=["mixed"], longest_calls=number)
