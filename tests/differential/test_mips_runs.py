"""A MIPS32 program that runs freely ends as by single steps, whatever the caches and the times.

Registers and memory must equal Unicorn's; the time and its causes must equal those of single steps.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import harness
import mips_harness
import mips_programs
import numpy as np
import pytest
from mips_choices import PLAIN

# Times that differ from each other, in the core and in memory.
TIMES = """
&cpu0 {
	cyclescope,load-use-cycles = <2>;
	cyclescope,multiply-cycles = <3>;
	cyclescope,multiply-use-cycles = <4>;
	cyclescope,divide-cycles = <35>;
	cyclescope,coprocessor-cycles = <2>;
	cyclescope,barrier-cycles = <5>;
	cyclescope,exception-cycles = <9>;
	cyclescope,exception-return-cycles = <7>;
	cyclescope,taken-branch-cycles = <2>;
	cyclescope,unpredicted-jump-cycles = <3>;
	cyclescope,mispredicted-branch-cycles = <6>;
	cyclescope,branch-targets = <16>;
	cyclescope,tlb-cycles = <2>;
	cyclescope,maintenance-cycles = <4>;
};
&ram { cyclescope,first-word-cycles = <5>; cyclescope,beat-cycles = <2>; };
"""
STORES = "&cpu0 { cyclescope,store-buffer-entries = <4>; };"
SETTINGS = {
    "minimal": "",
    "times": TIMES,
    "small": TIMES + STORES + harness.CACHES % (512, 8, 256, 4, "lru"),
    "xburst": TIMES + STORES + harness.CACHES % (16384, 128, 16384, 128, "lru"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_runs_end_as_single_steps_do(setting: str, changed_board: Callable[..., Path]) -> None:
    board = str(changed_board(SETTINGS[setting], mips_harness.BOARD))
    for seed in harness.seeds(10_001, 9, part=[*SETTINGS].index(setting)):
        compare(mips_programs.generate(seed), board)


def compare(program: mips_programs.Program, board: str) -> None:
    """Runs the program on Unicorn, by steps and freely, compiled and not."""
    seed = program.seed
    theirs, _, their_data = mips_harness.reference_trace(program)
    stepped = mips_harness.loaded(program, board)
    states, _ = mips_harness.rows(stepped, program.begin, len(theirs))
    assert np.array_equal(states, theirs), f"seed {seed}: registers"
    by_steps = harness.ended(stepped, f"seed {seed}")
    data = (PLAIN, their_data)
    for after in (0, 1, 3):
        run = mips_harness.loaded(program, board)
        run.compile_after(after)
        harness.assert_equal_runs(run, stepped, by_steps, data, f"seed {seed}, {after}")
