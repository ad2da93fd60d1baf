"""Random M-profile programs on the engine and on Unicorn: registers after each instruction.

Core and floating-point registers, xPSR and FPSCR are compared, and memory at the end.
CYCLESCOPE_DIFFERENTIAL is four times the least number of instructions (2000000 if unset, an eighth
of it in `make test`), CYCLESCOPE_SEED the first program's seed. Out of the programs' reach, and
why:

- what the manual calls unpredictable, and isb in an IT block;
- exceptions: the engine's own tests have those against the manual;
- accesses that trap by alignment: Unicorn's core lets them pass;
- what is in the system control space: Unicorn has none;
- stack pointers that are no multiple of four, which Unicorn keeps.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import arm_choices as choices
import arm_harness
import arm_m_harness
import arm_m_programs
import harness
import pytest

FIRST_SEED = int(os.environ.get("CYCLESCOPE_SEED", "1"))
# Slow memory, which the core waits for.
SLOW = """
&ram { cyclescope,first-word-cycles = <5>; cyclescope,beat-cycles = <2>; };
"""


def test_engine_and_unicorn_agree_after_each_instruction(
    changed_board: Callable[..., Path],
) -> None:
    board = str(changed_board(arm_m_harness.MEMORY, arm_m_harness.BOARD))
    seed, total = FIRST_SEED, 0
    while total < harness.INSTRUCTIONS // 4:
        total += arm_m_harness.compare(arm_m_programs.generate(seed), board)
        seed += 1
    print(f"{total} instructions of {seed - FIRST_SEED} programs, 0 divergences")


@pytest.mark.parametrize("setting", ["", SLOW])
def test_blocks_end_as_single_steps_do(setting: str, changed_board: Callable[..., Path]) -> None:
    board = str(changed_board(arm_m_harness.MEMORY + setting, arm_m_harness.BOARD))
    for seed in harness.seeds(20_001, 8, part=["", SLOW].index(setting)):
        program = arm_m_programs.generate(seed)
        theirs, their_data = arm_m_harness.reference_trace(program)
        stepped = arm_m_harness.loaded(program, board)
        arm_harness.compare_machine(program, stepped, theirs, their_data)
        by_steps = harness.ended(stepped, f"seed {seed}")
        data = (choices.DATA, their_data)
        for after in (0, 1, 3):
            run = arm_m_harness.loaded(program, board)
            run.compile_after(after)
            harness.assert_equal_runs(run, stepped, by_steps, data, f"seed {seed}, {after}")
