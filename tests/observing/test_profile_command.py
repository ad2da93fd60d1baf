"""`cyclescope profile`: what it prints, which files it writes, how it ends."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import BOARD, Command, Finished
from jsonschema import Draft202012Validator
from profiles import CYCLES, made_up
from rich.console import Console
from test_schemas import schema

from cyclescope.board import Board
from cyclescope.board.results import RunResult
from cyclescope.cli.tables import profile as profile_tables
from cyclescope.profile.tables import VIEWS, Row, rows
from cyclescope.statuses import Status

Program = Callable[[str], Path]


@pytest.fixture
def profiled(cyclescope: Command, program: Program) -> Callable[..., Finished]:
    """Profiles a program, which waits for its UART most of the time."""

    def call(*arguments: object) -> Finished:
        return cyclescope("profile", program("exit_main"), "--board", BOARD, *arguments)

    return call


def shown(by: str, columns: int, *functions: str, **more: int) -> str:
    """A made-up profile as text."""
    result = RunResult("b", "f", "exit", 0, None, 10_000, "", (), {})
    options = {"top": 20, "by_cause": False} | more
    group = profile_tables.profile(
        result, made_up(), by, functions=functions, columns=columns, **options
    )
    text = io.StringIO()
    Console(file=text, width=columns).print(group)
    return text.getvalue()


def test_the_run_is_the_same_and_the_profile_has_all_of_its_cycles(program: Program) -> None:
    board = Board(BOARD).load(program("exit_main"))
    plain, profiled = board.run(), board.run(profile=True)
    assert plain.profile is None
    assert profiled.profile is not None
    assert profiled.to_dict() == plain.to_dict()
    (core,) = profiled.profile.cores
    stack = {entry.cause: entry.cycles for entry in plain.cores[0].stack if entry.cycles}
    assert core.by_cause(core.costs) == stack
    assert core.instructions == plain.instructions


@pytest.mark.parametrize(
    "how", [{"skip_polling": False}, {"compile_after": 0}, {"compile_after": 1}], ids=str
)
def test_the_profile_does_not_depend_on_how_it_is_simulated(
    how: dict[str, Any], program: Program
) -> None:
    board = Board(BOARD).load(program("results"))
    usual, other = board.run(profile=True).profile, board.run(profile=True, **how).profile
    assert usual is not None
    assert other is not None
    for by in VIEWS:
        shown, wanted = (rows(profile.cores[0], by) for profile in (other, usual))
        assert [plain(row) for row in shown] == [plain(row) for row in wanted]


def plain(row: Row) -> dict[str, Any]:
    """A row without the number of its path: paths are counted as they come up."""
    return {name: value for name, value in vars(row).items() if name != "longest_path"}


def test_functions_of_a_run(profiled: Callable[..., Finished]) -> None:
    done = profiled()
    assert done.status == Status.SUCCESS, done.stderr
    assert re.search(r"^│ main +│ +[\d,]+ │ +[\d.]+ % │ +[\d,]+ │ +1 │", done.stdout, re.MULTILINE)
    assert re.search("^│ total +│ 1,671,815 │ 100.0 % │", done.stdout, re.MULTILINE)


def test_calls_of_a_function(profiled: Callable[..., Finished]) -> None:
    done = profiled("--function", "console_uart_put", "--top", "1")
    assert done.status == Status.SUCCESS, done.stderr
    assert re.search("^cpu0: console_uart_put, [0-9]+ calls$", done.stdout, re.MULTILINE)
    assert re.search("^the longest began at .*: from reset > _start > main > ", done.stdout, re.M)
    assert "more; --top shows them" in done.stdout
    missing = profiled("--function", "console_uart_putt")
    assert missing.status == Status.USAGE
    assert "console_uart_putt" in missing.error


def test_a_table_of_functions() -> None:
    text = shown("function", 120)
    assert re.search(
        "^│ set_word +│ +497 │ +49.5 % │ +497 │ +│ +│ +4.14 │ load: ddr 76 % +│$",
        text,
        re.MULTILINE,
    )
    assert re.search("^│ fib +│ +70 │ +7.0 % │ +70 │ +3 │ +70 │ 2.33 │", text, re.MULTILINE)
    assert re.search("│ IRQ 28 +│ +2 │ .* │ 200 ps │ 230 ps │ 260 ps │", text)
    wide = shown("function", 180)
    assert re.search("^│ set_word .* 120 │ 4.14 │ load: ddr 76 %, issue 24 % ", wide, re.MULTILINE)


@pytest.mark.parametrize(
    ("by", "name"),
    [
        ("line", "fill.h:5"),
        ("file", "/src/fill.h"),
        ("task", "from reset"),
        ("address", "0x80000304"),
    ],
)
def test_other_tables(by: str, name: str) -> None:
    assert f"│ {name} " in shown(by, 120)
    assert f"cpu0: {CYCLES:,} cycles by {by}" in shown(by, 120)


def test_only_the_top_and_all_causes() -> None:
    text = shown("function", 120, top=2, by_cause=True)
    assert "│ 9 more; --top shows them │" in text
    assert re.search("^│   load: ddr +│ +377 │ +37.5 % │", text, re.MULTILINE)
    assert " fib " not in text


def test_calls_as_a_histogram() -> None:
    text = shown("function", 120, "work", "main")
    assert "cpu0: work, 3 calls\n" in text
    assert "the longest began at 7 ns: from reset > main > work\n" in text
    assert re.search("^│ +400 │ +419 │ +1 │ █+ │$", text, re.MULTILINE)
    assert "main: no call of it has ended" in text


def test_files(profiled: Callable[..., Finished], tmp_path: Path) -> None:
    names = ("flame", "speedscope", "collapsed", "callgrind", "pprof", "json")
    done = profiled(*(word for name in names for word in (f"--{name}", name)))
    assert done.status == Status.SUCCESS, done.stderr
    assert (tmp_path / "flame").read_text().startswith("<!DOCTYPE html>")
    assert "cycles by cause" in (tmp_path / "speedscope").read_text()
    lines = (tmp_path / "collapsed").read_text().splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 1_671_815
    assert "\nevents: Cycles Instructions" in (tmp_path / "callgrind").read_text()
    assert gzip.decompress((tmp_path / "pprof").read_bytes())
    assert json.loads((tmp_path / "json").read_text())["cores"][0]["rows"]
    profiled("--cause", "--collapsed", "causes")
    assert ";main;issue " in (tmp_path / "causes").read_text()


def test_json_is_what_its_schema_says(profiled: Callable[..., Finished]) -> None:
    done = profiled("--json", "-", "--function", "main")
    assert done.status == Status.SUCCESS
    data = json.loads(done.stdout)
    assert not list(Draft202012Validator(schema("profile")).iter_errors(data))
    (core,) = data["cores"]
    assert sum(row["self_cycles"] for row in core["rows"]) == core["cycles"] == 1_671_815
    (main,) = core["functions"]
    assert (main["calls"], main["longest_cycles"]) == (1, main["total_cycles"])
    assert main["longest_call"]["path"] == ["from reset", "_start", "main"]
    assert "cpu0: 1,671,815 cycles by function" in done.stderr
    odd = data | {"colour": "blue"}
    assert list(Draft202012Validator(schema("profile")).iter_errors(odd))


def test_a_limit_is_no_fault(cyclescope: Command, program: Program) -> None:
    elf = program("endless_loop")
    done = cyclescope("profile", elf, "--board", BOARD, "--limit", "100us")
    assert done.status == Status.SUCCESS
    assert "cpu0: 10,000 cycles by function" in done.stdout
    assert "cyclescope: note: the limit" in done.stderr


def test_a_fault_of_the_firmware_is_reported_after_its_profile(
    cyclescope: Command, program: Program
) -> None:
    done = cyclescope("profile", program("trap_without_handler"), "--board", BOARD)
    assert done.status == Status.FIRMWARE_FAULT
    assert "by function" in done.stdout
    assert done.error


def test_a_profile_that_cannot_be_written_is_reported(profiled: Callable[..., Finished]) -> None:
    early = profiled("--flame", "nowhere/flame.html")
    assert early.status == Status.USAGE
    assert early.stdout == ""
    assert "nowhere/flame.html: its folder does not exist" in early.error


def test_all_views_of_a_run_sum_to_its_cycles(program: Program) -> None:
    result = Board(BOARD).load(program("results")).run(profile=["result_number"])
    assert result.profile is not None
    (core,) = result.profile.cores
    for by in VIEWS:
        assert sum(row.self_cycles for row in rows(core, by)) == result.cycles
    (calls,) = core.calls.values()
    (row,) = [row for row in rows(core, "function") if row.name == "result_number"]
    assert len(calls) == row.calls
    assert max(call.cycles for call in calls) == row.longest_cycles
