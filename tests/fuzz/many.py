"""Many small programs in one image: a harness calls one after the other, and sums up their results.

The parts of an image, the same for all instruction sets. The harness has a table with an entry
for each program, and an entry of zeros after the last one. Before each call it sets the registers
to the values that the entry names, afterwards it adds them to a sum in memory, so that a difference
persists. A fault of a program leads to the next program. In memory it keeps where in the
table it is.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from fuzz.inputs import Input

ENTRY_BYTES = 16
_ENTRY = struct.Struct("<4I")
# Code that lies this far apart is in two segments.
_GAP_BYTES = 0x1_0000
# Up to this number of programs, each is made shorter, by _STEPS bytes at a time.
_FEW = 4
_STEPS = {2: (8, 4, 2), 4: (8, 4)}
SETS = 8
"""The number of sets of register values in an image."""


@dataclass(frozen=True)
class Small:
    """A program: where it lies, its code, the address to call, how often, values of registers."""

    base: int
    code: bytes
    entry: int
    runs: int
    registers: int

    def packed(self) -> list[object]:
        """The program in the form of an input."""
        return [self.base, self.code, self.entry, self.runs, self.registers]


@dataclass
class Image:
    """Harness, programs, the address of the table, and that of the harness's progress word.

    `nop` is an instruction without an effect, `tail` the number of bytes at the end of each program
    that lead back to the harness, and `cycles` the limit of a program with all of its calls.
    """

    machine: int
    entry: int
    table: int
    progress: int
    nop: bytes
    tail: int
    cycles: int = 600
    segments: list[tuple[int, bytes]] = field(default_factory=list)
    programs: list[Small] = field(default_factory=list)


def table(programs: list[Small]) -> bytes:
    """The table that the harness reads."""
    entries = ((small.entry, small.runs, small.registers, 0) for small in programs)
    return b"".join(_ENTRY.pack(*entry) for entry in entries) + bytes(ENTRY_BYTES)


def code_segments(programs: list[Small]) -> list[tuple[int, bytes]]:
    """The programs' code, with zeros between."""
    segments: list[tuple[int, bytearray]] = []
    for small in sorted(programs, key=lambda small: small.base):
        if segments:
            base, data = segments[-1]
            gap = small.base - base - len(data)
            if 0 <= gap < _GAP_BYTES:
                data += bytes(gap) + small.code
                continue
        segments.append((small.base, bytearray(small.code)))
    return [(base, bytes(data)) for base, data in segments]


def runs(random: Random) -> int:
    """The number of calls of a program: it is compiled after the second one at the latest."""
    return random.choice((3, 3, 3, 4))


def reduced(made: Input, fails: Callable[[Input], bool], until_s: float) -> Input:
    """An input with as few programs and instructions as it takes to fail, found until some time."""
    made = _with_fewer(made, fails, until_s)
    if len(made["programs"]) <= _FEW:
        for number in range(len(made["programs"])):
            for step in _STEPS[len(made["nop"])]:
                made = _with_nops(made, number, step, fails, until_s)
    return made


def _with_fewer(made: Input, fails: Callable[[Input], bool], until_s: float) -> Input:
    programs, parts = list(made["programs"]), 2
    while len(programs) > 1 and time.process_time() < until_s:
        size = -(-len(programs) // parts)
        pieces = [programs[at : at + size] for at in range(0, len(programs), size)]
        others = [
            [small for piece in pieces if piece is not left_out for small in piece]
            for left_out in pieces
        ]
        for fewer in (*pieces, *(others if parts > 2 else ())):
            if time.process_time() < until_s and fails(made | {"programs": fewer}):
                programs, parts = fewer, 2 if len(fewer) <= size else max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(programs))
    return made | {"programs": programs}


def _with_nops(
    made: Input, number: int, step: int, fails: Callable[[Input], bool], until_s: float
) -> Input:
    """Replaces unneeded instructions with nops, except the last one, which leads back."""
    nop = made["nop"]
    end = len(made["programs"][number][1]) - made["tail"]
    for at in range(0, end - step + 1, len(nop)):
        base, code, *rest = made["programs"][number]
        changed = code[:at] + nop * (step // len(nop)) + code[at + step :]
        programs = list(made["programs"])
        programs[number] = [base, changed, *rest]
        other = made | {"programs": programs}
        if changed != code and time.process_time() < until_s and fails(other):
            made = other
    return made
