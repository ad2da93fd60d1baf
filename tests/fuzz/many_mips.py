"""Many small programs for MIPS32 cores."""

from __future__ import annotations

from random import Random

import elf32

from fuzz import code_mips
from fuzz.boards import Facts
from fuzz.code_mips import constant, mtc0
from fuzz.labelled import Labelled
from fuzz.many import SETS, Image, Small, runs
from fuzz.program import words

_KSEG0, _KSEG1 = 0x8000_0000, 0xA000_0000
_REFILL, _GENERAL = _KSEG0, _KSEG0 + 0x180
_BASE = _KSEG0 + 0x1_0000
# After the harness, relative to _BASE.
_SETS, _TABLE, _STATE, _DATA, _STACK, _CODE = 0x800, 0x1000, 0x4000, 0x5000, 0x8000, 0x9000
# Registers that programs find set: t0 to t7 and s0 to s4.
_SETTINGS = range(8, 21)
_SET_BYTES = 4 * len(_SETTINGS)
_NOP, _ERET, _SDBBP_1 = 0, 0x4200_0018, 0x7000_007F
_AT, _V0, _V1, _A0, _T9, _SP, _RA = 1, 2, 3, 4, 25, 29, 31
_LW, _SW, _ADDIU, _BNE, _CACHE = 35 << 26, 43 << 26, 9 << 26, 5 << 26, 47 << 26
# In lines at an address: invalidate for instructions, write back and invalidate, invalidate; fill.
_MAINTENANCE = (0x10, 0x15, 0x11, 0x19, 0x14, 0x00, 0x01)
_TLB = (0x4200_0002, 0x4200_0006, 0x4200_0001, 0x4200_0008)
_LOADS, _STORES = (32, 33, 34, 35, 35, 36, 37, 38), (40, 41, 42, 43, 43, 46)
_WILD = 0.04


def image(random: Random, facts: Facts, count: int) -> Image:
    """An image of `count` programs."""
    harness = _harness()
    made = Image(elf32.EM_MIPS, _BASE, _BASE + _TABLE, _BASE + _STATE - _KSEG0, words([_NOP]), 8)
    made.cycles = 600 if facts.board.startswith("minimal") else 2500
    # mtc0 zero, status, if nothing else; epc; eret
    to_next = [mtc0(0, 12), *constant(26, harness.at("next")), mtc0(26, 14), _NOP, _ERET, _NOP]
    made.segments = [
        (_REFILL, words(to_next)),
        (_GENERAL, words(to_next)),
        (_BASE, words(harness.code())),
        (_BASE + _SETS, words([value for _ in range(SETS) for value in _set(random)])),
    ]
    after, wild = harness.at("after"), random.random() < _WILD
    at = _BASE + _CODE + 4 * random.randrange(8)
    for _ in range(count):
        registers = _BASE + _SETS + _SET_BYTES * random.randrange(SETS)
        code = words(_program(random, facts, at, after, wild))
        entry = at | _KSEG1 if random.random() < 0.08 else at
        made.programs.append(Small(at, code, entry, runs(random), registers))
        at += len(code)
    return made


def _set(random: Random) -> list[int]:
    """Values of t0 to t7 and s0 to s4: three places, a count, numbers; code, a page."""
    data = _BASE + _DATA
    places = [data + 0x40 * random.randrange(16) + random.choice((0, 0, 0, 0, 1, 2))]
    places += [(data + 0x800) | random.choice((0, 0, _KSEG1)), data + 0x1000]
    numbers = [random.choice((random.getrandbits(32), random.randrange(64))) for _ in range(5)]
    code = (_NOP, 0x018B_6021, 0x8D0B_0004, 0xAD0C_0008, 0x356B_0001, 0x718B_6002)
    page = random.choice((0x17, 0x1F, (data >> 12) << 6 | 0x1F, random.getrandbits(32)))
    values = [*places, random.randrange(1, 6), *numbers, random.choice(code), page]
    return [*values, random.choice((0x2000, 0x4000, 0, data)), random.randrange(4)]


def _harness() -> Labelled:
    made, state = Labelled(_BASE, 4), _BASE + _STATE
    # status, the place in the table, calls left, the sum
    made.add(mtc0(0, 12), *constant(8, state), *constant(9, _BASE + _TABLE), _sw(9, 8, 0))
    made.add(_lw(10, 9, 4), _sw(10, 8, 4), _sw(0, 8, 8))
    made.jump("call", _b)
    made.add(_NOP)
    made.mark("after")
    # at = sums, half of them without carries; hi, lo; the counter; it is 5 / 32 of its last value
    made.add(*(_AT << 21 | number << 16 | _AT << 11 | 0x21 for number in range(2, 16)))
    made.add(*(_AT << 21 | number << 16 | _AT << 11 | 0x26 for number in range(16, 32)))
    for move in (0x0000_1010, 0x0000_1012, 0x4002_4800):
        made.add(move, _NOP, _AT << 21 | _V0 << 16 | _AT << 11 | 0x21)
    made.add(*constant(_V0, state), _lw(_V1, _V0, 8), _NOP, 3 << 16 | 4 << 11 | 5 << 6 | 2)
    made.add(_AT << 21 | 3 << 16 | _AT << 11 | 0x21, _AT << 21 | 4 << 16 | _AT << 11 | 0x21)
    made.add(_sw(_AT, _V0, 8))
    made.mark("next")
    made.add(*constant(8, state), _lw(9, 8, 0), _lw(10, 8, 4), _NOP, _addiu(10, 10, -1))
    made.jump("again", lambda distance: [_BNE | 10 << 21 | distance // 4 - 1 & 0xFFFF, _NOP])
    made.add(_addiu(9, 9, 16), _sw(9, 8, 0), _lw(10, 9, 4), _NOP)
    made.mark("again")
    made.add(_sw(10, 8, 4))
    made.mark("call")
    made.add(_lw(_T9, 9, 0), _NOP)
    made.jump("go", lambda distance: [_BNE | _T9 << 21 | distance // 4 - 1 & 0xFFFF, _NOP])
    # exit
    made.add(*constant(_T9, 1), *constant(_A0, 0), _SDBBP_1, 0x1000_FFFF, _NOP)
    made.mark("go")
    made.add(_lw(_RA, 9, 8), *constant(_SP, _BASE + _STACK), _NOP)
    made.add(*(_lw(number, _RA, 4 * at) for at, number in enumerate(_SETTINGS)))
    # jalr t9
    made.add(_T9 << 21 | _RA << 11 | 9, _NOP)
    made.jump("after", _b)
    made.add(_NOP)
    return made


def _b(distance: int) -> list[int]:
    return [0x1000_0000 | distance // 4 - 1 & 0xFFFF]


def _lw(rt: int, base: int, offset: int) -> int:
    return _LW | base << 21 | rt << 16 | offset


def _sw(rt: int, base: int, offset: int) -> int:
    return _SW | base << 21 | rt << 16 | offset


def _addiu(rt: int, rs: int, number: int) -> int:
    return _ADDIU | rs << 21 | rt << 16 | number & 0xFFFF


def _program(random: Random, facts: Facts, at: int, after: int, wild: bool) -> list[int]:
    """Some instructions, a loop of them perhaps, and a jump back to the harness."""
    loops, changes = random.random() < 0.45, random.random() < 0.4
    code = _first(random)
    for _ in range(random.randrange(1, 6)):
        chance = random.random()
        if changes and chance < 0.3:
            code += _change(random, 0 if loops else len(code) + 2)
        elif wild and chance < 0.31:
            drawn = code_mips.unit(random, facts, _BASE, (at - _BASE) // 4 + len(code))
            code += drawn if _SDBBP_1 not in drawn else []
        elif chance < 0.5:
            code += _first(random)
        else:
            code.append(_operation(random))
    if loops:
        # addiu t3, t3, -1; bgtz, with something in its slot
        back = -len(code) - 2
        code += [_addiu(11, 11, -1), 0x1D60_0000 | back & 0xFFFF, _operation(random)]
    # j, and its slot
    return [*code, 2 << 26 | after >> 2 & 0x3FF_FFFF, _NOP]


def _first(random: Random) -> list[int]:
    """Any kind of instruction; t0 to t2 lead to memory, t4 to t7 and s0 hold data."""
    rd, base = random.randrange(12, 17), random.randrange(8, 11)
    other, offset = random.randrange(12, 17), 4 * random.randrange(8)
    offset += random.choice((0, 0, 0, 0, 0, 1, 2))
    match random.randrange(8):
        case 0 | 1 | 2:
            kind = random.choice(_LOADS if random.random() < 0.5 else _STORES)
            return [kind << 26 | base << 21 | rd << 16 | offset]
        case 3:
            # lwl and lwr, swl and swr; ll, sc
            several = ((34, 38), (42, 46), (48, 56))
            first, second = (kind << 26 | base << 21 | rd << 16 for kind in random.choice(several))
            return [first | offset, second | offset]
        case 4:
            # mult and its like, mfhi, mflo; mul, madd
            multiply = random.choice((0x18, 0x19, 0x1A, 0x1B)) | rd << 21 | other << 16
            return [multiply, random.choice((0x10, 0x12)) | rd << 11]
        case 5:
            kind = random.choice((4, 5, 20, 21)) << 26 | rd << 21 | other << 16 | 2
            return [random.choice((kind, 0x1000_0002)), _operation(random), _operation(random)]
        case 6:
            return [28 << 26 | rd << 21 | other << 16 | rd << 11 | random.choice((2, 0x20, 0x21))]
        case _:
            # mfc0 count, status, cause; sync; lui; pref; syscall
            system = (0x4000_4800, 0x4000_6000, 0x4000_6800, 15 << 26 | random.getrandbits(16))
            others = (0x0000_000F, 51 << 26 | base << 21 | offset, 0x0000_000C, _NOP)
            return [random.choice((*(word | rd << 16 for word in system), *others))]


def _operation(random: Random) -> int:
    rs, rt, rd = (random.randrange(12, 17) for _ in range(3))
    if random.random() < 0.35:
        return random.randrange(9, 16) << 26 | rs << 21 | rt << 16 | random.getrandbits(16)
    kind = random.choice((0, 2, 3, 4, 6, 7, 0x0A, 0x0B, 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A))
    return rs << 21 | rt << 16 | rd << 11 | random.getrandbits(5) << 6 & (-(kind < 4)) | kind


def _change(random: Random, words_ahead: int) -> list[int]:
    """A change of caches or the TLB, or of code in the first `words_ahead` words, if not 0."""
    chance = random.random()
    if chance < 0.35:
        place = random.choice((8, 9, 10, _T9)) << 21
        return [_CACHE | place | random.choice(_MAINTENANCE) << 16 | 4 * random.randrange(8)]
    if chance < 0.55 or not words_ahead:
        # a register of the TLB from s2 to s4, then an operation
        move = random.choice((mtc0(18, 2), mtc0(18, 3), mtc0(19, 10), mtc0(20, 0), mtc0(0, 6)))
        return [move, random.choice(_TLB)]
    code = [_SW | _T9 << 21 | 17 << 16 | 4 * random.randrange(words_ahead)]
    # hit, write back and invalidate; hit, invalidate for instructions
    return [*code, 0xBF35_0000, 0xBF30_0000] if random.random() < 0.4 else code
