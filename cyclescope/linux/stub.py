"""The code that starts the kernel: `firmware/boot/linux.S`, and the table that follows it."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from cyclescope import resources

Write = tuple[int, int]

_FLAGS = ("-Wall", "-Werror", "-nostdlib", "-static")


def stub(kernel_at: int, devicetree_at: int, writes: Iterable[Write]) -> bytes:
    """The stub for a kernel and a devicetree at these addresses; it first makes the writes.

    A write is a register's address and its value. Raises `FirmwareError` if it can't be built.
    """
    words = [kernel_at, devicetree_at, *(word for write in writes for word in write), 0, 0]
    return _code() + struct.pack(f"<{len(words)}I", *words)


def _code() -> bytes:
    from elftools.elf.elffile import ELFFile

    from cyclescope import firmware
    from cyclescope.firmware.recipe import build

    folder = resources.firmware() / "boot"
    recipe = firmware.Recipe(
        name="linux-stub",
        target="arm-freestanding-eabi",
        mcpu="cortex_a7+strict_align",
        linker_script=folder / "linux.ld",
        include=(),
        flags=_FLAGS,
        sources=(folder / "linux.S",),
    )
    with build(recipe).open("rb") as file:
        section = ELFFile(file).get_section_by_name(".text")
        assert section is not None  # the linker script names it
        return bytes(section.data())
