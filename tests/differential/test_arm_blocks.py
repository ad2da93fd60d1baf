"""An Arm program run block by block ends as by single steps, whatever the caches.

Registers and memory must equal Unicorn's; the time and its causes must equal those of single steps.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import arm_a7
import arm_choices as choices
import arm_harness
import arm_programs
import harness
import numpy as np
import pytest

# Times that differ from each other, in the core and in memory.
TIMES = """
&cpu0 {
	cyclescope,early-use-cycles = <1>;
	cyclescope,load-use-cycles = <2>;
	cyclescope,multiply-use-cycles = <3>;
	cyclescope,multiply-cycles = <2>;
	cyclescope,multiply-long-cycles = <4>;
	cyclescope,register-shift-cycles = <2>;
	cyclescope,status-cycles = <3>;
	cyclescope,coprocessor-cycles = <2>;
	cyclescope,barrier-cycles = <5>;
	cyclescope,exception-cycles = <9>;
	cyclescope,exception-return-cycles = <7>;
	cyclescope,taken-branch-cycles = <2>;
	cyclescope,mispredicted-branch-cycles = <6>;
	cyclescope,vfp-move-use-cycles = <2>;
	cyclescope,vfp-add-cycles = <3>;
	cyclescope,vfp-divide-double-cycles = <29>;
	cyclescope,tlb-cycles = <2>;
	cyclescope,walk-hit-cycles = <3>;
	cyclescope,maintenance-cycles = <4>;
};
&ram { cyclescope,first-word-cycles = <5>; cyclescope,beat-cycles = <2>; };
"""
MORE = """
&cpu0 { cyclescope,store-buffer-entries = <4>; cyclescope,uncached-fetch-bytes = <8>;
	cyclescope,uncached-fetches-ahead = <1>; cyclescope,several-beat-bytes = <8>; };
"""
SETTINGS = {
    "minimal": "",
    "times": TIMES,
    "ahead": TIMES + MORE,
    "small": TIMES + harness.CACHES % (512, 8, 256, 4, "lru"),
    "cortex-a5": TIMES + MORE + harness.CACHES % (32768, 512, 32768, 256, "round-robin"),
    "cortex-a7": arm_a7.CORTEX_A7
    + TIMES
    + MORE
    + harness.CACHES % (32768, 512, 32768, 256, "random"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_blocks_end_as_single_steps_do(setting: str, changed_board: Callable[..., Path]) -> None:
    board = str(changed_board(SETTINGS[setting], arm_harness.BOARD))
    for seed in harness.seeds(10_001, 12, part=[*SETTINGS].index(setting)):
        compare(arm_programs.generate(seed, arm_programs.SETS), board)


def compare(program: arm_programs.Program, board: str) -> None:
    """Runs the program on Unicorn, by steps and by blocks, compiled and not."""
    seed = program.seed
    theirs, their_data = arm_harness.reference_trace(program)
    stepped = arm_harness.loaded(program, board)
    states = arm_harness.rows(stepped, len(theirs) - 1)
    assert np.array_equal(states, theirs[1:]), f"seed {seed}: registers"
    by_steps = harness.ended(stepped, f"seed {seed}")
    data = (choices.DATA, their_data)
    for after in (0, 1, 3):
        run = arm_harness.loaded(program, board)
        run.compile_after(after)
        harness.assert_equal_runs(run, stepped, by_steps, data, f"seed {seed}, {after}")
