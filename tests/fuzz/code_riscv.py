"""Random RISC-V programs, for cores with machine mode and for a PicoRV32."""

from __future__ import annotations

from random import Random

import elf32

from fuzz.boards import Facts, value
from fuzz.program import Program, words

_FLASH = 0x0010_0000
# Bases of programs; on PicoSoC in the flash, with the interrupts' entry at 0x10 in the SRAM.
_PLACES = {
    "kc705-axi-quad-spi": (0x8000_0000, 0x8000_0000, 0xC000_0000, 0, 0x8000_0FF0),
    "nios2-mmc": (0, 0x1000, 0x10_0000),
    "picosoc-hx8k": (_FLASH,),
    "picosoc-icebreaker": (_FLASH,),
    "minimal-rv32": (0x8000_0000, 0x8000_0FFE),
}
_CSRS = (0x300, 0x301, 0x304, 0x305, 0x320, 0x340, 0x341, 0x342, 0x343, 0x344)
_CSRS += (0xB00, 0xB80, 0xB02, 0xB82, 0xC00, 0xC01, 0xC02, 0xF11, 0xF14, 0x7C0, 0x105, 0x180)
_LOADS = (0x0003, 0x1003, 0x2003, 0x4003, 0x5003)
_STORES = (0x0023, 0x1023, 0x2023, 0x2023, 0x2023)
_MRET, _WFI, _ECALL, _EBREAK, _FENCE, _FENCE_I = (
    0x3020_0073,
    0x1050_0073,
    0x0000_0073,
    0x0010_0073,
    0x0FF0_000F,
    0x0000_100F,
)
CALL = (0x01F0_1013, _EBREAK, 0x4070_5013)
"""A semihosting call."""

_T5, _T6, _A0, _A1 = 30, 31, 10, 11
_HANDLER_BYTES = 16


def program(random: Random, facts: Facts) -> Program:
    """Some accesses and instructions, mostly with a handler that skips the faulting instruction."""
    picosoc = facts.board.startswith("picosoc")
    base = random.choice(_PLACES.get(facts.board, (facts.memories[0][0],)))
    has_handler = random.random() < 0.85
    code: list[int] = []
    if has_handler and not picosoc:
        code += constant(_T6, base + 4 + _HANDLER_BYTES if random.random() < 0.01 else base + 4)
        head = [jal(0, 8 + _HANDLER_BYTES - 4), *_handler(4 if random.random() < 0.8 else 2)]
        code = [*head, *constant(_T6, base + 4), csr(1, 0, 0x305, _T6), *_enables(random)]
    start = len(code)
    for _ in range(random.randrange(2, 28)):
        code += unit(random, facts, base, len(code), picosoc)
    code += _end(random, start - len(code))
    made = Program(elf32.EM_RISCV, base, [(base, words(code))])
    if picosoc and random.random() < 0.7:
        # at 0x10: retirq; or what comes
        entry = [0x13] * 4 + [random.choice((0x0400_000B, 0x0400_000B, random.getrandbits(32)))]
        made.segments.append((0, words(entry)))
    return made


def _handler(skipped_bytes: int) -> list[int]:
    return [csr(2, _T6, 0x341, 0), addi(_T6, _T6, skipped_bytes), csr(1, 0, 0x341, _T6), _MRET]


def _enables(random: Random) -> list[int]:
    if random.random() < 0.5:
        return []
    return [*constant(_T6, value(random)), csr(1, 0, 0x304, _T6), csr(6, 0, 0x300, 8)]


def unit(random: Random, facts: Facts, base: int, at: int, picosoc: bool) -> list[int]:
    """One or more instructions, `at` words after the base."""
    chance = random.random()
    if chance < 0.40:
        return _access(random, facts)
    if chance < 0.52:
        return [_operation(random) for _ in range(random.randrange(1, 5))]
    if chance < 0.62:
        return _own(random) if picosoc else _system(random)
    if chance < 0.68:
        return _loop(random)
    if chance < 0.76:
        return _change_of_code(random, base, at)
    if chance < 0.82:
        return _jump(random, facts, base)
    if chance < 0.88:
        return _call(random, facts)
    if chance < 0.92:
        return [random.getrandbits(32)]
    return [random.getrandbits(16) << 16 | random.getrandbits(16) & ~3 | random.randrange(3)]


def _access(random: Random, facts: Facts) -> list[int]:
    register, data = random.randrange(5, 16), random.randrange(16, 28)
    code = constant(register, facts.address(random))
    if random.random() < 0.5:
        return [*code, random.choice(_LOADS) | data << 7 | register << 15]
    code += constant(data, value(random, facts))
    for _ in range(random.choice((1, 1, 1, 3))):
        code.append(random.choice(_STORES) | data << 20 | register << 15)
    return code


def _operation(random: Random) -> int:
    rd, rs1, rs2 = random.randrange(32), random.randrange(32), random.randrange(32)
    if random.random() < 0.5:
        funct7 = random.choice((0, 0x20, 1))
        return funct7 << 25 | rs2 << 20 | rs1 << 15 | random.randrange(8) << 12 | rd << 7 | 0x33
    return random.getrandbits(12) << 20 | rs1 << 15 | random.randrange(8) << 12 | rd << 7 | 0x13


def _system(random: Random) -> list[int]:
    chance = random.random()
    if chance < 0.7:
        number = random.choice(_CSRS) if chance < 0.65 else random.getrandbits(12)
        source, kind = random.randrange(32), random.choice((1, 2, 3, 5, 6, 7))
        return [*constant(source, value(random)), csr(kind, random.randrange(32), number, source)]
    return [random.choice((_MRET, _WFI, _ECALL, _EBREAK, _FENCE, _FENCE_I))]


def _own(random: Random) -> list[int]:
    """PicoRV32's interrupt instructions, and its counters."""
    if random.random() < 0.3:
        return [csr(2, random.randrange(32), random.choice((0xC00, 0xC01, 0xC02, 0xC82)), 0)]
    rd, rs1, kind = random.randrange(32), random.randrange(32), random.choice((1, 2, 3, 3, 4, 5, 5))
    code = constant(rs1, random.choice((0, 1, 7, 100, value(random))))
    return [*code, kind << 25 | rs1 << 15 | rd << 7 | 0x0B]


def _loop(random: Random) -> list[int]:
    counter = random.randrange(5, 28)
    body = [_operation(random) & ~(0x1F << 7) for _ in range(random.randrange(3))]
    back = -4 * (len(body) + 1)
    rounds = random.choice((3, 40, 300, 2000))
    return [*constant(counter, rounds), *body, addi(counter, counter, -1), bne(counter, back)]


def _change_of_code(random: Random, base: int, at: int) -> list[int]:
    """A store into code that was run, or is about to be run."""
    target = base + 4 * max(0, at + random.randrange(-8, 12)) + random.choice((0, 0, 2))
    new = random.choice((0x13, _operation(random), random.getrandbits(32), 0))
    store = random.choice(_STORES) | 29 << 20 | _T5 << 15
    code = [*constant(_T5, target), *constant(29, new), store]
    return [*code, _FENCE_I] if random.random() < 0.5 else code


def _jump(random: Random, facts: Facts, base: int) -> list[int]:
    if random.random() < 0.3:
        return [jal(random.choice((0, 1)), random.choice((-8, 4, 8, 12, 6, 64)))]
    place = facts.address(random) if random.random() < 0.6 else base + 4 * random.randrange(32)
    link, offset = random.choice((0, 1)), random.choice((0, 0, 2, 4))
    return [*constant(_T5, place), offset << 20 | _T5 << 15 | link << 7 | 0x67]


def _call(random: Random, facts: Facts) -> list[int]:
    """Semihosting."""
    operation = random.choice((random.randrange(0x33), 0x18, 0x20, 0x05, 0x04, value(random)))
    parameter = facts.memory(random) if random.random() < 0.8 else facts.address(random)
    code = [*constant(_A0, operation), *constant(_A1, parameter)]
    if random.random() < 0.6:
        for offset in range(0, 16, 4):
            code += [*constant(29, value(random, facts)), store_word(29, _A1, offset)]
    return [*code, *CALL]


def _end(random: Random, back: int) -> list[int]:
    """Waits, continues at the start, or runs into the memory after the program."""
    return random.choice(([_WFI, jal(0, -4)], [jal(0, 0)], [jal(0, 4 * back)], []))


def constant(register: int, number: int) -> list[int]:
    """lui and addi."""
    low = number & 0xFFF
    upper = (number + 0x800 & 0xFFFF_F000) | register << 7 | 0x37
    return [upper, low << 20 | register << 15 | register << 7 | 0x13]


def addi(rd: int, rs1: int, number: int) -> int:
    """The instruction of this name."""
    return (number & 0xFFF) << 20 | rs1 << 15 | rd << 7 | 0x13


def csr(kind: int, rd: int, number: int, source: int) -> int:
    """csrrw (1), csrrs (2), csrrc (3), or those with a number for a source (5 to 7)."""
    return number << 20 | source << 15 | kind << 12 | rd << 7 | 0x73


def store_word(data: int, base: int, offset: int) -> int:
    """sw, with an offset of less than 32."""
    return data << 20 | base << 15 | 2 << 12 | offset << 7 | 0x23


def jal(rd: int, offset: int) -> int:
    """The instruction of this name."""
    parts = (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3FF) << 21
    return parts | (offset >> 11 & 1) << 20 | (offset >> 12 & 0xFF) << 12 | rd << 7 | 0x6F


def bne(rs1: int, offset: int) -> int:
    """A branch if the register is not 0."""
    high = (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3F) << 25
    return high | rs1 << 15 | 1 << 12 | (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7 | 0x63
