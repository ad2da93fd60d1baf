"""Random Arm programs on the engine and on Unicorn: registers after each instruction, then memory.

Core and floating-point registers, CPSR and FPSCR are compared. CYCLESCOPE_DIFFERENTIAL is twice
the least number of instructions (2000000 if unset, an eighth of it in `make test`), CYCLESCOPE_SEED
the first program's seed. Out of the programs' reach, and why:

- what the manual calls unpredictable;
- isb in an IT block, and exceptions in one whose handler returns into it: Unicorn drops the block;
- sdiv and udiv: the Cortex-A5 has none;
- interrupts, and exceptions' entry as such: Unicorn leaves it to `arm_reference`;
- fault status, and faults by alignment: Unicorn's core has no idea of them.
"""

from __future__ import annotations

import os

import arm_harness
import arm_programs
import harness

FIRST_SEED = int(os.environ.get("CYCLESCOPE_SEED", "1"))


def test_engine_and_unicorn_agree_after_each_instruction() -> None:
    seed, total = FIRST_SEED, 0
    while total < harness.INSTRUCTIONS // 2:
        total += arm_harness.compare(arm_programs.generate(seed, arm_programs.SETS))
        seed += 1
    print(f"{total} instructions of {seed - FIRST_SEED} programs, 0 divergences")
