"""Random MIPS32 programs on the engine and on Unicorn: all registers, then memory.

General registers, HI and LO are compared after each instruction, and what each exception
leaves in Cause, EPC and BadVAddr. CYCLESCOPE_DIFFERENTIAL is eight times the least number of
instructions (2000000 if unset), CYCLESCOPE_SEED the first program's seed. Out of the programs'
reach, and why:

- what the manual calls unpredictable: branches in delay slots, branches with a link on $31;
- the entry of exceptions as such: Unicorn leaves it to `mips_reference`, which skips the
  instruction as the programs' handlers do;
- coprocessor 0 beyond what programs need: an XBurst has other registers than a 4Kc.
"""

from __future__ import annotations

import os

import harness
import mips_harness
import mips_programs

FIRST_SEED = int(os.environ.get("CYCLESCOPE_SEED", "1"))


def test_engine_and_unicorn_agree_after_each_instruction() -> None:
    seed, total = FIRST_SEED, 0
    while total < harness.INSTRUCTIONS // 8:
        total += mips_harness.compare(mips_programs.generate(seed))
        seed += 1
    print(f"{total} instructions of {seed - FIRST_SEED} programs, 0 divergences")
