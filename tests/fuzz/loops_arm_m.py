"""Loops for a Cortex-M: what programs do over and over, from flash or RAM, with interrupts.

Unlike the programs of `code_arm_m`, these run on: so code is compiled, and times of all that a loop
can hold (several words, two memories in turn, literals, wide instructions across lines of the
flash, stores that wait for a port) come to be in them. Some change what addresses and accesses mean
in between: the MPU, the flash's wait states and caches, their own code.
"""

from __future__ import annotations

from random import Random

import elf32

from fuzz.boards import Facts
from fuzz.code_arm_m import constant
from fuzz.program import Program, halves, words

_SYSTICK, _MPU_CTRL, _MPU_RBAR, _MPU_RASR = 0xE000_E010, 0xE000_ED94, 0xE000_ED9C, 0xE000_EDA0
_CPACR, _CCR = 0xE000_ED88, 0xE000_ED14
# Addresses of the access control of the STM32s' flash interfaces: F4, L4+.
_FLASH_ACR = {
    0x4002_3C00: (0x000, 0x001, 0x005, 0x105, 0x205, 0x305, 0x405, 0x505, 0x705, 0x605),
    0x4002_2000: (0x000, 0x001, 0x004, 0x100, 0x200, 0x304, 0x404, 0x600, 0x704),
}
_FIRST_RAM = 0x2000_0000
_EXIT = [*constant(0, 0x18), *constant(1, 0x20026), 0xBEAB, 0xE7FE]
_NOP, _WFI = 0xBF00, 0xBF30
# movw r6, #0x100; movt r6, #0x2000; mov sp, r6: after an access that has moved it
_TO_TOP = [*constant(6, 0x2000_0100), 0x46B5]
# Registers: r0 and r1 lead to RAM, r2 to code, r3 to r6 hold data, r7 and r8 count.
_DATA = (3, 4, 5, 6)


def program(random: Random, facts: Facts) -> Program:
    """Vectors, some functions, loops that call them."""
    rams = [memory for memory in facts.memories if memory[0] >= _FIRST_RAM and memory[1] >= 0x1000]
    flash = _flash(facts)
    base = flash + 0x200
    if random.random() < 0.2:
        ram = random.choice(rams)[0]
        base = ram + 0x800 if ram < 0x4000_0000 else base
    maker = Maker(random, facts, rams, base)
    handler = maker.function(is_handler=True)
    functions = [maker.function() for _ in range(random.randrange(3))]
    start = maker.main(functions)
    stack_base, stack_bytes = random.choice(rams)
    stack = stack_base + random.choice((0x400, stack_bytes, stack_bytes - 0x80))
    table = [stack, start | 1] + [handler | 1] * 14 + [handler | 1] * 16
    return Program(elf32.EM_ARM, start | 1, [(flash, words(table)), (base, halves(maker.code))])


def first_loop(random: Random, facts: Facts) -> Program:
    """The reset handler is a loop that begins with an access by SP, which at last meets no memory.

    Its block is decoded before all others, at the start and after all blocks were dropped.
    """
    flash = _flash(facts)
    base = flash + 0x200
    stack = random.choice([memory for memory in facts.memories if memory[0] >= _FIRST_RAM])[0]
    mask, word = random.choice((0xC0, 0x300, 0x3C0, 0xC0)), random.randrange(8)
    pair = [0x6700 | word]
    first = random.choice(
        (
            [0xB400 | mask & 0xFF, *_TO_TOP],
            [0xBC00 | mask & 0xFF, *_TO_TOP],
            [0xE88D, mask],
            [0xE89D, mask],
            [0xE91D, mask],
            [0xE90D, mask],
            [0xE9CD, *pair],
            [0xE9DD, *pair],
            [0x9600 | word],
            [0x9E00 | word],
            [0xF8DD, 0x6000 | 4 * word],
            [0xF8CD, 0x6000 | 4 * word + random.randrange(4)],
        )
    )
    rounds, change = random.choice((20, 60, 300, 2000)), random.choice((0, 7, 19))
    nowhere = random.choice((0x0040_0000, 0x1800_0000, 0x3000_0000))
    # adds r5, #1; cmp r5, #change; it eq; streq r4, [r3]: MPU_CTRL
    code = [*first, *[_NOP] * random.randrange(3), *constant(3, _MPU_CTRL), 0x2405]
    code += [0x3501, 0x2D00 | change, 0xBF08, 0x601C] if change else [0x3501]
    # cmp r5, r2; beq over a jump back; then SP leads nowhere, and once more
    code += [*constant(2, rounds), 0x4295, 0xD001]
    code += [0xF400 | -len(code) - 2 >> 11 & 0x3FF, 0xB800 | -len(code) - 2 & 0x7FF]
    code += [*constant(1, nowhere), 0x468D]
    code += [0xF400 | -len(code) - 2 >> 11 & 0x3FF, 0xB800 | -len(code) - 2 & 0x7FF]
    handler = base + 2 * len(code)
    table = [stack + 0x100, base | 1] + [handler | 1] * 30
    return Program(elf32.EM_ARM, base | 1, [(flash, words(table)), (base, halves([*code, *_EXIT]))])


def _flash(facts: Facts) -> int:
    return 0 if facts.board.startswith("minimal") else 0x0800_0000


class Maker:
    """Makes code from an address on: loops, functions, single instructions."""

    def __init__(
        self, random: Random, facts: Facts, rams: list[tuple[int, int]], base: int
    ) -> None:
        self.random, self.rams, self.base = random, rams, base
        self.code: list[int] = []
        self.acr = next((at for at in _FLASH_ACR if at in facts.near), None)
        self.devices = [at for at in facts.near if at >= 0x4000_0000] or [_SYSTICK + 8]
        self.changes = random.random() < 0.35
        self.floats = random.random() < 0.3

    def here(self) -> int:
        return self.base + 2 * len(self.code)

    def place(self) -> int:
        """Some words of a RAM that nothing else uses."""
        base, size = self.random.choice(self.rams)
        return base + self.random.choice((0x100, 0x180, 0x1FC, size // 2, size - 0x400))

    def function(self, is_handler: bool = False) -> int:
        start = self.here()
        saved = self.random.choice((0x30, 0x70, 0x10))
        self.code.append(0xB500 | saved)
        if is_handler:
            self.code += [*constant(3, self.place()), 0x681C, 0x3401, 0x601C]
        else:
            for _ in range(self.random.randrange(4)):
                self.code += self.unit()
        self.code.append(0xBD00 | saved)
        return start

    def main(self, functions: list[int]) -> int:
        start, random = self.here(), self.random
        if self.floats:
            self.code += [*constant(0, _CPACR), *constant(1, 0xF0_0000), 0x6001, 0xF3BF, 0x8F6F]
        if random.random() < 0.8:
            self.code += self.flash_control()
        if random.random() < 0.4:
            self.code += self.write(_SYSTICK + 4, random.choice((40, 97, 300, 1013)))
            self.code += self.write(_SYSTICK, 7)
        for _ in range(random.randrange(1, 4)):
            self.loop(functions)
        self.code += _EXIT
        return start

    def loop(self, functions: list[int]) -> None:
        random = self.random
        for register in (0, 1):
            self.code += constant(register, self.place())
        self.code += constant(2, self.base & ~3)
        self.code += constant(7, random.choice((3, 20, 60, 200)))
        self.code += [_NOP] * random.randrange(4)
        start = self.here()
        for _ in range(random.randrange(1, 9)):
            chance = random.random()
            if functions and chance < 0.1:
                self.call(random.choice(functions))
            elif chance < 0.2:
                self.inner()
            else:
                self.code += self.unit()
        if random.random() < 0.05:
            self.code += [_NOP] * random.choice((50, 60, 62, 63))
        if self.changes and random.random() < 0.5:
            self.code += self.change()
        # subs r7, #1; beq over a jump back that may be far
        self.code += [0x3F01, 0xD001, *self.far(start, link=False)]

    def inner(self) -> None:
        # movs r6, #n ... subs r6, #1; bne
        self.code.append(0x2600 | self.random.choice((2, 5, 30)))
        start = len(self.code)
        for _ in range(self.random.randrange(1, 3)):
            self.code += [half for half in self.unit(busy=6) if half]
        self.code.append(0x3E01)
        back = start - len(self.code) - 2
        self.code.append(0xD100 | back & 0xFF)

    def call(self, target: int) -> None:
        self.code += self.far(target, link=True)

    def far(self, target: int, link: bool) -> list[int]:
        """bl or b.w, less than 2 MiB away."""
        offset = (target - self.here() - 4 - (0 if link else 4)) >> 1
        sign = 1 if offset < 0 else 0
        low = 0xF800 if link else 0xB800
        return [0xF000 | sign << 10 | offset >> 11 & 0x3FF, low | offset & 0x7FF]

    def write(self, addr: int, number: int) -> list[int]:
        return [*constant(3, addr), *constant(4, number), 0x601C]

    def flash_control(self) -> list[int]:
        """Other wait states and caches of a flash with an access control."""
        return self.write(self.acr, self.drawn_control()) if self.acr else []

    def drawn_control(self) -> int:
        """A value for that."""
        return self.random.choice(_FLASH_ACR[self.acr]) if self.acr else 0

    def change(self) -> list[int]:
        """A change of the memory map's meaning, or of the code itself."""
        random = self.random
        choices = [
            self.write(_MPU_CTRL, random.choice((0, 5, 5))),
            [
                *self.write(_MPU_RBAR, self.place() & ~0x1F | 0x10),
                *self.write(_MPU_RASR, 0x0300_0009),
            ],
            [*constant(3, self.base + 2 * random.randrange(len(self.code) or 1)), 0x881C, 0x801C],
        ]
        if self.acr:
            choices += [self.write(self.acr, random.choice(_FLASH_ACR[self.acr]))] * 2
        made = random.choice(choices)
        return [*made, 0xF3BF, 0x8F6F] if random.random() < 0.5 else made

    def unit(self, busy: int | None = None) -> list[int]:
        """An instruction or some, which leave registers up to r2 as they are."""
        random = self.random
        free = [register for register in _DATA if register != busy]
        rd, rn, rm = (random.choice(free) for _ in range(3))
        base, word = random.choice((0, 0, 1, 1, 2)), random.randrange(8)
        store = random.random() < 0.45 and base != 2
        chance = random.random()
        if chance < 0.35:
            opcode = random.choice((0x6800, 0x6800, 0x7800, 0x8800)) ^ (0x800 if store else 0)
            return [opcode | word << 6 | base << 3 | rd]
        if chance < 0.55:
            return self.several(random, free, base, store, word)
        if chance < 0.60:
            wide = 0xF8C0 if store else 0xF8D0
            return [wide | base, rd << 12 | 4 * word + random.choice((0, 0, 0, 1, 2))]
        if chance < 0.76:
            short = (0x1800 | rm << 6 | rn << 3 | rd, 0x4040 | rm << 3 | rd, 0x4340 | rm << 3 | rd)
            return [random.choice((*short, 0x3001 | rd << 8, 0x0040 | rm << 3 | rd, _NOP))]
        if chance < 0.86:
            wides = (
                [0xEB00 | rn, rd << 8 | rm],
                [0xF3AF, 0x8000],
                [0xFBB0 | rn, 0xF0F0 | rd << 8 | rm],
            )
            return random.choice((*wides, [0xF240, rd << 8 | word]))
        if chance < 0.93:
            return self.conditional(random, rd, rn, rm, base, store, word)
        if chance < 0.95 and self.floats:
            opcode = 0xED80 if store else 0xED90
            return random.choice(
                ([opcode | base, 0x0A00 | word], [(opcode & 0xFEFF) | base, 0x0A04])
            )
        if chance < 0.98:
            # a register of a device, as polls have it
            return [*constant(rd, random.choice(self.devices)), 0x6800 | rd << 3 | rd]
        return [_WFI] if random.random() < 0.3 else [0x4B00 | rd << 8 & 0x700 | 1, _NOP]

    def several(
        self, random: Random, free: list[int], base: int, store: bool, word: int
    ) -> list[int]:
        some = random.sample(free, random.randrange(2, len(free) + 1))
        mask = sum(1 << register for register in some)
        pair = [random.choice(free), random.choice([r for r in free if r != some[0]])]
        if pair[0] == pair[1]:
            pair[1] = next(register for register in free if register != pair[0])
        return random.choice(
            (
                [(0xE880 if store else 0xE890) | base, mask],
                [(0xE900 if store else 0xE910) | base, mask],
                [(0xE9C0 if store else 0xE9D0) | base, pair[0] << 12 | pair[1] << 8 | word],
                [0xB400 | mask, 0xBC00 | mask],
                # push, something, pop
                [0xB400 | mask, _NOP, 0xBC00 | mask],
            )
        )

    def conditional(
        self, random: Random, rd: int, rn: int, rm: int, base: int, store: bool, word: int
    ) -> list[int]:
        access = (0x6000 if store else 0x6800) | word << 6 | base << 3 | rd
        condition = random.choice((0, 1, 2, 10, 13))
        compare = 0x4280 | rm << 3 | rn
        if random.random() < 0.6:
            return [compare, 0xBF08 | condition << 4, access]
        # a branch over it
        return [compare, 0xD000 | condition << 8, access]
