"""Many small programs for RISC-V cores: with machine mode, and for a PicoRV32."""

from __future__ import annotations

from random import Random

import elf32

from fuzz import code_riscv
from fuzz.boards import Facts
from fuzz.code_riscv import addi, bne, constant, csr, jal, store_word
from fuzz.labelled import Jump, Labelled
from fuzz.many import SETS, Image, Small, runs
from fuzz.program import halves, words

# The bases of images; the parts after the harness are relative to a base.
_PLACES = {
    "kc705-axi-quad-spi": (0x8000_0000, 0x8000_0000, 0xC000_0000),
    "nios2-mmc": (0, 0x10_0000),
    "minimal-rv32": (0x8000_0000,),
}
_FLASH = 0x0010_0000
_SETS, _TABLE, _CODE = 0x800, 0x1000, 0x5000
# In memory, after the part that is read-only on a PicoSoC: the harness's state, data, the stack.
_STATE, _DATA, _STACK = 0x4000, 0x4100, 0x4A00
_PICO_STATE, _PICO_DATA, _PICO_STACK = 0x60, 0x100, 0x3E0
_SETTINGS = range(5, 18)
_SET_BYTES = 4 * len(_SETTINGS)
_NOP, _C_NOP, _FENCE_I, _RDCYCLE = 0x13, 0x0001, 0x100F, 0xC00
_T6, _SP, _RA = 31, 2, 1
# maskirq zero, zero; retirq, which goes to where gp leads
_MASKIRQ, _RETIRQ, _GP = 0x0600_000B, 0x0400_000B, 3
_LOADS = (0x0003, 0x1003, 0x2003, 0x2003, 0x4003, 0x5003)
_STORES = (0x0023, 0x1023, 0x2023, 0x2023)
_WILD = 0.04


def image(random: Random, facts: Facts, count: int) -> Image:
    """An image of `count` programs."""
    is_pico = facts.board.startswith("picosoc")
    base = _FLASH if is_pico else random.choice(_PLACES[facts.board])
    state, data, stack = (
        (_PICO_STATE, _PICO_DATA, _PICO_STACK)
        if is_pico
        else (base + _STATE, base + _DATA, base + _STACK)
    )
    harness = _harness(base, state, stack, is_pico)
    made = Image(elf32.EM_RISCV, base, base + _TABLE, state, words([_NOP]), 4)
    made.cycles = 60000 if is_pico else 3000
    sets = [value for _ in range(SETS) for value in _set(random, facts, data)]
    made.segments = [(base, words(harness.code())), (base + _SETS, words(sets))]
    if is_pico:
        # at 0x10: on with the next program
        entry = [*constant(_GP, harness.at("next")), _RETIRQ]
        made.segments.append((0, words([_NOP] * 4 + entry)))
    after, wild = harness.at("after"), random.random() < _WILD
    places = {False: base + _CODE, True: 0x1000}
    for _ in range(count):
        in_ram = facts.board == "picosoc-icebreaker" and random.random() < 0.4
        at = places[in_ram]
        if not is_pico and random.random() < 0.3:
            at += 2
        code = _program(random, facts, base, at, after, wild)
        registers = base + _SETS + _SET_BYTES * random.randrange(SETS)
        made.programs.append(Small(at, code, at, runs(random), registers))
        places[in_ram] = at + len(code) + 3 & ~3
    return made


def _set(random: Random, facts: Facts, data: int) -> list[int]:
    """Values of x5 to x17: a count, code, code of halves, three places in memory, numbers."""
    unaligned = random.choice((0, 0, 0, 0, 0, 0, 1, 2))
    far = data + 0x100
    if random.random() < 0.5 and not facts.board.startswith("picosoc"):
        memory, size = random.choice(facts.memories)
        far = memory + size - 0x800
    code = random.choice((_NOP, 0x0015_0593, 0x0004_2583, 0x00B4_2023, 0x0001_0001, 0x0000_0097))
    numbers = [random.choice((random.getrandbits(32), random.randrange(64))) for _ in range(7)]
    values = [random.randrange(1, 6), code, _C_NOP << 16 | _C_NOP]
    return [*values, data + 0x80 + unaligned, data + 0x40 * random.randrange(4), far, *numbers]


def _harness(base: int, state: int, stack: int, is_pico: bool) -> Labelled:
    made = Labelled(base, 4)
    made.jump("start", _jump)
    made.mark("fault")
    made.jump("next", _jump)
    made.mark("start")
    # mtvec, or all interrupts
    if is_pico:
        made.add(_MASKIRQ)
    else:
        made.add(*constant(_T6, base + 4), csr(1, 0, 0x305, _T6))
    # the place in the table, calls left, the sum
    made.add(*constant(5, state), *constant(6, base + _TABLE), store_word(6, 5, 0))
    made.add(_lw(7, 6, 4), store_word(7, 5, 4), store_word(0, 5, 8))
    made.jump("call", _jump)
    made.mark("after")
    # sums, half of them without carries; the cycle counter
    made.add(*(0x33 | number << 20 | _T6 << 15 | _T6 << 7 for number in range(1, 16)))
    made.add(*(0x4033 | number << 20 | _T6 << 15 | _T6 << 7 for number in range(16, 31)))
    made.add(csr(2, 6, _RDCYCLE, 0), 0x33 | 6 << 20 | _T6 << 15 | _T6 << 7)
    # t2 = sum >> 5; add it and the sum
    made.add(*constant(5, state), _lw(6, 5, 8), 0x0053_5393, 0x33 | 7 << 20 | _T6 << 15 | _T6 << 7)
    made.add(0x33 | 6 << 20 | _T6 << 15 | _T6 << 7, store_word(_T6, 5, 8))
    made.mark("next")
    made.add(*constant(5, state), _lw(6, 5, 0), _lw(7, 5, 4), addi(7, 7, -1))
    made.jump("again", lambda distance: [bne(7, distance)])
    made.add(addi(6, 6, 16), store_word(6, 5, 0), _lw(7, 6, 4))
    made.mark("again")
    made.add(store_word(7, 5, 4))
    made.mark("call")
    made.add(_lw(_T6, 6, 0))
    made.jump("go", lambda distance: [bne(_T6, distance)])
    # the semihosting exit; a PicoRV32 has none, and stops for good with all interrupts masked
    if is_pico:
        made.add(addi(5, 0, -1), _MASKIRQ | 5 << 15)
    made.add(*constant(10, 0x18), *constant(11, 0x20026), *code_riscv.CALL, jal(0, 0))
    made.mark("go")
    made.add(_lw(3, 6, 8), *constant(_SP, stack))
    made.add(*(_lw(number, 3, 4 * at) for at, number in enumerate(_SETTINGS)))
    made.add(_T6 << 15 | _RA << 7 | 0x67)
    made.jump("after", _jump)
    return made


_jump: Jump = lambda distance: [jal(0, distance)]  # noqa: E731


def _lw(rd: int, base: int, offset: int) -> int:
    return offset << 20 | base << 15 | 0x2003 | rd << 7


def _program(random: Random, facts: Facts, base: int, at: int, after: int, wild: bool) -> bytes:
    """Some instructions, a loop of them perhaps, and a jump back to the harness."""
    is_pico = facts.board.startswith("picosoc")
    loops, changes = random.random() < 0.45, random.random() < 0.4
    code = _first(random, is_pico)
    for _ in range(random.randrange(1, 6)):
        chance = random.random()
        if changes and chance < 0.3:
            code += _change(random, 0 if loops else len(code) + 8, is_pico)
        elif wild and chance < 0.31:
            drawn = code_riscv.unit(random, facts, base, (at - base + len(code)) // 4, is_pico)
            code += words(drawn) if code_riscv.CALL[1] not in drawn else b""
        elif chance < 0.5:
            code += _first(random, is_pico)
        else:
            code += words([_operation(random)])
    if loops:
        # addi t0, t0, -1; bne
        back = -len(code) - 4
        code += words([addi(5, 5, -1), bne(5, back)])
    return code + words([jal(0, after - at - len(code))])


def _first(random: Random, is_pico: bool) -> bytes:
    """Any kind of instruction; x8 to x10 lead to memory, the others from x11 to x15 hold data."""
    rd, base, word = random.randrange(11, 16), random.randrange(8, 11), random.randrange(8)
    other, offset = random.randrange(11, 16), 4 * word + random.choice((0, 0, 0, 0, 0, 1, 2))
    match random.randrange(8):
        case 0 | 1:
            return words([random.choice(_LOADS) | offset << 20 | base << 15 | rd << 7])
        case 2 | 3:
            split = offset >> 5 << 25 | (offset & 31) << 7
            return words([random.choice(_STORES) | rd << 20 | base << 15 | split])
        case 4 if not is_pico:
            # c.lw, c.sw, c.lwsp, c.swsp, c.addi, c.mv, c.addi16sp
            small = (base - 8) << 7 | (rd - 8) << 2 | (word & 1) << 6 | (word >> 1) << 10
            short = (0x4000 | small, 0xC000 | small, 0x4002 | rd << 7 | word << 4)
            short += (0xC002 | rd << 2 | word << 9, 0x0005 | rd << 7, 0x8002 | rd << 7 | other << 2)
            return halves([random.choice(short)])
        case 5:
            branch = (
                random.choice((0x0063, 0x1063, 0x4063, 0x7063)) | 8 << 7 | other << 20 | rd << 15
            )
            return words([random.choice((branch, jal(0, 8))), _operation(random)])
        case 6 if not is_pico:
            multiply = 1 << 25 | other << 20 | rd << 15 | random.randrange(8) << 12 | rd << 7 | 0x33
            return words([multiply])
        case 7:
            system = (csr(2, rd, _RDCYCLE, 0), csr(2, rd, 0xC02, 0), 0x17 | rd << 7, 0x0FF0_000F)
            system += (_FENCE_I, csr(1, rd, 0x340, other), 0x73) if not is_pico else ()
            return words([random.choice(system)])
    return words([_operation(random)])


def _operation(random: Random) -> int:
    rd, rs1, rs2 = (random.randrange(11, 16) for _ in range(3))
    funct3 = random.randrange(8)
    if random.random() < 0.5:
        funct7 = 0x20 if funct3 in (0, 5) and random.random() < 0.5 else 0
        return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33
    number = random.randrange(32) if funct3 in (1, 5) else random.getrandbits(12)
    return number << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x13


def _change(random: Random, bytes_ahead: int, is_pico: bool) -> bytes:
    """A change of code in the first `bytes_ahead` bytes, if not 0, or of a counter."""
    if not bytes_ahead:
        return words([_FENCE_I if not is_pico else _NOP])
    offset = 2 * random.randrange(bytes_ahead // 2) if not is_pico else 4 * random.randrange(8)
    split = offset >> 5 << 25 | (offset & 31) << 7
    # sw t1, or sh t2, which holds two c.nop
    whole = offset % 4 == 0 and random.random() < 0.8
    code = [(0x2023 | 6 << 20 if whole else 0x1023 | 7 << 20) | _T6 << 15 | split]
    return words([*code, _FENCE_I] if not is_pico and random.random() < 0.5 else code)
