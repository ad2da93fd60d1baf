"""Programs of a few instructions for any board: words go to registers and come from there.

They are made without a compiler, so that many runs of them take no time worth mentioning.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import elf32

from cyclescope._engine import Machine

Poke = tuple[int, int]
"""A word and the address that it is written to; it is read there afterwards."""

REGISTERS = range(0, 0x40, 4)
LIMIT_PS = 200_000_000
# Pokes that are tried in one run.
TOGETHER = 16


@dataclass(frozen=True)
class Home:
    """The address of a program for a board's first core, and its instruction set."""

    isa: str
    address: int
    # The registers of the flash that it runs from: poked last.
    own_flash: int | None = None


HOMES = {
    "ben-nanonote": Home("mips", 0x8000_0000),
    "ben-nanonote-rf230": Home("mips", 0x8000_0000),
    "ben-nanonote-ssi": Home("mips", 0x8000_0000),
    "kc705-axi-quad-spi": Home("riscv", 0x8000_0000),
    "minimal-armv7a": Home("a32", 0x8000_0000),
    "minimal-armv7m": Home("t32", 0),
    "minimal-mips32": Home("mips", 0x8000_0000),
    "minimal-rv32": Home("riscv", 0x8000_0000),
    "nios2-mmc": Home("riscv", 0),
    "nucleo-f411re": Home("t32", 0x0800_0000),
    "nucleo-f411re-sensors": Home("t32", 0x0800_0000),
    "nucleo-l4r5zi": Home("t32", 0x0800_0000),
    "nucleo-l4r5zi-n25q128a": Home("t32", 0x0800_0000),
    "nucleo-l4r5zi-sensors": Home("t32", 0x0800_0000),
    "picosoc-hx8k": Home("riscv", 0x10_0000, 0x200_0000),
    "picosoc-icebreaker": Home("riscv", 0x10_0000, 0x200_0000),
    "sama5d2-xplained": Home("a32", 0x2000_0000),
    "stm32f4-disco": Home("t32", 0x0800_0000),
    "stm32mp157c-dk2": Home("a32", 0xC000_0000),
    "stm32mp157c-dk2-lm75": Home("a32", 0xC000_0000),
    "stm32mp157c-dk2-nor": Home("a32", 0xC000_0000),
    "stm32mp157c-dk2-rf231": Home("a32", 0xC000_0000),
    "stm32mp157c-dk2-tty": Home("a32", 0xC000_0000),
}
_MACHINES = {"riscv": elf32.EM_RISCV, "mips": elf32.EM_MIPS}


def program(home: Home, pokes: Sequence[Poke], sleeps: bool = False) -> bytes:
    """An ELF that does these and then jumps to itself for ever, or sleeps where the core can."""
    end = _SLEEP.get(home.isa, _END[home.isa]) if sleeps else _END[home.isa]
    code = b"".join(_CODE[home.isa](address, value) for address, value in pokes) + end
    entry = home.address
    if home.isa == "t32":  # stack pointer and reset vector
        entry = home.address + 9
        code = struct.pack("<II", 0x2000_1000, entry) + code
    segment = elf32.Segment(home.address, code)
    return elf32.executable(segment, machine=_MACHINES.get(home.isa, elf32.EM_ARM), entry=entry)


def harmless_pokes(home: Home, board: dict[str, Any]) -> list[Poke]:
    """The pokes of all devices' first registers that cause neither a fault nor an end."""
    offset = 0xA000_0000 if home.isa == "mips" else 0
    entries = Machine(board).describe()["map"]
    windows = [entry for entry in entries if entry["kind"] == "device"]
    tried = [
        (offset + window["base"] + register, 0xFFFF_FFFF if register % 8 else 1)
        for window in windows
        for register in REGISTERS
        if register < window["size"]
    ]
    tried.sort(key=lambda poke: poke[0] == home.own_flash)
    groups = (tried[first : first + TOGETHER] for first in range(0, len(tried), TOGETHER))
    return [poke for group in groups for poke in _harmless(home, board, group)]


def _harmless(home: Home, board: dict[str, Any], pokes: Sequence[Poke]) -> Sequence[Poke]:
    """The harmless pokes: mostly all of them, so they are tried together first."""
    if _ends_by_limit(home, board, pokes):
        return pokes
    if len(pokes) == 1:
        return []
    half = len(pokes) // 2
    return [*_harmless(home, board, pokes[:half]), *_harmless(home, board, pokes[half:])]


def _ends_by_limit(home: Home, board: dict[str, Any], pokes: Sequence[Poke]) -> bool:
    machine = Machine(board)
    machine.load(program(home, pokes), "pokes")
    return machine.run(len(pokes) * LIMIT_PS // 10, None)["outcome"] == "limit"


def _riscv(address: int, value: int) -> bytes:
    def load(register: int, number: int) -> tuple[int, int]:
        upper = (number + 0x800) & 0xFFFF_F000
        lower = number & 0xFFF
        return upper | register << 7 | 0x37, lower << 20 | register << 15 | register << 7 | 0x13

    return struct.pack("<6I", *load(5, address), *load(6, value), 0x0062_A023, 0x0002_A303)


def _mips(address: int, value: int) -> bytes:
    return struct.pack(
        "<6I",
        0x3C08_0000 | address >> 16,
        0x3508_0000 | address & 0xFFFF,
        0x3C09_0000 | value >> 16,
        0x3529_0000 | value & 0xFFFF,
        0xAD09_0000,
        0x8D09_0000,
    )


def _a32(address: int, value: int) -> bytes:
    def move(register: int, number: int) -> tuple[int, int]:
        low, high = number & 0xFFFF, number >> 16
        halves = ((0xE300_0000, low), (0xE340_0000, high))
        low, high = (op | (half & 0xF000) << 4 | half & 0xFFF for op, half in halves)
        return low | register << 12, high | register << 12

    return struct.pack("<6I", *move(0, address), *move(1, value), 0xE580_1000, 0xE590_1000)


def _t32(address: int, value: int) -> bytes:
    def move(register: int, number: int) -> list[int]:
        words = []
        for op, half in ((0xF240, number & 0xFFFF), (0xF2C0, number >> 16)):
            first = op | half >> 1 & 0x400 | half >> 12
            words += [first, (half >> 8 & 7) << 12 | register << 8 | half & 0xFF]
        return words

    return struct.pack("<10H", *move(0, address), *move(1, value), 0x6001, 0x6801)


_CODE = {"riscv": _riscv, "mips": _mips, "a32": _a32, "t32": _t32}
_END = {
    "riscv": struct.pack("<I", 0x6F),
    "mips": struct.pack("<2I", 0x1000_FFFF, 0),
    "a32": struct.pack("<I", 0xEAFF_FFFE),
    "t32": struct.pack("<H", 0xE7FE),
}
_SLEEP = {
    "t32": struct.pack("<2H", 0xBF30, 0xE7FD),
    "a32": struct.pack("<2I", 0xE320F003, 0xEAFFFFFD),
}
