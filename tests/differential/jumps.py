"""Units of random programs that leave the straight line: each goes to one of the labels it gets."""

from __future__ import annotations

import assembler as asm
from assembler import Instruction, Item, Label, half, word
from choices import Rng, any_pointer


def control_unit(rng: Rng, later: list[Label]) -> list[Item]:
    """A branch or jump to one of the labels."""
    if rng.random() < 0.15:
        return switch(rng, later)
    kinds = (long_branch, short_branch, long_jump, short_jump, register_jump)
    return rng.choice(kinds)(rng, rng.choice(later))


def long_branch(rng: Rng, target: Label) -> list[Item]:
    rs1 = rng.randrange(32)
    rs2 = rs1 if rng.random() < 0.1 else rng.randrange(32)
    return [asm.branch(rng.choice(list(asm.BRANCHES)), rs1, rs2, target)]


def short_branch(rng: Rng, target: Label) -> list[Item]:
    return [asm.c_branch(rng.choice([0xC001, 0xE001]), rng.randrange(8), target)]


def long_jump(rng: Rng, target: Label) -> list[Item]:
    return [asm.jump(rng.choice(rng.free), target)]


def short_jump(rng: Rng, target: Label) -> list[Item]:
    return [asm.c_jump(rng.choice([0xA001, 0x2001]), target)]


def register_jump(rng: Rng, target: Label) -> list[Item]:
    """auipc and a jump through the register, long or short."""
    pointer = any_pointer(rng)
    rd = rng.choice([0, 1, pointer, rng.choice(rng.free)])
    odd = rng.randrange(2)  # the target's lowest bit is dropped
    here = Label()
    auipc = word(asm.u_type(asm.AUIPC, pointer, 0))

    def jalr(_: int) -> int:
        return asm.i_type(asm.JALR, rd, pointer, target.address - here.address + odd)

    def addi(_: int) -> int:
        return asm.i_type(0x13, pointer, pointer, target.address - here.address + odd)

    if rng.random() < 0.6:
        return [here, auipc, Instruction(4, jalr)]
    short = half(rng.choice([0x8002, 0x9002]) | pointer << 7)
    return [here, auipc, Instruction(4, addi), short]


def switch(rng: Rng, later: list[Label]) -> list[Item]:
    """A jump into a table of jumps, by the value of a register."""
    index, pointer = rng.sample([register for register in rng.free if register], 2)
    return [
        word(asm.i_type(asm.I_OPS["andi"], index, rng.randrange(32), 0xC)),
        word(asm.u_type(asm.AUIPC, pointer, 0)),
        word(asm.r_type(asm.R_OPS["add"], pointer, pointer, index)),
        word(asm.i_type(asm.JALR, rng.choice(rng.free), pointer, 12)),
        *(asm.jump(rng.choice([0, 1]), rng.choice(later)) for _ in range(4)),
    ]
