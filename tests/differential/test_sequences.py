"""Random programs on the engine and on Unicorn: all registers after each instruction, then memory.

CYCLESCOPE_DIFFERENTIAL is the least number of instructions (2000000 if unset, an eighth of it in
`make test`), CYCLESCOPE_SEED the first program's seed. Out of the programs' reach, and why:

- misaligned accesses: Unicorn's core does them, ours traps (both are allowed);
- traps: Unicorn leaves them to its user (see `test_encodings` for which instructions raise which);
- CSRs but mscratch, mepc, mcause, mtval: the others differ by what a core has.
"""

from __future__ import annotations

import os
from typing import Any

import assembler as asm
import choices
import harness
import numpy as np
import programs

from cyclescope import _engine

FIRST_SEED = int(os.environ.get("CYCLESCOPE_SEED", "1"))
MOST = 40_000


def compare(program: programs.Program, **board: Any) -> int:
    """Runs the program on both; gives the number of instructions."""
    seed = program.seed
    theirs, their_data = harness.reference_trace(program, MOST)
    machine = harness.loaded(program, **board)
    count = len(theirs) - 1
    assert int(theirs[-1][0]) == program.end, f"seed {seed}: the program does not end"
    ours = harness.rows(machine.trace(count))
    assert len(ours) == count, f"seed {seed}: the engine stopped after {len(ours)} of {count}"
    differing = np.flatnonzero((ours != theirs[1:]).any(axis=1))
    if differing.size:
        first = int(differing[0])
        before, after = theirs[first], (ours[first], theirs[first + 1])
        raise AssertionError(harness.divergence(seed, before, *after, program.code))
    our_data = machine.read_memory(choices.DATA, choices.DATA_BYTES)
    assert our_data == their_data, f"seed {seed}: memory differs at the end"
    return count


def test_engine_and_unicorn_agree_after_each_instruction() -> None:
    seed, total = FIRST_SEED, 0
    while total < harness.INSTRUCTIONS:
        total += compare(programs.generate(seed))
        seed += 1
    print(f"{total} instructions of {seed - FIRST_SEED} programs, 0 divergences")


def test_the_programs_use_every_instruction_of_both_lengths() -> None:
    """All but those that trap, wait or return from a trap."""
    used = set()
    for seed in range(FIRST_SEED, FIRST_SEED + 20):
        program = programs.generate(seed)
        states, _ = harness.reference_trace(program, MOST)
        for pc in np.unique(states[:-1, 0]):
            at = int(pc) - choices.CODE
            encoding = int.from_bytes(program.code[at : at + 4], "little")
            mnemonic = _engine.disassemble(encoding, 0, "riscv-no-aliases").split()[0]
            used.add((mnemonic, 4 if encoding & 3 == 3 else 2))
    tables = (asm.R_OPS, asm.I_OPS, asm.SHIFTS, asm.LOADS, asm.STORES, asm.BRANCHES, asm.CSRS)
    long = {*(name for table in tables for name in table)}
    long |= {"lui", "auipc", "jal", "jalr", "fence", "fence.i"}
    short = {"addi", "lw", "sw", "jal", "lui", "srli", "srai", "andi", "slli", "beq", "bne"}
    short |= {"sub", "xor", "or", "and", "add", "jalr"}
    assert used == {(name, 4) for name in long} | {(name, 2) for name in short}
