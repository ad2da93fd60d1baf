"""The installed GDBs, and the choice of one for a core."""

from __future__ import annotations

import shutil
import subprocess

# GDB's names of architectures, and the debuggers of toolchains for one architecture.
_OWN = {
    "riscv": ("riscv:rv32", ("riscv32-unknown-elf-gdb", "riscv64-unknown-elf-gdb")),
    "arm": ("arm", ("arm-none-eabi-gdb",)),
    "mips": ("mips", ("mipsel-linux-gnu-gdb", "mips-elf-gdb")),
}
# Debian's `gdb` supports only the host's architecture, other builds support all.
_ALL = ("gdb-multiarch", "gdb")
_CHECK_S = 20


def find(isa: str) -> str | None:
    """The path of a GDB for an instruction set ("riscv", "arm" or "mips"); None without one."""
    architecture, own = _OWN[isa]
    paths = (path for name in (_ALL[0], *own, _ALL[1]) if (path := shutil.which(name)))
    return next((path for path in paths if _knows(path, architecture)), None)


def _knows(path: str, architecture: str) -> bool:
    command = [path, "--batch", "-nx", "-ex", f"set architecture {architecture}"]
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_CHECK_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b"ndefined item" not in done.stderr
