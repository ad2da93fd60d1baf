"""Units of A32 that leave the straight line: each goes to one of the labels it gets."""

from __future__ import annotations

import arm_a32 as a32
from arm_choices import ALWAYS, PC, POINTER, Rng, made
from assembler import Instruction, Item, Label, word


def branch(condition: int, target: Label, *, links: bool = False) -> Item:
    """b, or bl."""

    def encode(pc: int) -> int:
        offset = target.address - pc - 8 >> 2 & 0xFFFFFF
        return condition << 28 | (0x0B000000 if links else 0x0A000000) | offset

    return Instruction(4, encode)


def branch_to_t32(target: Label) -> Item:
    """blx to a label."""

    def encode(pc: int) -> int:
        offset = target.address - pc - 8
        return 0xFA000000 | (offset >> 1 & 1) << 24 | offset >> 2 & 0xFFFFFF

    return Instruction(4, encode)


def control_unit(rng: Rng, later: list[Label]) -> list[Item]:
    """A branch or jump to one of the labels."""
    target = rng.choice(later)
    if rng.random() < 0.5:
        return [branch(rng.randrange(15), target, links=rng.random() < 0.2)]
    if rng.random() < 0.2:
        return table(rng, later)
    return jump(rng, target, 0)


def jump(rng: Rng, target: Label, thumb: int, condition: int | None = None) -> list[Item]:
    """A jump through a register or memory; `thumb` is the lowest bit of the address."""
    register = rng.destination()
    point = a32.address(register, target, thumb)
    fields = {} if condition is None else {"c": condition}
    kinds = (
        "cccc 0001 0010 1111 1111 1111 00tt mmmm",  # bx, blx
        "cccc 0001 1010 0000 1111 0000 0000 mmmm",  # mov pc
        "cccc 0010 1000 mmmm 1111 rrrr 00000000",  # add pc, register, #0
    )
    kind = rng.randrange(5)
    if kind < 3:
        if kind == 0:
            fields["t"] = rng.choice([1, 3])
        return [*point, made(rng, kinds[kind], m=register, **fields)]
    imm = rng.randrange(0, 64, 4)
    store = made(rng, "1110 0101 1000 nnnn tttt 000000iiiiii", n=POINTER, t=register, i=imm)
    if kind == 3:
        load = made(rng, "cccc 0101 1001 nnnn 1111 000000iiiiii", n=POINTER, i=imm, **fields)
        return [*point, store, load]
    # ldm of another register and the program counter, or of the latter alone.
    other = rng.choice(list(rng.free))
    add = made(rng, "1110 0010 1000 nnnn dddd 0000 iiiiiiii", n=POINTER, d=other, i=imm)
    listed = 1 << PC | (1 << rng.randrange(7) if rng.random() < 0.5 else 0)
    before = 0 if listed == 1 << PC else 4
    subtract = made(rng, "1110 0010 0100 nnnn dddd 0000 iiiiiiii", n=other, d=other, i=before)
    load = made(rng, "cccc 1000 1001 nnnn rrrrrrrrrrrrrrrr", n=other, r=listed, **fields)
    return [*point, store, add, subtract, load]


def table(rng: Rng, later: list[Label]) -> list[Item]:
    """A jump into a table of branches, by the value of a register."""
    index = rng.destination()
    condition = rng.condition()
    skipped = [branch(ALWAYS, rng.choice(later))]
    return [
        made(rng, "1110 0010 0000 nnnn dddd 0000 00000011", d=index),
        # add pc, pc, index, lsl #2: to the place after the next instruction.
        made(rng, "cccc 0000 1000 1111 1111 00010 000 mmmm", c=condition, m=index),
        *skipped,
        *(branch(ALWAYS, rng.choice(later), links=rng.random() < 0.2) for _ in range(4)),
    ]


def loop(counter: int, rounds: int, body: list[Item]) -> list[Item]:
    """A loop of `rounds` iterations of `body`, counted in register `counter`."""
    start = Label()
    set_up = word(0xE3A00000 | counter << 12 | rounds)
    count = word(0xE2500001 | counter << 16 | counter << 12)
    return [set_up, start, *body, count, branch(1, start)]
