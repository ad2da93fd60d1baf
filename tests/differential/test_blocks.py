"""A program run block by block ends as it does instruction by instruction, whatever the caches.

Registers and memory have to be Unicorn's; the time and its causes have to be those of single steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import choices
import harness
import numpy as np
import programs
import pytest

from cyclescope.errors import BoardError
from cyclescope.overrides import OverrideValue

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
LATE_RESULTS = {"cpu0.cyclescope,load-use-cycles": 3, "cpu0.cyclescope,multiply-use-cycles": 5}
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
    for seed in range(10_001, 10_061):
        compare(seed, board, overrides)


def test_so_they_do_with_round_robin_replacement(
    changed_board: Callable[[str], Path],
) -> None:
    board = str(changed_board('&cpu0 { cyclescope,cache-replacement = "round-robin"; };'))
    for seed in range(10_101, 10_131):
        for overrides in (TINY, TWO_WAYS):
            compare(seed, board, overrides)


def compare(seed: int, board: str, overrides: Mapping[str, OverrideValue]) -> None:
    """Runs the program of `seed` on Unicorn, by steps and by blocks."""
    program = programs.generate(seed)
    theirs, their_data = harness.reference_trace(program, MOST)
    stepped = harness.loaded(program, board=board, overrides=overrides)
    states = harness.rows(stepped.trace(len(theirs) - 1))
    assert np.array_equal(states, theirs[1:]), f"seed {seed}: registers"
    run = harness.loaded(program, board=board, overrides=overrides)
    by_blocks = run.run(None, None)
    assert by_blocks["outcome"] == "exit"
    data = run.read_memory(choices.DATA, choices.DATA_BYTES)
    assert data == their_data, f"seed {seed}: memory"
    by_steps = stepped.run(None, None)
    assert by_blocks == by_steps, f"seed {seed}: time and counters"
    assert run.registers() == stepped.registers()


def test_an_instruction_cache_of_one_line_is_refused() -> None:
    """An instruction across two lines would evict its own first half, for ever."""
    with pytest.raises(BoardError, match="an instruction cache has at least two lines"):
        harness.engine(board=KC705, overrides={**TINY, "cpu0.i-cache-size": 16})
