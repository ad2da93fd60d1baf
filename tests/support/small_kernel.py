"""The small kernel of tests/firmware/linux, as an Image and as a zImage."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT
from elftools.elf.elffile import ELFFile

from cyclescope import firmware

_FOLDER = ROOT / "tests" / "firmware" / "linux"
FORMS = ("Image", "zImage")


def small_kernel(form: str, folder: Path) -> Path:
    """The kernel in one of `FORMS`, as a file in a folder."""
    recipe = firmware.Recipe(
        name=f"small-{form}",
        target="arm-freestanding-eabi",
        mcpu="cortex_a7+strict_align",
        linker_script=_FOLDER / "kernel.ld",
        include=(),
        flags=(
            "-std=c11",
            "-O1",
            "-ffreestanding",
            "-fno-sanitize=undefined",
            "-fno-builtin",
            "-marm",
            "-fropi",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-nostdlib",
            "-static",
            *(["-DZIMAGE"] if form == "zImage" else []),
        ),
        sources=(_FOLDER / "kernel.S", _FOLDER / "kernel.c"),
    )
    with firmware.build(recipe).open("rb") as file:
        section = ELFFile(file).get_section_by_name(".text")
        assert section is not None
        path = folder / form
        path.write_bytes(section.data())
    return path
