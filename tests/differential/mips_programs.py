"""Random MIPS32 programs that end, in kernel or in user mode, with a handler for all exceptions.

The program's image, its data and the vectors are seen at `view`, which is kseg0 or, in user mode,
where the TLB maps them; and without caches at `uncached`. The handler uses $26 and $27 alone. It
returns to the instruction after the one that raised the exception.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import assembler as asm
import mips_assembler as mips
import mips_control as control
import mips_units as units
from assembler import Item, Label, word
from choices import Rng, any_value
from mips_choices import (
    CODE,
    DATA,
    DATA_BYTES,
    FREE,
    K0,
    K1,
    KERNEL,
    KERNEL_UNCACHED,
    OUTER,
    PLAIN,
    PLAIN_BYTES,
    POINTERS,
    UNCACHED,
    UNCACHED_POINTER,
    USER,
    USER_UNCACHED,
)

REFILL_VECTOR, GENERAL_VECTOR, SETUP = 0x000, 0x180, 0x400
# Status: user mode, EXL.
STATUS_USER, STATUS_EXL = 0x10, 2
# Entries of the TLB: pages of 1 MiB, the first one at 0, dirty, valid, global; cached or not.
PAGE_MASK = 0x001FE000
CACHED, NOT_CACHED = 3, 2
# UHI: exit with status 0.
EXIT = [0x24190001, 0x24040000, 0x7000007F]
# Places of the vectors and of the code that leads to the program.
HANDLER_BYTES = 0x800


@dataclass(frozen=True)
class Program:
    """A program; `start` sets the core up and leaves to `begin`, it ends at `end`."""

    seed: int
    vectors: bytes
    code: bytes
    data: bytes
    view: int
    begin: int
    end: int

    @property
    def start(self) -> int:
        return KERNEL + SETUP


def handler() -> list[Item]:
    """Reads the registers of an exception, and returns to the next instruction."""
    beyond = Label()
    return [
        word(mips.mfc0(K0, mips.BAD_VADDR)),
        word(mips.mfc0(K1, mips.EPC)),
        word(mips.mfc0(K0, mips.CAUSE)),
        mips.branch(mips.SIGNS["bgez"] | K0 << 21, beyond),
        word(mips.immediate(mips.IMMEDIATES["addiu"], K1, K1, 4)),
        word(mips.immediate(mips.IMMEDIATES["addiu"], K1, K1, 4)),
        beyond,
        word(mips.mtc0(K1, mips.EPC)),
        word(mips.ERET),
    ]


def entry(index: int, virtual: int, coherency: int) -> list[Item]:
    """Writes a pair of pages of the TLB: the second one is invalid."""
    values = {
        mips.INDEX: index,
        mips.PAGE_MASK: PAGE_MASK,
        mips.ENTRY_HI: virtual,
        mips.ENTRY_LO_0: coherency << 3 | 7,
        mips.ENTRY_LO_1: 1,
    }
    items: list[Item] = []
    for register, value in values.items():
        items += [*mips.load_immediate(K0, value), word(mips.mtc0(K0, register))]
    return [*items, word(mips.TLBWI)]


def setup(is_user: bool, begin: Label) -> list[Item]:
    """From reset to the program."""
    items = [*entry(0, USER, CACHED), *entry(1, USER_UNCACHED, NOT_CACHED)]
    status = STATUS_EXL | (STATUS_USER if is_user else 0)
    items += [*mips.load_immediate(K0, status), word(mips.mtc0(K0, mips.STATUS))]
    items += [*mips.load_address(K0, begin), word(mips.mtc0(K0, mips.EPC))]
    return [*items, word(mips.ERET)]


def vectors(is_user: bool, begin: Label, general: Callable[[], list[Item]]) -> bytes:
    """The first code in memory: a handler for all exceptions, and the code from reset."""
    image = b""
    for vector in (REFILL_VECTOR, GENERAL_VECTOR):
        image = image.ljust(vector, b"\0") + asm.assemble(general(), KERNEL + vector)
    assert len(image) <= SETUP
    return image.ljust(SETUP, b"\0") + asm.assemble(setup(is_user, begin), KERNEL + SETUP)


def generate(seed: int, count: int = 250, rounds: int = 8) -> Program:
    """A program whose body of `count` units runs `rounds` times; every third one in user mode."""
    rng = Rng(seed)
    rng.free = FREE
    is_user = seed % 3 == 0
    view = USER if is_user else KERNEL
    uncached = USER_UNCACHED if is_user else KERNEL_UNCACHED
    begin, again, end = Label(), Label(), Label()
    items: list[Item] = [begin]
    for register in FREE:
        items += mips.load_immediate(register, any_value(rng))
    for name in mips.TO_HI_LO.values():
        items.append(word(name | rng.randrange(32) << 21))
    for register in POINTERS:
        middle = uncached + UNCACHED if register == UNCACHED_POINTER else view + DATA
        items += mips.load_immediate(register, middle + DATA_BYTES // 2)
    items += mips.load_immediate(OUTER, rounds)
    kind = units.Kind(is_user, seed % 2 == 1, tuple(Label() for _ in range(4)))
    items += [again, *control.sequence(rng, count, kind)]
    for target in kind.targets:
        items += [target, *units.three(rng), *control.sequence(rng, 10, kind)]
    items += control.count_down(OUTER, again)
    items += [end, *map(word, EXIT)]
    code = asm.assemble(items, view + CODE)
    data = b"".join(any_value(rng).to_bytes(4, "little") for _ in range(PLAIN_BYTES // 4))
    image = vectors(is_user, begin, handler)
    assert CODE + len(code) <= PLAIN
    return Program(seed, image, code, data, view, begin.address, end.address)
