"""A program run block by block, or compiled, ends as by single steps, whatever the caches.

Registers and memory must equal Unicorn's; the time and its causes must equal those of single steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import choices
import harness
import numpy as np
import programs
import pytest

from cyclescope.board.description.overrides import OverrideValue
from cyclescope.errors import BoardError

MOST = 40_000
KC705 = "kc705-axi-quad-spi"
# 1, 2 and 4 ways, and caches far smaller than the programs.
TINY = {
    "cpu0.i-cache-size": 32,
    "cpu0.i-cache-sets": 1,
    "cpu0.d-cache-size": 16,
    "cpu0.d-cache-sets": 1,
}
TWO_WAYS = {
    "cpu0.i-cache-size": 512,
    "cpu0.i-cache-block-size": 32,
    "cpu0.i-cache-sets": 8,
    "cpu0.d-cache-size": 1024,
    "cpu0.d-cache-block-size": 64,
    "cpu0.d-cache-sets": 8,
}
FOUR_WAYS = {"cpu0.i-cache-size": 2048, "cpu0.i-cache-sets": 32, "cpu0.d-cache-sets": 256}
THROUGH = {"cpu0.cyclescope,d-cache-write-policy": "write-through"}
LATE_RESULTS = {"cpu0.cyclescope,load-use-cycles": 7, "cpu0.cyclescope,multiply-use-cycles": 11}
SETTINGS = {
    "minimal": ("minimal-rv32", {}),
    "kc705": (KC705, {}),
    "tiny": (KC705, TINY),
    "two ways": (KC705, TWO_WAYS),
    "four ways": (KC705, FOUR_WAYS),
    "write-through": (KC705, THROUGH),
    "late results": (KC705, LATE_RESULTS),
    "two ways, write-through": (KC705, TWO_WAYS | THROUGH),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_blocks_end_as_single_steps_do(setting: str) -> None:
    board, overrides = SETTINGS[setting]
    for seed in harness.seeds(10_001, 20, part=[*SETTINGS].index(setting)):
        compare(seed, board, overrides)


def test_so_they_do_with_round_robin_replacement(
    changed_board: Callable[[str], Path],
) -> None:
    board = str(changed_board('&cpu0 { cyclescope,cache-replacement = "round-robin"; };'))
    for seed in harness.seeds(100_101, 10):
        for overrides in (TINY, TWO_WAYS):
            compare(seed, board, overrides)


@pytest.mark.parametrize("setting", ["minimal", "kc705", "two ways", "late results"])
def test_hot_blocks_end_as_cold_ones_do(setting: str) -> None:
    """Enough rounds for blocks to be compiled where users have them compiled."""
    board, overrides = SETTINGS[setting]
    for seed in harness.seeds(200_201, 3, part=[*SETTINGS].index(setting)):
        program = programs.generate(seed, units=25, rounds=8000)
        runs = [harness.loaded(program, at, board=board, overrides=overrides) for at in (0, None)]
        cold, hot = (run.run(None, None) for run in runs)
        assert cold["outcome"] == "exit"
        assert hot == cold, f"seed {seed}: time and counters"
        assert runs[0].registers() == runs[1].registers(), f"seed {seed}"
        data = [run.read_memory(choices.DATA, choices.DATA_BYTES) for run in runs]
        assert data[0] == data[1], f"seed {seed}: memory"


def compare(seed: int, board: str, overrides: Mapping[str, OverrideValue]) -> None:
    """Runs the program of `seed` on Unicorn, by steps and by blocks."""
    program = programs.generate(seed)
    theirs, their_data = harness.reference_trace(program, MOST)
    stepped = harness.loaded(program, board=board, overrides=overrides)
    states = harness.rows(stepped.trace(len(theirs) - 1))
    assert np.array_equal(states, theirs[1:]), f"seed {seed}: registers"
    by_steps = stepped.run(None, None)
    for after in (0, 1, 3):
        run = harness.loaded(program, after, board=board, overrides=overrides)
        data = (choices.DATA, their_data)
        harness.assert_equal_runs(run, stepped, by_steps, data, f"seed {seed}, {after}")


def test_an_instruction_cache_of_one_line_is_refused() -> None:
    """An instruction across two lines would evict its own first half, for ever."""
    with pytest.raises(BoardError, match="an instruction cache has at least two lines"):
        harness.engine(board=KC705, overrides={**TINY, "cpu0.i-cache-size": 16})
