"""Random programs that end: loops over forward branches, jumps, arithmetic, loads and stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import assembler as asm
from assembler import Instruction, Item, Label, half, word
from choices import (
    CODE,
    DATA_BYTES,
    DATA_MIDDLE,
    FREE,
    FREE_CSRS,
    FREE_NARROW,
    INNER,
    MEPC,
    MIDDLE,
    NARROW,
    OUTER,
    STACK,
    Rng,
    any_pointer,
    any_value,
)
from jumps import control_unit

EXIT = [0x01800513, 0x000205B7, 0x02658593, 0x01F01013, 0x00100073, 0x40705013]
Generator = Callable[[Rng], list[Item]]


class Timer(Protocol):
    """The source of a program's interrupts."""

    def handler(self) -> list[Item]:
        """Code that is run in between; it keeps the registers."""

    def switch_on(self, entry: int) -> list[Item]:
        """Code that has to run before, with the handler at `entry`."""


@dataclass(frozen=True)
class Core:
    """Differences between cores: the end of a run, and instructions that only some have."""

    exit: tuple[int, ...] = tuple(EXIT)
    has_csrs: bool = True
    has_fence_i: bool = True
    # Registers that a timer's interrupts change.
    interrupts_write: tuple[int, ...] = ()
    # Units of instructions that only this core has, for programs with a timer.
    own_op: Generator | None = None


HART = Core()


@dataclass(frozen=True)
class Program:
    """A program for CODE with its data for DATA; it ends in an exit, at `end`."""

    seed: int
    code: bytes
    data: bytes
    end: int


def generate(
    seed: int,
    timer: Timer | None = None,
    units: int = 250,
    rounds: int = 8,
    core: Core = HART,
) -> Program:
    """A program whose body of `units` units runs `rounds` times; a timer adds interrupts.

    The handler uses CSRs, so the body of a program with a timer does not.
    """
    rng = Rng(seed)
    rng.free = [r for r in FREE if not timer or r not in core.interrupts_write]
    again, end = Label(), Label()
    items: list[Item] = []
    if timer:
        start = Label()
        items += [asm.jump(0, start), *timer.handler(), start, *timer.switch_on(CODE + 4)]
    for register in rng.free:
        items += asm.load_immediate(register, any_value(rng))
    for register in (STACK, NARROW, MIDDLE):
        items += asm.load_immediate(register, DATA_MIDDLE)
    items += asm.load_immediate(OUTER, rounds)
    # Each fence.i makes the engine forget what it compiled: only odd seeds have any.
    kind = Kind(core, timer is not None, seed % 2 == 1, tuple(Label() for _ in range(4)))
    items += [again, *sequence(rng, units, kind)]
    for target in kind.targets:
        items += [target, *register_op(rng), *sequence(rng, 10, kind)]
    out = Label()
    items += [word(asm.i_type(0x13, OUTER, OUTER, -1)), asm.branch("beq", OUTER, 0, out)]
    items += [asm.jump(0, again), out, end, *map(word, core.exit)]
    code = asm.assemble(items, CODE)
    data = b"".join(any_value(rng).to_bytes(4, "little") for _ in range(DATA_BYTES // 4))
    return Program(seed, code, data, end.address)


@dataclass(frozen=True)
class Kind:
    """The kinds of units that a sequence may have."""

    core: Core
    has_timer: bool
    has_patches: bool
    targets: tuple[Label, ...]
    has_loops: bool = True


def sequence(rng: Rng, count: int, kind: Kind) -> list[Item]:
    """`count` units one after the other; branches lead to the beginnings of later ones."""
    labels = [Label() for _ in range(count + 1)]
    items: list[Item] = []
    for index in range(count):
        later = labels[index + 1 : index + 7]
        items.append(labels[index])
        items += unit(rng, later, kind)
    return [*items, labels[count]]


def unit(rng: Rng, later: list[Label], kind: Kind) -> list[Item]:
    """A few instructions that belong together."""
    if kind.has_loops and rng.random() < 0.02:
        return inner_loop(rng, kind)
    if rng.random() < 0.18:
        return control_unit(rng, later)
    if rng.random() < 0.04:
        return asm.load_immediate(rng.choice(rng.free), any_value(rng))
    if rng.random() < 0.01:
        return patch(rng, kind) if kind.has_patches and rng.random() < 0.5 else fences(rng, kind)
    if kind.core.own_op and kind.has_timer and rng.random() < 0.03:
        return kind.core.own_op(rng)
    units = (register_op, immediate_op, short_op, memory_op, short_memory_op, far_memory_op, csr_op)
    has_csrs = kind.core.has_csrs and not kind.has_timer
    weights = (30, 20, 25, 12, 8, 5, 3 if has_csrs else 0)
    return rng.choices(units, weights)[0](rng)


def inner_loop(rng: Rng, kind: Kind) -> list[Item]:
    """A loop of a few rounds over a few units."""
    again = Label()
    rounds = word(asm.i_type(0x13, INNER, 0, rng.randint(1, 6)))
    body = sequence(rng, rng.randint(2, 8), replace(kind, has_loops=False))
    count = word(asm.i_type(0x13, INNER, INNER, -1))
    return [rounds, again, *body, count, asm.branch("bne", INNER, 0, again)]


def register_op(rng: Rng) -> list[Item]:
    base = rng.choice(list(asm.R_OPS.values()))
    return [word(asm.r_type(base, rng.choice(rng.free), rng.randrange(32), rng.randrange(32)))]


def immediate_op(rng: Rng) -> list[Item]:
    rd, rs1 = rng.choice(rng.free), rng.randrange(32)
    kind = rng.random()
    if kind < 0.6:
        base = rng.choice(list(asm.I_OPS.values()))
        return [word(asm.i_type(base, rd, rs1, rng.getrandbits(12)))]
    if kind < 0.85:
        base = rng.choice(list(asm.SHIFTS.values()))
        return [word(base | rd << 7 | rs1 << 15 | rng.randrange(32) << 20)]
    return [word(asm.u_type(rng.choice([asm.LUI, asm.AUIPC]), rd, rng.getrandbits(20)))]


def short_op(rng: Rng) -> list[Item]:
    """A 16-bit instruction that works on registers."""
    rd, other = rng.choice(rng.free), rng.randrange(1, 32)
    narrow, any_narrow = rng.choice(FREE_NARROW), rng.randrange(8)
    imm = rng.randrange(1, 64)
    encodings = [
        asm.c_immediate(0x0001, rd, imm),  # c.addi, c.nop
        asm.c_immediate(0x4001, rd, imm),  # c.li
        asm.c_immediate(0x6001, rd, imm),  # c.lui; x2 is not free
        asm.c_immediate(rng.choice([0x8001, 0x8401]), narrow, imm & 31),  # c.srli, c.srai
        asm.c_immediate(0x8801, narrow, imm),  # c.andi
        rng.choice(asm.C_ARITHMETIC) | narrow << 7 | any_narrow << 2,
        asm.c_immediate(0x0002, rd, imm & 31),  # c.slli
        0x8002 | rd << 7 | other << 2,  # c.mv
        0x9002 | rd << 7 | other << 2,  # c.add
        narrow << 2 | rng.randrange(1, 256) << 5,  # c.addi4spn
    ]
    choice = rng.randrange(len(encodings) + 1)
    if choice < len(encodings):
        return [half(encodings[choice])]
    # c.addi16sp, what it gave, and back to where sp was.
    restore = word(asm.i_type(0x13, STACK, MIDDLE, 0))
    return [half(asm.c_immediate(0x6101, 0, imm)), half(0x8002 | rd << 7 | STACK << 2), restore]


def aligned(rng: Rng, name: str, offset: int) -> int:
    return offset & {"b": ~0, "h": ~1, "w": ~3}[name[1]]


def access(rng: Rng, base: int, offset: int) -> Instruction:
    """A load to, or a store from, any register."""
    if rng.random() < 0.6:
        name = rng.choice(list(asm.LOADS))
        offset = aligned(rng, name, offset)
        return word(asm.i_type(asm.LOADS[name], rng.choice(rng.free), base, offset))
    name = rng.choice(list(asm.STORES))
    offset = aligned(rng, name, offset)
    return word(asm.s_type(asm.STORES[name], base, rng.randrange(32), offset))


def memory_op(rng: Rng) -> list[Item]:
    return [access(rng, rng.choice([STACK, NARROW, MIDDLE]), rng.randrange(-2048, 2048))]


def short_memory_op(rng: Rng) -> list[Item]:
    narrow = NARROW - 8
    offset = asm.c_word_offset(rng.randrange(32) * 4) | narrow << 7
    rd = any_pointer(rng)
    encodings = (
        0x4000 | offset | rng.choice(FREE_NARROW) << 2,  # c.lw
        0xC000 | offset | rng.randrange(8) << 2,  # c.sw
        asm.c_immediate(0x4002, rd, rng.randrange(64)),  # c.lwsp
        0xC002 | rng.randrange(64) << 7 | rng.randrange(32) << 2,  # c.swsp
    )
    return [half(rng.choice(encodings))]


def far_memory_op(rng: Rng) -> list[Item]:
    """An access whose address was computed by the instructions before it."""
    pointer = any_pointer(rng)
    index = word(asm.i_type(asm.I_OPS["andi"], pointer, rng.randrange(32), 0x7FC))
    add = word(asm.r_type(asm.R_OPS["add"], pointer, pointer, MIDDLE))
    return [index, add, access(rng, pointer, rng.randrange(-1024, 4))]


def csr_op(rng: Rng) -> list[Item]:
    base, csr, rd = rng.choice(list(asm.CSRS.values())), rng.choice(FREE_CSRS), rng.choice(rng.free)
    if csr != MEPC:
        return [word(asm.i_type(base, rd, rng.randrange(32), csr))]
    # Unicorn keeps the lowest bit, which the manual wants to be zero (privileged, 3.1.14).
    even = rng.choice([register for register in rng.free if register and register % 2 == 0])
    clear = word(asm.i_type(asm.I_OPS["andi"], even, rng.randrange(32), -2))
    return [clear, word(asm.i_type(base, rd, even, csr))]


def fences(rng: Rng, kind: Kind) -> list[Item]:
    both = kind.has_patches and kind.core.has_fence_i
    return [word(rng.choice([asm.FENCE, asm.FENCE_I]) if both else asm.FENCE)]


def refetch(kind: Kind) -> list[Item]:
    """Makes a core see changed code: fence.i, or a jump if one instruction is prefetched."""
    if kind.core.has_fence_i:
        return [word(asm.FENCE_I)]
    after = Label()
    return [asm.jump(0, after), after]


def patch(rng: Rng, kind: Kind) -> list[Item]:
    """Changes an instruction's operands in memory: of one nearby, or of one of the body's end."""
    pointer, value = rng.sample([register for register in rng.free if register], 2)
    here = Label()
    target = here if rng.random() < 0.7 else rng.choice(kind.targets)
    change = [
        *asm.load_address(pointer, target, 2),
        word(asm.i_type(asm.LOADS["lhu"], value, pointer, 0)),
        # rs2 and the upper bits of rs1.
        word(asm.i_type(asm.I_OPS["xori"], value, value, rng.randrange(1, 0x200))),
        word(asm.s_type(asm.STORES["sh"], pointer, value, 0)),
        *refetch(kind),
    ]
    changed = [here, *register_op(rng)]
    return change + changed if rng.random() < 0.5 else changed + change
