"""Floating point of an M-profile core with single precision: its part of `arm_vfp`."""

from __future__ import annotations

import arm_vfp as vfp
from arm_choices import ALWAYS, Rng
from arm_t32 import constant, wide_word
from assembler import Item, word


def is_there(encoding: int) -> bool:
    """False for arithmetic on doubles, and for registers above D15."""
    is_double = encoding >> 8 & 1
    is_data = encoding >> 24 & 15 == 0b1110 and not encoding >> 4 & 1
    if is_data:
        between_kinds = encoding & 0x0FBF0ED0 == 0x0EB70AC0
        return not is_double and not between_kinds
    if not is_double:
        return True
    if encoding & 0x0F000010 == 0x0E000010:
        return not encoding >> 7 & 1
    if encoding & 0x0FE00000 == 0x0C400000:
        return not encoding >> 5 & 1
    last = (encoding >> 12 & 15) + (encoding & 0xFF) // 2
    is_one = bool(encoding >> 24 & 1 and not encoding >> 21 & 1)
    return not encoding >> 22 & 1 and (is_one or last <= 16)


def unit(rng: Rng) -> list[Item]:
    """One instruction."""
    while True:
        (encoding,) = vfp.unit(rng, ALWAYS)
        if is_there(encoding):
            return [wide_word(encoding)]


def stack(rng: Rng) -> list[Item]:
    """vpush, and vpop into other registers."""
    while True:
        encodings = vfp.stack(rng)
        if all(is_there(each) for each in encodings):
            return [wide_word(each) for each in encodings]


def status(rng: Rng) -> list[Item]:
    """FPSCR: another rounding mode, flushing, kind of NaNs and half precision; and it is read."""
    register, other = rng.destinations(2)
    value = rng.getrandbits(5) << 22 | rng.getrandbits(4) << 28 | rng.getrandbits(5)
    write = wide_word(0xEEE10A10 | register << 12)
    return [*constant(register, value), write, wide_word(0xEEF10A10 | other << 12)]


def set_up() -> list[Item]:
    """CPACR allows it; S0 to S31 come from the data that r7 points to."""
    return [
        *constant(0, 0xE000ED88),
        *constant(1, 0xF << 20),
        word(0x0000F8C0 | 0x1000 << 16),  # str r1, [r0]
        wide_word(0xF3BF8F4F),  # dsb
        wide_word(0xF3BF8F6F),  # isb
        wide_word(0xEC970A20),  # vldm r7, {s0-s31}
    ]
