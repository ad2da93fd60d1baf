"""Random VFP instructions that A32 and T32 encode the same way, as A32 with the condition 1110.

Left out is vcvt from 32-bit fixed point to singles: the manual rounds to nearest, Unicorn as FPSCR
says.
"""

from __future__ import annotations

import random
import struct

from arm_choices import ALWAYS, PC, POINTER, Rng, fill

# Data processing on two or three registers of one kind; z is 1 for doubles.
ARITHMETIC = (
    "cccc 11100D0t nnnndddd 101z Nu M 0 mmmm",  # vmla, vmls, vnmla, vnmls
    "cccc 11100D10 nnnndddd 101z Nu M 0 mmmm",  # vmul, vnmul
    "cccc 11100D11 nnnndddd 101z Nu M 0 mmmm",  # vadd, vsub
    "cccc 11101D00 nnnndddd 101z N0 M 0 mmmm",  # vdiv
    "cccc 11101D01 nnnndddd 101z Nu M 0 mmmm",  # vfnma, vfnms
    "cccc 11101D10 nnnndddd 101z Nu M 0 mmmm",  # vfma, vfms
)
OTHERS = (
    "cccc 11101D11 000tdddd 101z u1 M 0 mmmm",  # vmov, vabs, vneg, vsqrt
    "cccc 11101D11 0100dddd 101z u1 M 0 mmmm",  # vcmp, vcmpe
    "cccc 11101D11 0101dddd 101z u1 0 0 0000",  # with zero
    "cccc 11101D11 0111dddd 101z 11 M 0 mmmm",  # vcvt between singles and doubles
    "cccc 11101D11 1000dddd 101z u1 M 0 mmmm",  # vcvt from integers
    "cccc 11101D11 110tdddd 101z u1 M 0 mmmm",  # vcvt to integers
    "cccc 11101D11 111udddd 101z 11 M 0 mmmm",  # vcvt to 32-bit fixed point
    "cccc 11101D11 101udddd 1011 11 M 0 mmmm",  # from it, to doubles
    "cccc 11101D11 001tdddd 1010 u1 M 0 mmmm",  # vcvtb, vcvtt
    "cccc 11101D11 iiiidddd 101z 00 0 0 iiii",  # vmov of an immediate
)
# With general registers: t is written if l, else read.
MOVES = (
    "cccc 1110 000l nnnn tttt 1010 N001 0000",
    "cccc 1110 00xl nnnn tttt 1011 N001 0000",
)
FPSCR_READ = "cccc 1110 1111 0001 dddd 1010 0001 0000"


def data_processing(rng: Rng, condition: int) -> list[int]:
    # Seldom fixed point with 16 bits, whose fraction has at most 16 of them.
    if rng.random() < 0.03:
        pattern = "cccc 11101D11 1t1udddd 101z 0 1 M 0 mmmm"
        rest = rng.randrange(17)
        return [fill(rng, pattern, c=condition, d=rng.randrange(16), M=rest & 1, m=rest >> 1)]
    pattern = rng.choice(ARITHMETIC if rng.random() < 0.6 else OTHERS)
    names = {name: rng.randrange(16) for name in "dnm" if name in pattern}
    return [fill(rng, pattern, c=condition, **names)]


def move(rng: Rng, condition: int) -> list[int]:
    """vmov of general registers, vmrs."""
    kind = rng.random()
    if kind < 0.1:
        rt = PC if rng.random() < 0.6 else rng.destination()
        return [fill(rng, FPSCR_READ, c=condition, d=rt)]
    is_read = rng.randrange(2)
    rt, rt2 = rng.destinations(2)
    if kind < 0.4:
        pattern = "cccc 1100 010l uuuu tttt 101z 00M1 mmmm"
        singles = {"z": rng.randrange(2), "m": rng.randrange(15)}
        return [fill(rng, pattern, c=condition, l=is_read, t=rt, u=rt2, **singles)]
    pattern = rng.choice(MOVES)
    return [fill(rng, pattern, c=condition, l=is_read, t=rt, n=rng.randrange(16))]


def access(rng: Rng, condition: int) -> list[int]:
    """vldr, vstr, vldm, vstm at r7."""
    is_double, is_load = rng.randrange(2), rng.randrange(2)
    fields = {"c": condition, "z": is_double, "l": is_load, "n": POINTER}
    if rng.random() < 0.5:
        pattern = "cccc 1101 uD0l nnnn dddd 101z iiiiiiii"
        return [fill(rng, pattern, d=rng.randrange(16), **fields)]
    first, fifth = rng.randrange(16), rng.randrange(2)
    number = fifth * 16 + first if is_double else first * 2 + fifth
    count = rng.randrange(1, min(17 if is_double else 33, 33 - number))
    words = 2 * count if is_double else count
    pattern = "cccc 1100 1D0l nnnn dddd 101z iiiiiiii"
    return [fill(rng, pattern, d=first, D=fifth, i=words, **fields)]


def stack(rng: Rng) -> list[int]:
    """vpush, and vpop of as many words into other registers."""
    is_double = rng.randrange(2)
    words = 2 * rng.randrange(1, 9)
    count = words // 2 if is_double else words
    fields = {"z": is_double, "i": words}
    # `count` registers, from a first one that is low enough.
    firsts = [rng.randrange(33 - count) for _ in range(2)]
    places = [
        (first & 15, first >> 4) if is_double else (first >> 1, first & 1) for first in firsts
    ]
    patterns = ("1110 1101 0D10 1101 dddd 101z iiiiiiii", "1110 1100 1D11 1101 dddd 101z iiiiiiii")
    return [
        fill(rng, pattern, d=four, D=fifth, **fields)
        for pattern, (four, fifth) in zip(patterns, places, strict=True)
    ]


def status(rng: Rng) -> list[int]:
    """Reads FPSCR, and changes rounding, flushing, NaNs and half precision in it."""
    register = rng.destination()
    read = fill(rng, FPSCR_READ, c=ALWAYS, d=register)
    # orr or bic of bits 26:22, of 31:28, of the cumulative flags.
    rotation, imm = rng.choice([(5, rng.randrange(32)), (2, rng.randrange(16) << 4)])
    if rng.random() < 0.3:
        rotation, imm = 0, rng.choice([0x9F, 0x81, 0x10])
    pattern = "1110 0011 1t00 dddddddd rrrr iiiiiiii"
    change = fill(rng, pattern, d=register * 17, r=rotation, i=imm)
    write = fill(rng, "1110 1110 1110 0001 dddd 1010 0001 0000", d=register)
    return [read, change, write]


def unit(rng: Rng, condition: int) -> list[int]:
    """One of those above, but for status."""
    units = {data_processing: 10, move: 3, access: 3}
    return rng.choices(list(units), list(units.values()))[0](rng, condition)


def any_word(rng: random.Random) -> int:
    """A single, often of middling size or at an edge, that is half of a double as well."""
    kind = rng.random()
    if kind < 0.5:
        value = rng.choice([rng.uniform(-4, 4), rng.uniform(-1e6, 1e6), rng.randrange(-9, 9)])
        return struct.unpack("<I", struct.pack("<f", value))[0]
    if kind < 0.75:
        value = rng.choice([rng.uniform(-4, 4), rng.uniform(-1e6, 1e6), rng.randrange(-9, 9)])
        return struct.unpack("<II", struct.pack("<d", value))[rng.randrange(2)]
    if kind < 0.95:
        edges = (0, 0x7F800000, 0x7FC00000, 0x7F800001, 0x00000001, 0x007FFFFF, 0x00800000)
        edges += (
            0x7F7FFFFF,
            0x3F800000,
            0x4F000000,
            0x4EFFFFFF,
            0x7FF00000,
            0x7FF80000,
            0x47EFFFFF,
        )
        return rng.choice(edges) | rng.getrandbits(1) << 31
    return rng.getrandbits(32)
