"""A program that others built: Debian's arm-none-eabi-gcc, newlib, its own start-up and drivers."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Command
from gcc import CORTEX_M4, GCC, PACKAGES, has_newlib

BOARD = "sama5d2-xplained"
PROGRAM = ROOT / "tests" / "firmware" / "arm_gcc"
CORTEX_A5 = ["-mcpu=cortex-a5", "-mfpu=vfpv4-d16", "-mfloat-abi=hard"]
DISCOVERY = "stm32f4-disco"
UNDEFINED = {"marm": "0xe7f000f0", "mthumb": "0xf7f0a000"}


pytestmark = pytest.mark.skipif(not has_newlib(), reason=f"needs the packages {PACKAGES}")


def built(folder: Path, isa: str) -> Path:
    elf = folder / f"{isa}.elf"
    newlib = ["--specs=nano.specs", "--specs=nosys.specs", "-u", "_printf_float", "-lm"]
    link = ["-nostartfiles", "-T", PROGRAM / "sram.ld", "-Wl,--gc-sections"]
    sources = [PROGRAM / "start.S", PROGRAM / "main.c"]
    warnings = ["-Wall", "-Wextra", "-Werror"]
    command = [GCC, *CORTEX_A5, f"-{isa}", "-O2", "-g", *warnings, *sources, *newlib, *link]
    subprocess.run([*command, "-o", elf], check=True, cwd=folder)
    return elf


def expected_console() -> list[str]:
    """The output after the line with the compiler's version: the results of main.c."""
    values, state = [], 1
    for _ in range(16):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state % 1000)
    distance = math.dist([0.5 * i for i in range(64)], [(64 - i) / 4 for i in range(64)])
    return [
        f"pi {math.pi:.12f}, distance {distance:.4f}",
        "cycles plausible",
        f"least {min(values)}, greatest {max(values)}, "
        f"quotient {0x123456789ABCDEF // 1000000007} eabi",
        "svc 42, undefined 1",
    ]


@pytest.mark.parametrize("isa", ["marm", "mthumb"])
def test_a_program_built_by_gcc_runs(cyclescope: Command, tmp_path: Path, isa: str) -> None:
    finished = cyclescope("run", built(tmp_path, isa), "--board", BOARD)
    assert finished.status == 0, finished.stderr
    first, *others = finished.stdout.splitlines()
    assert first.startswith({"marm": "A32, GCC ", "mthumb": "T32, GCC "}[isa])
    assert others[:4] == expected_console()
    # the one thing that it does on purpose
    (note,) = finished.stderr.splitlines()
    assert f"undefined instruction {UNDEFINED[isa]}" in note
    assert "(main+0x" in note
    assert "main.c:" in note


def test_newlib_prints_on_the_port_of_a_discovery(cyclescope: Command, tmp_path: Path) -> None:
    elf = tmp_path / "program.elf"
    sources = [PROGRAM / "stm32f407_start.c", PROGRAM / "stm32f407.c"]
    script = PROGRAM / "stm32f407.ld"
    newlib = ["--specs=nano.specs", "--specs=nosys.specs", "-u", "_printf_float", "-lm"]
    options = ["-O2", "-g", "-nostartfiles", "-T", script, "-Wl,--gc-sections,--no-warnings"]
    subprocess.run([GCC, *CORTEX_M4, *sources, *newlib, *options, "-o", elf], check=True)
    done = cyclescope("run", elf, "--board", DISCOVERY, "--exit-status", "firmware")
    total = sum(math.sqrt(number) for number in range(1, 1000))
    assert done.status == 7, done.stderr
    assert done.stdout.startswith(f"data 42, sum of roots {total:.1f}\n")
    assert done.stderr == ""

    forgotten = cyclescope("run", elf)
    assert f"fits {DISCOVERY}, " in forgotten.error
