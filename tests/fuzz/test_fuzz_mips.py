"""The time of any MIPS program is accounted for, without a panic."""

from __future__ import annotations

import struct
from functools import cache

import elf32
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import sized

import cyclescope as package

EXAMPLES = settings(max_examples=sized(20, 150))
START, KSEG1 = 0x8001_0000, 0xA000_0000
ORI, LUI, LW, SW = 13, 15, 35, 43
# t2 counts down: bgtz t2, itself; addiu t2, t2, -1
DELAY = (0x1D40_FFFF, 0x254A_FFFF)
FOREVER = (0x1000_FFFF, 0)
T0, T1, T2 = 8, 9, 10


def run(board: str, program: list[int], limit_ps: int) -> None:
    """A program runs up to its end, a fault or a limit."""
    code = elf32.Segment(START, struct.pack(f"<{len(program)}I", *program))
    elf = elf32.executable(code, machine=elf32.EM_MIPS, entry=START)
    result = package.Board(board).load(elf).run(limit=limit_ps)
    for core in result.cores:
        assert sum(entry.ps for entry in core.stack) == result.elapsed_ps


@EXAMPLES
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=24))
def test_random_instructions(words: list[int]) -> None:
    run("ben-nanonote", words, 10**6)


def li(register: int, value: int) -> list[int]:
    """Set a register to any value."""
    upper, lower = value >> 16, value & 0xFFFF
    return [LUI << 26 | register << 16 | upper, ORI << 26 | register * 0x21 << 16 | lower]


@cache
def registers(board: str) -> list[int]:
    """Addresses of registers of all devices, the first few of each."""
    entries = package.Board(board).describe()["map"]
    devices = (entry for entry in entries if entry["kind"] == "device")
    return [
        entry["base"] + offset
        for entry in devices
        for offset in range(0, min(entry["size"], 0xA0), 4)
    ]


@pytest.mark.parametrize("board", ["ben-nanonote", "ben-nanonote-ssi"])
@EXAMPLES
@given(st.data())
def test_random_accesses_of_registers(board: str, data: st.DataObject) -> None:
    values = st.one_of(st.integers(0, 31).map(lambda bit: 1 << bit), st.integers(0, 2**32 - 1))
    accesses = st.tuples(
        st.sampled_from(registers(board)), st.sampled_from([LW, SW, SW]), values, st.integers(0, 99)
    )
    program: list[int] = []
    for address, access, value, pause in data.draw(st.lists(accesses, max_size=60)):
        program += li(T0, KSEG1 + address) + li(T1, value)
        program += [access << 26 | T0 << 21 | T1 << 16, *li(T2, pause), *DELAY]
    run(board, [*program, *FOREVER], 10**8)
