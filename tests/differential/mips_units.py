"""Units of random MIPS32 programs that go straight on: arithmetic, accesses, exceptions."""

from __future__ import annotations

from dataclasses import dataclass

import mips_assembler as mips
from assembler import Instruction, Item, Label, word
from choices import Rng, any_pointer, any_value
from mips_choices import LOW_POINTER, POINTERS, SOURCES


@dataclass(frozen=True)
class Kind:
    """The kinds of units that a sequence may have."""

    is_user: bool
    has_patches: bool
    targets: tuple[Label, ...]
    has_loops: bool = True


def source(rng: Rng) -> int:
    return rng.choice(SOURCES)


def destination(rng: Rng) -> int:
    return rng.choice(rng.free)


def three(rng: Rng) -> list[Item]:
    name = rng.choice(list(mips.THREE))
    rd, rs, rt = destination(rng), source(rng), source(rng)
    # Volume II: rt is to be rd.
    return [word(mips.three(mips.THREE[name], rd, rs, rd if name in ("clz", "clo") else rt))]


def shift(rng: Rng) -> list[Item]:
    base = rng.choice(list(mips.SHIFTS.values()))
    return [word(mips.shift(base, destination(rng), source(rng), rng.randrange(32)))]


def immediate(rng: Rng) -> list[Item]:
    name = rng.choice(list(mips.IMMEDIATES))
    rs = 0 if name == "lui" else source(rng)
    imm = any_value(rng) & 0xFFFF
    return [word(mips.immediate(mips.IMMEDIATES[name], destination(rng), rs, imm))]


def constant(rng: Rng) -> list[Item]:
    return mips.load_immediate(destination(rng), any_value(rng))


def product(rng: Rng) -> list[Item]:
    """Into HI and LO, and what moves them."""
    kind = rng.random()
    if kind < 0.55:
        base = rng.choice(list(mips.PRODUCTS.values()))
        return [word(mips.three(base, 0, source(rng), source(rng)))]
    if kind < 0.9:
        base = rng.choice(list(mips.FROM_HI_LO.values()))
        return [word(base | destination(rng) << 11)]
    return [word(rng.choice(list(mips.TO_HI_LO.values())) | source(rng) << 21)]


def access(rng: Rng, base: int, offset: int) -> Instruction:
    """A load to, or a store from, any register. Few are misaligned."""
    is_load = rng.random() < 0.55
    table = mips.LOADS if is_load else mips.STORES
    name = rng.choice(list(table))
    if rng.random() < 0.97:
        offset &= -mips.SIZES.get(name, 1)
    rt = destination(rng) if is_load else source(rng)
    return word(mips.immediate(table[name], rt, base, offset))


def memory(rng: Rng) -> list[Item]:
    return [access(rng, rng.choice(POINTERS), rng.randrange(-2048, 2048))]


def unaligned(rng: Rng) -> list[Item]:
    """Both parts of an unaligned word."""
    base, offset = rng.choice(POINTERS), rng.randrange(-2048, 2044)
    is_load = rng.random() < 0.5
    table, (left, right) = (
        (mips.LOADS, ("lwl", "lwr")) if is_load else (mips.STORES, ("swl", "swr"))
    )
    rt = destination(rng) if is_load else source(rng)
    parts = [(left, offset + 3), (right, offset)]
    rng.shuffle(parts)
    return [word(mips.immediate(table[name], rt, base, at)) for name, at in parts]


def far_memory(rng: Rng) -> list[Item]:
    """An access whose address was computed by the instructions before it."""
    pointer = any_pointer(rng)
    andi = mips.immediate(mips.IMMEDIATES["andi"], pointer, source(rng), 0x7FC)
    add = mips.three(mips.THREE["addu"], pointer, pointer, rng.choice(POINTERS))
    return [word(andi), word(add), access(rng, pointer, rng.randrange(-1024, 4))]


def linked(rng: Rng) -> list[Item]:
    """ll and sc. An exception in between, or none before it, makes sc fail."""
    base, offset = LOW_POINTER, rng.randrange(-2048, 2048, 4)
    load = word(mips.immediate(mips.LL, destination(rng), base, offset))
    store = word(mips.immediate(mips.SC, destination(rng), base, offset))
    between = [word(mips.SYSCALL)] if rng.random() < 0.2 else shift(rng)
    return [load, *between, store]


def trap(rng: Rng) -> list[Item]:
    """A trap that may happen."""
    rs = source(rng)
    if rng.random() < 0.5:
        rt = rs if rng.random() < 0.2 else source(rng)
        code = rng.getrandbits(10) << 6
        return [word(mips.three(rng.choice(list(mips.TRAPS.values())), 0, rs, rt) | code)]
    name = rng.choice(list(mips.TRAP_IMMEDIATES))
    return [word(mips.trap_immediate(name, rs, any_value(rng)))]


def exception(rng: Rng) -> list[Item]:
    """An instruction that raises an exception always, or in user mode."""
    rs, rt = source(rng), source(rng)
    encodings = (
        mips.SYSCALL | rng.getrandbits(20) << 6,
        mips.BREAK | rng.getrandbits(20) << 6,
        0x7C00003B | rt << 16 | 29 << 11,  # rdhwr: release 2
        0x44800000 | rt << 16,  # mtc1
        mips.immediate(0x31, rt, rs, 0),  # lwc1
        0x00000001 | rs << 21 | destination(rng) << 11,  # movf
        mips.immediate(mips.LOADS["lw"], destination(rng), 0, rng.getrandbits(14) << 2),
        mips.immediate(mips.STORES["sw"], rt, 0, rng.getrandbits(12) << 2),
        mips.immediate(mips.LOADS["lhu"], destination(rng), 0, -4),  # kseg3
    )
    return [word(rng.choice(encodings))]


def hint(rng: Rng) -> list[Item]:
    """An instruction that changes no register."""
    pref = mips.immediate(mips.PREF, rng.randrange(32), rng.choice(POINTERS), rng.getrandbits(10))
    return [word(rng.choice((mips.NOP, 0x40, mips.SYNC, pref)))]


def privileged(rng: Rng) -> list[Item]:
    """EPC, which a handler in between would change, written and read; clean lines."""
    if rng.random() < 0.5:
        cache = mips.immediate(mips.CACHE, mips.CACHE_D_HIT, rng.choice(POINTERS), 0)
        return [word(cache)]
    return [word(mips.mtc0(source(rng), mips.EPC)), word(mips.mfc0(destination(rng), mips.EPC))]


# Units of one instruction, which fit into a delay slot.
SINGLE = (three, shift, immediate, product, memory, trap, exception, hint)
SINGLE_WEIGHTS = (35, 10, 20, 12, 18, 3, 1, 2)
LONGER = (constant, unaligned, far_memory, linked, privileged)
LONGER_WEIGHTS = (4, 6, 8, 3, 1)


def single(rng: Rng) -> list[Item]:
    return rng.choices(SINGLE, SINGLE_WEIGHTS)[0](rng)


def straight(rng: Rng) -> list[Item]:
    """A few instructions that belong together."""
    if rng.random() < 0.8:
        return single(rng)
    return rng.choices(LONGER, LONGER_WEIGHTS)[0](rng)
