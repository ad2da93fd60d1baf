"""Random programs on a PicoRV32 and on Unicorn, and run whole against single steps.

The programs are those of the other cores but for CSRs and fence.i, which PicoRV32 has not: code
that was changed is seen from the next jump on. Its counters and interrupts, which Unicorn has not,
are in no register that is compared; what an unknown encoding is, the decoder's own tests say.
"""

from __future__ import annotations

import struct
from dataclasses import replace

import assembler as asm
import choices
import elf32
import harness
import numpy as np
import picorv32
import programs
import pytest
import tiers
from interrupts import LOG, LOG_BYTES
from test_sequences import FIRST_SEED, MOST, compare

from cyclescope import _engine

SLOW_CYCLES = 30
FAST, SLOW = {}, {"ram.cyclescope,first-word-cycles": SLOW_CYCLES}
MEMORIES = {"fast": FAST, "slow": SLOW}
# Interrupts after every few instructions; from slow memory, further apart than the handler takes.
TIMERS = {"fast": 60, "slow": 1500}
MRET, WFI = 0x30200073, 0x10500073
RDCYCLE = 0xC00


def test_engine_and_unicorn_agree_after_each_instruction() -> None:
    seed, total = FIRST_SEED, 0
    while total < harness.INSTRUCTIONS // 10:
        program = programs.generate(seed, core=picorv32.CORE)
        total += compare(program, board=picorv32.BOARD)
        seed += 1
    print(f"{total} instructions of {seed - FIRST_SEED} programs, 0 divergences")


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_program_run_whole_ends_as_by_single_steps(memory: str) -> None:
    for seed in harness.seeds(500_001, 10, part=[*MEMORIES].index(memory)):
        program = programs.generate(seed, core=picorv32.CORE)
        theirs, their_data = harness.reference_trace(program, MOST)
        stepped, run = machines(program, memory)
        assert np.array_equal(harness.rows(stepped.trace(len(theirs) - 1)), theirs[1:]), seed
        by_steps = stepped.run(None, None)
        assert by_steps["outcome"] == "exit", by_steps["message"]
        assert run.run(None, None) == by_steps, f"seed {seed}: time and counters"
        assert run.registers() == stepped.registers(), f"seed {seed}"
        data = run.read_memory(choices.DATA, choices.DATA_BYTES)
        assert data == their_data, f"seed {seed}: memory"


@pytest.mark.parametrize("memory", MEMORIES)
def test_interrupts_come_at_the_same_instruction_and_leave_no_trace(memory: str) -> None:
    total = 0
    seeds = harness.seeds(600_001, 10, part=[*MEMORIES].index(memory))
    for seed in seeds:
        timer = picorv32.Timer(TIMERS[memory])
        program = programs.generate(seed, timer, core=picorv32.CORE)
        plain = replace(program, code=picorv32.without_own_instructions(program.code))
        scratch = (picorv32.SCRATCH, picorv32.SCRATCH_BYTES)
        theirs, their_data = harness.reference_trace(plain, MOST, [scratch])
        assert int(theirs[-1][0]) == program.end, f"seed {seed}: the program does not end"
        stepped, run = machines(program, memory)
        whole = run.run(None, None)
        assert whole["outcome"] == "exit", whole["message"]
        interrupts = whole["counters"]["cpu0.interrupts"]
        # To the exit. Entering a handler is a step and so is waitirq, which isn't counted.
        stepped.trace(2 * (whole["cores"][0]["instructions"] + interrupts))
        assert stepped.run(None, None) == whole, f"seed {seed}: time and counters"
        assert run.registers() == stepped.registers(), f"seed {seed}"
        log = log_of(run, interrupts)
        assert log == log_of(stepped, interrupts), f"seed {seed}: interrupts"
        assert {cause for _, cause in log} == {1}
        assert run.read_memory(choices.DATA, choices.DATA_BYTES) == their_data, seed
        # The exit's own instructions change x10 alone.
        ours = run.registers()
        assert ours[1:11] + ours[12:] == [*theirs[-1][1:11], *theirs[-1][12:]], seed
        total += interrupts
    assert total > tiers.sized(50 * len(seeds), 1000)


def machines(program: programs.Program, memory: str) -> list[_engine.Machine]:
    """Two with the program loaded."""
    return [
        harness.loaded(program, board=picorv32.BOARD, overrides=MEMORIES[memory]) for _ in range(2)
    ]


def log_of(machine: _engine.Machine, interrupts: int) -> list[tuple[int, int]]:
    """Return address and causes of each interrupt."""
    size = interrupts * picorv32.ENTRY_BYTES
    assert 0 < size <= LOG_BYTES
    return list(struct.iter_unpack("<2I", machine.read_memory(LOG, size)))


STOPS = {
    "mret": (MRET, "unknown instruction"),
    "wfi": (WFI, "unknown instruction"),
    "fence.i": (asm.FENCE_I, "unknown instruction"),
    "csrrw of a counter": (asm.i_type(asm.CSRS["csrrw"], 1, 0, RDCYCLE), "unknown instruction"),
    "csrrs of mstatus": (asm.i_type(asm.CSRS["csrrs"], 1, 0, 0x300), "unknown instruction"),
    "ebreak": (asm.EBREAK, "environment call or breakpoint"),
    "lw": (asm.i_type(asm.LOADS["lw"], 1, 2, 2), "misaligned access"),
    "sh": (asm.s_type(asm.STORES["sh"], 2, 1, 1), "misaligned access"),
}


@pytest.mark.parametrize("name", STOPS)
def test_a_stop_with_masked_interrupts_is_a_fault(name: str) -> None:
    encoding, what = STOPS[name]
    code = struct.pack("<2I", asm.i_type(asm.I_OPS["addi"], 1, 0, 7), encoding)
    machine = harness.engine(elf32.Segment(choices.CODE, code), board=picorv32.BOARD)
    report = machine.run(None, None)
    assert report["outcome"] == "fault"
    assert what in report["message"]
    assert f"{choices.CODE + 4:#010x}" in report["message"]
    assert report["cores"][0]["instructions"] == 2
    assert machine.registers()[2] == 7
