"""The program of docs/examples that samples by interrupts and stores pages in SPI flash."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from conftest import ROOT
from test_tutorials import environment

SOURCE = ROOT / "docs" / "examples" / "logger.c"
OPTIONS = "-target riscv32-freestanding -mcpu=generic_rv32+m+c+zicsr -O2 -g -ffreestanding"
OPTIONS += " -fno-builtin -nostdlib -Wl,--image-base=0x80000000"


def build(folder: Path) -> Path:
    """Its ELF, for the KC705, with the source beside it."""
    shutil.copy(SOURCE, folder)
    command = [sys.executable, "-m", "ziglang", "cc", *OPTIONS.split(), "logger.c"]
    subprocess.run([*command, "-o", "logger.elf"], cwd=folder, env=environment(), check=True)
    return folder / "logger.elf"
