"""Units of T32 that leave the straight line, and IT blocks."""

from __future__ import annotations

import arm_t32 as t32
from arm_choices import ALWAYS, PC, POINTER, Rng
from arm_t32 import NOP, low, narrow, wide, wide_word
from assembler import Instruction, Item, Label, half

# b to the next instruction. Unicorn cuts its translations after some length, and forgets about IT
# blocks that it cuts through: this keeps them short.
SHORT = (half(0xE7FF),)


def in_range(offset: int, bits: int) -> bool:
    return -1 << bits - 1 <= offset < 1 << bits - 1


def narrow_branch(condition: int, target: Label) -> Item:
    """b; a nop where the target is out of reach."""

    def encode(pc: int) -> int:
        offset = target.address - pc - 4
        if condition == ALWAYS:
            return 0xE000 | offset >> 1 & 0x7FF if in_range(offset, 12) else NOP
        return 0xD000 | condition << 8 | offset >> 1 & 0xFF if in_range(offset, 9) else NOP

    return Instruction(2, encode)


def wide_branch(condition: int, target: Label) -> Item:
    def encode(pc: int) -> int:
        offset = target.address - pc - 4
        if condition == ALWAYS:
            return wide_word(0xF0009000 | far(offset)).encode(pc)
        near = (offset >> 20 & 1) << 26 | (offset >> 18 & 1) << 13 | (offset >> 19 & 1) << 11
        near |= (offset >> 12 & 0x3F) << 16 | offset >> 1 & 0x7FF
        return wide_word(0xF0008000 | condition << 22 | near).encode(pc)

    return Instruction(4, encode)


def far(offset: int) -> int:
    """The fields of a branch's offset of 25 bits."""
    sign, first, second = (offset >> place & 1 for place in (24, 23, 22))
    j1, j2 = first ^ sign ^ 1, second ^ sign ^ 1
    return sign << 26 | (offset >> 12 & 0x3FF) << 16 | j1 << 13 | j2 << 11 | offset >> 1 & 0x7FF


def link(target: Label, *, to_a32: bool) -> Item:
    """bl, or blx."""

    def encode(pc: int) -> int:
        if to_a32:
            return wide_word(0xF000C000 | far(target.address - (pc + 4 & ~3))).encode(pc)
        return wide_word(0xF000D000 | far(target.address - pc - 4)).encode(pc)

    return Instruction(4, encode)


def compare_and_branch(rng: Rng, target: Label) -> Item:
    """cbz, cbnz; a nop where the target is out of reach."""
    register, nonzero = rng.randrange(8), rng.randrange(2)

    def encode(pc: int) -> int:
        offset = target.address - pc - 4
        if not 0 <= offset < 128:
            return NOP
        return 0xB100 | nonzero << 11 | offset >> 6 << 9 | (offset >> 1 & 31) << 3 | register

    return Instruction(2, encode)


def control_unit(rng: Rng, later: list[Label]) -> list[Item]:
    """A branch or jump to one of the labels."""
    target, condition = rng.choice(later), rng.randrange(15)
    kind = rng.random()
    if kind < 0.2:
        return [narrow_branch(condition, target)]
    if kind < 0.35:
        return [wide_branch(condition, target)]
    if kind < 0.5:
        return [compare_and_branch(rng, target)]
    if kind < 0.58:
        return [link(target, to_a32=False)]
    if kind < 0.7:
        return table(rng, later)
    if kind < 0.8:
        # In an IT block it has the block's condition.
        branch = rng.choice((narrow_branch, wide_branch))(ALWAYS, target)
        return [one_if(rng), branch]
    return jump(rng, target, 1)


def switch(rng: Rng, target: Label, bit: int) -> list[Item]:
    """Goes on at a label, of A32 if `bit` is 0."""
    if not bit and rng.random() < 0.4:
        return [link(target, to_a32=True)]
    return jump(rng, target, bit)


def jump(rng: Rng, target: Label, bit: int) -> list[Item]:
    """A jump through a register or memory; `bit` is the lowest bit of the address."""
    register = rng.destination()
    point = t32.address(register, target, bit)
    kind = rng.randrange(6)
    if kind < 2:
        # bx, blx.
        return [*point, narrow(rng, "01000111 l mmmm 000", m=register)]
    if kind == 2 and bit:
        # mov pc.
        return [*point, narrow(rng, "01000110 1 mmmm 111", m=register)]
    imm = rng.randrange(0, 64, 4)
    store = wide(rng, "11111000 1100 nnnn tttt 000000 iiiiii", n=POINTER, t=register, i=imm)
    if kind < 5:
        load = wide(rng, "11111000 1101 nnnn 1111 000000 iiiiii", n=POINTER, i=imm)
        return [*point, store, load]
    # ldm of another register and the program counter.
    other, loaded = rng.destination(), rng.randrange(7)
    add = wide(rng, "11110010 0000 nnnn 0000 dddd 00iiiiii", n=POINTER, d=other, i=imm)
    subtract = wide(rng, "11110010 1010 nnnn 0000 dddd 00000100", n=other, d=other)
    load = wide(rng, "11101000 1001 nnnn rrrrrrrrrrrrrrrr", n=other, r=1 << PC | 1 << loaded)
    return [*point, store, add, subtract, load]


def table(rng: Rng, later: list[Label]) -> list[Item]:
    """tbb or tbh with a table after it, by the value of a register."""
    index, here = rng.destination(), Label()
    cases = [rng.choice(later) for _ in range(4)]
    halfwords = rng.randrange(2)
    limit = wide(rng, "11110000 0000 nnnn 0000 dddd 00000011", d=index)
    branch = wide(rng, "11101000 1101 1111 11110000 000 h mmmm", h=halfwords, m=index)

    def distance(case: Label) -> int:
        steps = case.address - here.address >> 1
        # Out of reach: to the place after the table.
        return steps if halfwords or steps < 256 else 2

    def entry(first: int) -> Item:
        if halfwords:
            return Instruction(2, lambda _: distance(cases[first]))
        return Instruction(2, lambda _: distance(cases[first]) | distance(cases[first + 1]) << 8)

    entries = [entry(first) for first in range(0, 4, 1 if halfwords else 2)]
    return [limit, branch, here, *entries]


def one_if(rng: Rng) -> Item:
    """it for one instruction."""
    return half(0xBF08 | rng.randrange(14) << 4)


def it_block(rng: Rng) -> list[Item]:
    """it with one to four instructions. The last may be a jump."""
    count, first = rng.randrange(1, 5), rng.randrange(15)
    # For always there is no else.
    others = [first & 1 if first == ALWAYS else rng.randrange(2) for _ in range(count - 1)]
    mask = 1 << 4 - count
    for place, other in enumerate(others):
        mask |= other << 3 - place
    items = [item for _ in range(count) for item in t32.single(rng)]
    return [half(0xBF00 | first << 4 | mask), *items]


def conditional_access(rng: Rng) -> list[Item]:
    """An IT block of loads and stores."""
    items: list[Item] = [
        narrow(rng, "0110 l iiiii 111 ttt", t=low(rng)),
        wide(rng, "11111000 1101 0111 dddd 000000 iiiiii", i=rng.randrange(0, 64, 4)),
    ]
    return [half(0xBF04 | rng.randrange(14) << 4 | rng.randrange(2) << 3), *items]


def loop(counter: int, rounds: int, body: list[Item]) -> list[Item]:
    """A loop of `rounds` iterations of `body`, counted in register `counter`."""
    start = Label()
    set_up = wide_word(0xF04F0000 | counter << 8 | rounds)
    count = wide_word(0xF1B00001 | counter << 16 | counter << 8)
    return [set_up, start, *body, count, wide_branch(1, start)]
