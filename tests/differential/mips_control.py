"""Random MIPS32 programs' branches and jumps with their delay slots, loops, and changed code."""

from __future__ import annotations

from dataclasses import replace

import mips_assembler as mips
import mips_units as units
from assembler import Instruction, Item, Label, word
from choices import Rng, any_pointer
from mips_choices import INNER
from mips_units import Kind, destination, source


def sequence(rng: Rng, count: int, kind: Kind) -> list[Item]:
    """`count` units one after the other; branches lead to the beginnings of later ones."""
    labels = [Label() for _ in range(count + 1)]
    items: list[Item] = []
    for index in range(count):
        items += [labels[index], *unit(rng, labels[index + 1 : index + 7], kind)]
    return [*items, labels[count]]


def unit(rng: Rng, later: list[Label], kind: Kind) -> list[Item]:
    if kind.has_loops and rng.random() < 0.02:
        return inner_loop(rng, kind)
    if rng.random() < 0.18:
        return rng.choices((branch, jump, register_jump, switch), (10, 2, 3, 2))[0](rng, later)
    # In user mode `cache` is not allowed, but nothing needs it for a change of code.
    if kind.has_patches and not kind.is_user and rng.random() < 0.01:
        return patch(rng, kind)
    return units.straight(rng)


def slot(rng: Rng) -> list[Item]:
    """The instruction in a delay slot."""
    return [word(mips.NOP)] if rng.random() < 0.1 else units.single(rng)


def branch(rng: Rng, later: list[Label]) -> list[Item]:
    if rng.random() < 0.5:
        rs = source(rng)
        rt = rs if rng.random() < 0.1 else source(rng)
        base = mips.equal_branch(rng.choice(list(mips.EQUALS)), rs, rt)
    else:
        # With $31 as its operand a branch with a link is unpredictable.
        rs = rng.choice([register for register in units.SOURCES if register != 31])
        base = rng.choice(list(mips.SIGNS.values())) | rs << 21
    return [mips.branch(base, rng.choice(later)), *slot(rng)]


def jump(rng: Rng, later: list[Label]) -> list[Item]:
    return [mips.jump(rng.choice((mips.J, mips.JAL)), rng.choice(later)), *slot(rng)]


def register_jump(rng: Rng, later: list[Label]) -> list[Item]:
    pointer = any_pointer(rng)
    address = mips.load_address(pointer, rng.choice(later))
    hint = rng.choice((0, 0x400))  # jr.hb, jalr.hb
    if rng.random() < 0.5:
        return [*address, word(mips.JR | pointer << 21 | hint), *slot(rng)]
    rd = rng.choice([register for register in rng.free if register != pointer])
    return [*address, word(mips.JALR | pointer << 21 | rd << 11 | hint), *slot(rng)]


def switch(rng: Rng, later: list[Label]) -> list[Item]:
    """A jump into a table of jumps, by the value of a register."""
    index, pointer = rng.sample([register for register in rng.free if register], 2)
    table = Label()
    items = [
        word(mips.immediate(mips.IMMEDIATES["andi"], index, source(rng), 3)),
        word(mips.shift(mips.SHIFTS["sll"], index, index, 3)),
        *mips.load_address(pointer, table),
        word(mips.three(mips.THREE["addu"], pointer, pointer, index)),
        word(mips.JR | pointer << 21),
        *slot(rng),
        table,
    ]
    for _ in range(4):
        items += [mips.jump(mips.J, rng.choice(later)), *slot(rng)]
    return items


def count_down(register: int, again: Label) -> list[Item]:
    """Goes back unless `register` comes to zero: the branch is near, the jump may be far."""
    out = Label()
    return [
        word(mips.immediate(mips.IMMEDIATES["addiu"], register, register, -1)),
        mips.branch(mips.equal_branch("beq", register, 0), out),
        word(mips.NOP),
        mips.jump(mips.J, again),
        word(mips.NOP),
        out,
    ]


def inner_loop(rng: Rng, kind: Kind) -> list[Item]:
    """A loop of a few rounds over a few units, the count in the delay slot or the end likely."""
    again = Label()
    rounds = word(mips.immediate(mips.IMMEDIATES["addiu"], INNER, 0, rng.randint(1, 6)))
    body = sequence(rng, rng.randint(2, 8), replace(kind, has_loops=False))
    count = word(mips.immediate(mips.IMMEDIATES["addiu"], INNER, INNER, -1))
    if rng.random() < 0.5:
        return [rounds, again, *body, mips.branch(mips.SIGNS["bgtz"] | INNER << 21, again), count]
    end = mips.branch(mips.equal_branch("bnel", INNER, 0), again)
    return [rounds, again, *body, count, end, *slot(rng)]


def patch(rng: Rng, kind: Kind) -> list[Item]:
    """Changes an instruction in memory: of one nearby, or of one of the body's end."""
    pointer, value = rng.sample([register for register in rng.free if register], 2)
    here, after = Label(), Label()
    target = here if rng.random() < 0.7 else rng.choice(kind.targets)
    changed = Instruction(4, lambda _: mips.three(mips.THREE["addu"], value, pointer, pointer))
    change = [
        *mips.load_address(pointer, target),
        *mips.load_immediate(value, addition(rng)),
        word(mips.immediate(mips.STORES["sw"], value, pointer, 0)),
        word(mips.immediate(mips.CACHE, mips.CACHE_D_HIT, pointer, 0)),
        word(mips.SYNC),
        word(mips.immediate(mips.CACHE, mips.CACHE_I_HIT, pointer, 0)),
        # A jump: Unicorn has translated what follows.
        mips.jump(mips.J, after),
        word(mips.NOP),
        after,
    ]
    return [*change, here, changed] if rng.random() < 0.5 else [here, changed, *change]


def addition(rng: Rng) -> int:
    """An instruction to put in the place of another."""
    return mips.three(mips.THREE["addu"], destination(rng), source(rng), source(rng))
