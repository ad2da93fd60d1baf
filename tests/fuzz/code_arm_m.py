"""Random T32 programs: for a Cortex-M4 with its vectors, alone or as a second core."""

from __future__ import annotations

from random import Random

import elf32

from fuzz.boards import Facts, value
from fuzz.program import Program, halves, words

_STACK, _CODE = 0x2000_8000, 0x1000
# On the STM32MP157: vectors in the retention RAM, the program in its SRAM.
_RETRAM, _SRAM, _SRAM_STACK = 0x3800_0000, 0x1000_0000, 0x1004_0000
_RCC = 0x5000_0000
START = ((_RCC + 0xA00, 0xFFFF_FFFF), (_RCC + 0xA08, 0xFFFF_FFFF), (_RCC + 0x10C, 1))
"""Stores of the first core that start clocks and the second core."""

_VECTORS = 16 + 64
# ldr r0, [sp, #24]; adds r0, #2; str; bx lr
_SKIP = [0x9806, 0x3002, 0x9006, 0x4770]
_BX_LR, _WFI, _WFE, _SEV, _BACK, _SELF = 0x4770, 0xBF30, 0xBF20, 0xBF40, 0xE7FD, 0xE7FE
_CONTROL_SPACE = (
    *(0xE000_ED00 + 4 * word for word in range(40)),
    *(0xE000_E100 + 4 * word for word in range(3)),
    *(0xE000_E200 + 4 * word for word in range(3)),
    *(0xE000_E400 + 4 * word for word in range(8)),
    *(0xE000_E010 + 4 * word for word in range(4)),
    0xE000_1000,
    0xE000_1004,
    0xE000_EF00,
    0xE000_EF34,
    0xE000_EDFC,
    0xE000_E004,
)
_SPECIAL = (0, 1, 2, 3, 5, 6, 7, 8, 9, 16, 17, 18, 19, 20, 21)
_RETURNS = (0xFFFF_FFF1, 0xFFFF_FFF9, 0xFFFF_FFFD, 0xFFFF_FFE1, 0xFFFF_FFE9, 0xFFFF_FFED)
_RETURNS += (0xFFFF_FFFF, 0xFFFF_FFF0, 0xF000_0000)


def program(random: Random, facts: Facts) -> Program:
    """Vectors at 0, code and handlers."""
    segments = _segments(random, facts, 0, _CODE, _STACK)
    return Program(elf32.EM_ARM, _CODE | random.choice((1, 1, 1, 0)), segments)


def second_core(random: Random, facts: Facts) -> list[tuple[int, bytes | bytearray]]:
    """The program for an STM32MP157's Cortex-M4."""
    return _segments(random, facts, _RETRAM, _SRAM, _SRAM_STACK)


def _segments(
    random: Random, facts: Facts, vectors: int, base: int, stack: int
) -> list[tuple[int, bytes | bytearray]]:
    handlers = [*_SKIP, _BX_LR, *_handler(random, facts)]
    start = base + 2 * len(handlers)
    choices = (base | 1, base + 8 | 1, base + 10 | 1, base | 1)
    table = [stack, start | 1] + [random.choice(choices) for _ in range(_VECTORS - 2)]
    if random.random() < 0.15:
        table[random.randrange(_VECTORS)] = value(random, facts)
    code = [*handlers, *body(random, facts, start)]
    return [(vectors, words(table)), (base, halves(code))]


def _handler(random: Random, facts: Facts) -> list[int]:
    """One that does something before it returns."""
    code: list[int] = []
    for _ in range(random.randrange(3)):
        code += unit(random, facts, 0)
    code += random.choice(([_BX_LR], [*constant(0, random.choice(_RETURNS)), 0x4700], _SKIP))
    return code if len(code) % 2 == 0 else [*code, 0xBF00]


def body(random: Random, facts: Facts, base: int) -> list[int]:
    """Halfwords: units, and an end."""
    code: list[int] = []
    if random.random() < 0.3:
        # floating point: cpacr
        code += [*constant(0, 0xE000_ED88), *constant(1, 0xF0_0000), 0x6001, 0xF3BF, 0x8F6F]
    for _ in range(random.randrange(2, 28)):
        code += unit(random, facts, base + 2 * len(code))
    back = 0xE000 | -len(code) - 2 & 0x7FF
    return code + random.choice(([_WFI, _BACK], [_SELF], [back], []))


def unit(random: Random, facts: Facts, at: int) -> list[int]:
    """An instruction or some, at an address."""
    chance = random.random()
    if chance < 0.40:
        return _access(random, facts)
    if chance < 0.50:
        return [random.randrange(0x4800) for _ in range(random.randrange(1, 5))]
    if chance < 0.56:
        return [
            0xE800 | random.getrandbits(11) | random.getrandbits(2) << 11,
            random.getrandbits(16),
        ]
    if chance < 0.68:
        return _system(random, facts)
    if chance < 0.73:
        return [*constant(3, random.choice((3, 40, 300, 2000))), 0x3B01, 0xD1FD]
    if chance < 0.80:
        target = at + 2 * random.randrange(-16, 24)
        new = random.choice((0xBF00, random.getrandbits(16), 0))
        code = [*constant(0, target), *constant(1, new), 0x8001]
        return [*code, 0xF3BF, 0x8F6F] if random.random() < 0.5 else code
    if chance < 0.86:
        return _jump(random, facts, at)
    if chance < 0.91:
        return _call(random, facts)
    if chance < 0.94:
        # the instruction, and the rest of its block
        return [0xBF00 | random.randrange(16, 256), *(random.randrange(0x4800) for _ in range(3))]
    return [random.getrandbits(16), random.getrandbits(16)]


def _access(random: Random, facts: Facts) -> list[int]:
    place = random.choice(_CONTROL_SPACE) if random.random() < 0.35 else facts.address(random)
    code = constant(0, place)
    if random.random() < 0.6:
        code += constant(1, value(random, facts))
    accesses = ([0x6801], [0x6001], [0x7801], [0x7001], [0x8801], [0x8001], [0xC806], [0xC006])
    wide = (
        [0xE9D0, 0x1200],
        [0xE850, 0x1F00],
        [0xE840, 0x1200],
        [0xF8D0, 0x1002],
        [0xEDD0, 0x0A01],
    )
    choices = accesses[:2] if random.random() < 0.5 else accesses + wide
    return [*code, *random.choice(choices)]


def _system(random: Random, facts: Facts) -> list[int]:
    chance = random.random()
    if chance < 0.35:
        number = facts.address(random) if random.random() < 0.4 else value(random)
        return [*constant(0, number), 0xF380, 0x8800 | random.choice(_SPECIAL)]
    if chance < 0.5:
        return [0xF3EF, 0x8000 | random.randrange(13) << 8 | random.choice(_SPECIAL)]
    if chance < 0.6:
        return [0xB660 | random.getrandbits(1) << 4 | random.randrange(8)]
    if chance < 0.7:
        # the stack elsewhere
        return [*constant(0, facts.address(random)), 0x4685]
    if chance < 0.8:
        return [*constant(0, random.choice(_RETURNS)), random.choice((0x4700, 0x4780, 0x4687))]
    others = ([0xDF00], [0xBE00], [0xDE00], [_WFI], [_WFE], [_SEV], [0xB4FF], [0xBCFF], [0xBDFF])
    return random.choice((*others, [0xF3BF, 0x8F4F], [0xF3BF, 0x8F2F], [0xEEB0, 0x0A40]))


def _jump(random: Random, facts: Facts, at: int) -> list[int]:
    if random.random() < 0.3:
        return [random.choice((0xE000, 0xD000, 0xE7FC, 0xD1FC, 0xB100, 0xE020))]
    place = facts.address(random) if random.random() < 0.6 else at + 2 * random.randrange(-32, 32)
    return [*constant(0, place | random.choice((1, 1, 1, 0))), random.choice((0x4700, 0x4780))]


def _call(random: Random, facts: Facts) -> list[int]:
    """Semihosting, by the instruction of each profile."""
    operation = random.choice((random.randrange(0x33), 0x18, 0x20, 0x05, 0x04, value(random)))
    parameter = facts.memory(random) if random.random() < 0.8 else facts.address(random)
    code = [*constant(0, operation), *constant(1, parameter)]
    if random.random() < 0.6:
        for word in range(4):
            code += [*constant(2, value(random, facts)), 0x600A | word << 6]
    return [*code, random.choice((0xBEAB, 0xDFAB))]


def constant(register: int, number: int) -> list[int]:
    """movw and movt."""
    code: list[int] = []
    for opcode, half in ((0xF240, number & 0xFFFF), (0xF2C0, number >> 16 & 0xFFFF)):
        code.append(opcode | (half >> 11 & 1) << 10 | half >> 12)
        code.append((half >> 8 & 7) << 12 | register << 8 | half & 0xFF)
    return code
