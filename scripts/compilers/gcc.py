"""Builds by arm-none-eabi-gcc: of a recipe that zig builds, and of single files."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cyclescope import resources
from cyclescope.errors import FirmwareError
from cyclescope.firmware.recipe import Recipe

GCC = "arm-none-eabi-gcc"
PACKAGES = "gcc-arm-none-eabi and libnewlib-arm-none-eabi (scripts/install-debian-packages)"
CORTEX_M4 = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")

_VERSION = re.compile(r"\b\d+\.\d+\.\d+\b")


@dataclass(frozen=True)
class Other:
    """Differences of a build by GCC to the recipe.

    `folders` replace other folders; `without` are sources that are left out;
    `flags` come last, so that they win, and `libraries` after everything else that is linked.
    """

    folders: Mapping[Path, Path] = field(default_factory=dict)
    without: Sequence[str] = ()
    flags: Sequence[str] = ()
    libraries: Sequence[str] = ("-lgcc",)

    def placed(self, path: Path) -> Path:
        """A path of the recipe, with its folder replaced."""
        for old, new in self.folders.items():
            if path.is_relative_to(old):
                return new / path.relative_to(old)
        return path


def has_newlib() -> bool:
    """Whether the compiler is installed, with newlib.

    The compiler prints the name of a missing file without a folder.
    """
    if not shutil.which(GCC):
        return False
    call = [GCC, "-print-file-name=nano.specs"]
    return "/" in subprocess.run(call, capture_output=True, text=True, check=False).stdout


def version() -> str:
    """The compiler's version, such as 12.2.1. Raises `FirmwareError` if there is no compiler."""
    if not has_newlib():
        raise FirmwareError(f"there is no {GCC} with newlib: it needs the packages {PACKAGES}")
    said = subprocess.run([GCC, "--version"], capture_output=True, text=True, check=True).stdout
    found = _VERSION.findall(said.splitlines()[0])
    if not found:
        raise FirmwareError(f"{GCC} --version prints no version: {said.splitlines()[0]}")
    return found[-1]


def build(recipe: Recipe, other: Other, output: Path) -> None:
    """Build a recipe for a Cortex-M4. Raises `FirmwareError` with GCC's messages."""
    run(
        [
            *CORTEX_M4,
            *(flag for flag in recipe.flags if not _is_of_clang(flag)),
            *(
                f"-{'isystem' if recipe.is_foreign(folder) else 'I'}{other.placed(folder)}"
                for folder in recipe.include
            ),
            *other.flags,
            *(
                str(other.placed(source))
                for source in recipe.sources
                if not str(source).endswith(tuple(other.without))
            ),
            f"-Wl,-T,{recipe.linker_script}",
            *other.libraries,
        ],
        output,
    )


def _is_of_clang(flag: str) -> bool:
    """Whether GCC lacks a flag, or makes errors with it of code that Clang accepts silently."""
    return flag.startswith(("-W", "-fno-sanitize")) and not flag.startswith("-Wl,")


def run(arguments: Iterable[str | Path], output: Path) -> None:
    """Compile and link. Raises `FirmwareError` with GCC's messages."""
    command = [GCC, *arguments, "-o", output]
    # the same folder as for zig: linker scripts name others relative to it
    place = resources.firmware().resolve()
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=place)
    if done.returncode != 0:
        raise FirmwareError(f"{output.stem}: {GCC} does not build it:\n{done.stderr}")
