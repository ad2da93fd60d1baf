"""Firmware in an initramfs for a core that Linux starts (remoteproc), so that it has names."""

from __future__ import annotations

from collections.abc import Iterator

from cyclescope.linux import initramfs
from cyclescope.linux.boards import LinuxBoard
from cyclescope.linux.kallsyms import KernelSymbol

# Where request_firmware() of Linux looks.
_FOLDER = "lib/firmware/"
_ELF = b"\x7fELF"


def carried(initrd: bytes, address: int, board: LinuxBoard) -> Iterator[KernelSymbol]:
    """The symbols at the ends of a core's ELF in an initrd at an address.

    The engine takes the names of the core's functions from there. An initrd that is compressed, or
    has several such files, gives no symbols.
    """
    core = board.remote_core
    found = [
        (at, size)
        for path, at, size in initramfs.files_in(initrd)
        if path.startswith(_FOLDER) and initrd[at : at + len(_ELF)] == _ELF
    ]
    if core is None or len(found) != 1:
        return
    ((at, size),) = found
    yield KernelSymbol(address + at, 0, f"{core}_firmware_start")
    yield KernelSymbol(address + at + size, 0, f"{core}_firmware_end")
