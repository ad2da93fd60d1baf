"""Random programs for Cortex-A5 and A7 that change translation tables: mostly without a word to the
TLBs, which still have what the tables said, or not any more.
"""

from __future__ import annotations

from random import Random

import elf32

from fuzz.boards import Facts
from fuzz.code_arm_a import constant
from fuzz.program import Program, words

PLACES = {
    "minimal-armv7a": (0x8000_0000,),
    "sama5d2-xplained": (0x0020_0000, 0x2000_0000),
    "stm32mp157c-dk2": (0xC000_0000,),
}
"""Bases of programs on boards with such a core."""

_SECTION, _PAGE = 0x10_0000, 0x1000
_WINDOW = 0x4000_0000
# From the program's base.
_TABLE, _PAGES, _COPIES = 0x1_0000, 0x1_4000, 0x1_5000
_COPY_COUNT, _PAGE_COUNT = 8, 256
_OF_SECTION = range(_COPIES // _PAGE, _COPIES // _PAGE + _COPY_COUNT)
# Uncached, written back; of pages also read-only, never executed, of one address space, none.
_SECTIONS = (0xC02, 0xC0E, 0x1C0E)
_PAGE_KINDS = (*(0x32, 0x3E, 0x7E) * 3, 0x23E, 0x3F, 0x83E, 0)
_MOVS_PC_LR, _MOVS_PC_R11, _SUBS_PC_LR_4 = 0xE1B0_F00E, 0xE1B0_F00B, 0xE25E_F004
_ADD_R4, _BX_R11, _ISB, _DSB = 0xE284_4000, 0xE12F_FF1B, 0xF57F_F06F, 0xF57F_F04F


def program(random: Random, facts: Facts) -> Program:
    """Code, tables, and pages of functions that say which of them they are: they add up in r4."""
    base = random.choice(PLACES[facts.board])
    # what a section in the place of all pages has functions in, and others
    pages = _Pages(
        base, [*random.sample(_OF_SECTION, 4), *random.sample(range(_PAGE_COUNT), 2)], random
    )
    code = _vectors() + _start(random, base)
    rounds, body = random.choice((1, 2, 20, 60)), []
    for _ in range(random.randrange(4, 40)):
        body += pages.unit()
    code += [*constant(10, rounds), *body, 0xE25A_A001]
    code.append(0x1A00_0000 | -(len(body) + 3) & 0xFF_FFFF)
    # semihosting: exit
    code += [*constant(0, 0x18), *constant(1, 0x2_0026), 0xEF12_3456, 0xEAFF_FFFE]
    segments = [(base, words(code)), (base + _TABLE, _first_level(random, base))]
    segments += [(base + _PAGES, words([pages.descriptor() for _ in range(_PAGE_COUNT)]))]
    segments += [(base + _COPIES, _copies(random))]
    return Program(elf32.EM_ARM, base, [(at, bytes(data)) for at, data in segments])


def _vectors() -> list[int]:
    """A fetch abort has the effect of a function that adds 1; a data abort skips the access."""
    prefetch = 0xEA00_0000 | 3
    vectors = [0xEA00_0008, _MOVS_PC_LR, _MOVS_PC_LR, prefetch, _SUBS_PC_LR_4, _MOVS_PC_LR]
    return [*vectors, _SUBS_PC_LR_4, _SUBS_PC_LR_4, _ADD_R4 | 1, _MOVS_PC_R11]


def _start(random: Random, base: int) -> list[int]:
    """VBAR, TTBR0, DACR; MMU, prediction, and caches or not."""
    control = 1 | random.choice((0, 4)) | random.choice((0, 1 << 12)) | random.choice((0, 1 << 11))
    code = [*constant(0, base), 0xEE0C_0F10, *constant(0, base + _TABLE), 0xEE02_0F10]
    code += [*constant(0, 1), 0xEE03_0F10, *constant(0, 0x40), 0xEE01_0F30, *constant(4, 0)]
    return [*code, 0xEE11_0F10, *constant(1, control), 0xE180_0001, 0xEE01_0F10, _ISB]


def _first_level(random: Random, base: int) -> bytes:
    kind = random.choice(_SECTIONS)
    entries = [at * _SECTION | kind for at in range(0x1000)]
    entries[_WINDOW // _SECTION] = base + _PAGES | 1
    return words(entries)


def _copies(random: Random) -> bytes:
    """In each page a function at its start, and one that continues in the next page."""
    data = bytearray()
    for number in range(_COPY_COUNT):
        says = _ADD_R4 | 2 + number
        function = [says] * random.choice((1, 2, 9, 40))
        page = bytearray(words([*function, _BX_R11])).ljust(_PAGE - 8, b"\0") + words([says] * 2)
        data += page
    return bytes(data)


class _Pages:
    """Changes of the pages of the window. Some pages are used more often than others."""

    def __init__(self, base: int, favourites: list[int], random: Random) -> None:
        self._base, self._favourites, self._random = base, favourites, random

    def descriptor(self) -> int:
        """The descriptor of a page that leads to one of the functions."""
        copy = self._base + _COPIES + self._random.randrange(_COPY_COUNT) * _PAGE
        kind = self._random.choice(_PAGE_KINDS)
        return copy | kind if kind else 0

    def unit(self) -> list[int]:
        """Some instructions."""
        random, page = self._random, self._page()
        chance, va = random.random(), _WINDOW + page * _PAGE
        if chance < 0.4:
            return _call(va + random.choice((0, 0, _PAGE - 8)))
        if chance < 0.55:
            offset = random.choice((0x800, 0x804, 0x840))
            access = random.choice((0xE590_2000, 0xE580_4000))
            return [*constant(0, va + offset), access, 0xE084_4002]
        if chance < 0.75:
            return _stored(self._base + _PAGES + page * 4, self.descriptor())
        if chance < 0.8:
            section = self._base | random.choice(_SECTIONS)
            entry = random.choice((section, self._base + _PAGES | 1))
            return _stored(self._base + _TABLE + _WINDOW // _SECTION * 4, entry)
        if chance < 0.94:
            return self._visits(page)
        return [
            *constant(0, va | random.randrange(2)),
            *random.choice(([0xEE08_0F17], [0xEE08_0F37], [0xEE0D_0F30], [0xEE07_0F15])),
            *random.choice(([], [_DSB, _ISB])),
        ]

    def _page(self) -> int:
        random = self._random
        return (
            random.choice(self._favourites)
            if random.random() < 0.95
            else random.randrange(_PAGE_COUNT)
        )

    def _visits(self, page: int) -> list[int]:
        """Calls or reads many pages one after the other: others leave the TLBs."""
        random = self._random
        count, step = random.choice(((12, 1), (4, 64), (40, 3), (8, 65)))
        code = [
            *constant(5, _WINDOW + page * _PAGE),
            *constant(6, count),
            *constant(7, step * _PAGE),
        ]
        visit = random.choice(([0xE595_2800], [0xE1A0_B00F, 0xE12F_FF15]))
        # within the window
        loop = [*visit, 0xE085_5007, 0xE3C5_560F, 0xE385_5101, 0xE256_6001]
        return [*code, *loop, 0x1A00_0000 | -(len(loop) + 2) & 0xFF_FFFF]


def _call(va: int) -> list[int]:
    return [*constant(0, va), 0xE1A0_B00F, 0xE12F_FF10]


def _stored(at: int, value: int) -> list[int]:
    return [*constant(0, at), *constant(1, value), 0xE580_1000]
