"""A board's tree is parsed once, and its machine built once for a run."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import BOARD

from cyclescope import Board, BoardError, ElfError, resources
from cyclescope.bench import run_job, tabulate
from cyclescope.bench.planning import plan
from cyclescope.board import board, board_tree
from cyclescope.board.description import devicetree, trees
from cyclescope.experiments import fat_access
from cyclescope.firmware import build_app

HOUR_S = 3600


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that are parsed, with none known before."""
    found: list[Path] = []
    original = devicetree.parse

    def parse(path: Path) -> devicetree.Node:
        found.append(path)
        return original(path)

    monkeypatch.setattr(devicetree, "parse", parse)
    monkeypatch.setattr(trees, "_kept", {})
    return found


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The machines that are built."""
    found: list[Any] = []
    original = board.Machine

    def build(*of: Any) -> Any:
        found.append(original(*of))
        return found[-1]

    monkeypatch.setattr(board, "Machine", build)
    return found


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A board of two files that were written an hour ago."""
    shipped = resources.boards().resolve() / f"{BOARD}.dts"
    (tmp_path / "part.dtsi").write_text('/ { model = "one"; };\n')
    path = tmp_path / "own.dts"
    path.write_text(f'/dts-v1/;\n/include/ "{shipped}"\n/include/ "part.dtsi"\n')
    for file in (path, tmp_path / "part.dtsi"):
        made_older(file)
    return path


def made_older(file: Path) -> None:
    """Let a file be written an hour before."""
    written_s = file.stat().st_mtime - HOUR_S
    os.utime(file, (written_s, written_s))


def model(path: Path) -> str:
    return board_tree(path).props["model"].value.decode().rstrip("\0")


def test_a_tree_is_parsed_once(source: Path, parsed: list[Path]) -> None:
    assert [model(source), model(source)] == ["one", "one"]
    assert parsed == [source]


@pytest.mark.parametrize("is_included", [True, False])
def test_a_change_of_a_file_is_seen(source: Path, parsed: list[Path], is_included: bool) -> None:
    assert model(source) == "one"
    part = source.with_name("part.dtsi")
    changed = part if is_included else source
    changed.write_text(changed.read_text() + '/ { model = "two"; };\n')
    assert [model(source), model(source)] == ["two", "two"]
    # it was written a moment ago, and may be again
    assert len(parsed) == 3
    made_older(changed)
    assert [model(source), model(source)] == ["two", "two"]
    assert len(parsed) == 4


def test_a_tree_is_its_callers_to_change(source: Path, parsed: list[Path]) -> None:
    first = board_tree(source)
    first.props["model"] = replace(first.props["model"], value=b"changed\0")
    first.children[0].labels.append("new")
    first.children[0].props.clear()
    first.children.clear()
    again = board_tree(source)
    assert again.props["model"].value == b"one\0"
    assert again.children[0].props
    assert "new" not in again.children[0].labels
    assert len(parsed) == 1


def test_places_are_relative_to_where_one_is(
    source: Path, parsed: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert board_tree(source).props["model"].file == str(source.with_name("part.dtsi"))[1:]
    monkeypatch.chdir(source.parent)
    assert board_tree(source).props["model"].file == "part.dtsi"


def test_a_board_that_is_gone_is_said(source: Path) -> None:
    assert model(source) == "one"
    shutil.move(source.with_name("part.dtsi"), source.with_name("moved.dtsi"))
    with pytest.raises(BoardError):
        board_tree(source)


def test_the_machine_that_describes_the_board_runs(built: list[Any]) -> None:
    loaded = Board(BOARD)
    assert loaded.parameters
    elf = build_app("hello", BOARD, {})
    first = loaded.load(elf).run()
    assert len(built) == 1
    again = loaded.run()
    assert len(built) == 2, "a machine runs once"
    assert again == first
    assert loaded.load(elf).run() == first
    assert len(built) == 3


def test_after_a_file_that_is_no_program_another_one_runs(built: list[Any]) -> None:
    elf = build_app("hello", BOARD, {})
    expected = Board(BOARD).load(elf).run()
    loaded = Board(BOARD)
    with pytest.raises(ElfError):
        loaded.load(elf.read_bytes()[:-5000])
    assert loaded.load(elf).run() == expected
    with pytest.raises(ElfError):
        loaded.load(b"no ELF")
    assert loaded.run() == expected


def test_a_job_builds_a_machine_and_a_table_another(built: list[Any], parsed: list[Path]) -> None:
    short = [("fat-access.file_bytes", "65536"), ("fat-access.calls", "2")]
    jobs = plan([fat_access.EXPERIMENT], short, quick=True)[:2]
    records = [run_job(job) for job in jobs]
    assert len(built) == len(jobs)
    (result,) = tabulate(jobs, records)
    assert result.parameters
    assert len(built) == len(jobs) + 1
    assert len(parsed) == 1
