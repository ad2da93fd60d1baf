"""Random programs for an M-profile core, all in T32, with special registers.

The last part of each runs without privilege.
"""

from __future__ import annotations

import arm_m_system as system
import arm_m_vfp as vfp
import arm_t32 as t32
import arm_t32_control as control
import arm_t32_memory as memory
import assembler as asm
from arm_choices import (
    CODE,
    DATA_BYTES,
    DATA_MIDDLE,
    FREE,
    INNER,
    OUTER,
    POINTER,
    SECOND,
    SP,
    Rng,
)
from arm_programs import Program, any_datum
from arm_t32 import wide
from assembler import Item, Label, half
from choices import any_value

# movs r0, #0x18; movw and movt r1, 0x20026; bkpt 0xab: ends the run with status 0.
EXIT = [half(0x2018), *t32.constant(1, 0x20026), half(0xBEAB)]


def division(rng: Rng) -> list[Item]:
    """sdiv, udiv, by 0 as well."""
    return [wide(rng, "11111011 10u1 nnnn 1111 dddd 1111 mmmm")]


def any_unit(rng: Rng, later: list[Label]) -> list[Item]:
    kind = rng.random()
    if kind < 0.12:
        return control.control_unit(rng, later)
    if rng.vfp and kind < 0.27:
        if rng.random() < 0.1:
            return rng.choice((vfp.status, vfp.stack))(rng)
        return [*([] if rng.random() < 0.7 else [control.one_if(rng)]), *vfp.unit(rng)]
    if kind < 0.5:
        return memory.access(rng)
    if kind < 0.53:
        return t32.constant(rng.destination(), any_value(rng))
    if kind < 0.62:
        return control.it_block(rng)
    if kind < 0.64:
        return control.conditional_access(rng)
    if kind < 0.67:
        return division(rng)
    if kind < 0.72:
        return system.unit(rng)
    return t32.operation(rng)


def sequence(rng: Rng, count: int, *, has_loops: bool = True) -> list[Item]:
    """`count` units one after the other; branches lead to the beginnings of later ones."""
    labels = [Label() for _ in range(count + 1)]
    items: list[Item] = []
    for index in range(count):
        items.append(labels[index])
        if index % 8 == 7:
            items += control.SHORT
        if has_loops and rng.random() < 0.03:
            inner = sequence(rng, rng.randint(2, 6), has_loops=False)
            items += control.loop(INNER, rng.randint(1, 5), inner)
        else:
            items += any_unit(rng, labels[index + 1 : index + 7])
    return [*items, labels[count]]


def generate(seed: int, units: int = 200, rounds: int = 8) -> Program:
    """A program that runs `units` units `rounds` times, and some without privilege.

    Every other one has floating point.
    """
    rng = Rng(seed)
    rng.vfp, rng.unaligned = seed % 2 == 1, True
    rng.two_exclusive_words, rng.aligned_stack = False, True
    end = Label()
    items: list[Item] = []
    for register in (POINTER, SECOND, SP):
        items += t32.constant(0, DATA_MIDDLE)
        items += [t32.mov(register, 0)]
    items += vfp.set_up() if rng.vfp else []
    for register in FREE:
        items += t32.constant(register, any_value(rng))
    items += control.loop(OUTER, rounds, sequence(rng, units))
    items += system.drop_privilege(rng)
    rng.privileged = False
    items += [*sequence(rng, units // 4), end, *EXIT]
    code = asm.assemble(items, CODE)
    data = b"".join(any_datum(rng).to_bytes(4, "little") for _ in range(DATA_BYTES // 4))
    return Program(seed, code, data, CODE, end.address, has_mmu=False)
