"""Where a Cortex-M4 starts, and programs that take several RAMs in a row for one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import bincopy
import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope.board.fitting import parts_of
from cyclescope.board.programs import read_program

FOLDER = ROOT / "tests" / "firmware" / "stm32"
FLASH = 0x0800_0000
FLAGS = (
    *("-target", "thumb-freestanding-eabihf", "-mcpu=cortex_m4+vfp4d16sp", "-std=c11", "-O1"),
    *(
        "-g",
        "-ffreestanding",
        "-Wl,--entry=reset",
        "-fno-sanitize=undefined",
        "-fno-builtin",
        "-nostdlib",
        "-static",
    ),
    *("-Wall", "-Wextra", "-Werror"),
)
Build = Callable[..., Path]
# Where one RAM ends and the next begins, and the begin and bytes of all of them.
SEAMS = [
    ("stm32f4-disco", FLASH, 0x2001_C000, 0x2000_0000, 0x20000, ("-DSTM32F4=1",)),
    ("nucleo-l4r5zi", FLASH, 0x2003_0000, 0x2000_0000, 0xA0000, ("-DSTM32L4=1",)),
    ("nucleo-l4r5zi", FLASH, 0x2004_0000, 0x2000_0000, 0xA0000, ("-DSTM32L4=1",)),
    ("stm32mp157c-dk2", 0, 0x1002_0000, 0x1000_0000, 0x60000, ()),
    ("stm32mp157c-dk2", 0, 0x3005_0000, 0x3000_0000, 0x60000, ()),
]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    def built(
        *flags: str, code: int = FLASH, seam: int = 0, ram: int = 0x2000_0000, size: int = 0x10000
    ) -> Path:
        script, elf = tmp_path / "start.ld", tmp_path / "start.elf"
        text = (FOLDER / "start.ld").read_text()
        places = {"CODE_BASE": code, "RAM_BASE": ram, "RAM_BYTES": size}
        for name, value in places.items():
            text = text.replace(name, hex(value))
        loaded = seam and not any(flag.startswith("-DLARGE") for flag in flags)
        lines = [line for line in text.split("\n") if loaded or ".seam" not in line]
        script.write_text("\n".join(lines).replace("SEAM_BASE", hex(seam)))
        seams = [f"-DSEAM={seam:#x}"] if seam else []
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, *seams, *flags]
        subprocess.run([*command, "-T", script, FOLDER / "start.c", "-o", elf], check=True)
        return elf

    return built


def records_of(elf: Path) -> bincopy.BinFile:
    """What a program puts in memory."""
    records = bincopy.BinFile()
    for address, data in parts_of(read_program(elf)):
        records.add_binary(data, address)
    return records


@pytest.mark.parametrize(("board", "code", "seam", "ram", "size", "flags"), SEAMS)
def test_a_program_may_lie_over_two_memories(
    build: Build, board: str, code: int, seam: int, ram: int, size: int, flags: tuple[str, ...]
) -> None:
    right = "reset handler ran\nover a seam\n"
    large = seam - ram + 0x2000
    cleared = build(f"-DLARGE_BYTES={large}", *flags, code=code, seam=seam, ram=ram, size=size)
    done = package.Board(board).load(cleared).run("1s")
    assert (done.exit_code, done.console) == (0, right), done.message
    elf = build(*flags, code=code, seam=seam, ram=ram, size=size)
    done = package.Board(board).load(elf).run("1s")
    assert (done.exit_code, done.console) == (0, right), done.message
    # The same in records of both kinds.
    core = None if code else "cm4"
    records = records_of(elf)
    for text in (records.as_ihex(), records.as_srec()):
        done = package.Board(board).load(text.encode(), core=core).run("1s")
        assert (done.exit_code, done.console) == (0, right), done.message


def test_a_core_starts_at_its_reset_vector_whatever_the_file_says(build: Build) -> None:
    elf = build("-Wl,--entry=main")
    board = package.Board("stm32f4-disco")
    done = board.load(elf).run("1s")
    assert (done.exit_code, done.console) == (0, "reset handler ran\n"), done.message
    (note,) = done.notes
    assert "it starts at its reset vector, 0x0800" in note
    assert "(reset), as the chip does, and not at the file's entry point, 0x0800" in note
    assert note.endswith("(main)")
    main = next(at for at, _, name in board.functions("cpu0") if name == "main")
    records = records_of(elf)
    records.execution_start_address = main | 1
    for text in (records.as_ihex(), records.as_srec()):
        done = board.load(text.encode()).run("1s")
        assert done.console == "reset handler ran\n", done.message
        assert done.notes[0].endswith(f"and not at the file's entry point, {main | 1:#010x}")
    # A debugger may start it elsewhere: main finds no FPU.
    done = board.load(bytes(records.as_binary()), base=FLASH, entry=main).run("1s")
    assert "CFSR: INVSTATE NOCP" in done.message
    assert f"it starts at {main:#010x} as asked for (--entry)" in done.notes[0]


def test_a_program_behind_a_bootloader_starts_with_its_own_table(build: Build) -> None:
    elf = build("-Wl,--entry=main", code=FLASH + 0x8000)
    done = package.Board("stm32f4-disco").load(elf).run("1s")
    assert (done.exit_code, done.console) == (0, "reset handler ran\n"), done.message
    assert (
        "starts with the vector table at 0x08008000, where the program was linked to"
        in done.notes[0]
    )
    assert done.notes[0].endswith("the chip alone starts with that at 0x00000000")
    # What another table says is not looked at where the chip has one.
    bare = package.Board("stm32f4-disco").load(bytes(16), base=FLASH).run("1s")
    assert "0x00000000, SP 0x00000000 and PC 0x00000000, as the chip does: " in bare.notes[0]
