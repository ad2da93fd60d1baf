"""`cyclescope annotate`: lines and instructions of a function with what they cost."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import BOARD, ROOT, Command
from elf_files import words
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import FILES, NAMES, any_core
from test_tutorials import environment
from tiers import sized

from cyclescope import _engine
from cyclescope.board import Board
from cyclescope.cli.commands.annotate import source_lines
from cyclescope.cli.tables import annotated as annotated_text
from cyclescope.profile.annotation import Code, annotate
from cyclescope.profile.callgrind import callgrind
from cyclescope.profile.model import CoreProfile
from cyclescope.profile.pprof import pprof
from cyclescope.report.annotate import annotate_page
from cyclescope.report.flame import flame_page
from cyclescope.statuses import Status

SOURCE = ROOT / "docs" / "examples" / "copy.c"
OPTIONS = "-target riscv32-freestanding -mcpu=generic_rv32+m+c -O2 -g -ffreestanding -fno-builtin"
OPTIONS += " -nostdlib -Wl,--image-base=0x80000000"
ALLOCATED = 2  # SHF_ALLOC
CYCLES = 1_230_094


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The README's program, and its source beside it."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copy(SOURCE, folder)
    command = [sys.executable, "-m", "ziglang", "cc", *OPTIONS.split(), "copy.c", "-o", "copy.elf"]
    subprocess.run(command, cwd=folder, env=environment(), check=True)
    return folder / "copy.elf"


def stripped(elf: Path, keeps_symbols: bool) -> bytes:
    """An ELF without debug information, and without symbols if these are not kept."""
    data = bytearray(elf.read_bytes())
    kept = {".shstrtab", *({".symtab", ".strtab"} if keeps_symbols else ())}
    for name, at, _ in not_loaded(data):
        if name not in kept:
            struct.pack_into("<I", data, at + 4, 0)  # sh_type
            struct.pack_into("<I", data, at + 20, 0)  # sh_size
    return bytes(data)


def not_loaded(data: bytes | bytearray) -> Iterator[tuple[str, int, range]]:
    """Sections that are not loaded: their names, where their headers are, and their contents."""
    (table,) = words(data, 32, 1)
    size, count, names = struct.unpack_from("<3H", data, 46)
    strings = words(data, table + names * size, 10)[4]
    for number in range(count):
        at = table + number * size
        header = words(data, at, 10)
        begin = strings + header[0]
        name = data[begin : data.index(b"\0", begin)].decode()
        if not header[2] & ALLOCATED:
            yield name, at, range(header[4], header[4] + header[5])


def test_lines_and_instructions(copy: Path, cyclescope: Command) -> None:
    done = cyclescope("annotate", copy, "copy", "--board", BOARD)
    assert (done.status, done.stderr) == (Status.SUCCESS, "")
    head, *lines = done.stdout.splitlines()
    assert head == (
        f"cpu0: copy at {copy.parent}/copy.c:7: 1,230,003 cycles in 1 call, 100.0 % of all; "
        "81,934 instructions, CPI 15.01"
    )
    store = next(line for line in lines if "to[i] = from[i];" in line)
    assert re.fullmatch(
        " +1,147,946  93.3 % +32,768 +35.03  store: ddr 59 % +9 \\|         to\\[i\\] .*", store
    )
    shown = "\n".join(lines).split("instructions\n")[1]
    cycles = [
        line.split()[0] for line in shown.splitlines() if re.search("  8[0-9a-f]{7}:  ", line)
    ]
    assert sum(int(number.replace(",", "")) for number in cycles) == 1_230_003
    assert re.search(
        "689,194  56.0 % +16,384 +42.07  load: ddr 64 % +800011a0:  4114 +lw a3", shown
    )
    assert re.search("bne a0, a2, 0x800011a0  <copy\\+0x1c>$", shown, re.MULTILINE)


def test_an_address_means_its_function(copy: Path, cyclescope: Command) -> None:
    named = cyclescope("annotate", copy, "copy", "--board", BOARD)
    assert cyclescope("annotate", copy, "0x800011a8", "--board", BOARD).stdout == named.stdout


def test_padding_before_the_next_function_is_not_shown(cyclescope: Command, tmp_path: Path) -> None:
    """Line tables have it, and no function: it would be a block without a name."""
    shutil.copy(SOURCE, tmp_path)
    how = [*OPTIONS.split(), "-falign-functions=64", "copy.c", "-o", "copy.elf"]
    command = [sys.executable, "-m", "ziglang", "cc", *how]
    subprocess.run(command, cwd=tmp_path, env=environment(), check=True)
    elf = tmp_path / "copy.elf"
    assert re.search("nop$", cyclescope("disassemble", elf).stdout, re.MULTILINE)
    lines = cyclescope("annotate", elf, "copy", "--board", BOARD).stdout.splitlines()
    blocks = [line.partition("copy.c: ")[2] for line in lines[1:] if "copy.c: " in line]
    assert blocks == ["copy"]
    assert lines[-1].endswith("8082      ret")


def test_missing_sources_are_noted_and_looked_for(
    copy: Path, cyclescope: Command, tmp_path: Path
) -> None:
    source = copy.parent / "copy.c"
    source.rename(tmp_path / "copy.c")
    try:
        missing = cyclescope("annotate", copy, "copy", "--board", BOARD)
        found = cyclescope("annotate", copy, "copy", "--board", BOARD, "--sources", tmp_path)
    finally:
        (tmp_path / "copy.c").rename(source)
    assert missing.status == Status.SUCCESS
    assert f"note: {source} can't be read: its lines have no text" in missing.stderr
    assert re.search("32,768 +35.03  store: ddr 59 % +9 \\|$", missing.stdout, re.MULTILINE)
    assert found.stderr == ""
    assert "to[i] = from[i];" in found.stdout


def test_without_debug_information(copy: Path, cyclescope: Command, tmp_path: Path) -> None:
    elf = tmp_path / "symbols.elf"
    elf.write_bytes(stripped(copy, keeps_symbols=True))
    done = cyclescope("annotate", elf, "copy", "--board", BOARD)
    assert done.status == Status.SUCCESS
    assert "note: the ELF has no source lines for copy: build it with -g" in done.stderr
    assert done.stdout.startswith("cpu0: copy: 1,230,003 cycles in 1 call, 100.0 % of all; ")
    assert "lw a3, 0(a0)" in done.stdout


def test_without_symbols(copy: Path, cyclescope: Command, tmp_path: Path) -> None:
    elf = tmp_path / "stripped.elf"
    elf.write_bytes(stripped(copy, keeps_symbols=False))
    done = cyclescope("annotate", elf, "0x800011a0", "--board", BOARD)
    assert done.status == Status.SUCCESS, done.stderr
    # its first address is known from the call
    assert done.stdout.startswith("cpu0: 0x80001184: 1,230,003 cycles in 1 call")
    missing = cyclescope("annotate", elf, "copy", "--board", BOARD)
    assert missing.status == Status.USAGE
    assert "has no function copy; `cyclescope disassemble` shows all functions" in missing.error
    profile = cyclescope("profile", elf, "--board", BOARD)
    assert re.search(r"^│ 0x80001184 +│ 1,230,003 │", profile.stdout, re.MULTILINE)


def test_a_function_that_never_ran_is_annotated(
    cyclescope: Command, program: Callable[[str], Path]
) -> None:
    elf = program("exit_main")
    done = cyclescope("annotate", elf, "trap_handle", "--board", BOARD, "--sources", ROOT)
    assert (done.status, done.stderr) == (Status.SUCCESS, "")
    assert ": 0 cycles, 0.0 % of all; 0 instructions\n" in done.stdout
    assert "instructions that did not run" in done.stdout
    missing = cyclescope("annotate", elf, "trap_handel", "--board", BOARD)
    assert missing.status == Status.USAGE
    assert missing.stdout == ""
    assert "did you mean 'trap_handle'" in missing.error


@given(any_core(), st.data())
def test_any_places(made: CoreProfile, data: st.DataObject) -> None:
    code = [Code(0x1000 + 4 * number, 0, 4, "nop", None) for number in range(12)]
    place = st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(FILES),
        st.one_of(st.none(), st.integers(0, 9)),
        st.none(),
    )
    places = [data.draw(st.lists(place, max_size=3)) for _ in code]
    found = annotate(made, "f", code, places, lambda file: ["text"] if file == FILES[1] else None)
    ran = sum(cost.cycles for cost in made.costs if cost.address is not None)
    assert found.spent.cycles == ran == sum(one.spent.cycles for one in found.instructions)
    known = {one.code.address for one in found.instructions if one.places}
    own = {
        at
        for one in found.sources
        if not one.is_inlined
        for line in one.lines
        for at in line.addresses
    }
    assert own == known
    assert annotated_text.text(found).plain.startswith("cpu0: f")


@settings(max_examples=sized(10, 60))
@given(st.data())
def test_damaged_debug_information(copy: Path, data: st.DataObject) -> None:
    elf = bytearray(copy.read_bytes())
    contents = [content for name, _, content in not_loaded(elf) if name.startswith(".debug")]
    debug = [at for content in contents for at in content]
    for _ in range(data.draw(st.integers(1, 12))):
        elf[data.draw(st.sampled_from(debug))] = data.draw(st.integers(0, 255))
    board = Board(BOARD).load(bytes(elf))
    profile = board.run(profile=True).profile
    assert profile is not None
    (core,) = profile.cores
    assert core.cycles == CYCLES
    assert list(callgrind(profile, "c"))
    assert pprof(profile, "c")
    assert flame_page(profile, "c")
    code = [Code(*row[:5]) for row in _engine.listing(bytes(elf))]
    places = board.places("cpu0", [one.address for one in code])
    found = annotate(core, "copy", code, places, lambda file: source_lines(file, None))
    assert found.spent.cycles == CYCLES
    assert annotated_text.text(found).plain
    assert annotate_page([found], profile)
