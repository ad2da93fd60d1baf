"""Random MIPS32 programs, with handlers at the exception vectors."""

from __future__ import annotations

from random import Random

import elf32

from fuzz.boards import Facts, value
from fuzz.program import Program, words

_KSEG0, _KSEG1 = 0x8000_0000, 0xA000_0000
_PLACES = (_KSEG0 + 0x1_0000, _KSEG0 + 0x1_0000, _KSEG1 + 0x1_0000, _KSEG0 + 0x1_0FFC)
_REFILL, _GENERAL = _KSEG0, _KSEG0 + 0x180
_EPC, _CAUSE = 14, 13
_ERET, _WAIT, _SYSCALL, _BREAK, _SDBBP_1 = 0x4200_0018, 0x4200_0020, 0xC, 0xD, 0x7000_007F
_TLB = (0x4200_0002, 0x4200_0006, 0x4200_0001, 0x4200_0008)
_LOADS = (32, 33, 34, 35, 36, 37, 38, 48)
_STORES = (40, 41, 42, 43, 46, 56)
_LW, _SW = 35, 43
# addiu t2, t2, -1 in the slot of bgtz t2, itself
_DELAY = (0x1D40_FFFF, 0x254A_FFFF)
_T0, _T1, _T2, _K0, _A0, _T9 = 8, 9, 10, 26, 4, 25


def program(random: Random, facts: Facts) -> Program:
    """Handlers that mostly return to the next instruction, and a program."""
    base = random.choice(_PLACES)
    code: list[int] = []
    if random.random() < 0.7:
        # status: kernel mode without boot vectors, interrupts perhaps
        status = random.choice((0, 0, 0xFC01, 0x1000_0000, value(random)))
        code += [*constant(_T0, status), mtc0(_T0, 12)]
    start = len(code)
    for _ in range(random.randrange(2, 28)):
        code += unit(random, facts, base, len(code))
    back = 0x1000_0000 | start - len(code) - 1 & 0xFFFF
    code += random.choice(([_WAIT, 0x1000_FFFE, 0], [0x1000_FFFF, 0], [back, 0], []))
    made = Program(elf32.EM_MIPS, base, [(base, words(code))])
    if random.random() < 0.85:
        made.segments.append((_GENERAL, words(_handler(random))))
        made.segments.append((_REFILL, words(_refill(random))))
    return made


def _handler(random: Random) -> list[int]:
    if random.random() < 0.05:
        return [random.getrandbits(32) for _ in range(4)]
    return [_mfc0(_K0, _EPC), 0x275A_0004, mtc0(_K0, _EPC), _ERET]


def _refill(random: Random) -> list[int]:
    """Maps the page to some address, or returns to the next instruction."""
    if random.random() < 0.5:
        return _handler(random)
    low = random.choice((0x17, 0x1F, 0x400 << 6 | 0x1F, value(random)))
    code = [*constant(_K0, low), mtc0(_K0, 2), mtc0(_K0, 3)]
    return [*code, random.choice(_TLB[:2]), _ERET]


def unit(random: Random, facts: Facts, base: int, at: int) -> list[int]:
    """One or more instructions, `at` words after the base."""
    chance = random.random()
    if chance < 0.40:
        return _access(random, facts)
    if chance < 0.50:
        return [_operation(random) for _ in range(random.randrange(1, 5))]
    if chance < 0.64:
        return _system(random, facts)
    if chance < 0.70:
        return [*constant(_T2, random.choice((3, 40, 300, 2000))), *_DELAY]
    if chance < 0.77:
        return _change_of_code(random, base, at)
    if chance < 0.86:
        return _jump(random, facts, base)
    if chance < 0.91:
        return _call(random, facts)
    return [random.getrandbits(32)]


def _place(random: Random, facts: Facts) -> int:
    """An address under one of its names."""
    chance, address = random.random(), facts.address(random)
    if chance < 0.6:
        return address & 0x1FFF_FFFF | _KSEG1
    if chance < 0.85:
        return address & 0x1FFF_FFFF | _KSEG0
    return address


def _access(random: Random, facts: Facts) -> list[int]:
    code = constant(_T0, _place(random, facts))
    if random.random() < 0.6:
        code += constant(_T1, value(random, facts))
    kinds = (_LW, _SW) if random.random() < 0.6 else _LOADS + _STORES
    code.append(random.choice(kinds) << 26 | _T0 << 21 | _T1 << 16)
    if random.random() < 0.2:
        code += [*constant(_T2, random.randrange(100)), *_DELAY]
    return code


def _operation(random: Random) -> int:
    rs, rt, rd = random.randrange(32), random.randrange(32), random.randrange(32)
    if random.random() < 0.3:
        return random.randrange(8, 16) << 26 | rs << 21 | rt << 16 | random.getrandbits(16)
    special = 0 if random.random() < 0.8 else 28 << 26
    return (
        special | rs << 21 | rt << 16 | rd << 11 | random.getrandbits(5) << 6 | random.randrange(64)
    )


def _system(random: Random, facts: Facts) -> list[int]:
    chance = random.random()
    if chance < 0.45:
        number = facts.address(random) if random.random() < 0.4 else value(random)
        register = random.choice((0, 2, 3, 4, 5, 6, 9, 10, 11, 12, 12, 13, 14, 16, 28, 30, 31))
        return [*constant(_T0, number), mtc0(_T0, register) | random.choice((0, 0, 0, 1))]
    if chance < 0.55:
        return [_mfc0(random.randrange(32), random.randrange(32)) | random.choice((0, 0, 1, 7))]
    if chance < 0.7:
        return [random.choice(_TLB)]
    if chance < 0.8:
        cache = 0xBC00_0000 | _T0 << 21 | random.randrange(32) << 16 | random.getrandbits(8) << 2
        return [*constant(_T0, _place(random, facts)), cache]
    if chance < 0.88:
        return [*constant(_T0, _place(random, facts)), mtc0(_T0, random.choice((14, 30))), _ERET]
    return [random.choice((_ERET, _WAIT, _SYSCALL, _BREAK, 0x0000_000F, 0x7000_003F, 0x0000_0034))]


def _change_of_code(random: Random, base: int, at: int) -> list[int]:
    target = base + 4 * max(0, at + random.randrange(-8, 12))
    new = random.choice((0, _operation(random), random.getrandbits(32)))
    code = [*constant(_T0, target), *constant(_T1, new), _SW << 26 | _T0 << 21 | _T1 << 16]
    # hit, write back and invalidate; hit, invalidate for instructions
    return [*code, 0xBD15_0000, 0xBD10_0000] if random.random() < 0.5 else code


def _jump(random: Random, facts: Facts, base: int) -> list[int]:
    slot = random.choice((0, 0, 0x1000_0001, _operation(random), _ERET, 0x0100_0008))
    if random.random() < 0.3:
        condition = random.choice((0x1000_0000, 0x0411_0000, 0x5000_0000, 0x0410_0000, 0x1420_0000))
        return [condition | random.choice((0, 1, 2, 3, 0xFFFD, 0xFFFE, 20)), slot]
    place = _place(random, facts) if random.random() < 0.6 else base + 4 * random.randrange(48)
    return [*constant(_T0, place), random.choice((0x0100_0008, 0x0100_F809)), slot]


def _call(random: Random, facts: Facts) -> list[int]:
    """The hosting interface."""
    operation = random.choice((random.randrange(1, 26), 1, 5, 13, 2, value(random)))
    code = constant(_T9, operation)
    for register in range(_A0, _A0 + 4):
        number = random.choice((0, 1, 2, 3, _place(random, facts), value(random)))
        code += constant(register, number)
    return [*code, _SDBBP_1]


def constant(register: int, number: int) -> list[int]:
    """lui and ori."""
    upper, lower = number >> 16 & 0xFFFF, number & 0xFFFF
    return [15 << 26 | register << 16 | upper, 13 << 26 | register * 0x21 << 16 | lower]


def mtc0(rt: int, rd: int) -> int:
    """The instruction of this name."""
    return 0x4080_0000 | rt << 16 | rd << 11


def _mfc0(rt: int, rd: int) -> int:
    return 0x4000_0000 | rt << 16 | rd << 11
