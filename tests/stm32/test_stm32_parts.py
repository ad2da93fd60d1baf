"""Parts that every STM32 program uses: pins, serial lines, random numbers, watchdogs, stimuli."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware

FOLDER = ROOT / "tests" / "firmware" / "stm32"
FLAGS = (
    "-std=c11",
    "-O2",
    "-g",
    "-ffreestanding",
    "-fno-sanitize=undefined",
    "-mthumb",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-nostdlib",
    "-static",
    "-Wl,--gc-sections",
    "-Wl,--entry=reset",
)


def build(name: str, *flags: str) -> Path:
    recipe = firmware.Recipe(
        name=name,
        target="thumb-freestanding-eabihf",
        mcpu="cortex_m4+vfp4d16sp",
        linker_script=FOLDER / "parts.ld",
        include=(),
        flags=(*FLAGS, *flags),
        sources=(FOLDER / "parts.c",),
    )
    return firmware.build(recipe)


@pytest.mark.parametrize(
    ("board", "flags", "rng_cycles", "bit_of_odr"),
    # A word in 40 clocks of 48 MHz at 16 MHz, in 42 at 4 MHz; the L4's ports are out of reach.
    [
        ("stm32f4-disco", (), 40 * 16 // 48, True),
        ("nucleo-l4r5zi", ("-DSTM32L4=1",), 42 * 4 // 48, False),
    ],
)
def test_each_part_does_what_its_manual_says(
    board: str, flags: tuple[str, ...], rng_cycles: int, bit_of_odr: bool
) -> None:
    elf = build(f"parts-{board}", *flags)
    done = package.Board(board).load(elf).run("1s")
    lines = dict(
        re.fullmatch(r"(.*) ([0-9a-f]{8})", line).groups()
        for line in done.console.split("\n")
        if line
    )
    assert int(lines.pop("cycles for a word"), 16) in range(rng_cycles, rng_cycles + 60)
    # One exception, of 12 cycles in and 10 out; the return's own jump is an instruction's.
    assert 12 <= int(lines.pop("events")[2:4], 16) <= 22
    # Bit i % 32 was last written with bit 0 of i // 32; a pass reads what the one before wrote.
    bits = [0] * 32
    total = 0
    for i in range(4000):
        bits[i % 32] = i >> 5 & 1
        total += bits[(i + 7) % 32]
    assert lines == {
        "pin": "00000010",
        "interrupts": "00000003",
        "bits": f"{sum(bit << n for n, bit in enumerate(bits)):08x}",
        "sum": f"{total:08x}",
        "words differ": "00000001",
        "crc": "df8a8a2b",
        **({"bit of ODR": "00000020"} if bit_of_odr else {}),
    }
    assert done.streams == {"usart1": "the other line\n", "itm": "by port 0\n"}
    # The watchdog ends the run: 32 steps of 4 clocks at 32 kHz after its last reload.
    assert done.exit_code == 1
    assert any("IWDG" in note and "resets the board" in note for note in done.notes), done.notes


def test_compiled_code_and_each_round_of_polling_loops_give_the_same() -> None:
    elf = build("parts-stm32f4-disco")
    runs = [
        package.Board("stm32f4-disco").load(elf).run("1s", **how)
        for how in ({}, {"skip_polling": False}, {"compile_after": 0}, {"compile_after": 1})
    ]
    assert all(run.cores == runs[0].cores and run.console == runs[0].console for run in runs)
