"""Registers, values and places for the generators of random programs.

Five registers are kept out of the random destinations: x2, x9 and x30 point into the data, x29 and
x31 count loops. A core may keep more. `test_encodings` has every register in every field.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

CODE = 0x8000_0000
DATA = 0x8004_0000
DATA_BYTES = 4096
DATA_MIDDLE = DATA + DATA_BYTES // 2
STACK, NARROW, INNER, MIDDLE, OUTER = 2, 9, 29, 30, 31
KEPT = (STACK, NARROW, INNER, MIDDLE, OUTER)
CORNERS = (0, 1, 2, 0xFFFF_FFFF, 0x8000_0000, 0x7FFF_FFFF, 0xFFFF, 0x8000, 0x7F, 0x80, 31, 32)
FREE = tuple(register for register in range(32) if register not in KEPT)
FREE_NARROW = [register - 8 for register in range(8, 16) if register not in KEPT]
# mscratch, mepc, mcause, mtval: what both sides keep as it is written.
MEPC = 0x341
FREE_CSRS = (0x340, MEPC, 0x342, 0x343)


class Rng(random.Random):
    """Random choices for programs of a core; `free` are the registers that may be destinations."""

    free: Sequence[int] = FREE


def any_value(rng: random.Random) -> int:
    """A 32-bit value, often one at an edge."""
    return rng.choice(CORNERS) if rng.random() < 0.4 else rng.getrandbits(32)


def any_pointer(rng: Rng) -> int:
    """A register to hold an address for a moment; not x0."""
    return rng.choice([register for register in rng.free if register])
