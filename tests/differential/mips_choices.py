"""Registers and places for the generators of random MIPS32 programs.

Registers that are never a random destination: the two of the handler, which the comparison leaves
out, those with addresses of data, and those that count loops.
"""

from __future__ import annotations

# Views of the physical memory: kseg0, kseg1, and two regions that the TLB maps for user mode.
KERNEL, KERNEL_UNCACHED, USER, USER_UNCACHED = 0x8000_0000, 0xA000_0000, 0x0040_0000, 0x0080_0000
# Physical addresses.
CODE, PLAIN = 0x1_0000, 0x4_0000
PLAIN_BYTES = 0x2000
DATA, UNCACHED = PLAIN, PLAIN + 0x1000
DATA_BYTES = 0x1000
K0, K1 = 26, 27
# Addresses of the middle of the data: two cached ones, and one that is not.
LOW_POINTER, HIGH_POINTER, UNCACHED_POINTER = 16, 28, 29
POINTERS = (LOW_POINTER, HIGH_POINTER, UNCACHED_POINTER)
INNER, OUTER = 23, 30
KEPT = (K0, K1, *POINTERS, INNER, OUTER)
FREE = tuple(register for register in range(32) if register not in KEPT)
# Random sources: $26 and $27 differ between the two sides.
SOURCES = tuple(register for register in range(32) if register not in (K0, K1))
