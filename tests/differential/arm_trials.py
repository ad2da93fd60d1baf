"""Single T32 instructions, each with its own state, as one program for the engine and Unicorn.

A dispatcher in A32, which is every exception's handler, takes the next trial from a table, writes
the encoding into a slot, and returns to it with registers and flags set. What is around the slot
traps in both instruction sets: whatever the trial does, the dispatcher comes next.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass

import arm_a32 as a32
import arm_a32_control as control
import arm_system as system
import assembler as asm
from arm_choices import ALWAYS, CODE, DATA, DATA_BYTES, Rng
from arm_programs import EXIT, Program
from assembler import Item, Label, word

# The code around the slot, addresses for pop to jump to, the trials.
AREA, POINTERS, TABLE = CODE + 0x1000, CODE + 0x2400, CODE + 0x2800
AREA_BYTES = POINTERS - AREA
# The instruction before the trial is a nop or an it: the trial is at no multiple of four.
BEFORE = AREA + AREA_BYTES // 2
SLOT = BEFORE + 2
REACH = 1000
# svc in T32, then b to the next instruction; udf in A32.
TRAP = 0xE7FFDFF0
NOP = 0xBF00
CURSOR = DATA + DATA_BYTES - 4
RECORD_WORDS = 18
# Instructions of the dispatcher for a trial.
DISPATCHED = 20
SYSTEM_T32 = 0x1FF
MOST = 2000


@dataclass(frozen=True)
class Trial:
    """An encoding, the one before it, and what r0 to r14 and the flags are."""

    before: int
    encoding: int
    registers: tuple[int, ...]
    flags: int

    def record(self) -> bytes:
        slot = self.before | self.encoding << 16
        # Registers of System mode, in T32.
        return struct.pack("<18I", slot, BEFORE, self.flags | SYSTEM_T32, *self.registers)


def any_target(rng: random.Random) -> int:
    """An address to jump to, with the bit of its instruction set; not the trial's."""
    while True:
        offset = rng.randrange(-REACH, REACH) & ~3
        if not 0 <= offset < 4:
            return BEFORE + offset + rng.choice((0, 1, 3))


def dispatcher(start: Label, following: Label, end: Label) -> list[Item]:
    """Ends where the table does."""
    to_slot = [
        *a32.constant(Rng(0), 2, BEFORE, ALWAYS),
        word(0xE5821000),  # str r1, [r2]
        word(0xF57FF04F),  # dsb
        word(0xEE072F35),  # ICIMVAU: r2
        system.ISB,
    ]
    return [
        start,
        *a32.constant(Rng(0), 0, CODE, ALWAYS),
        system.mcr(0, 12, 0),
        following,
        system.cps(system.SVC),
        *a32.constant(Rng(0), 13, CURSOR, ALWAYS),
        word(0xE59D0000),  # ldr r0, [sp]
        word(0xE2801000 | 4 * RECORD_WORDS),  # add r1, r0, #...
        word(0xE58D1000),  # str r1, [sp]
        word(0xE4901004),  # ldr r1, [r0], #4
        word(0xE3510000),  # cmp r1, #0
        control.branch(0, end),
        *to_slot,
        word(0xE1A0D000),  # mov sp, r0
        word(0xE2800008),  # add r0, r0, #8
        system.cps(system.SYSTEM),
        word(0xE1A0E000),  # mov lr, r0
        word(0xE89E7FFF),  # ldm lr, {r0-lr}
        system.cps(system.SVC),
        word(0xF89D0A00),  # rfeia sp
        end,
        *map(word, EXIT),
    ]


def program(seed: int, trials: list[Trial]) -> Program:
    """All the trials, one after the other."""
    assert len(trials) <= MOST
    rng = random.Random(seed)
    start, following, end = Label(), Label(), Label()
    handlers = dict.fromkeys((0x04, 0x08, 0x0C, 0x10), following)
    items = [*system.vectors(start, handlers), *dispatcher(start, following, end)]
    code = asm.assemble(items, CODE).ljust(AREA - CODE, b"\0")
    assert len(code) == AREA - CODE
    around = bytearray(struct.pack("<I", TRAP) * (AREA_BYTES // 4))
    # Room for what an it before the slot, or in it, reaches.
    after = SLOT + 2 - AREA
    around[after : after + 8] = struct.pack("<4H", *[NOP] * 4)
    pointers = struct.pack("<256I", *(any_target(rng) for _ in range((TABLE - POINTERS) // 4)))
    records = b"".join(trial.record() for trial in trials) + bytes(4)
    image = code + bytes(around) + pointers + records
    assert CODE + len(image) <= DATA
    data = rng.randbytes(DATA_BYTES - 4) + struct.pack("<I", TABLE)
    return Program(seed, image, data, CODE, end.address, has_mmu=False)
