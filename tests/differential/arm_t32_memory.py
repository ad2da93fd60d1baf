"""Random T32 loads and stores of both lengths, all inside the data."""

from __future__ import annotations

import arm_t32 as t32
from arm_a32_memory import REACH, base, mode, step_of
from arm_choices import POINTER, SP, Rng
from arm_t32 import low, narrow, wide, wide_word
from assembler import Item, half

# Bits 24, 22:21 and 20 of 32-bit accesses to one register; how many bytes.
ACCESSES = (
    (0b0000, 1),  # strb
    (0b0001, 1),  # ldrb
    (0b0010, 2),  # strh
    (0b0011, 2),  # ldrh
    (0b0100, 4),  # str
    (0b0101, 4),  # ldr
    (0b1001, 1),  # ldrsb
    (0b1011, 2),  # ldrsh
)
# The 16-bit ones with a register for an offset, in the encoding's order.
NARROW_BYTES = (4, 2, 1, 1, 4, 2, 1, 2)
CLREX = 0xF3BF8F2F


def again(rn: int) -> list[Item]:
    """Sets a base register again that was written back."""
    return [] if rn == POINTER else [t32.mov(rn, POINTER)]


def narrow_offset(rng: Rng) -> list[Item]:
    """ldr, str and those of bytes and halfwords at r7; words at SP."""
    if SP in rng.bases and rng.random() < 0.3:
        return [narrow(rng, "1001 l ttt iiiiiiii", t=low(rng))]
    kind = rng.choice(("0110 l", "0111 l", "1000 l"))
    return [narrow(rng, f"{kind} iiiii 111 ttt", t=low(rng))]


def narrow_register(rng: Rng) -> list[Item]:
    """With a register for an offset."""
    kind, rm = rng.randrange(8), low(rng)
    value = rng.randrange(0, 256, step_of(rng, NARROW_BYTES[kind]))
    index = narrow(rng, "00100 mmm iiiiiiii", m=rm, i=value)
    return [index, narrow(rng, "0101 ooo mmm 111 ttt", o=kind, m=rm, t=low(rng))]


def narrow_several(rng: Rng) -> list[Item]:
    """ldm and stm of the lower eight."""
    rn, is_load = low(rng), rng.randrange(2)
    listed = rng.randrange(1 << 7)
    if not is_load:
        # A stored base has its old value only in the first register's place.
        listed = listed & -1 << rn | rng.randrange(2) << POINTER
    pattern = "1100 l nnn rrrrrrrr"
    access = narrow(rng, pattern, l=is_load, n=rn, r=listed or 1 << rn)
    return [t32.mov(rn, POINTER), access]


def stack(rng: Rng) -> list[Item]:
    """push, and pop into other registers."""
    stored, loaded = rng.randrange(1, 1 << 9), rng.randrange(1, 1 << 7)
    return [half(0xB400 | stored), half(0xBC00 | loaded), t32.mov(SP, POINTER)]


def one(rng: Rng) -> list[Item]:
    """One register, with an immediate: added, subtracted, with write-back, or as from User mode."""
    kind, size = rng.choice(ACCESSES)
    (p, w), step, is_load = mode(rng), step_of(rng, size), kind & 1
    rn = base(rng, w == 1 or p == 0)
    rt = rng.destination() if is_load else rng.choice([each for each in range(15) if each != rn])
    fields = {"s": kind >> 3, "z": kind >> 1 & 3, "l": is_load, "t": rt, "n": rn}
    if (p, w) == (1, 0) and rng.random() < 0.6:
        imm = rng.randrange(0, REACH, step)
        return [wide(rng, "1111100 s 1 zz l nnnn tttt iiiiiiiiiiii", i=imm, **fields)]
    # An offset is subtracted, or the access unprivileged.
    rest = rng.choice((0b100, 0b110)) if (p, w) == (1, 0) else p << 2 | rng.randrange(2) << 1 | 1
    if rn == SP and rng.aligned_stack:
        step = 4
    imm = rng.randrange(0, 256, step)
    access = wide(rng, "1111100 s 0 zz l nnnn tttt 1rrr iiiiiiii", r=rest, i=imm, **fields)
    return [access, *(again(rn) if rest & 1 else [])]


def scaled(rng: Rng) -> list[Item]:
    """With a register for an offset, shifted."""
    (kind, size), rm, shift = rng.choice(ACCESSES), rng.destination(), rng.randrange(4)
    is_load = kind & 1
    rt = rng.destination() if is_load else rng.register()
    step = max(1, step_of(rng, size) >> shift)
    index = t32.constant(rm, rng.randrange(0, REACH >> shift, step))
    pattern = "1111100 s 0 zz l nnnn tttt 000000 hh mmmm"
    fields = {"s": kind >> 3, "z": kind >> 1 & 3, "l": is_load, "t": rt, "n": base(rng, False)}
    return [*index, wide(rng, pattern, h=shift, m=rm, **fields)]


def doubleword(rng: Rng) -> list[Item]:
    """ldrd, strd."""
    is_load, (p, w) = rng.randrange(2), mode(rng)
    writes_back = w == 1 or p == 0
    rn = base(rng, writes_back)
    among = list(rng.free) if is_load else [each for each in range(15) if each != rn]
    rt, rt2 = rng.sample(among, 2)
    fields = {"p": p, "w": int(writes_back), "l": is_load, "n": rn, "t": rt, "v": rt2}
    access = wide(rng, "1110100 pu1wl nnnn tttt vvvv iiiiiiii", **fields)
    return [access, *(again(rn) if writes_back else [])]


def several(rng: Rng) -> list[Item]:
    """ldm, stm, upwards after or downwards before."""
    is_load, w = rng.randrange(2), rng.randrange(2) if len(rng.bases) > 1 else 0
    rn = base(rng, w == 1)
    among = list(rng.free) if is_load else [each for each in range(15) if each not in (SP, rn)]
    registers = rng.sample(among, rng.randrange(2, min(len(among), 9)))
    fields = {"w": w, "l": is_load, "n": rn, "r": sum(1 << register for register in registers)}
    pattern = rng.choice(
        ("1110100 010wl nnnn rrrrrrrrrrrrrrrr", "1110100 100wl nnnn rrrrrrrrrrrrrrrr")
    )
    return [wide(rng, pattern, **fields), *(again(rn) if w else [])]


def literal(rng: Rng) -> list[Item]:
    """Loads relative to the program counter."""
    kind = rng.randrange(3)
    if kind == 0:
        return [narrow(rng, "01001 ttt 000iiiii", t=low(rng))]
    if kind == 1:
        rt, rt2 = rng.destinations(2)
        return [wide(rng, "1110100 1u101 1111 tttt vvvv 000iiiii", t=rt, v=rt2)]
    access, size = rng.choice([each for each in ACCESSES if each[0] & 1])
    imm = rng.randrange(0, 128, size)
    pattern = "1111100 s u zz 1 1111 dddd 00000 iiiiiii"
    return [half(t32.NOP), wide(rng, pattern, s=access >> 3, z=access >> 1 & 3, i=imm)]


def loaded_base(rng: Rng) -> list[Item]:
    """Loads into registers that the address is made of."""
    rn, other = rng.destinations(2)
    point = t32.mov(rn, POINTER)
    kind = rng.randrange(3)
    if kind == 0:
        listed = sum(1 << register for register in rng.destinations(3)) | 1 << rn | 1 << other
        return [point, wide(rng, "1110100 01001 nnnn rrrrrrrrrrrrrrrr", n=rn, r=listed)]
    if kind == 1:
        first, second = rng.sample((rn, other), 2)
        return [point, wide(rng, "1110100 1u101 nnnn tttt vvvv iiiiiiii", n=rn, t=first, v=second)]
    index = t32.constant(other, rng.randrange(0, REACH, 4))
    pattern = "11111000 0101 nnnn tttt 00000000 mmmm"
    return [point, *index, wide(rng, pattern, n=rn, t=rng.choice((rn, other)), m=other)]


def exclusive(rng: Rng) -> list[Item]:
    """ldrex and strex, with or without what makes the latter fail."""
    kind = rng.choice(
        (None, 0b0100, 0b0101, 0b0111) if rng.two_exclusive_words else (None, 0b0100, 0b0101)
    )
    rt, rt2, status = rng.destinations(3)
    if kind is None:
        imm = rng.randrange(256)
        load = wide(rng, "11101000 0101 nnnn tttt 1111 iiiiiiii", n=POINTER, t=rt, i=imm)
        pattern = "11101000 0100 nnnn tttt dddd iiiiiiii"
        store = wide(rng, pattern, n=POINTER, t=rt2, d=status, i=imm)
    else:
        second = rt2 if kind == 0b0111 else 15
        fields = {"n": POINTER, "t": rt, "v": second, "k": kind}
        load = wide(rng, "11101000 1101 nnnn tttt vvvv kkkk 1111", **fields)
        store = wide(rng, "11101000 1100 nnnn tttt vvvv kkkk dddd", d=status, **fields)
    if rng.random() < 0.1:
        return [wide_word(CLREX), store]
    between = [wide_word(CLREX)] if rng.random() < 0.2 else t32.single(rng)
    return [load, *between, store] if rng.random() < 0.8 else [load, store, store]


def preload(rng: Rng) -> list[Item]:
    """pld, pldw, pli."""
    patterns = (
        "11111000 10w1 nnnn 1111 iiiiiiiiiiii",
        "11111000 00w1 nnnn 1111 1100 iiiiiiii",
        "11111000 00w1 nnnn 1111 000000 hh mmmm",
        "11111001 1001 nnnn 1111 iiiiiiiiiiii",
    )
    return [wide(rng, rng.choice(patterns))]


def access(rng: Rng) -> list[Item]:
    """One of those above."""
    units = {
        narrow_offset: 12,
        narrow_register: 8,
        narrow_several: 5,
        stack: 4 if SP in rng.bases else 0,
        one: 20,
        scaled: 8,
        doubleword: 6,
        several: 7,
        literal: 4,
        loaded_base: 3,
        exclusive: 3,
        preload: 1,
    }
    return rng.choices(list(units), list(units.values()))[0](rng)
