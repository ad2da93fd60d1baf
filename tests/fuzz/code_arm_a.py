"""Random programs for Cortex-A5 and A7, in A32 and T32, with a Cortex-M4's on some boards."""

from __future__ import annotations

import struct
from random import Random

import elf32

from fuzz import code_arm_m
from fuzz.boards import Facts, value
from fuzz.program import Program, halves, words

PLACES = {
    "minimal-armv7a": (0x8000_0000, 0x8000_0000, 0x8000_8000),
    "sama5d2-xplained": (0x0020_0000, 0x2000_0000, 0x0020_0000),
}
DDR = 0xC000_0000
_SECTION = 0x10_0000
_TABLE_BYTES = 0x4000
# Branch to the program; movs pc, lr; and subs pc, lr, #4 for a data abort and for interrupts.
_MOVS_PC_LR, _SUBS_PC_LR_4 = 0xE1B0_F00E, 0xE25E_F004
_NOP, _WFI, _WFE, _SELF = 0xE320_F000, 0xE320_F003, 0xE320_F002, 0xEAFF_FFFE
_MODES = (0x10, 0x11, 0x12, 0x13, 0x17, 0x1B, 0x1F, 0x16, 0)
_ACCESSES = (0x0590_0000, 0x0580_0000, 0x05D0_0000, 0x05C0_0000, 0x01D0_00B0, 0x01C0_00B0)
_ACCESSES += (0x01D0_00D0, 0x01C0_00F0, 0x0190_0F9F, 0x0890_0006, 0x0880_0006, 0x04B0_0004)
# MMU, caches, prediction; vectors; alignment.
_CONTROL_BITS = (1, 4, 1 << 12, 1 << 11, 2, 1 << 13, 1 << 25, 1 << 30, 1 << 29, 1 << 28)


def program(random: Random, facts: Facts) -> Program:
    """Vectors, whose handlers return to the next instruction, followed by a program."""
    base = random.choice(PLACES.get(facts.board, (DDR,)))
    return Program(elf32.EM_ARM, base, _segments(random, facts, base, []))


def program_with_m4(random: Random, facts: Facts) -> Program:
    """The Cortex-A7 lets the Cortex-M4 go; both run random programs."""
    begin = []
    for address, number in code_arm_m.START:
        begin += [*constant(0, address), *constant(1, number), 0xE580_1000]
    made = Program(elf32.EM_ARM, DDR, _segments(random, facts, DDR, begin))
    made.segments += code_arm_m.second_core(random, facts)
    return made


def _segments(
    random: Random, facts: Facts, base: int, begin: list[int]
) -> list[tuple[int, bytes | bytearray]]:
    code = _vectors(random)
    if random.random() < 0.85:
        code += [*constant(0, base), 0xEE0C_0F10]
    code += begin
    segments: list[tuple[int, bytes | bytearray]] = []
    if random.random() < 0.12:
        table = base + 0x1_0000
        segments.append((table, _table(random, facts, base)))
        code += [*constant(0, table | value(random) & 0x6B), 0xEE02_0F10]
        code += [*constant(0, random.choice((1, 0xFFFF_FFFF, value(random)))), 0xEE03_0F10]
        code += _control(random, 1)
    if random.random() < 0.4:
        code += _control(random, 1 << 12 | random.choice((0, 4)) | random.choice((0, 1 << 11)))
    if random.random() < 0.3:
        # cpacr, then fpexc
        code += [0xE3A0_060F, 0xEE01_0F50, 0xF57F_F06F, 0xE3A0_0101, 0xEEE8_0A10]
    start = len(code)
    for _ in range(random.randrange(2, 28)):
        code += unit(random, facts, base, len(code))
    ends = ([_WFI, 0xEAFF_FFFD], [_SELF], [0xEA00_0000 | start - len(code) - 2 & 0xFF_FFFF], [])
    code += random.choice(ends)
    data = words(code)
    if random.random() < 0.25:
        data += _thumb(random, facts, base + len(data))
    return [(base, data), *segments]


def _vectors(random: Random) -> list[int]:
    """The first is a branch over the others; a prefetch abort can't skip its instruction."""
    vectors = [0xEA00_0006, _MOVS_PC_LR, _MOVS_PC_LR, 0xE25E_F000, _SUBS_PC_LR_4, _NOP]
    vectors += [_SUBS_PC_LR_4, _SUBS_PC_LR_4]
    if random.random() < 0.1:
        vectors[random.randrange(1, 8)] = random.getrandbits(32)
    if random.random() < 0.5:
        # on in the program's own place, wherever the jump had come from
        vectors[3] = 0xEA00_0000 | random.randrange(8, 40)
    return vectors


def _table(random: Random, facts: Facts, base: int) -> bytes:
    """First level: everything where it is, but for some entries at random."""
    kind = random.choice((0xC0E, 0xC02, 0xC0A, 0x1_0C0E, 0x0C06))
    entries = [at * _SECTION | kind for at in range(_TABLE_BYTES // 4)]
    for _ in range(random.randrange(12)):
        at = facts.address(random) // _SECTION
        if at != base // _SECTION or random.random() < 0.1:
            entries[at] = _descriptor(random, facts)
    return struct.pack(f"<{len(entries)}I", *entries)


def _descriptor(random: Random, facts: Facts) -> int:
    kind = random.randrange(4)
    place = facts.address(random)
    if kind == 1:
        return place & ~0x3FF | random.getrandbits(10) & ~3 | 1
    return place & ~0xF_FFFF | random.getrandbits(20) & ~3 | kind


def _control(random: Random, bits: int) -> list[int]:
    """Sets some more bits of SCTLR; mostly followed by ISB."""
    for _ in range(random.choice((0, 0, 1, 2))):
        bits |= random.choice(_CONTROL_BITS)
    code = [0xEE11_0F10, *constant(1, bits), 0xE180_0001, 0xEE01_0F10]
    return [*code, 0xF57F_F06F] if random.random() < 0.8 else code


def unit(random: Random, facts: Facts, base: int, at: int) -> list[int]:
    """One or more instructions, `at` words after the base."""
    chance = random.random()
    if chance < 0.38:
        return _access(random, facts)
    if chance < 0.48:
        return [_operation(random) for _ in range(random.randrange(1, 5))]
    if chance < 0.64:
        return _system(random, facts)
    if chance < 0.69:
        counter, rounds = random.randrange(3, 12), random.choice((3, 40, 300, 2000))
        subtract = 0xE250_0001 | counter << 16 | counter << 12
        return [*constant(counter, rounds), subtract, 0x1AFF_FFFD]
    if chance < 0.76:
        return _change_of_code(random, base, at)
    if chance < 0.83:
        return _jump(random, facts, base)
    if chance < 0.88:
        return _call(random, facts)
    if chance < 0.91:
        return [0xEE00_0A00 | random.getrandbits(24) & ~0xF00 | random.choice((0xA00, 0xB00))]
    return [(random.getrandbits(28)) | random.choice((0xE, 0xE, 0xE, 0xF, 0)) << 28]


def _access(random: Random, facts: Facts) -> list[int]:
    code = constant(0, facts.address(random))
    if random.random() < 0.6:
        code += constant(1, value(random, facts))
    for _ in range(random.choice((1, 1, 2))):
        opcode = random.choice(_ACCESSES[:2] if random.random() < 0.5 else _ACCESSES)
        code.append(0xE000_0000 | opcode | 1 << 12)
    return code


def _operation(random: Random) -> int:
    """Data processing, multiplications, media, with any condition."""
    condition = random.choice((0xE, 0xE, 0xE, random.randrange(15))) << 28
    rd, rn, rm = random.randrange(15), random.randrange(15), random.randrange(15)
    if random.random() < 0.6:
        opcode = random.getrandbits(1) << 25 | random.getrandbits(5) << 20
        return condition | opcode | rn << 16 | rd << 12 | random.getrandbits(8) << 4 & 0xFE0 | rm
    if random.random() < 0.5:
        return condition | random.getrandbits(4) << 20 | rd << 16 | rn << 12 | rm << 8 | 0x90 | rm
    return condition | 0x0600_0010 | random.getrandbits(5) << 20 | rn << 16 | rd << 12 | rm


def _system(random: Random, facts: Facts) -> list[int]:
    chance = random.random()
    if chance < 0.5:
        code = constant(1, value(random, facts)) if random.random() < 0.7 else []
        crn = random.choice((0, 1, 2, 3, 5, 6, 7, 7, 8, 9, 9, 10, 12, 13, 14, 15))
        opcode = random.choice((0xEE00_0F10, 0xEE10_0F10)) | random.choice((0, 0, 0, 1, 2, 4)) << 21
        crm = random.choice((0, 0, 1, 2, 3, 5, 6, 7, 10, 11, 12, 13, 14))
        return [*code, opcode | crn << 16 | 1 << 12 | random.randrange(8) << 5 | crm]
    if chance < 0.58:
        opcode = random.choice((0xEC40_0F00, 0xEC50_0F00)) | random.randrange(8) << 4
        return [opcode | 2 << 16 | 1 << 12 | random.choice((14, 2, 7))]
    if chance < 0.7:
        masks = random.choice((0, 0x40, 0x80, 0xC0, 0x20, 0x1C0))
        mode = random.choice(_MODES) | masks
        return random.choice(
            (
                [0xE321_F000 | mode & 0xFF],
                [*constant(0, mode | value(random) & 0xFF00_0000), 0xE169_F000],
                [0xF102_0000 | mode & 0x1F],
                [0xF108_0080 | random.getrandbits(3) << 6],
            )
        )
    if chance < 0.85:
        # returns: rfe, srs, movs pc, ldm with ^, subs pc
        point = constant(random.choice((0, 13)), facts.memory(random))
        returns = (0xF8B0_0A00, 0xF8BD_0A00, 0xF96D_0513, _MOVS_PC_LR, 0xE8FD_8001, 0xE8D0_6000)
        return [*point, random.choice(returns)]
    if chance < 0.93:
        # ldrex, strex, clrex, swp, dmb, wfe
        others = (0xE190_1F9F, 0xE180_2F91, 0xF57F_F01F, 0xE100_1092, 0xF57F_F05F, _WFE, _WFI)
        return [*constant(0, facts.address(random)), random.choice(others)]
    return [random.choice((0xEF00_0000, 0xE120_0070, 0xE7F0_00F0, 0xE160_0070))]


def _change_of_code(random: Random, base: int, at: int) -> list[int]:
    target = base + 4 * max(0, at + random.randrange(-8, 12))
    new = random.choice((_NOP, _operation(random), random.getrandbits(32), 0))
    code = [*constant(0, target), *constant(1, new), 0xE580_1000]
    if random.random() < 0.5:
        # clean the line, invalidate it for instructions, barriers
        code += [0xEE07_0F3B, 0xF57F_F04F, 0xEE07_0F35, 0xF57F_F04F, 0xF57F_F06F]
    return code


def _jump(random: Random, facts: Facts, base: int) -> list[int]:
    if random.random() < 0.3:
        return [0xEA00_0000 | random.choice((0, 1, 2, 0xFF_FFFC, 0xFF_FFFD, 20))]
    place = facts.address(random) if random.random() < 0.6 else base + 4 * random.randrange(48)
    branch = random.choice((0xE12F_FF10, 0xE12F_FF30, 0xE1A0_F000))
    return [*constant(0, place + random.choice((0, 0, 1, 2))), branch]


def _call(random: Random, facts: Facts) -> list[int]:
    """Semihosting."""
    operation = random.choice((random.randrange(0x33), 0x18, 0x20, 0x05, 0x04, value(random)))
    parameter = facts.memory(random) if random.random() < 0.8 else facts.address(random)
    code = [*constant(0, operation), *constant(1, parameter)]
    if random.random() < 0.6:
        for offset in range(0, 16, 4):
            code += [*constant(2, value(random, facts)), 0xE581_2000 | offset]
    return [*code, 0xEF12_3456]


def _thumb(random: Random, facts: Facts, at: int) -> bytes:
    """A32 code that switches to T32, and the code that runs then."""
    enter = words([0xE28F_0001, 0xE12F_FF10])
    return enter + halves(code_arm_m.body(random, facts, at + len(enter)))


def constant(register: int, number: int) -> list[int]:
    """Brings a number into a register."""
    low, high = number & 0xFFFF, number >> 16 & 0xFFFF
    return [
        0xE300_0000 | (low >> 12) << 16 | register << 12 | low & 0xFFF,
        0xE340_0000 | (high >> 12) << 16 | register << 12 | high & 0xFFF,
    ]
