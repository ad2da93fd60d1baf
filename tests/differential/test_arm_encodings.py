"""Every 16-bit T32 encoding, executed once from a random state, outside or inside an IT block.

All registers and the status have to be as Unicorn's after each instruction, exceptions included.
Left out is what the manual calls unpredictable, and:

- yield, wfe, wfi: Unicorn stops for them;
- setend be: the engine has no big-endian data;
- branches to themselves and to what leads to them;
- the semihosting call;
- bkpt in an IT block, which ignores it: `arm_reference.skipped` does not know.
"""

from __future__ import annotations

import random

import arm_harness
import arm_trials as trials
import choices
import tiers
from arm_choices import DATA_MIDDLE, PC, SP
from arm_trials import Trial

YIELD, WFE, WFI, SETEND_BE, SEMIHOSTING = 0xBF10, 0xBF20, 0xBF30, 0xB658, 0xDFAB
ADD_PC_PC, BX_PC, BLX_PC = 0x44FF, 0x4778, 0x47F8
# The low bits of branches to themselves, and to what leads to the trial.
BACK = (0xFE, 0xFD, 0xFC)
B_BACK = tuple(0xE700 | low for low in BACK)
BKPT, NARROW = 0xBE, 0xE800
# One in this number is tried: prime, so that all fields of the encodings take all values.
STRIDE = tiers.sized(11, 1)


def is_left_out(encoding: int) -> bool:
    if encoding in (YIELD, WFE, WFI, SETEND_BE, SEMIHOSTING, ADD_PC_PC, BX_PC, BLX_PC, *B_BACK):
        return True
    # Conditional branches, but not udf and svc.
    return 0xD000 <= encoding < 0xDE00 and encoding & 0xFF in BACK


def is_it(encoding: int) -> bool:
    return encoding >> 8 == 0xBF and encoding & 0xF != 0


def registers(rng: random.Random, encoding: int) -> tuple[int, ...]:
    """r0 to r14 for a trial: pointers that suit it where it jumps or accesses memory."""
    group = encoding >> 8
    if group in (0x44, 0x46, 0x47):
        return for_jump(rng, encoding)
    if 0x50 <= group < 0x60:
        return with_offset(rng, encoding >> 3 & 7, encoding >> 6 & 7)
    if 0x60 <= group < 0xA0 or group in (0xB4, 0xB5, 0xBC) or 0xC0 <= group < 0xD0:
        return tuple(DATA_MIDDLE + rng.randrange(-800, 800, 4) for _ in range(15))
    values = [choices.any_value(rng) for _ in range(15)]
    if group == 0xBD:
        values[SP] = trials.POINTERS + rng.randrange(0, 0x300, 4)
    # Equal operands matter to comparisons.
    if rng.random() < 0.2:
        values[encoding >> 3 & 7] = values[encoding & 7]
    return tuple(values)


def for_jump(rng: random.Random, encoding: int) -> tuple[int, ...]:
    """Addresses for mov, bx and blx; for add to the program counter small even offsets."""
    is_add, rd = encoding >> 8 == 0x44, encoding & 7 | encoding >> 4 & 8
    if not is_add:
        return tuple(trials.any_target(rng) for _ in range(15))
    if rd == PC:
        return tuple(
            rng.randrange(4, trials.REACH, 2) * rng.choice((1, -1)) & 0xFFFFFFFF for _ in range(15)
        )
    return tuple(choices.any_value(rng) for _ in range(15))


def with_offset(rng: random.Random, rn: int, rm: int) -> tuple[int, ...]:
    """A base and an offset; where they are the same register, half of each."""
    values = [choices.any_value(rng) for _ in range(15)]
    values[rm] = rng.randrange(-400, 400, 4) & 0xFFFFFFFF
    values[rn] = DATA_MIDDLE + rng.randrange(-400, 400, 4)
    if rn == rm:
        values[rn] = DATA_MIDDLE // 2 + rng.randrange(-400, 400, 2)
    return tuple(values)


def trial(rng: random.Random, encoding: int) -> Trial:
    has_none = is_it(encoding) or encoding >> 8 == BKPT
    in_it = rng.random() < 0.3 and not has_none
    before = 0xBF08 | rng.randrange(15) << 4 if in_it else trials.NOP
    flags = rng.getrandbits(5) << 27 | rng.getrandbits(4) << 16
    return Trial(before, encoding, registers(rng, encoding), flags)


def test_every_short_instruction_does_what_unicorns_does() -> None:
    rng = random.Random(4)
    encodings = [encoding for encoding in range(0, NARROW, STRIDE) if not is_left_out(encoding)]
    for first in range(0, len(encodings), trials.MOST):
        some = [trial(rng, encoding) for encoding in encodings[first : first + trials.MOST]]
        count = arm_harness.compare(trials.program(first, some))
        assert count > trials.DISPATCHED * len(some), "trials were left out"
