"""`cyclescope profile`: what it prints, which files it writes, how it ends."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import profiling_machine
import pytest
from conftest import BOARD
from jsonschema import Draft202012Validator
from profiles import CYCLES
from test_schemas import schema

from cyclescope import cli
from cyclescope.board import Board
from cyclescope.statuses import Status

Program = Callable[[str], Path]


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    profiling_machine.use(monkeypatch)
    monkeypatch.chdir(tmp_path)


def called(*arguments: object) -> tuple[int, str, str]:
    """The status of a command, and what it printed on both streams."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main(list(map(str, arguments)))
        except SystemExit as ended:
            return int(ended.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("the command line came back")


def test_a_table_of_functions(program: Program) -> None:
    status, out, err = called("profile", program("exit_main"), "--board", BOARD)
    assert status == Status.SUCCESS, err
    assert "cpu0: " in out
    row = next(line for line in out.splitlines() if " set_word " in line)
    assert re.fullmatch(
        "│ set_word +│ +497 │ +[0-9.]+ % │ +497 │ +│ +│ +120 │ +4.14 │ load: ddr 76 %, issue 24 % +│",
        row,
    )
    assert "note: cpu0: a jump at 0x8000020c is no call and no return" in err
    total = next(line for line in out.splitlines() if " total " in line)
    result = Board(BOARD).load(program("exit_main")).run(profile=True)
    assert result.profile is not None
    assert f"{result.cycles:,}" in total
    assert result.profile.cores[0].cycles == result.cycles


@pytest.mark.parametrize(
    ("by", "name"),
    [
        ("line", "fill.h:5"),
        ("file", "/src/fill.h"),
        ("task", "from reset"),
        ("address", "0x80000304"),
    ],
)
def test_other_tables(by: str, name: str, program: Program) -> None:
    status, out, _ = called("profile", program("exit_main"), "--board", BOARD, "--by", by)
    assert status == Status.SUCCESS
    assert f" {name} " in out


def test_only_the_top_and_all_causes(program: Program) -> None:
    arguments = ("profile", program("exit_main"), "--board", BOARD, "--top", "2", "--cause")
    _, out, _ = called(*arguments)
    assert "9 more; --top shows them" in out
    assert re.search("^│   load: ddr +│ +377 │ +0.0 % │", out, re.MULTILINE)
    assert " fib " not in out


def test_calls_of_a_function(program: Program) -> None:
    arguments = ("profile", program("exit_main"), "--board", BOARD, "--function", "main")
    _, out, _ = called(*arguments)
    assert "cpu0: main, 3 calls" in out
    assert "the longest began at 7 ns: from reset > main > work" in out
    assert "█" in out
    assert "timer0" in out


def test_files(program: Program, tmp_path: Path) -> None:
    names = ("flame", "speedscope", "collapsed", "callgrind", "pprof", "json")
    files = [word for name in names for word in (f"--{name}", tmp_path / name)]
    status, _, err = called("profile", program("exit_main"), "--board", BOARD, *files)
    assert status == Status.SUCCESS, err
    assert (tmp_path / "flame").read_text().startswith("<!DOCTYPE html>")
    assert "cycles by cause" in (tmp_path / "speedscope").read_text()
    assert "work;fill;set_words_[i];set_word_[i] 497" in (tmp_path / "collapsed").read_text()
    assert "\nevents: Cycles Instructions" in (tmp_path / "callgrind").read_text()
    assert gzip.decompress((tmp_path / "pprof").read_bytes())
    assert json.loads((tmp_path / "json").read_text())["cores"][0]["rows"]
    called("profile", program("exit_main"), "--board", BOARD, "--cause", "--collapsed", "causes")
    assert "set_word_[i];load: ddr 377\n" in (tmp_path / "causes").read_text()


def test_json_is_what_its_schema_says(program: Program) -> None:
    arguments = ("--board", BOARD, "--json", "-", "--function", "main")
    status, out, err = called("profile", program("exit_main"), *arguments)
    assert status == Status.SUCCESS
    data = json.loads(out)
    assert not list(Draft202012Validator(schema("profile")).iter_errors(data))
    (core,) = data["cores"]
    assert sum(row["self_cycles"] for row in core["rows"]) == core["cycles"] > CYCLES
    (main,) = core["functions"]
    assert (main["calls"], main["longest_cycles"]) == (3, 400)
    assert main["longest_call"]["path"] == ["from reset", "main", "work"]
    # the tables
    assert "cpu0: " in err
    odd = data | {"colour": "blue"}
    assert list(Draft202012Validator(schema("profile")).iter_errors(odd))


def test_a_limit_is_no_fault(program: Program) -> None:
    arguments = ("--board", BOARD, "--limit", "100us")
    status, out, err = called("profile", program("endless_loop"), *arguments)
    assert status == Status.SUCCESS
    assert "cpu0: 10,000 cycles by function" in out
    assert "note: the limit" in err


def test_a_fault_of_the_firmware_is_told_behind_its_profile(program: Program) -> None:
    status, out, err = called("profile", program("trap_without_handler"), "--board", BOARD)
    assert status == Status.FIRMWARE_FAULT
    assert "by function" in out
    assert "cyclescope: error: " in err


def test_a_file_that_cannot_be_written_is_told_before_the_run(program: Program) -> None:
    arguments = ("--board", BOARD, "--flame", "nowhere/flame.html")
    status, out, err = called("profile", program("exit_main"), *arguments)
    assert status == Status.USAGE
    assert out == ""
    assert "nowhere/flame.html: its folder does not exist" in err
