"""The boards of the tutorials: whole, short, and made of what the reference has."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT
from described import BINDINGS, binding_of
from tutorial_pages import File, Scratch, steps

import cyclescope as package
from cyclescope.board.description import devicetree
from cyclescope.board.description.devicetree_bindings import common_properties

TUTORIALS = ROOT / "docs" / "tutorials"
BOARDS = {"run-from-flash": "mcu.dts", "your-own-board": "arty.dts"}
MOST_LINES = 100


def written(page: str, folder: Path) -> Path:
    """The board as a reader of the page has it in the end."""
    scratch = Scratch(folder)
    for step in steps(TUTORIALS / f"{page}.md"):
        if isinstance(step, File):
            scratch.write(step)
    return folder / BOARDS[page]


def test_the_board_that_runs_from_flash_is_whole_and_short(tmp_path: Path) -> None:
    path = written("run-from-flash", tmp_path)
    assert len(path.read_text().splitlines()) < MOST_LINES
    board = package.Board(path)
    assert board.warnings == ()
    described = board.describe()
    assert [core["isa"][:4] for core in described["cores"]] == ["RV32"]
    groups = {BINDINGS[device["compatible"]].group for device in described["devices"]}
    assert groups == {"Serial ports", "Timers and counters", "SPI controllers"}
    (window,) = [region for region in described["map"] if region["name"] == "qspi window"]
    assert window["cacheable"]


@pytest.mark.parametrize("page", BOARDS)
def test_the_reference_has_all_that_the_boards_of_tutorials_say(page: str, tmp_path: Path) -> None:
    common = common_properties()
    found = 0
    for node in devicetree.parse(written(page, tmp_path)).walk():
        words = {
            name: node.props[name].value.decode().rstrip("\0")
            for name in ("compatible", "device_type")
            if name in node.props
        }
        compatibles = words.get("compatible", "").split("\0")
        binding = binding_of(node.name, compatibles, words.get("device_type", ""))
        if binding is None:
            continue
        known = {prop.name for prop in binding.properties} | set(common)
        assert set(node.props) <= known, node.path
        found += 1
    assert found >= 7
