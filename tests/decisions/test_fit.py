"""Fits: hidden values of a board are found again; undetermined ones are reported."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import BOARD

from cyclescope import experiments
from cyclescope.bench import planning
from cyclescope.bench.running import run_job
from cyclescope.board import Board
from cyclescope.fitting import fit
from cyclescope.fitting.judging import DETERMINED, NO_EFFECT, TOGETHER
from cyclescope.fitting.results import FitResult

Program = Callable[[str], Path]

FUNCTIONS = ("divide", "stride", "fill", "print")
DDR = "ddr.cyclescope,first-word-cycles"
DDR_WRITE = "ddr.cyclescope,write-first-word-cycles"
DIVIDE = "cpu0.cyclescope,divide-cycles"
UART = "uart0.cyclescope,write-cycles"
# Every access takes both, the way there and the way back.
PAIR = {"axi_lite.cyclescope,request-cycles": "0:6", "axi_lite.cyclescope,response-cycles": "0:6"}
CACHES = ("4K", "8K", "16K")


@cache
def sections(elf: Path, hidden: tuple[tuple[str, int], ...], size: str) -> list[tuple[str, int]]:
    """Cycles of functions with a data cache of this size."""
    sets = int(size[:-1]) * 1024 // 16
    caches = {"cpu0.d-cache-size": size, "cpu0.d-cache-sets": str(sets)}
    result = Board(BOARD, {**dict(hidden), **caches}).load(elf).run(sections=FUNCTIONS)
    return [(section.name, section.cycles) for section in result.cores[0].sections]


def measured(
    elf: Path, hidden: Mapping[str, int], path: Path, noise: float = 0.0, columns: str = ""
) -> Path:
    """A table of what a board with these values takes, as if somebody had measured it."""
    chance = random.Random(1)
    lines = [f"metric,value,cpu0.d-cache-size{columns}"]
    for size in CACHES:
        for name, cycles in sections(elf, tuple(hidden.items()), size):
            seen = cycles * (1 + noise * chance.gauss(0, 1))
            lines.append(f"{name}.cycles,{round(seen)},{size}")
    path.write_text("\n".join(lines) + "\n")
    return path


def of(result: FitResult, path: str) -> Any:
    return next(one for one in result.parameters if one.free.path == path)


# ---- what is found


def test_hidden_values_are_found(program: Program, tmp_path: Path) -> None:
    elf = program("measured")
    hidden = {DDR: 33, DDR_WRITE: 8, DIVIDE: 37}
    table = measured(elf, hidden, tmp_path / "cells.csv")
    result = fit(elf, BOARD, list(hidden), table, threads=2)
    assert result.values == hidden
    assert result.warnings == []
    assert all(one.told == DETERMINED for one in result.parameters)
    assert all(cell.after == cell.measured for cell in result.cells)
    assert any(abs(cell.before_pct) > 5 for cell in result.cells)
    assert result.cross_validated is not None
    assert result.cross_validated.mean_pct == 0
    assert result.cross_validated.before_mean_pct > 1


# test_fit_intervals.py has small forms with values that noise moves
@pytest.mark.long
def test_hidden_values_are_within_their_intervals(program: Program, tmp_path: Path) -> None:
    elf = program("measured")
    hidden = {DDR: 33, DDR_WRITE: 8, DIVIDE: 36}
    table = measured(elf, hidden, tmp_path / "cells.csv", noise=0.01)
    result = fit(elf, BOARD, list(hidden), table, threads=2)
    for path, value in hidden.items():
        low, high = of(result, path).possible
        assert low <= value <= high
    widths = {one.free.path: one.possible[1] - one.possible[0] for one in result.parameters}
    assert 0 < widths[DDR] < 10
    # with noise of a hundredth the divisions' few cycles are hardly determined
    assert result.cross_validated is not None
    assert 0.3 < result.cross_validated.mean_pct < 3


def test_two_that_are_always_added_can_not_be_distinguished(
    program: Program, tmp_path: Path
) -> None:
    elf = program("measured")
    hidden = {DDR: 30, **dict.fromkeys(PAIR, 3)}
    table = measured(elf, hidden, tmp_path / "cells.csv")
    result = fit(elf, BOARD, {DDR: None, **PAIR}, table, threads=2)
    (group,) = result.untold
    assert set(group.paths) == set(PAIR)
    assert group.words in result.warnings
    assert "only their sum" in group.words
    assert [of(result, path).told for path in PAIR] == [TOGETHER, TOGETHER]
    assert of(result, DDR).told == DETERMINED
    assert of(result, DDR).value == 30
    assert sum(of(result, path).value for path in PAIR) == 6


def test_a_parameter_without_effect_is_named(program: Program, tmp_path: Path) -> None:
    elf = program("measured")
    nothing = "dma0.cyclescope,setup-cycles"
    table = measured(elf, {DDR: 30}, tmp_path / "cells.csv")
    result = fit(elf, BOARD, [DDR, nothing], table, threads=2)
    assert result.values == {DDR: 30}
    assert of(result, nothing).told == NO_EFFECT
    assert of(result, nothing).value == of(result, nothing).free.board_value
    assert [line for line in result.warnings if nothing in line] == [
        f"{nothing}: no cell depends on it: its value stays as it is"
    ]
    assert not any(DDR in line for line in result.warnings)


def test_alternatives_are_tried(program: Program, tmp_path: Path) -> None:
    elf = program("measured")
    table = measured(elf, {DDR: 40, DIVIDE: 38}, tmp_path / "cells.csv")
    result = fit(elf, BOARD, {DDR: None, DIVIDE: "32,35,38"}, table, threads=2)
    assert result.values == {DDR: 40, DIVIDE: 38}
    assert of(result, DIVIDE).told == DETERMINED
    assert of(result, DIVIDE).possible == (38,)


def test_more_parameters_than_cells_carry_is_a_warning(program: Program, tmp_path: Path) -> None:
    elf = program("measured")
    table = measured(elf, {DDR: 30}, tmp_path / "cells.csv")
    few = tmp_path / "few.csv"
    few.write_text("\n".join(table.read_text().splitlines()[:8]) + "\n")
    assert fit(elf, BOARD, [DDR], few, threads=2).warnings == []
    warnings = fit(elf, BOARD, [DDR, DDR_WRITE], few, threads=2).warnings
    assert "2 parameters for 7 independent cells: too many to determine" in warnings[0]


def test_a_prior_holds_parameters_that_cells_hardly_determine(
    program: Program, tmp_path: Path
) -> None:
    elf = program("measured")
    table = measured(elf, {UART: 6}, tmp_path / "cells.csv")
    free = {UART: "2:60"}
    assert fit(elf, BOARD, free, table, threads=2).values == {UART: 6}
    held = fit(elf, BOARD, free, table, prior=0.001, threads=2)
    assert held.values == {UART: of(held, UART).free.board_value}


def test_cells_that_are_not_fitted_rate_the_fit(program: Program, tmp_path: Path) -> None:
    elf = program("measured")
    table = measured(elf, {DDR: 33, DDR_WRITE: 8}, tmp_path / "cells.csv", noise=0.01)
    result = fit(elf, BOARD, [DDR, DDR_WRITE], table, every=3, threads=2)
    assert [cell.is_fitted for cell in result.cells] == [True, False, False] * 4
    assert result.others is not None
    assert result.others.cells == 8
    sizes = [abs(cell.after_pct) for cell in result.cells if not cell.is_fitted]
    assert result.others.mean_pct == pytest.approx(sum(sizes) / 8)
    assert result.others.worst_pct == pytest.approx(max(sizes))
    assert result.others.mean_pct < result.others.before_mean_pct


def test_numbers_that_were_measured_again_are_held_out_together(
    program: Program, tmp_path: Path
) -> None:
    elf = program("measured")
    table = measured(elf, {DDR: 30}, tmp_path / "cells.csv", noise=0.01)
    head, *lines = table.read_text().splitlines()
    twice = tmp_path / "twice.csv"
    twice.write_text("\n".join([head, *lines, *lines]) + "\n")
    once, again = (fit(elf, BOARD, [DDR], path, every=2, threads=2) for path in (table, twice))
    assert len(again.fitted) == 2 * len(once.fitted)
    assert once.independent == again.independent == 6
    assert again.cross_validated is not None
    assert once.cross_validated is not None
    assert again.cross_validated.mean_pct == pytest.approx(once.cross_validated.mean_pct)


def test_an_experiment_is_fitted_to_what_was_published() -> None:
    path = "cm4.cyclescope,taken-branch-cycles"
    result = fit("rpmsg-tty", None, [path], every=3, threads=2)
    # numbers that follow from one another are fitted together or not at all
    assert result.independent == 2
    assert 2 <= len(result.fitted) < len(result.cells) == 11
    assert result.cells[0].label == "512 B x 1"
    assert "1 parameter for 2 independent cells" in result.warnings[0]
    fitted = [cell for cell in result.cells if cell.is_fitted]
    assert sum(cell.after_pct**2 for cell in fitted) <= sum(cell.before_pct**2 for cell in fitted)
    # as a bench gives them
    (experiment,) = experiments.select(["rpmsg-tty"])
    job = next(
        job
        for job in planning.plan([experiment], [(path, str(of(result, path).value))])
        if experiment.has_published(job.run)
    )
    run = run_job(job).result
    assert run is not None
    assert {metric.value for metric in run.metrics} >= {cell.after for cell in result.cells}
