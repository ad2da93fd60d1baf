"""Random MIPS32 programs on the engine and on Unicorn: all registers, then memory.

General registers, HI and LO are compared after each instruction, and what each exception
leaves in Cause, EPC and BadVAddr. CYCLESCOPE_DIFFERENTIAL is eight times the least number of
instructions (2000000 if unset, an eighth of it in `make test`), CYCLESCOPE_SEED the first program's
seed. Out of the programs' reach, and why:

- what the manual calls unpredictable: branches in delay slots, branches with a link on $31;
- the entry of exceptions as such: Unicorn leaves it to `mips_reference`, which skips the
  instruction as the programs' handlers do;
- coprocessor 0 beyond what programs need: an XBurst has other registers than a 4Kc.
"""

from __future__ import annotations

import os

import harness
import mips_assembler as mips
import mips_encodings
import mips_harness
import mips_programs
import numpy as np
from mips_choices import CODE

FIRST_SEED = int(os.environ.get("CYCLESCOPE_SEED", "1"))


def test_engine_and_unicorn_agree_after_each_instruction() -> None:
    seed, total = FIRST_SEED, 0
    while total < harness.INSTRUCTIONS // 8:
        total += mips_harness.compare(mips_programs.generate(seed))
        seed += 1
    print(f"{total} instructions of {seed - FIRST_SEED} programs, 0 divergences")


def entry(encoding: int) -> tuple[int, int]:
    """The place of an instruction in the manual's tables."""
    opcode = encoding >> 26
    if opcode == mips_encodings.REGIMM:
        return opcode, encoding >> 16 & 0x1F
    has_functions = opcode in (mips_encodings.SPECIAL, mips_encodings.SPECIAL2)
    return opcode, encoding & 0x3F if has_functions else 0


def test_the_programs_use_every_instruction() -> None:
    """All but those of coprocessor 0 and sdbbp."""
    used = set()
    for seed in range(FIRST_SEED, FIRST_SEED + 20):
        program = mips_programs.generate(seed)
        rows, *_ = mips_harness.reference_trace(program)
        at = np.unique(rows[:-1, 0]) - program.view - CODE
        used |= {entry(int(each)) for each in np.frombuffer(program.code, dtype="<u4")[at // 4]}
    functions = (mips.THREE, mips.SHIFTS, mips.PRODUCTS, mips.FROM_HI_LO, mips.TO_HI_LO, mips.TRAPS)
    opcodes = (mips.IMMEDIATES, mips.LOADS, mips.STORES, mips.EQUALS)
    expected = {entry(base) for table in (*functions, mips.SIGNS) for base in table.values()}
    expected |= {(opcode, 0) for table in opcodes for opcode in table.values()}
    expected |= {(1, number) for number in mips.TRAP_IMMEDIATES.values()}
    expected |= {(each, 0) for each in (mips.LL, mips.SC, mips.PREF, mips.CACHE, mips.J, mips.JAL)}
    expected |= {entry(each) for each in (mips.SYSCALL, mips.BREAK, mips.SYNC, mips.JR, mips.JALR)}
    assert expected <= used
