"""Random A32 instructions on registers: data processing, multiplications, media instructions."""

from __future__ import annotations

import assembler as asm
from arm_choices import ALWAYS, PC, Rng, made
from assembler import Item, Label, word

MOV, MVN = 0b1101, 0b1111
COMPARISONS = range(0b1000, 0b1100)
# Encodings with rd in bits 15:12; the other registers are n and m.
MEDIA = (
    "cccc 01101000 nnnndddd iiiii t01 mmmm",  # pkhbt, pkhtb
    "cccc 0110101i iiiidddd iiiii t01 mmmm",  # ssat
    "cccc 0110111i iiiidddd iiiii t01 mmmm",  # usat
    "cccc 01101010 iiiidddd 1111 0011 mmmm",  # ssat16
    "cccc 01101110 iiiidddd 1111 0011 mmmm",  # usat16
    "cccc 01101000 nnnndddd 1111 1011 mmmm",  # sel
    "cccc 01101011 1111dddd 1111 0011 mmmm",  # rev
    "cccc 01101011 1111dddd 1111 1011 mmmm",  # rev16
    "cccc 01101111 1111dddd 1111 0011 mmmm",  # rbit
    "cccc 01101111 1111dddd 1111 1011 mmmm",  # revsh
    "cccc 00010110 1111dddd 1111 0001 mmmm",  # clz
    "cccc 00010oo0 nnnndddd 0000 0101 mmmm",  # qadd, qsub, qdadd, qdsub
)
EXTENSIONS = (0b000, 0b010, 0b011, 0b100, 0b110, 0b111)
PARALLEL_KINDS = (1, 2, 3, 5, 6, 7)
PARALLEL = (0, 1, 2, 3, 4, 7)
# Encodings with rd in bits 19:16, and the addend in 15:12.
PRODUCTS = (
    "cccc 0000000f dddd0000 ssss 1001 mmmm",  # mul
    "cccc 0000001f ddddnnnn ssss 1001 mmmm",  # mla
    "cccc 00000110 ddddnnnn ssss 1001 mmmm",  # mls
    "cccc 00010000 ddddnnnn ssss 1xy0 mmmm",  # smlaxy
    "cccc 00010010 ddddnnnn ssss 1x00 mmmm",  # smlawy
    "cccc 00010010 dddd0000 ssss 1x10 mmmm",  # smulwy
    "cccc 00010110 dddd0000 ssss 1xy0 mmmm",  # smulxy
    "cccc 01110000 ddddnnnn ssss 0tx1 mmmm",  # smlad, smlsd
    "cccc 01110000 dddd1111 ssss 0tx1 mmmm",  # smuad, smusd
    "cccc 01110101 ddddnnnn ssss 00x1 mmmm",  # smmla
    "cccc 01110101 ddddnnnn ssss 11x1 mmmm",  # smmls
    "cccc 01110101 dddd1111 ssss 00x1 mmmm",  # smmul
    "cccc 01111000 ddddnnnn ssss 0001 mmmm",  # usada8
    "cccc 01111000 dddd1111 ssss 0001 mmmm",  # usad8
)
# Encodings that write both d and a.
LONG_PRODUCTS = (
    "cccc 00000100 ddddaaaa ssss 1001 mmmm",  # umaal
    "cccc 00001oof ddddaaaa ssss 1001 mmmm",  # umull, umlal, smull, smlal
    "cccc 00010100 ddddaaaa ssss 1xy0 mmmm",  # smlalxy
    "cccc 01110100 ddddaaaa ssss 0tx1 mmmm",  # smlald, smlsld
)


def operand_fields(rng: Rng, rd: int | None = None) -> dict[str, int]:
    """Opcode, flags, first operand and destination of data processing."""
    opcode, flags = rng.randrange(16), rng.randrange(2)
    fields = {"o": opcode, "f": flags, "n": rng.register(), "d": rng.destination()}
    if opcode in COMPARISONS:
        fields |= {"f": 1, "d": 0}
    elif rd is not None:
        fields["d"] = rd
    if opcode in (MOV, MVN):
        fields["n"] = 0
    return fields


def immediate(rng: Rng) -> list[Item]:
    fields = operand_fields(rng)
    if fields["o"] not in (MOV, MVN) and rng.random() < 0.1:
        fields["n"] = PC
    return [made(rng, "cccc 001 oooo f nnnn dddd iiiiiiiiiiii", **fields)]


def shifted(rng: Rng) -> list[Item]:
    """Shifted by an immediate, often not at all."""
    fields = operand_fields(rng)
    if rng.random() < 0.4:
        fields |= {"i": 0, "t": 0}
    if rng.random() < 0.05:
        fields["m"] = PC
    return [made(rng, "cccc 000 oooo f nnnn dddd iiiii tt 0 mmmm", **fields)]


def shifted_by_register(rng: Rng) -> list[Item]:
    """Shifted by a register, often by few bits."""
    items: list[Item] = []
    fields = operand_fields(rng)
    if rng.random() < 0.6:
        fields["s"] = rng.destination()
        items.append(made(rng, "1110 001 11010 0000 dddd 0000 00iiiiii", d=fields["s"]))
    return [*items, made(rng, "cccc 000 oooo f nnnn dddd ssss 0 tt 1 mmmm", **fields)]


def half(rng: Rng) -> list[Item]:
    return [made(rng, "cccc 0011 0t00 iiii dddd iiiiiiiiiiii")]


def product(rng: Rng) -> list[Item]:
    return [made(rng, rng.choice(PRODUCTS))]


def long_product(rng: Rng) -> list[Item]:
    low, high = rng.destinations(2)
    return [made(rng, rng.choice(LONG_PRODUCTS), a=low, d=high)]


def media(rng: Rng) -> list[Item]:
    if rng.random() < 0.35:
        kind, operation = rng.choice(PARALLEL_KINDS), rng.choice(PARALLEL)
        pattern = "cccc 01100kkk nnnn dddd 1111 ooo1 mmmm"
        return [made(rng, pattern, k=kind, o=operation)]
    if rng.random() < 0.3:
        pattern = "cccc 01101kkk nnnn dddd rr00 0111 mmmm"
        added = PC if rng.random() < 0.5 else rng.register()
        return [made(rng, pattern, k=rng.choice(EXTENSIONS), n=added)]
    return [made(rng, rng.choice(MEDIA))]


def bit_field(rng: Rng) -> list[Item]:
    """sbfx, ubfx, bfi, bfc."""
    low, high = sorted(rng.randrange(32) for _ in range(2))
    if rng.random() < 0.5:
        pattern = "cccc 01111 t1 wwwww dddd lllll 101 mmmm"
        return [made(rng, pattern, w=high - low, l=low)]
    rm = PC if rng.random() < 0.3 else rng.register()
    return [made(rng, "cccc 0111110 hhhhh dddd lllll 001 mmmm", h=high, l=low, m=rm)]


def flags(rng: Rng) -> list[Item]:
    """Reads or writes the flags: mrs, msr."""
    kind = rng.random()
    if kind < 0.4:
        return [made(rng, "cccc 00010000 1111 dddd 0000 0000 0000")]
    if kind < 0.7:
        return [made(rng, "cccc 00010010 kk00 1111 0000 0000 mmmm", k=rng.randrange(1, 4))]
    # Flags and GE by an immediate.
    mask, rotation = rng.choice([(8, 2), (4, 6), (12, 2), (12, 6)])
    return [made(rng, "cccc 00110010 kkkk 1111 rrrr iiiiiiii", k=mask, r=rotation)]


def constant(rng: Rng, register: int, value: int, condition: int = ALWAYS) -> list[Item]:
    """Any 32-bit value into a register: movw and movt."""
    halves = ((0b00, value & 0xFFFF), (0b01, value >> 16))
    pattern = "cccc 0011 0t00 iiii dddd iiiiiiiiiiii"
    return [made(rng, pattern, c=condition, t=t, d=register, i=imm) for t, imm in halves]


def address(register: int, label: Label, offset: int = 0) -> list[Item]:
    """The address of a label, and `offset` more, into a register: movw and movt."""

    def encode(opcode: int, shift: int) -> asm.Instruction:
        def at(_: int) -> int:
            imm = label.address + offset >> shift & 0xFFFF
            return opcode | (imm >> 12) << 16 | register << 12 | imm & 0xFFF

        return asm.Instruction(4, at)

    return [encode(0xE3000000, 0), encode(0xE3400000, 16)]


def mov(rd: int, rm: int) -> Item:
    """A copy of a register."""
    return word(0xE1A00000 | rd << 12 | rm)


def nothing(rng: Rng) -> list[Item]:
    """nop, dsb, dmb, isb."""
    return [word(rng.choice([0xE320F000, 0xF57FF04F, 0xF57FF05B, 0xF57FF06F]))]


def operation(rng: Rng) -> list[Item]:
    """One of those above."""
    units = {
        immediate: 15,
        shifted: 20,
        shifted_by_register: 8,
        half: 3,
        product: 8,
        long_product: 5,
        media: 12,
        bit_field: 4,
        flags: 3,
        nothing: 1,
    }
    return rng.choices(list(units), list(units.values()))[0](rng)
