"""Damaged ELF files: fields of headers, symbols, line numbers, and loaded bytes."""

from __future__ import annotations

import functools
import struct
from random import Random

import elf32

from fuzz import boards, elf_parts, running
from fuzz.inputs import Input, corpus

# Instructions that do nothing, and one that is a branch to itself; text and data in a RAM.
_BOARDS = {
    "minimal-rv32": (elf32.EM_RISCV, 0x8000_0000, (0x13, 0x13, 0x13, 0x6F)),
    "kc705-axi-quad-spi": (elf32.EM_RISCV, 0x8000_0000, (0x13, 0x13, 0x13, 0x6F)),
    "picosoc-hx8k": (elf32.EM_RISCV, 0x0010_0000, (0x13, 0x13, 0x13, 0x6F)),
    "minimal-armv7a": (elf32.EM_ARM, 0x8000_0000, (0xE1A0_0000, 0xE1A0_0000, 0xEAFF_FFFE)),
    "sama5d2-xplained": (elf32.EM_ARM, 0x0020_0000, (0xE1A0_0000, 0xE1A0_0000, 0xEAFF_FFFE)),
    "stm32mp157c-dk2": (elf32.EM_ARM, 0xC000_0000, (0xE1A0_0000, 0xE1A0_0000, 0xEAFF_FFFE)),
    "minimal-armv7m": (elf32.EM_ARM, 0x0000_0000, (0x2000_8000, 9, 0xBF00_BF00, 0xE7FE_E7FE)),
    "minimal-mips32": (elf32.EM_MIPS, 0x8000_0000, (0, 0, 0x1000_FFFF, 0)),
    "ben-nanonote": (elf32.EM_MIPS, 0x8000_0000, (0, 0, 0x1000_FFFF, 0)),
}
_NAMES = ("main", "end", "_start", "", "cm4:main", "a" * 300, "naïve", "cpu0:main", ":", "main:")


@functools.cache
def _by_hand(board: str) -> bytes:
    machine, text, code = _BOARDS[board]
    return elf_parts.executable(machine, text, struct.pack(f"<{len(code)}I", *code), text + 0x200)


class Elf:
    """A file for a board; functions that someone wants to watch."""

    name = "elf"

    def __init__(self) -> None:
        by_hand = [{"board": board, "elf": _by_hand(board)} for board in _BOARDS]
        seeds = [*by_hand, *corpus(self.name)]
        whole = [seed for seed in seeds if len(seed["elf"]) > 200]
        self._seeds = [(seed, elf_parts.fields(seed["elf"])) for seed in whole if _sound(seed)]

    def make(self, seed: str) -> Input:
        """A valid file of the corpus or made by hand, damaged; or random bytes after the magic."""
        random = Random(seed)
        base, places = random.choice(self._seeds)
        elf = bytearray(base["elf"])
        if random.random() < 0.04:
            elf = bytearray(b"\x7fELF\x01\x01\x01" + random.randbytes(random.randrange(200)))
        for _ in range(random.randrange(1, 6)):
            elf_parts.spoil(random, elf, places)
        made: Input = {"target": self.name, "board": base["board"], "elf": bytes(elf)}
        if random.random() < 0.3:
            made["watch"] = [random.choice(_NAMES)]
        if random.random() < 0.2:
            made["windows"] = [random.choice(_NAMES)]
        if random.random() < 0.3:
            made["symbols"] = random.choice(("cpu0", "cm4", "none"))
        return {**made, "limit_ps": random.choice((10**5, 10**6, 10**7))}

    def run(self, made: Input) -> str:
        """The loader's message, or the program's end."""
        machine = boards.machine(made["board"])
        if "symbols" in made:
            running.refused(lambda: machine.load_symbols(made["symbols"], made["elf"], "firmware"))
        return running.run_elf(machine, made["elf"], made)


def _sound(seed: Input) -> bool:
    """True if its header describes its tables correctly: only then its fields can be found."""
    elf = seed["elf"]
    table, sections = struct.unpack_from("<II", elf, 28)
    counts = struct.unpack_from("<HHHH", elf, 42)
    ends = (table + counts[0] * counts[1], sections + counts[2] * counts[3])
    return elf[:4] == b"\x7fELF" and max(ends) <= len(elf)
