"""What the generators of random programs choose from: registers, values, places.

Seven registers are kept out of the random destinations: x2, x9 and x30 point into the data, x29 and
x31 count loops, and x3 and x4 are what PicoRV32's interrupts write. `test_encodings` has every
register in every field.
"""

from __future__ import annotations

import random

CODE = 0x8000_0000
DATA = 0x8004_0000
DATA_BYTES = 4096
DATA_MIDDLE = DATA + DATA_BYTES // 2
STACK, NARROW, INNER, MIDDLE, OUTER = 2, 9, 29, 30, 31
RETURN_ADDRESS, CAUSES = 3, 4
KEPT = (STACK, RETURN_ADDRESS, CAUSES, NARROW, INNER, MIDDLE, OUTER)
CORNERS = (0, 1, 2, 0xFFFF_FFFF, 0x8000_0000, 0x7FFF_FFFF, 0xFFFF, 0x8000, 0x7F, 0x80, 31, 32)
FREE = [register for register in range(32) if register not in KEPT]
FREE_NARROW = [register - 8 for register in range(8, 16) if register not in KEPT]
# mscratch, mepc, mcause, mtval: what both sides keep as it is written.
MEPC = 0x341
FREE_CSRS = (0x340, MEPC, 0x342, 0x343)


def any_value(rng: random.Random) -> int:
    """A 32-bit value, often one at an edge."""
    return rng.choice(CORNERS) if rng.random() < 0.4 else rng.getrandbits(32)


def any_pointer(rng: random.Random) -> int:
    """A register to hold an address for a moment; not x0."""
    return rng.choice([register for register in FREE if register])
