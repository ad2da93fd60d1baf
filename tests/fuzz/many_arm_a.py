"""Many small programs for a Cortex-A5 or A7, in A32 and T32."""

from __future__ import annotations

import struct
from random import Random

import elf32

from fuzz import code_arm_a
from fuzz.boards import Facts
from fuzz.code_arm_a import constant
from fuzz.labelled import Labelled
from fuzz.many import SETS, Image, Small, runs
from fuzz.program import halves, words

# After the vectors and the harness, relative to the base of an image.
_SETS, _TABLE, _PAGES, _STATE, _DATA, _STACK, _CODE = (
    0x800,
    0x1000,
    0x4000,
    0x8C40,
    0x9000,
    0xB000,
    0xC000,
)
_SET_BYTES = 13 * 4
_SECTION, _TABLE_BYTES = 0x10_0000, 0x4000
_NOP, _NOP_16 = 0xE320_F000, 0xBF00
# SCTLR after reset, and its bits for the MMU, caches, predictions.
_SCTLR, _M, _C, _Z, _I = 0x00C5_0078, 1, 1 << 2, 1 << 11, 1 << 12
_ISB, _DSB, _DMB = 0xF57F_F06F, 0xF57F_F04F, 0xF57F_F05F
_BARRIERS = ([_DSB, _ISB], [_ISB], [_DMB], [], [])
# Clean the line of lr's address, invalidate it for instructions; all instructions.
_CLEAN_CODE = [0xEE07_EF3B, _DSB, 0xEE07_EF35, _DSB, _ISB]
# By r1: TLB, caches by address, all instructions, all predictions, a set and way.
_MAINTENANCE = (0xEE08_1F17, 0xEE08_1F37, 0xEE07_1F15, 0xEE07_1F35, 0xEE07_1F3B, 0xEE07_1F3A)
_MAINTENANCE += (0xEE07_1F36, 0xEE07_1F3E, 0xEE07_1FD5, 0xEE07_1F5A)
# eor r4, r4, #bit: caches, predictions, the MMU, alignment.
_EORS = (0xE224_4004, 0xE224_4A01, 0xE224_4B02, 0xE224_4001, 0xE224_4002)
_WILD, _T32 = 0.04, 0.2


def image(random: Random, facts: Facts, count: int) -> Image:
    """An image of `count` programs."""
    base = random.choice(code_arm_a.PLACES.get(facts.board, (code_arm_a.DDR,))) & ~0xFFFF
    bits = random.choice((0, _I, _C, _I | _C, _I | _C | _Z, _I | _C | _Z, _I | _C | _Z))
    if random.random() < 0.5:
        bits |= _M
    made = Image(elf32.EM_ARM, base, base + _TABLE, base + _STATE, words([_NOP]), 4)
    made.cycles = 600 if facts.board.startswith("minimal") else 3000 if bits & _I else 20000
    harness = _harness(base, _SCTLR | bits)
    kind = random.choice((0xC0E, 0xC02, 0xC0A, 0x1_0C0E, 0xC06))
    sections = [at * _SECTION | (kind if at == base // _SECTION else 0xC0E) for at in range(4096)]
    made.segments = [
        (base, words(harness.code())),
        (base + _PAGES, struct.pack(f"<{len(sections)}I", *sections)),
        (base + _SETS, words([value for _ in range(SETS) for value in _set(random, facts, base)])),
    ]
    at, after, wild = base + _CODE, harness.at("after"), random.random() < _WILD
    for _ in range(count):
        registers = base + _SETS + _SET_BYTES * random.randrange(SETS)
        if random.random() < _T32:
            code, entry = halves(_t32(random, at, after)), at | 1
        else:
            code, entry = words(_program(random, facts, base, at, after, wild)), at
        made.programs.append(Small(at, code, entry, runs(random), registers))
        at = at + len(code) + 3 & ~3
    return made


def _set(random: Random, facts: Facts, base: int) -> list[int]:
    """Values of r0 to r12: two places, code, data, a count, an entry of the table, values, code."""
    unaligned = random.choice((0, 0, 0, 0, 1, 2, 3))
    far = base + _DATA
    if _memory_bytes(facts, base) >= 4 * _SECTION:
        far = base + random.randrange(1, 4) * _SECTION + 0x100
    elif random.random() < 0.5 and len(facts.memories) > 1:
        far = random.choice(facts.memories)[0] + 0x5000
    values = [base + _DATA + 0x40 * random.randrange(24) + unaligned, far, base]
    values += [random.choice((random.getrandbits(32), random.randrange(64))) for _ in range(4)]
    kind = random.choice((0xC0E, 0xC02, 0xC0A, 0x1_0C0E, 0xC06, 0xC0E | 1 << 4, 0x40E, 0, 0x80E))
    code = (_NOP, 0xE283_3001, 0xE244_4001, 0xE590_3004, 0xE580_3008, 0xE890_0018, 0xE1A0_0000)
    # An entry of the table, but not that of the code.
    section = far // _SECTION + (far // _SECTION == base // _SECTION)
    values += [random.randrange(1, 6), base + _PAGES + section * 4]
    values += [(base + _PAGES) | random.choice((0, 0x4A, 0x6A, 0x0B))]
    values += [random.choice((1, 1, 3, 0xFFFF_FFFF)), far & ~0xF_FFFF | kind]
    return [*values, random.choice(code)]


def _memory_bytes(facts: Facts, base: int) -> int:
    return next((size for at, size in facts.memories if at == base), 0)


def _harness(base: int, sctlr: int) -> Labelled:
    made = Labelled(base, 4)
    for name in ("start", *["fault"] * 7):
        made.jump(name, _b)
    made.mark("start")
    # floating point: cpacr, fpexc; the cycle counter: pmcr, pmcntenset
    made.add(*constant(0, base), 0xEE0C_0F10, 0xE3A0_060F, 0xEE01_0F50, _ISB)
    made.add(0xE3A0_0101, 0xEEE8_0A10)
    made.add(0xE3A0_0005, 0xEE09_0F1C, 0xE3A0_0102, 0xEE09_0F3C)
    _control(made, base, sctlr)
    # str table, [state]; str runs, [state, #4]; str 0, [state, #8]: the sum
    made.add(*constant(4, base + _STATE), *constant(5, base + _TABLE), 0xE584_5000, 0xE595_6004)
    made.add(0xE584_6004, 0xE3A0_0000, 0xE584_0008)
    made.jump("call", _b)
    made.mark("after")
    # add r0, r0, rN, ror #N; mrs r1, cpsr; add; mrc pmccntr; add
    made.add(*(0xE080_0060 | number << 7 | number for number in range(1, 15)))
    made.add(0xE10F_1000, 0xE080_0001, 0xEE19_1F1D, 0xE080_0001)
    # ldr r5, [state, #8]; add r5, r0, r5, ror #7; str
    made.add(*constant(4, base + _STATE), 0xE594_5008, 0xE080_53E5, 0xE584_5008)
    made.mark("next")
    # ldr r5, [state]; ldr r6, [state, #4]; subs r6, #1; bne; add r5, #16; str; ldr r6, [r5, #4]
    made.add(*constant(4, base + _STATE), 0xE594_5000, 0xE594_6004, 0xE256_6001)
    made.jump("again", lambda distance: [_b(distance)[0] & 0x0FFF_FFFF | 0x1000_0000])
    made.add(0xE285_5010, 0xE584_5000, 0xE595_6004)
    made.mark("again")
    made.add(0xE584_6004)
    made.mark("call")
    # ldr lr, [r5]; cmp lr, #0; beq; ldr r6, [r5, #8]; msr cpsr_f, lr; ldm r6, all; bx lr
    made.add(0xE595_E000, 0xE35E_0000)
    made.jump("end", lambda distance: [_b(distance)[0] & 0x0FFF_FFFF])
    made.add(0xE595_6008, 0xE128_F00E, *constant(13, base + _STACK), 0xE896_1FFF, 0xE12F_FF1E)
    made.mark("end")
    made.add(*constant(0, 0x18), *constant(1, 0x20026), 0xEF12_3456, 0xEAFF_FFFE)
    made.mark("fault")
    # cpsid aif, #svc; everything as at the start
    made.add(0xF10E_01D3)
    _control(made, base, sctlr)
    made.jump("next", _b)
    return made


def _control(made: Labelled, base: int, sctlr: int) -> None:
    # ttbr0, dacr, sctlr, all of the TLB and of the instruction cache
    made.add(*constant(0, base + _PAGES | 0x4A), 0xEE02_0F10, 0xE3A0_0001, 0xEE03_0F10)
    made.add(*constant(0, sctlr), 0xEE01_0F10, 0xEE08_0F17, 0xEE07_0F15, _DSB, _ISB)


def _b(distance: int) -> list[int]:
    return [0xEA00_0000 | distance - 8 >> 2 & 0xFF_FFFF]


def _program(random: Random, facts: Facts, base: int, at: int, after: int, wild: bool) -> list[int]:
    """Some instructions, a loop of them perhaps, and a jump back to the harness."""
    loops, changes = random.random() < 0.45, random.random() < 0.4
    code = _first(random)
    for _ in range(random.randrange(1, 6)):
        chance = random.random()
        if changes and chance < 0.3:
            code += [
                *_change(random, 0 if loops else len(code) + 4),
                *random.choice((*_BARRIERS, _CLEAN_CODE)),
            ]
        elif wild and chance < 0.31:
            drawn = code_arm_a.unit(random, facts, base, (at - base) // 4 + len(code))
            code += drawn if 0xEF12_3456 not in drawn else []
        elif chance < 0.45:
            code += _first(random)
        else:
            code.append(_operation(random))
    if loops:
        # subs r7, #1; bgt
        code += [0xE257_7001, 0xCA00_0000 | -len(code) - 3 & 0xFF_FFFF]
    return [*code, *_b(after - at - 4 * len(code))]


def _t32(random: Random, at: int, after: int) -> list[int]:
    """An operation in T32: mostly loads and stores."""
    code: list[int] = []
    loops = random.random() < 0.45
    for _ in range(random.randrange(2, 6)):
        rd, base, word = random.randrange(3, 7), random.randrange(2), random.randrange(8)
        mask = random.choice((0x18, 0x78, 0x60, 0x30))
        short = random.choice((0x6000, 0x6800, 0x7000, 0x7800, 0x8000, 0x8800))
        wide = random.choice((0xF8C0, 0xF8D0, 0xF8A0, 0xF8B0, 0xF880, 0xF890, 0xF990, 0xF9B0))
        several = random.choice((0xE880, 0xE890, 0xE8A0, 0xE8B0, 0xE900, 0xE910))
        code += random.choice(
            (
                [short | word << 6 | base << 3 | rd],
                [wide | base, rd << 12 | 4 * word + 1],
                [several | base, mask],
                [0xB400 | mask],
                [0xBC00 | mask],
                [0x4800 | rd << 8],
                [random.choice((0xE9C0, 0xE9D0)) | base, 3 << 12 | rd << 8 | word],
                [0x1800 | word << 6 | rd << 3 | rd],
                [0x3001 | rd << 8],
                [0xFB00 | rd, 0xF303],
                [_NOP_16] if loops else [0xF8AE, 0xC001 + 2 * random.randrange(len(code) + 4)],
                [0x42A3, 0xBF08, 0x6803],
            )
        )
    # subs r7, #1; bgt
    if loops:
        code += [0x3F01, 0xDC00 | -len(code) - 3 & 0xFF]
    # ldr pc, of the next word that is aligned
    code += [_NOP_16] if (at // 2 + len(code)) % 2 else []
    return [*code, 0xF8DF, 0xF000, after & 0xFFFF, after >> 16]


def _first(random: Random) -> list[int]:
    """Any kind of instruction, those of several words above all; r0 and r1 lead to memory."""
    rd, rn, base = random.randrange(3, 7), random.randrange(3, 7), random.randrange(2) << 16
    mask = random.choice((0x18, 0x78, 0x60, 0x30, 0x58, 0x8))
    word, odd = 4 * random.randrange(8), random.choice((0, 0, 1, 2, 3))
    split = word >> 4 << 8 | word & 15
    kinds: tuple[list[int], ...] = (
        # ldm and stm, in all directions, with write-back; push, pop
        [0xE800_0000 | random.getrandbits(2) << 23 | random.getrandbits(2) << 20 | base | mask],
        [0xE800_0000 | random.getrandbits(2) << 23 | random.getrandbits(2) << 20 | base | mask],
        [random.choice((0xE92D_0000, 0xE8BD_0000)) | mask],
        # ldrd, strd; ldr, str, of words and bytes; of halfwords, with sign
        [random.choice((0xE1C0_40D0, 0xE1C0_40F0, 0xE1E0_40D0, 0xE0C0_40F0)) | base | split],
        [0xE580_0000 | random.getrandbits(1) << 22 | random.getrandbits(1) << 20 | base]
        + [_NOP] * random.randrange(2),
        [0xE580_0000 | random.getrandbits(1) << 20 | base | rd << 12 | word + odd],
        [random.choice((0xE1C0_00B0, 0xE1D0_00B0, 0xE1D0_00D0, 0xE1D0_00F0)) | base | rd << 12],
        [random.choice((0xE480_0000, 0xE490_0000, 0xE5A0_0000, 0xE5B0_0000)) | base | rd << 12 | 4],
        # vldr, vstr, vldm, vstm
        [random.choice((0xED80_0A01, 0xED90_0A01, 0xED90_0B02, 0xEC80_0A04, 0xECB0_0B04)) | base],
        # ldrex, strex, swp
        random.choice(
            ([0xE190_0F9F | base | rd << 12], [0xE180_0F90 | base | 6 << 12 | 3], [0xE100_1093])
        ),
        [random.choice((0xE000_0090, 0xE080_0090, 0xE0E0_0090)) | 3 << 16 | 4 << 12 | rd << 8 | rn],
        [random.choice((0xE710_F010, 0xE730_F010)) | rd << 16 | rn << 8 | 4],
        # a branch over something; one of a condition; a literal
        [random.choice((0xEA00_0000, 0x1A00_0000, 0x0A00_0000)), _operation(random)],
        [0xE51F_0000 | rd << 12 | 4 * random.randrange(1, 4)],
        [random.choice((0xE10F_4000, 0xF108_0080, 0xF10C_0080, _NOP, _ISB, _DSB, _DMB))],
        [0x0580_0000 | random.getrandbits(1) << 20 | base | rd << 12 | word],
    )
    return random.choice(kinds)


def _operation(random: Random) -> int:
    """Data processing among r3 to r6."""
    condition = random.choice((0xE, 0xE, 0xE, random.randrange(15))) << 28
    rd, rn, rm = (random.randrange(3, 7) for _ in range(3))
    opcode = random.randrange(16)
    flags = 1 if 8 <= opcode < 12 else random.getrandbits(1)
    shift = random.getrandbits(5) << 7 | random.getrandbits(2) << 5 if random.random() < 0.3 else 0
    return condition | opcode << 21 | flags << 20 | rn << 16 | rd << 12 | shift | rm


def _change(random: Random, words_ahead: int) -> list[int]:
    """A change of the MMU, the caches, or code in the first `words_ahead` words, if not 0."""
    chance = random.random()
    if chance < 0.25:
        # mrc sctlr; eor; mcr
        return [0xEE11_4F10, random.choice(_EORS), 0xEE01_4F10]
    if chance < 0.5:
        return [random.choice(_MAINTENANCE)]
    if chance < 0.7:
        # an entry of the table, with the TLB or without; ttbr0; dacr; contextidr
        return random.choice(
            ([0xE588_B000, 0xEE08_1F37], [0xE588_B000], [0xEE02_9F10], [0xEE03_AF10], [0xEE0D_4F30])
        )
    # str r12, [lr, #offset]; without, all of the instruction cache
    return [0xE58E_C000 | 4 * random.randrange(words_ahead) if words_ahead else 0xEE07_1F15]
