"""Registers and values for the generators of random Arm programs, and building of encodings.

Kept out of the random destinations: r7, r11 and sp point into the data, r10 and r12 count loops.
r7 always points to its middle; the other two are set again after they were written back.
"""

from __future__ import annotations

from collections.abc import Sequence

import choices
from assembler import Instruction, word

CODE, DATA, DATA_BYTES = 0x8000_8000, 0x8004_0000, 4096
DATA_MIDDLE = DATA + DATA_BYTES // 2
POINTER, OUTER, SECOND, INNER, SP, LR, PC = 7, 10, 11, 12, 13, 14, 15
KEPT = (POINTER, OUTER, SECOND, INNER, SP)
FREE = tuple(register for register in range(15) if register not in KEPT)
ALWAYS = 14


class Rng(choices.Rng):
    """Random choices; `free` are the registers that may be destinations."""

    free: Sequence[int] = FREE
    # Registers that may be the base of an access, and be written back.
    bases: Sequence[int] = (POINTER, SECOND, SP)
    # Words and halfwords need not be aligned.
    unaligned: bool = False
    # Floating point is on.
    vfp: bool = False
    # Instructions of privileged modes may come.
    privileged: bool = True
    # There are exclusive accesses to two words.
    two_exclusive_words: bool = True
    # The stack pointer can only be a multiple of four.
    aligned_stack: bool = False

    def register(self) -> int:
        """Any register as an operand, but the program counter."""
        return self.randrange(15)

    def destination(self) -> int:
        return self.choice(self.free)

    def destinations(self, count: int) -> list[int]:
        """`count` different registers."""
        return self.sample(list(self.free), count)

    def condition(self) -> int:
        """In most cases always."""
        return ALWAYS if self.random() < 0.7 else self.randrange(14)


def fill(rng: Rng, pattern: str, **fields: int) -> int:
    """An encoding: of 0, 1 and letters, the highest bit first.

    A letter stands for the next bit of the field of that name, or for a random one; c is the
    condition, n, m, and s are registers that are read, d and a ones that are written, unless given.
    """
    pattern = pattern.replace(" ", "")
    assert len(pattern) in (16, 32), pattern
    choose = {"c": rng.condition, "d": rng.destination, "a": rng.destination}
    choose |= dict.fromkeys("nms", rng.register)
    encoding = 0
    for letter in sorted(set(pattern) - set("01")):
        width = pattern.count(letter)
        chosen = fields.get(letter)
        if chosen is None:
            chosen = choose[letter]() if letter in choose else rng.getrandbits(width)
        assert 0 <= chosen < 1 << width, (pattern, letter, chosen)
        for place, other in enumerate(reversed(pattern)):
            if other == letter:
                encoding |= (chosen & 1) << place
                chosen >>= 1
    return encoding | int("".join(bit if bit == "1" else "0" for bit in pattern), 2)


def made(rng: Rng, pattern: str, **fields: int) -> Instruction:
    """A 32-bit instruction that [`fill`] makes."""
    return word(fill(rng, pattern, **fields))
