"""Random T32 instructions on registers, of both lengths: data processing, products, media.

Each unit is one instruction, so that it can stand in an IT block, unless its name says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

from arm_choices import FREE, PC, SP, Rng, fill
from assembler import Instruction, Item, Label, half, word

NOP, ISB = 0xBF00, 0xF3BF8F6F
MOVE, MOVE_NOT = 2, 3
OPERATIONS = (0, 1, MOVE, MOVE_NOT, 4, 8, 10, 11, 13, 14)
# Instructions with a comparison in place of a result: tst, teq, cmn, cmp.
COMPARED = (0, 4, 8, 13)
LOW = tuple(register for register in FREE if register < 8)
PARALLEL = (0, 1, 2, 4, 5, 6)
# With what is added in s; some have a form without.
PRODUCTS = (
    "11111011 0000 nnnn ssss dddd 0000 mmmm",  # mla
    "11111011 0001 nnnn ssss dddd 00xy mmmm",  # smlaxy
    "11111011 0010 nnnn ssss dddd 000x mmmm",  # smlad
    "11111011 0011 nnnn ssss dddd 000x mmmm",  # smlawy
    "11111011 0100 nnnn ssss dddd 000x mmmm",  # smlsd
    "11111011 0101 nnnn ssss dddd 000x mmmm",  # smmla
    "11111011 0111 nnnn ssss dddd 0000 mmmm",  # usada8
)
SUBTRACTED = (
    "11111011 0000 nnnn ssss dddd 0001 mmmm",  # mls
    "11111011 0110 nnnn ssss dddd 000x mmmm",  # smmls
)
LONG_PRODUCTS = (
    "11111011 1000 nnnn aaaa dddd 0000 mmmm",  # smull
    "11111011 1010 nnnn aaaa dddd 0000 mmmm",  # umull
    "11111011 1100 nnnn aaaa dddd 0000 mmmm",  # smlal
    "11111011 1110 nnnn aaaa dddd 0000 mmmm",  # umlal
    "11111011 1110 nnnn aaaa dddd 0110 mmmm",  # umaal
    "11111011 1100 nnnn aaaa dddd 10xy mmmm",  # smlalxy
    "11111011 1100 nnnn aaaa dddd 110x mmmm",  # smlald
    "11111011 1101 nnnn aaaa dddd 110x mmmm",  # smlsld
)


def wide_word(encoding: int) -> Instruction:
    """A 32-bit instruction, whose upper halfword comes first."""
    return word(encoding >> 16 | (encoding & 0xFFFF) << 16)


def narrow(rng: Rng, pattern: str, **fields: int) -> Item:
    """A 16-bit instruction. Its fields of registers are given, or have other letters."""
    return half(fill(rng, pattern, **fields))


def wide(rng: Rng, pattern: str, **fields: int) -> Item:
    return wide_word(fill(rng, pattern, **fields))


def low(rng: Rng) -> int:
    """A destination among the lower eight."""
    return rng.choice([register for register in LOW if register in rng.free])


def narrow_immediate(rng: Rng) -> list[Item]:
    """mov, cmp, add, sub."""
    operation = rng.randrange(4)
    rd = rng.randrange(8) if operation == 1 else low(rng)
    return [narrow(rng, "001 oo ddd iiiiiiii", o=operation, d=rd)]


def narrow_three(rng: Rng) -> list[Item]:
    """Shifts by an immediate; add, sub."""
    if rng.random() < 0.5:
        return [narrow(rng, "00011 io xxx yyy ddd", d=low(rng))]
    return [narrow(rng, "000 oo iiiii xxx ddd", o=rng.randrange(3), d=low(rng))]


def narrow_two(rng: Rng) -> list[Item]:
    """Data processing; tst, cmp and cmn of any register."""
    operation = rng.randrange(16)
    rd = rng.randrange(8) if operation in (8, 10, 11) else low(rng)
    return [narrow(rng, "010000 oooo xxx ddd", o=operation, d=rd)]


def narrow_any(rng: Rng) -> list[Item]:
    """add, cmp and mov of all registers; the program counter is read, too."""
    operation = rng.randrange(3)
    rd = rng.register() if operation == 1 else rng.destination()
    rm = PC if operation != 1 and rng.random() < 0.1 else rng.register()
    pattern = "010001 oo h mmmm ddd"
    return [narrow(rng, pattern, o=operation, h=rd >> 3, d=rd & 7, m=rm)]


def narrow_unary(rng: Rng) -> list[Item]:
    """sxth, sxtb, uxth, uxtb, rev, rev16, revsh."""
    if rng.random() < 0.6:
        return [narrow(rng, "10110010 oo xxx ddd", d=low(rng))]
    return [narrow(rng, "10111010 oo xxx ddd", o=rng.choice((0, 1, 3)), d=low(rng))]


def narrow_address(rng: Rng) -> list[Item]:
    """adr, and an immediate more than SP."""
    return [narrow(rng, "1010 o ddd iiiiiiii", d=low(rng))]


def stack_space(rng: Rng) -> list[Item]:
    """Two instructions: less for SP, and the same more."""
    imm = rng.randrange(128)
    return [narrow(rng, "10110000 s iiiiiii", s=s, i=imm) for s in (1, 0)]


def operation_fields(rng: Rng) -> dict[str, int]:
    """Operation, flags, first operand and destination of 32-bit data processing."""
    operation, flags = rng.choice(OPERATIONS), rng.randrange(2)
    fields = {"o": operation, "f": flags, "n": rng.register(), "d": rng.destination()}
    if operation in (MOVE, MOVE_NOT) and rng.random() < 0.6:
        fields["n"] = PC
    if operation in COMPARED and rng.random() < 0.3:
        fields |= {"f": 1, "d": PC}
    return fields


def wide_immediate(rng: Rng) -> list[Item]:
    return [wide(rng, "11110 i 0 oooo f nnnn 0 iii dddd iiiiiiii", **operation_fields(rng))]


def wide_shifted(rng: Rng) -> list[Item]:
    """Shifted by an immediate, often not at all."""
    fields = operation_fields(rng)
    if rng.random() < 0.4:
        fields |= {"i": 0, "t": 0}
    return [wide(rng, "1110101 oooo f nnnn 0 iii dddd ii tt mmmm", **fields)]


def wide_shift(rng: Rng) -> list[Item]:
    """By a register."""
    return [wide(rng, "11111010 0 tt f nnnn 1111 dddd 0000 mmmm")]


def small_shift(rng: Rng) -> list[Item]:
    """Two instructions: by few bits, of both lengths."""
    amount = rng.choice([register for register in LOW if register in rng.free])
    count = narrow(rng, "00100 ddd 00iiiiii", d=amount)
    if rng.random() < 0.5:
        return [count, wide(rng, "11111010 0 tt f nnnn 1111 dddd 0000 mmmm", m=amount)]
    return [
        count,
        narrow(rng, "010000 oooo mmm ddd", o=rng.choice((2, 3, 4, 7)), m=amount, d=low(rng)),
    ]


def plain_immediate(rng: Rng) -> list[Item]:
    """addw, subw, adr, movw, movt."""
    if rng.random() < 0.5:
        return [wide(rng, "11110 i 10 t100 iiii 0 iii dddd iiiiiiii")]
    rn = PC if rng.random() < 0.2 else rng.register()
    operation = rng.choice((0b00000, 0b01010))
    return [wide(rng, "11110 i 1 ooooo nnnn 0 iii dddd iiiiiiii", o=operation, n=rn)]


def bit_field(rng: Rng) -> list[Item]:
    """sbfx, ubfx, bfi, bfc."""
    first, last = sorted(rng.randrange(32) for _ in range(2))
    if rng.random() < 0.5:
        pattern = "11110 0 11 u100 nnnn 0 lll dddd ll 0 wwwww"
        return [wide(rng, pattern, l=first, w=last - first)]
    rn = PC if rng.random() < 0.3 else rng.register()
    return [wide(rng, "11110 0 11 0110 nnnn 0 lll dddd ll 0 hhhhh", l=first, h=last, n=rn)]


def saturation(rng: Rng) -> list[Item]:
    """ssat, usat, ssat16, usat16."""
    if rng.random() < 0.3:
        return [wide(rng, "11110 0 11 u010 nnnn 0000 dddd 0000 iiii")]
    amount, arithmetic = rng.randrange(1, 32), rng.randrange(2)
    if not arithmetic and rng.random() < 0.3:
        amount = 0
    pattern = "11110 0 11 u0h0 nnnn 0 lll dddd ll 0 iiiii"
    return [wide(rng, pattern, h=arithmetic, l=amount)]


def media(rng: Rng) -> list[Item]:
    """Extensions, parallel and saturating arithmetic, packing, reversals."""
    kind = rng.random()
    if kind < 0.3:
        operation, kinds = rng.choice(PARALLEL), rng.randrange(3)
        pattern = "11111010 1 ooo nnnn 1111 dddd 0 ukk mmmm"
        return [wide(rng, pattern, o=operation, k=kinds)]
    if kind < 0.6:
        added = PC if rng.random() < 0.5 else rng.register()
        pattern = "11111010 0 ooo nnnn 1111 dddd 10 rr mmmm"
        return [wide(rng, pattern, o=rng.randrange(6), n=added)]
    if kind < 0.7:
        return [wide(rng, "1110101 0110 0 nnnn 0 iii dddd ii t0 mmmm")]
    if kind < 0.85:
        # The operand stands there twice.
        operand, (operation, variant) = (
            rng.register(),
            rng.choice([*((1, each) for each in range(4)), (3, 0)]),
        )
        pattern = "11111010 1 ooo nnnn 1111 dddd 10vv mmmm"
        return [wide(rng, pattern, o=operation, v=variant, n=operand, m=operand)]
    pattern = rng.choice(
        ("11111010 1000 nnnn 1111 dddd 10oo mmmm", "11111010 1010 nnnn 1111 dddd 1000 mmmm")
    )
    return [wide(rng, pattern)]


def product(rng: Rng) -> list[Item]:
    if rng.random() < 0.2:
        return [wide(rng, rng.choice(SUBTRACTED))]
    return [wide(rng, rng.choice(PRODUCTS), s=PC if rng.random() < 0.4 else rng.register())]


def long_product(rng: Rng) -> list[Item]:
    first, second = rng.destinations(2)
    return [wide(rng, rng.choice(LONG_PRODUCTS), a=first, d=second)]


def flags(rng: Rng) -> list[Item]:
    """Reads or writes the flags: mrs, msr."""
    if rng.random() < 0.5:
        return [wide(rng, "11110011 1110 1111 1000 dddd 00000000")]
    return [wide(rng, "11110011 1000 nnnn 1000 kk00 00000000", k=rng.randrange(1, 4))]


def nothing(rng: Rng) -> list[Item]:
    """nop of both lengths, dsb, dmb."""
    if rng.random() < 0.5:
        return [half(NOP)]
    return [wide_word(rng.choice((0xF3AF8000, 0xF3BF8F4F, 0xF3BF8F5B)))]


def constant(register: int, value: int) -> list[Item]:
    """Any 32-bit value into a register: movw and movt."""
    return [_half_constant(t, register, value >> 16 * t & 0xFFFF) for t in (0, 1)]


def address(register: int, label: Label, offset: int = 0) -> list[Item]:
    """The address of a label, and `offset` more, into a register: movw and movt."""

    def part(t: int) -> Instruction:
        def encode(at: int) -> int:
            imm = label.address + offset >> 16 * t & 0xFFFF
            return _half_constant(t, register, imm).encode(at)

        return Instruction(4, encode)

    return [part(0), part(1)]


def _half_constant(t: int, register: int, imm: int) -> Instruction:
    upper = 0xF240 | t << 7 | (imm >> 11 & 1) << 10 | imm >> 12
    return wide_word(upper << 16 | (imm >> 8 & 7) << 12 | register << 8 | imm & 0xFF)


def mov(rd: int, rm: int) -> Item:
    """A copy of a register."""
    return half(0x4600 | (rd & 8) << 4 | rm << 3 | rd & 7)


SINGLE: dict[Callable[[Rng], list[Item]], int] = {
    narrow_immediate: 8,
    narrow_three: 10,
    narrow_two: 10,
    narrow_any: 6,
    narrow_unary: 3,
    narrow_address: 2,
    wide_immediate: 10,
    wide_shifted: 12,
    wide_shift: 3,
    plain_immediate: 6,
    bit_field: 4,
    saturation: 3,
    media: 10,
    product: 8,
    long_product: 5,
    flags: 3,
    nothing: 1,
}


def single(rng: Rng) -> list[Item]:
    """One of the units of one instruction."""
    return rng.choices(list(SINGLE), list(SINGLE.values()))[0](rng)


def operation(rng: Rng) -> list[Item]:
    """One of those above."""
    kind = rng.random()
    if kind < 0.06:
        return small_shift(rng)
    if kind < 0.08 and SP in rng.bases:
        return stack_space(rng)
    if kind < 0.09:
        return [wide_word(ISB)]
    return single(rng)
