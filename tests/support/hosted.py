"""A program whose arguments choose calls to the host, for a board of each instruction set."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT

from cyclescope import firmware

PROGRAM = ROOT / "tests" / "firmware" / "semihosting"

# compiler's target and CPU, linker script, interface
_BOARDS = {
    "minimal-rv32": (
        ("riscv32-freestanding", "generic_rv32+m+c+zicsr+zifencei", "ram.ld", "semihosting"),
        (),
    ),
    "minimal-armv7a": (
        ("arm-freestanding-eabi", "cortex_a5+strict_align", "ram.ld", "semihosting"),
        ("-marm",),
    ),
    "minimal-armv7m": (
        ("thumb-freestanding-eabi", "cortex_m4+soft_float", "vectors_at_0.ld", "semihosting"),
        ("-mthumb",),
    ),
    "minimal-mips32": (
        ("mipsel-freestanding-eabi", "mips32+soft_float+noabicalls", "ram.ld", "uhi"),
        ("-fno-pic",),
    ),
}
BOARDS = tuple(_BOARDS)
# those with Arm's operations
ARM_OPERATIONS = BOARDS[:3]
MIPS = BOARDS[3]


def built(board: str) -> Path:
    """The program's ELF for a board of `BOARDS`."""
    (target, mcpu, script, interface), flags = _BOARDS[board]
    sources = [PROGRAM / "start.S", PROGRAM / "commands.c", PROGRAM / f"{interface}.c"]
    recipe = firmware.Recipe(
        name="hosted",
        target=target,
        mcpu=mcpu,
        linker_script=PROGRAM / script,
        include=(PROGRAM,),
        flags=(
            "-std=c11",
            "-Os",
            "-g",
            "-ffreestanding",
            "-fno-sanitize=undefined",
            "-fno-builtin",
            "-Wall",
            "-Wextra",
            "-Wno-int-to-pointer-cast",
            "-Wno-unused-command-line-argument",
            "-nostdlib",
            "-static",
            "-Wl,-e,_start",
            "-Wl,-z,max-page-size=4096",
            *flags,
        ),
        sources=tuple(sources),
    )
    return firmware.build(recipe)
