"""Random Arm programs that end: loops over parts of A32 and of T32, with system instructions.

`Set` is what an instruction set's generator has to offer; the parts of a program take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import arm_a32 as a32
import arm_a32_control as control
import arm_a32_memory as memory
import arm_system as system
import arm_t32 as t32
import arm_t32_control as t32_control
import arm_t32_memory as t32_memory
import arm_t32_system as t32_system
import arm_vfp as vfp
import assembler as asm
from arm_choices import (
    ALWAYS,
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
from assembler import Item, Label, word
from choices import any_value

# mov r0, #0x18; movw and movt r1, 0x20026; svc 0x123456: ends the run with status 0.
EXIT = (0xE3A00018, 0xE3001026, 0xE3401002, 0xEF123456)


@dataclass(frozen=True)
class Set:
    """An instruction set: the lowest bit of its code's addresses, and its random units."""

    bit: int
    # One unit; labels are where it may go on.
    unit: Callable[[Rng, list[Label]], list[Item]]
    # Goes on at a label of the set with that lowest bit.
    switch: Callable[[Rng, Label, int], list[Item]]
    # A number of iterations of a body, counted by a register.
    loop: Callable[[int, int, list[Item]], list[Item]]
    # A unit of system instructions.
    privileged_unit: Callable[[Rng], list[Item]] | None = None
    # Code between some of the units.
    between: Sequence[Item] = ()


@dataclass(frozen=True)
class Program:
    """A program for CODE with its data for DATA; it ends in an exit, at `end`."""

    seed: int
    code: bytes
    data: bytes
    start: int
    end: int
    has_mmu: bool


def a32_unit(rng: Rng, later: list[Label]) -> list[Item]:
    kind = rng.random()
    if kind < 0.12:
        return control.control_unit(rng, later)
    if rng.vfp and kind < 0.3:
        if rng.random() < 0.06:
            return [word(encoding) for encoding in vfp.status(rng)]
        if rng.random() < 0.05:
            return [word(encoding) for encoding in vfp.stack(rng)]
        return [word(encoding) for encoding in vfp.unit(rng, rng.condition())]
    if kind < 0.5:
        return memory.access(rng)
    if kind < 0.53:
        return a32.constant(rng, rng.destination(), any_value(rng), rng.condition())
    return a32.operation(rng)


def a32_switch(rng: Rng, target: Label, bit: int) -> list[Item]:
    """By blx, or by a register or memory."""
    if bit and rng.random() < 0.3:
        return [control.branch_to_t32(target)]
    return control.jump(rng, target, bit, ALWAYS)


def t32_unit(rng: Rng, later: list[Label]) -> list[Item]:
    kind = rng.random()
    if kind < 0.12:
        return t32_control.control_unit(rng, later)
    if rng.vfp and kind < 0.25:
        condition = [] if rng.random() < 0.7 else [t32_control.one_if(rng)]
        return [*condition, *(t32.wide_word(each) for each in vfp.unit(rng, ALWAYS))]
    if kind < 0.5:
        return t32_memory.access(rng)
    if kind < 0.53:
        return t32.constant(rng.destination(), any_value(rng))
    if kind < 0.62:
        return t32_control.it_block(rng)
    if kind < 0.64:
        return t32_control.conditional_access(rng)
    return t32.operation(rng)


A32 = Set(0, a32_unit, a32_switch, control.loop, system.unit)
T32 = Set(
    1,
    t32_unit,
    t32_control.switch,
    t32_control.loop,
    t32_system.unit,
    t32_control.SHORT,
)
SETS = (A32, T32)


def generate(
    seed: int, sets: Sequence[Set] = (A32,), parts: int = 8, units: int = 30, rounds: int = 8
) -> Program:
    """A program whose parts of `units` units run `rounds` times.

    Three of four have the MMU on, every other one has floating point.
    """
    rng = Rng(seed)
    has_mmu, rng.vfp = seed % 4 != 0, seed % 2 == 1
    start, again, end = Label(), Label(), Label()
    handlers, handler_code = system.handlers(rng)
    items = [*system.vectors(start, handlers), *handler_code, start]
    items += system.set_up(rng, mmu=has_mmu)
    rng.unaligned = has_mmu
    for register in FREE:
        items += a32.constant(rng, register, any_value(rng))
    for register in (POINTER, SECOND, SP):
        items += a32.constant(rng, register, DATA_MIDDLE)
    if rng.vfp:
        # vldm of all registers, from r7 on.
        items += [word(0xEC970B20), word(0xECD70B20)]
    items += [word(0xE3A00000 | OUTER << 12 | rounds), again]
    items += body(rng, sets, parts, units)
    # subs and bne.
    items += [word(0xE2500001 | OUTER << 16 | OUTER << 12), control.branch(1, again)]
    items += [end, *map(word, EXIT)]
    code = asm.assemble(items, CODE)
    data = b"".join(any_datum(rng).to_bytes(4, "little") for _ in range(DATA_BYTES // 4))
    return Program(seed, code, data, CODE, end.address, has_mmu)


def any_datum(rng: Rng) -> int:
    return vfp.any_word(rng) if rng.random() < 0.7 else any_value(rng)


def body(rng: Rng, sets: Sequence[Set], parts: int, units: int) -> list[Item]:
    """Parts of the sets in turn, from A32 to A32."""
    items: list[Item] = []
    current = A32
    for _ in range(parts):
        following = rng.choice(sets)
        items += go_to(rng, current, following)
        items += sequence(rng, following, units)
        current = following
    return [*items, *go_to(rng, current, A32)]


def go_to(rng: Rng, current: Set, following: Set) -> list[Item]:
    """Code between parts in two instruction sets."""
    target = Label()
    jump = current.switch(rng, target, following.bit) if current is not following else []
    return [*jump, asm.ALIGN, target]


def sequence(rng: Rng, each: Set, count: int, *, has_loops: bool = True) -> list[Item]:
    """`count` units one after the other; branches lead to the beginnings of later ones."""
    labels = [Label() for _ in range(count + 1)]
    items: list[Item] = []
    for index in range(count):
        later = labels[index + 1 : index + 7]
        items.append(labels[index])
        if index % 8 == 7:
            items += each.between
        if has_loops and rng.random() < 0.03:
            inner = sequence(rng, each, rng.randint(2, 6), has_loops=False)
            items += each.loop(INNER, rng.randint(1, 5), inner)
        elif each.privileged_unit and rng.random() < 0.06:
            items += each.privileged_unit(rng)
        else:
            items += each.unit(rng, later)
    return [*items, labels[count]]
