"""`cyclescope disassemble`: code as text, in the instruction set that the ELF names."""

from __future__ import annotations

import re
from pathlib import Path

import hosted
import pytest
from conftest import Command
from elf32 import DDR, EXIT_0, Segment, executable
from elf_files import loaded, symbols

from cyclescope import _engine
from cyclescope.errors import EngineError
from cyclescope.statuses import Status

LINE = re.compile(r"([0-9a-f]{8}):  ([0-9a-f]{2,8}) +(\S.*)")
# the first instruction of a function that calls others
FIRST_INSTRUCTIONS = {
    "minimal-rv32": r"addi sp, sp, -\d+",
    "minimal-armv7a": r"push \{.*lr\}",
    "minimal-armv7m": r"push(\.w)? \{.*lr\}",
    "minimal-mips32": r"addiu \$sp, \$sp, -0x\w+",
}


@pytest.mark.parametrize("board", hosted.BOARDS)
def test_a_function_is_shown_with_addresses_encodings_and_targets(
    board: str, cyclescope: Command
) -> None:
    elf = hosted.built(board)
    done = cyclescope("disassemble", elf, "main")
    assert done.status == 0, done.stderr
    head, *lines = done.stdout.splitlines()
    address = symbols(elf)["main"] & ~1
    assert head == f"{address:08x} <main>:"
    assert re.search(FIRST_INSTRUCTIONS[board], "\n".join(lines[:3]))
    assert re.search(r"  <\w+>$", done.stdout, re.MULTILINE), "a call names its function"
    for line in lines:
        found = LINE.fullmatch(line)
        assert found, line
        length = len(found[2]) // 2
        assert int(found[1], 16) == address
        code = loaded(elf, address, address + length)
        halves = [code] if length == 2 or "armv7m" not in board else [code[:2], code[2:]]
        assert "".join(half[::-1].hex() for half in halves) == found[2]
        address += length
    assert cyclescope("disassemble", elf, f"{address - 1:#x}").stdout == done.stdout


@pytest.mark.parametrize("board", hosted.BOARDS)
def test_all_code_is_shown(board: str, cyclescope: Command) -> None:
    elf = hosted.built(board)
    rows = _engine.listing(elf.read_bytes())
    lines = cyclescope("disassemble", elf).stdout.splitlines()
    assert len(lines) == len(rows) + sum(len(row[5]) for row in rows)
    # words between code, and filler that is never executed
    assert sum(row[3].startswith(".") for row in rows) < len(rows) / 10


def test_a_missing_function_address_or_file_is_one_line(
    cyclescope: Command, tmp_path: Path
) -> None:
    elf = hosted.built("minimal-armv7a")
    rows = _engine.listing(elf.read_bytes())
    begin, end = rows[0][0], max(row[0] + row[2] for row in rows)
    for place, message in [
        ("mian", "function mian; did you mean 'main'?"),
        ("zzzzz", "function zzzzz; without names all functions are shown"),
        ("z" * 10_000, "z; without names all functions are shown"),
        ("80000012", "function 80000012; to give an address, write 0x80000012"),
        ("0x3", f"code at 0x3; its code is at {begin:#010x} to {end:#010x}"),
        ("0xx", "function 0xx; without names all functions are shown"),
    ]:
        done = cyclescope("disassemble", elf, place)
        assert done.status == Status.USAGE
        assert message in done.error
    for name, data, message in [
        ("text", b"#!/bin/sh", "not an ELF file"),
        ("x86", executable(Segment(DDR, EXIT_0), machine=3), "built for x86"),
        ("bare", executable(Segment(DDR, EXIT_0)), "no sections with code"),
    ]:
        (tmp_path / name).write_bytes(data)
        done = cyclescope("disassemble", tmp_path / name)
        assert done.status == Status.USAGE
        assert message in done.error
        assert len(done.error.splitlines()) == 1


@pytest.mark.parametrize(
    ("instruction_set", "encoding", "text"),
    [
        ("riscv", 0x8082, "ret"),
        ("riscv-no-aliases", 0x8082, "jalr zero, 0(ra)"),
        ("a32", 0xE59FC008, "ldr r12, [pc, #8]"),
        ("t32", 0xF3BF8F6F, "isb sy"),
        ("t32-m", 0xF3EF8010, "mrs r0, primask"),
        ("mips", 0x8D280004, "lw $t0, 4($t1)"),
        ("mips", 0xFFFFFFFF, ".word 0xffffffff"),
    ],
)
def test_an_encoding_has_a_text(instruction_set: str, encoding: int, text: str) -> None:
    assert _engine.disassemble(encoding, 0x1000, instruction_set) == text  # type: ignore[arg-type]


def test_an_unknown_instruction_set_is_refused() -> None:
    with pytest.raises(EngineError, match="no instruction set 'x86'"):
        _engine.disassemble(0, 0, "x86")  # type: ignore[arg-type]
