"""Many small programs for a Cortex-M alone."""

from __future__ import annotations

from random import Random

import elf32

from fuzz import code_arm_m, loops_arm_m
from fuzz.boards import Facts
from fuzz.code_arm_m import constant
from fuzz.labelled import Labelled
from fuzz.many import SETS, Image, Small, runs
from fuzz.program import halves, words

_RAM = 0x2000_0000
# In the first RAM, at places that are not round: the harness's state, the stack, programs.
_STATE, _STACK, _RAM_CODE, _RAM_CODE_END = _RAM + 0x1C40, _RAM + 0xF00, _RAM + 0x2000, _RAM + 0x8000
_RETURN = _RAM + 0x1FF0
_SETS, _TABLE, _CODE = 0x400, 0x800, 0x4000
_SET_BYTES = 13 * 4
_CPACR, _CCR, _SHCSR, _MPU_CTRL = 0xE000_ED88, 0xE000_ED14, 0xE000_ED24, 0xE000_ED94
_MPU = 0xE000_ED90
_SYSTICK, _DEMCR, _DWT = 0xE000_E010, 0xE000_EDFC, 0xE000_1000
_BARRIERS = ([0xF3BF, 0x8F4F, 0xF3BF, 0x8F6F], [0xF3BF, 0x8F6F], [0xF3BF, 0x8F5F], [], [])
_NOP, _BKPT_AB = 0xBF00, 0xBEAB
# The share of images with programs that may do anything.
_WILD = 0.05
# A program that is at the same call for this number of cycles is given up.
_LONGEST_CYCLES = 1500
_STORE, _LOAD_1, _BX_LR = 0x6001, 0x6801, 0x4770


def image(random: Random, facts: Facts, count: int) -> Image:
    """An image of `count` programs, or fewer if they are long."""
    flash = 0 if facts.board.startswith("minimal") else 0x0800_0000
    rams = [memory for memory in facts.memories if memory[0] >= 0x1000_0000]
    base = flash + 0x200
    maker = loops_arm_m.Maker(random, facts, rams, base)
    period = random.choice((331, 499, 997, 997))
    harness = _harness(base, flash + _TABLE, period, _settings(random, maker))
    fault, tick = harness.at("fault") | 1, harness.at("tick") | 1
    vectors = [_STACK, base | 1, *[fault] * 13, tick, *[fault] * 48]
    made = Image(elf32.EM_ARM, base | 1, flash + _TABLE, _STATE, halves([_NOP]), 4)
    made.segments = [
        (flash, words(vectors)),
        (base, halves(harness.code())),
        (flash + _SETS, words([value for _ in range(SETS) for value in _set(random, maker)])),
    ]
    after = harness.at("after")
    # a jump to it from the RAM, too: ldr pc
    made.segments.append((_RETURN, halves([0xF8DF, 0xF000]) + words([after | 1])))
    places = {False: flash + _CODE, True: _RAM_CODE}
    wild = random.random() < _WILD
    for _ in range(count):
        in_ram = random.random() < 0.4 and places[True] < _RAM_CODE_END
        at = places[in_ram] + 2 * random.randrange(4)
        registers = flash + _SETS + _SET_BYTES * random.randrange(SETS)
        code = halves(
            _program(random, facts if wild else None, maker, at, _RETURN if in_ram else after)
        )
        made.programs.append(Small(at, code, at | 1, runs(random), registers))
        places[in_ram] = at + len(code)
    return made


def _set(random: Random, maker: loops_arm_m.Maker) -> list[int]:
    """Values of r0 to r12: two places, code, data, a count, registers and values for them, code."""
    unaligned = random.choice((0, 0, 0, 1, 2, 3))
    values = [maker.place() + unaligned, maker.place(), maker.base & ~3]
    values += [random.choice((random.getrandbits(32), random.randrange(64))) for _ in range(4)]
    attributes = random.choice((3, 3, 3, 6, 2, 0x13, 1)) << 24
    attributes |= random.choice((0, 0x1_0000, 0x2_0000, 0x3_0000, 0x8_0000))
    size = random.choice((4, 4, 5, 7, 11))
    place = random.choice((maker.place(), maker.base, _RAM_CODE + random.randrange(0x2000), _STACK))
    values += [random.randrange(1, 6), _MPU, maker.acr or maker.place()]
    values += [place & ~((2 << size) - 1) | 0x10 | random.randrange(8)]
    values += [attributes | size << 1 | (random.random() < 0.9)]
    code = (_NOP, 0x3301, 0x3B02, 0x6803, 0x8043, 0xB408, _BX_LR)
    return [*values, random.choice(code) << 16 | random.choice(code)]


def _settings(random: Random, maker: loops_arm_m.Maker) -> list[int]:
    """The first settings of an image."""
    code = maker.flash_control() if random.random() < 0.8 else []
    return code + (maker.write(_MPU_CTRL, 5) if random.random() < 0.2 else [])


def _harness(base: int, table: int, period: int, settings: list[int]) -> Labelled:
    made = Labelled(base, 2)
    # floating point, the cycle counter
    made.add(*constant(0, _CPACR), *constant(1, 0xF0_0000), _STORE, *_BARRIERS[0])
    made.add(*constant(0, _DEMCR), *constant(1, 1 << 24), _STORE)
    made.add(*constant(0, _DWT), *constant(1, 1), _STORE)
    made.add(*settings)
    made.add(*constant(0, _SYSTICK), *constant(1, period), 0x6041, 0x6081, *constant(1, 7), _STORE)
    # str table, [state]; str runs, [state, #4]; str 0, [state, #8]: the sum
    made.add(*constant(4, _STATE), *constant(5, table), 0x6025, 0x686E, 0x6066, 0x2000, 0x60A0)
    made.jump("call", _b)
    made.mark("after")
    # add r0, r0, rN, ror #N; mov lr, sp; and so with lr; mrs r1, apsr; add; ldr CYCCNT; add
    for register in range(1, 13):
        made.add(*_add_ror(0, 0, register, register))
    made.add(0x46EE, *_add_ror(0, 0, 14, 13), 0xF3EF, 0x8100, 0x1840)
    made.add(*constant(1, _DWT), 0x6849, 0x1840)
    # ldr r5, [state, #8]; add r5, r0, r5, ror #7; str
    made.add(*constant(4, _STATE), 0x68A5, *_add_ror(5, 0, 5, 7), 0x60A5)
    made.mark("next")
    # ldr r5, [state]; ldr r6, [state, #4]; subs r6, #1; bne; adds r5, #16; str; ldr r6, [r5, #4]
    made.add(*constant(4, _STATE), 0x6825, 0x6866, 0x3E01)
    made.jump("again", lambda distance: [0xD100 | distance - 4 >> 1 & 0xFF])
    made.add(0x3510, 0x6025, 0x686E)
    made.mark("again")
    made.add(0x6066)
    made.mark("call")
    # ldr r0, [r5]; cbz; mov lr, r0; ldr r0, [r5, #8]; mov sp; msr apsr, lr; ldm r0, all; bx lr
    made.add(0x6828)
    made.jump("end", lambda distance: [0xB100 | (distance - 4 >> 1 & 31) << 3])
    made.add(0x4686, 0x68A8, *constant(1, _STACK), 0x468D, 0xF38E, 0x8800, 0xE890, 0x1FFF, _BX_LR)
    made.mark("end")
    made.add(*constant(0, 0x18), *constant(1, 0x20026), _BKPT_AB, 0xE7FE)
    _fault(made)
    _tick(made, max(1, _LONGEST_CYCLES // period))
    return made


def _fault(made: Labelled) -> None:
    """Sets everything as at the start, and continues with the next call."""
    made.mark("fault")
    for at, value in ((_MPU_CTRL, 0), (_CCR, 0x201), (_SHCSR, 0)):
        made.add(*constant(0, at), *constant(1, value), _STORE)
    # msr basepri, control; cpsie i, f
    made.add(0x2100, 0xF381, 0x8811, 0xF381, 0x8814, 0xB662, 0xB661)
    # a frame with pc and xpsr: mov sp, r0; str r1, [r0, #24]; str r1, [r0, #28]; bx lr
    made.add(*constant(0, _STACK - 32), 0x4685)
    made.mark("frame")
    made.add(*constant(1, made.at("next")), 0x6181, *constant(1, 1 << 24), 0x61C1)
    made.add(*constant(0, 0xFFFF_FFF9), 0x4686, *_BARRIERS[0], _BX_LR)


def _tick(made: Labelled, ticks: int) -> None:
    """Gives up a program that has been at the same call for this number of ticks."""
    made.mark("tick")
    # r1 = sum of place and calls left; ldr r2, [r0, #16]; str r1, [r0, #16]; cmp; bne
    made.add(*constant(0, _STATE), 0x6801, 0x6842, 0x1889, 0x6902, 0x6101, 0x4291)
    made.jump("goes on", lambda distance: [0xD100 | distance - 4 >> 1 & 0xFF])
    # ldr r2, [r0, #20]; subs r2, #1; str; bne
    made.add(0x6942, 0x3A01, 0x6142)
    made.jump("return", lambda distance: [0xD100 | distance - 4 >> 1 & 0xFF])
    made.jump("fault", _b)
    made.mark("goes on")
    made.add(0x2200 | ticks, 0x6142)
    made.mark("return")
    made.add(_BX_LR)


def _b(distance: int) -> list[int]:
    return [0xE000 | distance - 4 >> 1 & 0x7FF]


def _b_wide(distance: int) -> list[int]:
    offset = distance - 4 >> 1
    sign = offset >> 23 & 1
    first, second = (~(offset >> bit & 1 ^ sign) & 1 for bit in (22, 21))
    low = 0x9000 | first << 13 | second << 11 | offset & 0x7FF
    return [0xF000 | sign << 10 | offset >> 11 & 0x3FF, low]


def _add_ror(rd: int, rn: int, rm: int, bits: int) -> list[int]:
    return [0xEB00 | rn, (bits >> 2) << 12 | rd << 8 | (bits & 3) << 6 | 3 << 4 | rm]


def _program(
    random: Random, facts: Facts | None, maker: loops_arm_m.Maker, at: int, after: int
) -> list[int]:
    """Some instructions, a loop of them perhaps, and a jump back to the harness."""
    maker.base, maker.code = at, []
    loops = random.random() < 0.45
    begin = 0
    if loops and random.random() < 0.5:
        maker.code.append(0x2700 | random.choice((2, 2, 3, 5)))
        begin = 1
    maker.code += _first(random, maker)
    changes = random.random() < 0.4
    for _ in range(random.randrange(1, 6)):
        chance = random.random()
        if changes and chance < 0.3:
            maker.code += [*_change(random, maker, bool(facts)), *random.choice(_BARRIERS)]
        elif facts and chance < 0.31:
            wild = code_arm_m.unit(random, facts, maker.here())
            maker.code += wild if _BKPT_AB not in wild else []
        elif chance < 0.38:
            maker.code += _first(random, maker)
        elif chance < 0.75:
            maker.code += _operation(random)
        else:
            maker.code += maker.unit()
    if loops:
        # subs r7, #1; bne; or bgt, where nothing has set it
        back = begin - len(maker.code) - 3
        maker.code += [0x3F01, 0xDC00 | back & 0xFF] if back >= -128 else []
    if changes and random.random() < 0.5:
        maker.code += maker.write(_MPU_CTRL, 0)
    return [*maker.code, *_b_wide(after - maker.here())]


def _operation(random: Random) -> list[int]:
    """Among r3 to r6."""
    rd, rn, rm = (random.randrange(3, 7) for _ in range(3))
    short = (0x1800 | rm << 6, 0x1A00 | rm << 6, 0x4040, 0x4140, 0x4180, 0x4280, 0x4340, 0x4300)
    match random.randrange(4):
        case 0:
            return [0xEA00 | random.choice((0, 4, 8, 16, 20, 26)) << 4 | rn, rd << 8 | rm]
        case 1:
            return [random.choice((0x3001, 0x3801, 0x2855)) | rd << 8]
        case _:
            return [random.choice(short) | rn << 3 | rd]


def _first(random: Random, maker: loops_arm_m.Maker) -> list[int]:
    """Any kind of instruction, those of several words above all; r0 and r1 lead to memory."""
    kind = random.choices((_several, _access, _other), (5, 6, 5))[0]
    return kind(random, random.randrange(3, 7), random.randrange(2)) or maker.unit()


def _several(random: Random, rd: int, base: int) -> list[int]:
    """Loads and stores of several words."""
    mask, word = random.choice((0x18, 0x78, 0x60, 0x30, 0x400, 0x478)), random.randrange(8)
    low, pair = mask & 0xFF | 8, rd << 12 | (3 if rd == 6 else rd + 1) << 8
    multiple = (0xE880, 0xE890, 0xE8A0, 0xE8B0, 0xE900, 0xE910, 0xE920, 0xE930)
    double = (0xE9C0, 0xE9D0, 0xE940, 0xE950, 0xE8E0, 0xE8F0, 0xE9E0, 0xE9F0)
    floats = (0xED80, 0xED90, 0xEC80, 0xEC90, 0xECA0, 0xECB0)
    return random.choice(
        (
            *([random.choice(multiple) | base, low | mask],) * 2,
            *([random.choice(double) | base, pair | word],) * 2,
            [0xB400 | low],
            [0xBC00 | low],
            [0xC000 | base << 8 | low],
            [0xC800 | low],
            [random.choice(floats) | base, random.choice((0x0A04, 0x0B04, 0x1A02, 0x2A01))],
        )
    )


def _access(random: Random, rd: int, base: int) -> list[int]:
    """Loads and stores of a word or less, at any address."""
    word, odd = random.randrange(8), random.choice((0, 0, 1, 2, 3))
    short = (0x6000, 0x6800, 0x7000, 0x7800, 0x8000, 0x8800)
    wide = (0xF8C0, 0xF8D0, 0xF8A0, 0xF8B0, 0xF880, 0xF890, 0xF990, 0xF9B0)
    moving = random.choice((0xF840, 0xF850, 0xF820, 0xF830)) | base
    return random.choice(
        (
            *([random.choice(short) | word << 6 | base << 3 | rd],) * 2,
            *([random.choice(wide) | base, rd << 12 | 4 * word + odd],) * 3,
            # by a register; before and after the address
            [0x5000 | random.randrange(8) << 9 | 7 << 6 | base << 3 | rd],
            [moving, rd << 12 | 0xB04 | odd],
            [moving, rd << 12 | 0xD04],
            # of a literal
            [0x4800 | rd << 8],
            [0xF8DF, rd << 12 | 4],
            [0xE9DF, rd << 12 | 0x300],
        )
    )


def _other(random: Random, rd: int, base: int) -> list[int]:
    """Instructions other than loads and stores, and exclusive ones."""
    rn = random.randrange(3, 7)
    exclusive = ([0xE850 | base, rd << 12 | 0xF00], [0xE840 | base, rd << 12 | rn << 8])
    multiply = ([0xFB00 | rn, 0xF003 | rd << 8], [0xFBA0 | rn, rd << 12 | rn << 8 | 3])
    others = ([0xFB90 | rn, 0xF0F4 | rd << 8], [0xF360 | rn, rd << 8 | 0x47])
    # a branch over something; cbz; it
    over = random.choice(([0xE000], [0xD100], [0xB100 | rd], [0xBF08]))
    branch = [*over, random.choice((_NOP, 0x3301))]
    moved = [0xF3EF, 0x8000 | rd << 8 | random.choice((0, 5, 8, 16, 17, 20))]
    system = (moved, [0xB672], [0xB662], [0xBF30], [0xBF40], *_BARRIERS[:3], [0xDF00])
    kinds = (*exclusive, *multiply, *others, branch, branch, random.choice(system), [])
    return random.choice(kinds)


def _change(random: Random, maker: loops_arm_m.Maker, wild: bool) -> list[int]:
    """A change of the MPU, the flash's control, or code: its own, or the code that follows."""
    chance = random.random()
    if chance < 0.1:
        return maker.change()
    if chance < 0.35:
        # str r10, RBAR; str r11, RASR; movs r4, #5; str r4, CTRL
        region = [[0xF8C8, 0xA00C, 0xF8C8, 0xB010], [0xF8C8, 0xB010], []]
        control = random.choice((5, 5, 5, 0, 7 if wild else 5))
        return [*random.choice(region), 0x2400 | control, 0xF8C8, 0x4004]
    if chance < 0.55 and maker.acr:
        # movw r4; str r4, [r9]
        return [*constant(4, maker.drawn_control())[:2], 0xF8C9, 0x4000]
    # strh or str r12, [lr, #offset]; lr is the start, and odd
    offset = 2 * random.choice((random.randrange(12), random.randrange(24), random.randrange(64)))
    return [random.choice((0xF8AE, 0xF8AE, 0xF8CE)), 0xC001 + offset]
