"""Files that can be run, and their core: ELF, Intel HEX, S-records, UF2, plain bytes."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import bincopy
import elf_files
import pytest
import vendor
from conftest import Command

import cyclescope as package

BOARD = "stm32mp157c-dk2"


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return vendor.built("stm32mp157_m4", tmp_path_factory.mktemp("m4"))


def contents(elf: Path) -> tuple[int, bytes]:
    """The program's address and its bytes."""
    file = bincopy.BinFile()
    file.add_elf_file(elf)
    return file.minimum_address, bytes(file.as_binary())


def uf2(base: int, data: bytes) -> bytes:
    """A UF2 file of `data`, with a block at its end that is not for flash."""
    pieces = [data[at : at + 256].ljust(256, b"\0") for at in range(0, len(data), 256)]
    blocks = [
        struct.pack("<8I", 0x0A324655, 0x9E5D5157, flags, addr, 256, number, len(pieces), 0)
        + piece.ljust(476, b"\0")
        + struct.pack("<I", 0x0AB16F30)
        for number, (flags, addr, piece) in enumerate(
            [
                *((0, base + 256 * index, piece) for index, piece in enumerate(pieces)),
                (1, 0xFFFFFF00, b"\xff" * 256),
            ]
        )
    ]
    return b"".join(blocks)


def formats(elf: Path) -> dict[str, bytes]:
    base, data = contents(elf)
    file = bincopy.BinFile()
    file.add_binary(data, base)
    return {
        "hex": file.as_ihex().encode(),
        "srec": file.as_srec().encode(),
        "uf2": uf2(base, data),
        "bin": data,
    }


@pytest.mark.parametrize("kind", ["hex", "srec", "uf2", "bin"])
def test_each_format_runs_as_the_elf_does(elf: Path, tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"program.{kind}"
    file.write_bytes(formats(elf)[kind])
    base = contents(elf)[0] if kind == "bin" else None
    board = package.Board(BOARD, unmapped="warn")
    done = board.load(file, base=base, core="cm4").run("1s")
    expected = package.Board(BOARD, unmapped="warn").load(elf).run("1s")
    assert (done.outcome, done.console) == ("exit", "main: no conversion\n")
    assert (done.elapsed_ps, done.cores) == (expected.elapsed_ps, expected.cores)


def test_an_m_program_runs_alone_on_the_boards_m_core(elf: Path, cyclescope: Command) -> None:
    by_itself, named = (
        cyclescope("run", elf, "--board", BOARD, "--unmapped", "warn", *core)
        for core in ([], ["--core", "cm4"])
    )
    message = "note: the program is for cm4, which runs alone: cpu0 stays in reset"
    assert message in by_itself.stderr
    assert by_itself.status == named.status == 0
    assert "held in reset" in by_itself.stdout


@pytest.mark.parametrize(
    ("board", "core", "message"),
    [
        (BOARD, ["--core", "cpu0"], "built for Cortex-M, and cpu0 is not; --core cm4 is one"),
        # as the program for a Cortex-A below
        pytest.param(
            "sama5d2-xplained",
            [],
            "built for Cortex-M, and cpu0 is not; the board has no such core",
            marks=pytest.mark.long,
        ),
        (BOARD, ["--core", "cm7"], "the board has no core cm7; it has cpu0, cm4"),
        ("kc705-axi-quad-spi", [], "built for Arm; the board's core is RISC-V"),
    ],
)
def test_a_core_that_it_is_not_for_is_refused(
    elf: Path, cyclescope: Command, board: str, core: list[str], message: str
) -> None:
    done = cyclescope("run", elf, "--board", board, *core)
    assert done.status != 0
    assert message in done.error


def test_an_a_program_is_refused_by_a_board_with_an_m_core(
    cyclescope: Command, tmp_path: Path
) -> None:
    done = cyclescope("run", vendor.built("sama5d2", tmp_path), "--board", "minimal-armv7m")
    assert "built for Cortex-A, and cpu0 is not; the board has no such core" in done.error


def test_without_headers_the_first_core_is_taken_and_reported(elf: Path, tmp_path: Path) -> None:
    file = tmp_path / "program.hex"
    file.write_bytes(formats(elf)["hex"])
    done = package.Board(BOARD).load(file).run("1us")
    assert any("which of cpu0, cm4 it is: cpu0 runs it (--core)" in note for note in done.notes)


EXIT_RV32 = """
    .globl _start
_start:
    li a0, 0x18
    li a1, 0x20026
    .balign 16
    .option push
    .option norvc
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
    .option pop
"""


# As GNU ld's default layout: the first segment begins with the headers, a page before the code;
# and headers in a segment of their own.
WITH_CODE = "PHDRS { all PT_LOAD FILEHDR PHDRS; } SECTIONS { .text 0x80000000 : { *(.text) } :all }"
ALONE = """
PHDRS { headers PT_LOAD FILEHDR PHDRS; code PT_LOAD; }
SECTIONS {
    . = 0x10000 + SIZEOF_HEADERS;
    .text 0x80000000 : { *(.text) } :code
}
"""


@pytest.mark.parametrize("script", [WITH_CODE, ALONE])
def test_elf_headers_need_no_memory(script: str, cyclescope: Command, tmp_path: Path) -> None:
    (tmp_path / "exit.S").write_text(EXIT_RV32)
    (tmp_path / "exit.ld").write_text(script)
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "riscv32-freestanding"]
    flags = ["-mcpu=generic_rv32+m+c", "-nostdlib", "-T", "exit.ld", "exit.S", "-o", "exit.elf"]
    subprocess.run([*command, *flags], check=True, cwd=tmp_path)
    lowest = min(segment.start for segment in elf_files.segments(tmp_path / "exit.elf"))
    assert lowest < 0x80000000
    done = cyclescope("run", "exit.elf", "--board", "minimal-rv32")
    assert done.status == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "data", "arguments", "message"),
    [
        ("a.hex", b":10000000", [], "a.hex:"),
        ("a.hex", b":00000001FF\n", [], "it has no data"),
        ("a.hex", b":020000040000FA\n:0300000001020", [], "a.hex:"),
        ("a.srec", b"S1130000", [], "a.srec:"),
        ("a.uf2", b"UF2\n", [], "blocks of 512 bytes; this one is cut off"),
        ("a.uf2", b"UF2\n" + bytes(508), [], "block 0 is not a valid UF2 block"),
        ("a.bin", b"\x01\x02", [], "not an ELF file (Intel HEX, S-record and UF2 files run, too"),
        ("a.bin", b"", ["--base", "0"], "the file is empty"),
        ("a.bin", b"12", ["--base", "0xffffffff"], "its 2 bytes end beyond 4 GiB"),
        ("a.bin", b"12", ["--base", "-1"], "--base -1: expected an address"),
        ("a.bin", b"12", ["--base", "0x50000000"], "lies outside the board's memory"),
        ("a.elf", b"\x7fELF", ["--base", "0"], "an ELF file takes no --base"),
    ],
)
def test_damaged_files_are_one_line(
    cyclescope: Command, tmp_path: Path, name: str, data: bytes, arguments: list[str], message: str
) -> None:
    (tmp_path / name).write_bytes(data)
    done = cyclescope("run", name, "--board", "minimal-armv7m", *arguments)
    assert done.status != 0
    assert message in done.error


def test_the_start_of_an_intel_hex_file_may_be_a_segment_and_an_offset(tmp_path: Path) -> None:
    """As objcopy has it for an entry below 1 MiB: 0x1000:0x0004 is 0x10004."""
    file = bincopy.BinFile()
    file.add_binary(bytes(16), 0x10000)
    text = file.as_ihex().replace(":00000001FF", ":0400000310000004E5\n:00000001FF")
    from cyclescope.board.setup.programs import read_program

    (tmp_path / "a.hex").write_text(text)
    assert read_program(tmp_path / "a.hex").entry == 0x10004
