"""The first look: what it prints is what the commands say that it stands for."""

from __future__ import annotations

import io
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from conftest import ROOT, Command
from rich.console import Console

import cyclescope as package
from cyclescope import firmware
from cyclescope._engine import Stop
from cyclescope.advising import study
from cyclescope.board import Board
from cyclescope.cli.commands.demo import APP, BOARD
from cyclescope.cli.tables import demo as demo_tables
from cyclescope.profile.tables import rows
from cyclescope.sweeps.requests import Request

ELF = firmware.shipped_elf(APP, BOARD)
SHIPPED = sorted((ROOT / "firmware" / "apps").glob("*/*.elf"))
MOST_LINES, MOST_COLUMNS = 30, 100
# A line's cycles, its share, its name, its source.
HOT = re.compile(r" *([\d,]+) +([\d.]+ %)  (\w+\.[ch]:\d+) +(.+)")
GAIN = re.compile(r" *([\d.]+ %)  (\S.*?)  +(\S.*)")


def number(text: str) -> int:
    return int(text.replace(",", ""))


def cells(pattern: re.Pattern[str], lines: list[str]) -> list[tuple[str, ...]]:
    """The cells of a table's lines."""
    found = [pattern.fullmatch(line) for line in lines]
    assert all(found), lines
    return [one.groups() for one in found if one]


def test_each_number_is_that_of_the_command_which_it_stands_for(
    cyclescope: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path / "cache"))
    done = cyclescope("demo")
    assert (done.status, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
    assert "\x1b" not in done.stdout
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= max(MOST_COLUMNS, len(str(ELF)) + len("  elf="))
    parts = [part.split("\n") for part in "\n".join(lines).split("\n\n")]
    facts, stack, hot, gains, commands = parts

    result = Board(BOARD).load(ELF).run(profile=True)
    assert (result.outcome, result.exit_code) == ("exit", 0)
    assert facts[3].startswith(f"run      {result.cycles:,} cycles in ")
    (core,) = result.cores
    cycles = [number(re.split("  +", line)[1]) for line in stack[1:]]
    assert sum(cycles[:-1]) == cycles[-1] == core.cycles
    assert stack[1].split("  ")[0] == max(core.stack, key=lambda entry: entry.ps).cause

    assert result.profile is not None
    known = [row for row in rows(result.profile.cores[0], "line") if row.line]
    found = cells(HOT, hot[1:])
    shown = [(number(cycles), name) for cycles, _, name, _ in found]
    assert shown == [(row.self_cycles, row.name) for row in known[:3]]
    files = [*ELF.parent.glob("*.c"), *ELF.parents[2].glob("runtime/*.h")]
    sources = [path.read_text() for path in files]
    assert all(any(one[3] in text for text in sources) for one in found)

    advice = package.advise(ELF, BOARD, again=True)
    best = [(f"{one.gain_pct:.1f} %", one.what_if) for one in advice.gains[:3]]
    assert cells(GAIN, gains[1:-1]) == [(saves, one.what, one.takes) for saves, one in best]
    assert gains[-1] == f"first: {advice.gains[0].what_if.how}"
    assert f"  elf={ELF}" in commands


def test_a_narrow_terminal_loses_no_number() -> None:
    planned = study.study(Request(str(ELF), BOARD), {}, False, Stop())
    assert planned.profiled is not None
    console = Console(width=40, file=io.StringIO())
    with console.capture() as printed:
        console.print(*demo_tables.run(planned, firmware.load_app(APP)), sep="\n")
    text = printed.get()
    assert max(map(len, text.splitlines())) <= 40
    stack = demo_tables.shortened(planned.profiled.cores[0].stack)
    assert all(f"{entry.cycles:,}" in text for entry in stack)
    assert planned.profiled.profile is not None
    for row in demo_tables.hottest(planned.profiled.profile.cores[0]):
        assert row.name in text


@pytest.mark.parametrize("elf", SHIPPED, ids=lambda elf: elf.stem)
def test_an_elf_that_is_shipped_is_what_its_sources_give(elf: Path) -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    if f"ziglang=={version('ziglang')}" not in wanted:
        pytest.skip("another compiler gives other code")
    shipped = elf.read_bytes()
    assert str(ROOT).encode() not in shipped
    is_current = shipped == firmware.build_app(elf.parent.name, elf.stem, {}).read_bytes()
    assert is_current, "python scripts/shipped_elfs.py builds it anew"
