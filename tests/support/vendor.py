"""Programs like a vendor's start-up code, built without anything of ours: tests/firmware/vendor."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import ROOT

SOURCES = ROOT / "tests" / "firmware" / "vendor"
SVD = ROOT / "tests" / "svd" / "acme.svd"
_A5 = ["-target", "arm-freestanding-eabi", "-mcpu=cortex_a5"]
_M4 = ["-target", "thumb-freestanding-eabihf", "-mcpu=cortex_m4+vfp4d16sp"]
# The compiler's flags, and where the program goes.
_PROGRAMS = {
    "sama5d2": (_A5, 0x200000),
    "stm32mp157_m4": (_M4, 0x10000000),
    "acme": (_M4, 0x08000000),
}


def built(name: str, folder: Path) -> Path:
    """The ELF of a program."""
    target, base = _PROGRAMS[name]
    script = folder / f"{name}.ld"
    script.write_text((SOURCES / "program.ld").read_text().replace("BASE", hex(base)))
    flags = [
        "-Os",
        "-g",
        "-ffreestanding",
        "-fno-builtin",
        "-nostdlib",
        "-Wall",
        "-Wextra",
        "-Werror",
    ]
    elf = folder / f"{name}.elf"
    compiler = [sys.executable, "-m", "ziglang", "cc", *target, *flags]
    link = ["-Wl,--entry=reset", "-T", script, SOURCES / f"{name}.c", "-o", elf]
    subprocess.run([*compiler, *link], check=True, cwd=folder)
    return elf
