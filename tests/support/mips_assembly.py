"""Programs in MIPS32 assembly, without a board's runtime: linked to 0x80000000, vectors first."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT

from cyclescope import firmware

PROGRAMS = ROOT / "tests" / "firmware" / "mips"


def built(name: str) -> Path:
    """The ELF of a program of tests/firmware/mips."""
    recipe = firmware.Recipe(
        name=name,
        target="mipsel-freestanding-eabi",
        mcpu="mips32+soft_float+noabicalls",
        linker_script=PROGRAMS / "ram.ld",
        include=(),
        flags=("-nostdlib", "-static", "-Wl,-e,_start", "-Wl,-z,max-page-size=4096"),
        sources=(PROGRAMS / f"{name}.S",),
    )
    return firmware.build(recipe)
