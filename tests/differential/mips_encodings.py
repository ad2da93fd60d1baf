"""Random MIPS32 encodings of every entry of the manual's tables, and what Unicorn has no say in.

Not tried here, as they leave the state of coprocessor 0 to differ or the trial without an end: in
kernel mode mfc0, mtc0, eret, wait and the TLB's instructions; `sdbbp 1`, the hosting call; and what
the manual calls unpredictable: branches with a link on $31, jalr with one register.
"""

from __future__ import annotations

import random

import choices
import mips_assembler as mips
import mips_trials as trials
from mips_choices import KERNEL
from mips_reference import RESERVED, UNUSABLE
from mips_trials import Trial

SPECIAL, REGIMM, COP0, SPECIAL2, JALX = 0x00, 0x01, 0x10, 0x1C, 0x1D
RS, RT, RD, SA = 0x1F << 21, 0x1F << 16, 0x1F << 11, 0x1F << 6
# Fields that have to be zero (volume II): by opcode, and by the function of the three with tables.
ZERO_OPCODE = {0x06: RT, 0x07: RT, 0x16: RT, 0x17: RT, 0x0F: RS}
ZERO_SPECIAL = dict.fromkeys((4, 6, 7, 10, 11, *range(32, 40), 42, 43), SA)
ZERO_SPECIAL |= dict.fromkeys(mips.SHIFTS.values(), RS)
ZERO_SPECIAL |= dict.fromkeys(range(24, 28), RD | SA)
ZERO_SPECIAL |= dict.fromkeys(mips.FROM_HI_LO.values(), RS | RT | SA)
ZERO_SPECIAL |= dict.fromkeys(mips.TO_HI_LO.values(), RT | RD | SA)
ZERO_SPECIAL |= {mips.JR: RT | RD, mips.JALR: RT}
ZERO_SPECIAL2 = {0x02: SA, 0x20: SA, 0x21: SA, **dict.fromkeys((0, 1, 4, 5), RD | SA)}
# Reserved, but QEMU's own (pmon, spim), MIPS16's jalx, and the debugger's breakpoint without one.
NOT_QEMUS = {(SPECIAL, 0x05), (SPECIAL, 0x0E), (SPECIAL2, 0x3F)}
# Coprocessors whose absence Unicorn knows otherwise.
COP1, COP2, COP3 = 0x11, 0x12, 0x13
COP2_ACCESSES = (0x32, 0x36, 0x3A, 0x3E)
ENTRIES = [(SPECIAL, each) for each in range(64)] + [(SPECIAL2, each) for each in range(64)]
ENTRIES += [(REGIMM, each) for each in range(32)] + [(COP0, each) for each in range(64)]
ENTRIES += [(opcode, 0) for opcode in range(64) if opcode not in (0, 1, COP0, SPECIAL2)]
ACCESSES = (*mips.LOADS.values(), *mips.STORES.values(), mips.LL, mips.SC, mips.CACHE)


def zero_fields(encoding: int) -> int:
    """The fields of an instruction that have to be zero."""
    opcode, function = encoding >> 26, encoding & 0x3F
    if opcode == SPECIAL:
        return ZERO_SPECIAL.get(function, 0)
    return ZERO_SPECIAL2.get(function, 0) if opcode == SPECIAL2 else ZERO_OPCODE.get(opcode, 0)


def expected_cause(encoding: int, is_user: bool) -> int | None:
    """Cause of the exception in cases where Unicorn is not asked."""
    opcode, function = encoding >> 26, encoding & 0x3F
    if opcode in (COP1, COP2, COP3):
        return UNUSABLE << 2 | (opcode & 3) << 28
    if opcode in COP2_ACCESSES:
        return UNUSABLE << 2 | 2 << 28
    if opcode == COP0:
        return UNUSABLE << 2 if is_user else RESERVED << 2
    if encoding & zero_fields(encoding) or opcode == JALX or (opcode, function) in NOT_QEMUS:
        return RESERVED << 2
    return None


def random_encoding(rng: random.Random, opcode: int, entry: int) -> int:
    """An encoding of a table's entry, in most cases with the fields zero that have to be."""
    encoding = opcode << 26 | rng.getrandbits(26)
    if opcode in (SPECIAL, SPECIAL2):
        encoding = encoding & ~0x3F | entry
    elif opcode == REGIMM:
        encoding = encoding & ~RT | entry << 16
    elif opcode == COP0:
        # Moves by rs, the others by the function.
        encoding = encoding & ~RS | (entry >> 1) << 21 if rng.random() < 0.5 else encoding | 1 << 25
        encoding = encoding & ~0x3F | entry if encoding >> 25 & 1 else encoding
    return encoding if rng.random() < 0.1 else encoding & ~zero_fields(encoding)


def is_left_out(encoding: int, is_user: bool) -> bool:
    opcode, rs = encoding >> 26, encoding >> 21 & 31
    if opcode == COP0 and not is_user:
        functions = (0x01, 0x02, 0x06, 0x08, 0x18, 0x20)
        return rs in (0, 4) or (rs >= 16 and encoding & 0x3F in functions)
    if opcode == SPECIAL2 and encoding & 0x3F == 0x3F:
        return encoding >> 6 & 0xFFFFF == 1
    if opcode == REGIMM and encoding >> 20 & 1:
        return rs == 31
    return opcode == SPECIAL and encoding & 0x3F == mips.JALR and rs == encoding >> 11 & 31


def target(rng: random.Random, count: int, is_user: bool) -> int:
    """An address to jump to: one of the breaks."""
    return trials.place(rng.randrange(count), is_user) + rng.choice((8, 12))


def random_trial(
    rng: random.Random, number: int, entry: tuple[int, int], count: int, is_user: bool
) -> Trial:
    """A trial of a table's entry, for the place with this number, one of `count`."""
    encoding = random_encoding(rng, *entry)
    while is_left_out(encoding, is_user):
        encoding = random_encoding(rng, *rng.choice(ENTRIES))
    opcode, place = encoding >> 26, trials.place(number, is_user)
    to = target(rng, count, is_user)
    if opcode in (mips.J, mips.JAL):
        encoding = opcode << 26 | to >> 2 & 0x03FFFFFF
    elif mips.has_delay_slot(encoding) and opcode != SPECIAL:
        encoding = encoding & ~0xFFFF | (to - place - 4) >> 2 & 0xFFFF
    if opcode == SPECIAL and encoding & 0x3F in (mips.JR, mips.JALR):
        values = [target(rng, count, is_user) for _ in range(31)]
        # QEMU knows the hint 0, and the hint of jr.hb and jalr.hb.
        encoding = encoding & ~SA | encoding & 0x400 | (encoding >> 21 & 31 or 1) << 21
    elif opcode in ACCESSES:
        values = [pointer(rng, is_user) for _ in range(31)]
        if opcode in (mips.LL, mips.SC, mips.CACHE):
            middle = trials.view(is_user) + trials.MIDDLE
            values = [middle + rng.randrange(-0x7000, 0x7000, 4) for _ in range(31)]
            # QEMU knows of no alignment, and of no translation, where sc fails.
            encoding = encoding & ~3 | (encoding >> 21 & 31 or 1) << 21
    else:
        # Equal operands matter to comparisons.
        values = [choices.any_value(rng) for _ in range(31)]
        values = [rng.choice(values) if rng.random() < 0.3 else value for value in values]
    return Trial(encoding, tuple(values), (choices.any_value(rng), choices.any_value(rng)))


def pointer(rng: random.Random, is_user: bool) -> int:
    """Mostly into the data; elsewhere not to what both sides have differently."""
    kind = rng.random()
    if kind < 0.9:
        step = 1 if kind < 0.2 else 4
        offset = rng.randrange(-trials.SPREAD, trials.SPREAD, step)
        return trials.view(is_user) + trials.MIDDLE + offset
    regions = (0x1000_0000, 0x4000_0000, 0xC800_0000, *((KERNEL + 0x1000_0000,) if is_user else ()))
    return rng.choice(regions) + rng.getrandbits(26)
