"""Random A32 loads and stores, all inside the data."""

from __future__ import annotations

import arm_a32 as a32
from arm_choices import POINTER, SP, Rng, made
from assembler import Item, word

# Bytes around the middle of the data that an access with all its words may reach.
REACH = 1800
LSL, LSR, ASR, ROR = range(4)


def offset(rng: Rng, most: int, step: int) -> tuple[int, int]:
    """The bit that says whether an offset is added, and the offset, a multiple of `step`."""
    return rng.randrange(2), rng.randrange(0, most, step)


def base(rng: Rng, writes_back: bool) -> int:
    """A base register; r7 is not written back."""
    return rng.choice([each for each in rng.bases if not (writes_back and each == POINTER)])


def mode(rng: Rng) -> tuple[int, int]:
    """p and w: an offset, pre-indexed, post-indexed."""
    if len(rng.bases) == 1:
        return 1, 0
    return rng.choice([(1, 0), (1, 0), (1, 1), (0, 0)])


def again(rn: int) -> list[Item]:
    """Sets a base register again that was written back."""
    return [] if rn == POINTER else [a32.mov(rn, POINTER)]


def step_of(rng: Rng, size: int) -> int:
    return 1 if rng.unaligned and rng.random() < 0.3 else size


def word_or_byte(rng: Rng) -> list[Item]:
    """ldr, str, ldrb, strb with an immediate; ldrt and so on where post-indexed ones are."""
    is_byte, is_load, (p, w) = rng.randrange(2), rng.randrange(2), mode(rng)
    if p == 0:
        w = rng.randrange(2)
    rn = base(rng, p == 0 or w == 1)
    rt = rng.destination() if is_load else rng.register()
    u, imm = offset(rng, REACH, 1 if is_byte else step_of(rng, 4))
    pattern = "cccc 010 puywl nnnn tttt iiiiiiiiiiii"
    fields = {"p": p, "u": u, "y": is_byte, "w": w, "l": is_load, "n": rn, "t": rt, "i": imm}
    return [made(rng, pattern, **fields), *again(rn)]


def scaled(rng: Rng) -> list[Item]:
    """Accesses with a register as offset, shifted in every way."""
    is_byte, is_load, (p, w) = rng.randrange(2), rng.randrange(2), mode(rng)
    rn, rm = base(rng, p == 0 or w == 1), rng.destination()
    rt = rng.destination() if is_load else rng.register()
    items, kind, imm = index(rng, rm, 1 if is_byte else step_of(rng, 4))
    pattern = "cccc 011 puywl nnnn tttt iiiii kk 0 mmmm"
    fields = {"p": p, "y": is_byte, "w": w, "l": is_load, "n": rn, "t": rt, "m": rm}
    access = made(rng, pattern, i=imm, k=kind, **fields)
    return [*items, access, *again(rn)]


def index(rng: Rng, rm: int, step: int) -> tuple[list[Item], int, int]:
    """Puts a value into `rm` that is a small offset once it is shifted by kind and amount."""
    value = rng.randrange(0, REACH, step)
    kind = rng.randrange(4)
    if kind == LSL:
        amount = rng.randrange(4)
        return a32.constant(rng, rm, (value >> amount) // step * step), kind, amount
    amount = rng.randrange(1, 32)
    if kind == ROR:
        wide = value << amount
        return a32.constant(rng, rm, (wide | wide >> 32) & 0xFFFFFFFF), kind, amount
    amount = rng.randrange(1, 21)
    return a32.constant(rng, rm, value << amount & 0x7FFFFFFF), kind, amount


def halfword(rng: Rng) -> list[Item]:
    """ldrh, strh, ldrsb, ldrsh, with an immediate or a register."""
    kind, is_load = rng.choice([(0b01, 0), (0b01, 1), (0b10, 1), (0b11, 1)])
    p, w = mode(rng)
    rn = base(rng, p == 0 or w == 1)
    rt = rng.destination() if is_load else rng.register()
    step = 1 if kind == 0b10 else step_of(rng, 2)
    fields = {"p": p, "w": w, "k": kind, "l": is_load, "n": rn, "t": rt}
    if rng.random() < 0.6:
        imm = rng.randrange(0, 256, step)
        pattern = "cccc 000 pu1wl nnnn tttt iiii 1kk1 iiii"
        if p == 0:
            fields["w"] = rng.randrange(2)
        return [made(rng, pattern, i=imm, **fields), *again(rn)]
    rm = rng.destination()
    value = a32.constant(rng, rm, rng.randrange(0, REACH, step))
    access = made(rng, "cccc 000 pu0wl nnnn tttt 0000 1kk1 mmmm", m=rm, **fields)
    return [*value, access, *again(rn)]


def doubleword(rng: Rng) -> list[Item]:
    """ldrd, strd, of registers that may be destinations."""
    is_store, (p, w) = rng.randrange(2), mode(rng)
    rn = base(rng, p == 0 or w == 1)
    pairs = [even for even in range(0, 13, 2) if is_store or {even, even + 1} <= {*rng.free}]
    fields = {"p": p, "w": w, "s": is_store, "n": rn, "t": rng.choice(pairs)}
    if rng.random() < 0.6:
        imm = rng.randrange(0, 256, 4)
        return [made(rng, "cccc 000 pu1w0 nnnn tttt iiii 11s1 iiii", i=imm, **fields), *again(rn)]
    rm = rng.choice([each for each in rng.free if each // 2 * 2 != fields["t"]])
    value = a32.constant(rng, rm, rng.randrange(0, REACH, 4))
    access = made(rng, "cccc 000 pu0w0 nnnn tttt 0000 11s1 mmmm", m=rm, **fields)
    return [*value, access, *again(rn)]


def several(rng: Rng) -> list[Item]:
    """ldm, stm."""
    is_load, w = rng.randrange(2), rng.randrange(2) if len(rng.bases) > 1 else 0
    rn = base(rng, w == 1)
    among = list(rng.free) if is_load else list(range(16))
    registers = rng.sample(among, rng.randrange(1, min(len(among), 9)))
    listed = sum(1 << register for register in registers)
    pattern = "cccc 100 pu0wl nnnn rrrrrrrrrrrrrrrr"
    return [made(rng, pattern, w=w, l=is_load, n=rn, r=listed), *again(rn)]


def literal(rng: Rng) -> list[Item]:
    """A load relative to the program counter."""
    kind = rng.randrange(3)
    if kind == 0:
        pattern = "cccc 010 11y01 1111 dddd 00000iiiiiii"
        is_byte = rng.randrange(2)
        imm = rng.randrange(0, 128, 1 if is_byte else 4)
        return [made(rng, pattern, y=is_byte, i=imm)]
    if kind == 1:
        pattern = "cccc 000 11101 1111 dddd iiii 1kk1 iiii"
        return [made(rng, pattern, k=rng.randrange(1, 4), i=rng.randrange(0, 256, 2))]
    pattern = "cccc 000 11100 1111 tttt iiii 1101 iiii"
    pairs = [even for even in range(0, 13, 2) if {even, even + 1} <= {*rng.free}]
    return [made(rng, pattern, t=rng.choice(pairs), i=rng.randrange(0, 256, 4))]


def loaded_base(rng: Rng) -> list[Item]:
    """Loads into registers that the address is made of."""
    rn, other = rng.destinations(2)
    point = [a32.mov(rn, POINTER)]
    kind = rng.randrange(3)
    if kind == 0:
        listed = sum(1 << register for register in rng.destinations(3)) | 1 << rn
        return [*point, made(rng, "cccc 100 pu001 nnnn rrrrrrrrrrrrrrrr", n=rn, r=listed)]
    value = a32.constant(rng, other, rng.randrange(0, REACH, 4))
    if kind == 1:
        p, w = rng.choice([(1, 0), (1, 1), (0, 0)])
        rt = other if w or not p else rng.choice([rn, other])
        pattern = "cccc 011 pu0w1 nnnn tttt 00000 000 mmmm"
        return [*point, *value, made(rng, pattern, p=p, w=w, n=rn, t=rt, m=other)]
    even = rng.choice([each for each in range(0, 13, 2) if {each, each + 1} <= {*rng.free}])
    rn = even + rng.randrange(2)
    load = made(rng, "cccc 000 1u100 nnnn tttt iiii 1101 ii00", n=rn, t=even)
    return [a32.mov(rn, POINTER), load]


def exclusive(rng: Rng) -> list[Item]:
    """ldrex and strex, with or without what makes the latter fail; swp."""
    rn = POINTER
    kind = rng.randrange(4)
    if rng.random() < 0.15:
        at, rt = rng.destinations(2)
        other = rng.choice([each for each in range(15) if each != at])
        swap = made(rng, "cccc 00010y00 nnnn tttt 0000 1001 mmmm", n=at, t=rt, m=other)
        return [a32.mov(at, POINTER), swap]
    pairs = [even for even in range(0, 13, 2) if {even, even + 1} <= {*rng.free}]
    is_pair = kind == 0b01
    rt = rng.choice(pairs) if is_pair else rng.destination()
    taken = {rn, rt, rt + 1}
    status = rng.choice([each for each in rng.free if each not in taken])
    load = made(rng, "1110 00011 kk1 nnnn tttt 1111 1001 1111", k=kind, n=rn, t=rt)
    store = made(rng, "1110 00011 kk0 nnnn dddd 1111 1001 mmmm", k=kind, n=rn, d=status, m=rt)
    between: list[Item] = [word(0xF57FF01F)] if rng.random() < 0.2 else a32.shifted(rng)
    if rng.random() < 0.1:
        return [word(0xF57FF01F), store]
    return [load, *between, store] if rng.random() < 0.8 else [load, store, store]


def preload(rng: Rng) -> list[Item]:
    """pld, pldw, pli."""
    patterns = (
        "1111 0101 ut01 nnnn 1111 iiiiiiiiiiii",
        "1111 0111 ut01 nnnn 1111 iiiii kk 0 mmmm",
        "1111 0100 u101 nnnn 1111 iiiiiiiiiiii",
    )
    return [made(rng, rng.choice(patterns))]


def push(rng: Rng) -> list[Item]:
    """push, and pop into other registers."""
    count = rng.randrange(1, 6)
    stored, loaded = rng.sample(range(13), count), rng.destinations(count)
    push, pop = 0xE92D0000, 0xE8BD0000
    lists = (sum(1 << register for register in each) for each in (stored, loaded))
    return [word(opcode | each) for opcode, each in zip((push, pop), lists, strict=True)]


def access(rng: Rng) -> list[Item]:
    """One of those above."""
    units = {
        word_or_byte: 20,
        scaled: 12,
        halfword: 12,
        doubleword: 6,
        several: 8,
        literal: 4,
        loaded_base: 3,
        exclusive: 3,
        preload: 1,
        push: 3 if SP in rng.bases else 0,
    }
    return rng.choices(list(units), list(units.values()))[0](rng)
