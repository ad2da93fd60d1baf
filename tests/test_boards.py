"""Boards: what ships is sound, what is wrong is refused with all its places."""

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, Command

import cyclescope as package
from cyclescope import bench, experiments
from cyclescope.results import CALIBRATED

Change = Callable[[str], Path]

BAD = {
    "a syntax error": ("/ {\n    uart\n};", ("changed.dts:5", "expected")),
    "an unknown compatible": ('&spi0 { compatible = "acme,spi"; };', ("spi@c4000000", "acme,spi")),
    "an overlap": ("&uart0 { reg = <0x41208000 0x10000>; };", ("41208000", "overlap")),
    "a missing property": ("&spi0 { /delete-property/ reg; };", ("spi@c4000000", "reg")),
    "a wrong value": (
        "&spi0 { xlnx,fifo-depth = <32>; };",
        ("changed.dts:3", "fifo-depth", "32", "16", "256"),
    ),
    "an unknown property": ("&spi0 { xlnx,fifo-dept = <16>; };", ("changed.dts:3", "fifo-dept")),
    "a wrong type": ('&spi0 { xlnx,fifo-depth = "deep"; };', ("changed.dts:3", "fifo-depth")),
    "a property without provenance": (
        "&ddr { /delete-property/ cyclescope,sources; };",
        ("cyclescope,sources",),
    ),
    "no core": ("/ { /delete-node/ cpus; };", ("cpu",)),
}


def test_list_names_each_board_and_experiment(cyclescope: Command) -> None:
    done = cyclescope("list")
    assert done.status == 0
    lines = done.stdout.splitlines()
    assert any(line.startswith("board") and BOARD in line for line in lines)
    assert any(line.startswith("experiment") and "quad-spi-throughput" in line for line in lines)
    assert len(lines) == len(package.shipped_boards()) + len(experiments.ALL)


@pytest.mark.parametrize("name", package.shipped_boards())
def test_board_shows_everything_with_provenance(cyclescope: Command, name: str) -> None:
    done = cyclescope("board", name)
    assert done.status == 0
    for title in ("cores", "clocks", "memory map", "devices", "timing parameters"):
        assert title in done.stdout
    for parameter in package.Board(name).parameters:
        assert parameter.source, parameter
        assert parameter.property in done.stdout.replace("\n", "") or "…" not in done.stdout


@pytest.mark.parametrize("name", package.shipped_boards())
def test_at_most_one_parameter_for_four_cells_is_calibrated_and_names_one(name: str) -> None:
    parameters = package.Board(name).parameters
    calibrated = [parameter for parameter in parameters if parameter.basis == CALIBRATED]
    # a board that shares its chip with a measured one has no published cells of its own
    runs = [
        (experiment, run)
        for experiment in experiments.ALL.values()
        if any(run.board == name for run in experiment.runs)
        for run in experiment.runs
    ]
    cells = [label for experiment, run in runs for label in experiment.published_labels(run)]
    # what an experiment fitted itself counts as if the board had it
    calibrated += dict.fromkeys(choice for experiment, _ in runs for choice in experiment.choices)
    assert len(calibrated) <= len(cells) // 4
    for parameter in calibrated:
        assert any(bench.basis(cell, [parameter]) == CALIBRATED for cell in cells), parameter


@pytest.mark.parametrize("name", BAD)
def test_a_bad_board_is_refused_with_its_place(
    cyclescope: Command, changed_board: Change, name: str
) -> None:
    source, said = BAD[name]
    done = cyclescope("board", changed_board(source))
    assert done.status == 2
    assert done.stdout == ""
    for text in said:
        assert text in done.stderr
    assert ".dts:" in done.error


def test_all_faults_are_reported_at_once(cyclescope: Command, changed_board: Change) -> None:
    source = '&spi0 { xlnx,fifo-depth = <32>; };\n&uart0 { compatible = "acme,uart"; };'
    done = cyclescope("board", changed_board(source))
    assert done.status == 2
    assert "fifo-depth" in done.stderr
    assert "acme,uart" in done.stderr


def test_an_unchanged_include_of_the_shipped_board_is_sound(
    cyclescope: Command, changed_board: Change
) -> None:
    assert cyclescope("board", changed_board("")).status == 0


def test_an_override_that_the_board_refuses_names_the_option(cyclescope: Command) -> None:
    done = cyclescope("board", BOARD, "--set", "spi0.xlnx,fifo-depth=32")
    assert done.status == 2
    assert "--set" in done.error
    assert "fifo-depth" in done.error


def test_an_overridden_parameter_says_so(cyclescope: Command) -> None:
    parameter = next(p for p in package.Board(BOARD).parameters if p.label == "ddr")
    path = f"ddr.{parameter.property}"
    changed = package.Board(BOARD, overrides={path: 77}).parameters
    (override,) = [p for p in changed if p.label == "ddr" and p.property == parameter.property]
    assert override.value == "77"
    assert override.basis == "override"
    assert "--set" in override.source


@pytest.mark.parametrize("name", ["kc705", "no-such-board", ""])
def test_an_unknown_board_is_refused_with_near_matches(cyclescope: Command, name: str) -> None:
    done = cyclescope("board", name)
    assert done.status == 2
    assert BOARD in done.error


def test_a_board_file_that_is_not_there_is_named(cyclescope: Command) -> None:
    done = cyclescope("board", "./mine.dts")
    assert done.status == 2
    assert "mine.dts" in done.error
