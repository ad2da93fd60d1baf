"""Optional programs of the host: their purposes, paths and versions."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

_SBIN = ("/usr/sbin", "/sbin")  # where Debian has fsck.fat and a user's PATH does not look
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+~-]*")
_LONGEST_S = 20


@dataclass(frozen=True)
class Program:
    """A program: its purpose, its package, and the option that prints its version.

    `package` is Debian's; `elsewhere` is another way to get it, if it is not in a package.
    """

    name: str
    use: str
    package: str | None = None
    elsewhere: str | None = None
    arguments: tuple[str, ...] = ("--version",)

    @property
    def remedy(self) -> str:
        """The command or the place to install it."""
        if self.package is None:
            return self.elsewhere or ""
        return f"apt install {self.package}"


_SPEED = "the reference of `make speed`"
_CARDS = "a second check of what firmware writes to a card"
_REPORT = "tests of the report in a browser"
# All optional programs: those of scripts/install-debian-packages, and tools for firmware.
OPTIONAL = (
    Program("git", "a checkout, for changes to Cyclescope", "git"),
    Program("make", "a build from source", "make"),
    Program(
        "cargo",
        "a build from source, and the sources of FreeRTOS and FatFs for the experiments' firmware",
        elsewhere="https://rustup.rs",
    ),
    Program("arm-none-eabi-gcc", "programs for Arm cores of your own", "gcc-arm-none-eabi"),
    Program("gdb-multiarch", "`cyclescope debug`, on all cores", "gdb-multiarch"),
    Program("sigrok-cli", "decodes the waveforms that `run --vcd` writes", "sigrok-cli"),
    Program("fsck.fat", _CARDS, "dosfstools", arguments=("--help",)),
    Program("mcopy", _CARDS, "mtools"),
    Program("qemu-system-riscv32", _SPEED, "qemu-system-misc"),
    Program("qemu-system-arm", _SPEED, "qemu-system-arm"),
    Program("qemu-system-mipsel", _SPEED, "qemu-system-mips"),
    Program("chromium", _REPORT, "chromium"),
    Program("chromedriver", _REPORT, "chromium-driver"),
    Program("strace", "tests of the files that a run opens", "strace"),
)


def find(name: str) -> str | None:
    """The path of a program; None if it is not installed."""
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), *_SBIN)))


def version(program: Program, path: str) -> str:
    """A program's version, from its output; empty if it prints none."""
    try:
        done = subprocess.run(
            [path, *program.arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_LONGEST_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search(done.stdout.decode(errors="replace"))
    return found[0] if found else ""
