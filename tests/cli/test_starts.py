"""The start of a Cortex-M4, and programs that use adjacent RAMs as one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import bincopy
import pytest
import rsp
from conftest import ROOT, Command

import cyclescope as package
from cyclescope.board.setup.fitting import parts_of
from cyclescope.board.setup.programs import read_program
from cyclescope.errors import ElfError

FOLDER = ROOT / "tests" / "firmware" / "stm32"
FLASH = 0x0800_0000
FLAGS = (
    "-target",
    "thumb-freestanding-eabihf",
    "-mcpu=cortex_m4+vfp4d16sp",
    "-std=c11",
    "-O1",
    "-g",
    "-ffreestanding",
    "-Wl,--entry=reset",
    "-fno-sanitize=undefined",
    "-fno-builtin",
    "-nostdlib",
    "-static",
    "-Wall",
    "-Wextra",
    "-Werror",
)
Build = Callable[..., Path]
# The address where one RAM ends and the next begins; the first address and the bytes of all RAMs.
BOUNDARIES = [
    ("stm32f4-disco", FLASH, 0x2001_C000, 0x2000_0000, 0x20000, ("-DSTM32F4=1",)),
    ("nucleo-l4r5zi", FLASH, 0x2003_0000, 0x2000_0000, 0xA0000, ("-DSTM32L4=1",)),
    ("nucleo-l4r5zi", FLASH, 0x2004_0000, 0x2000_0000, 0xA0000, ("-DSTM32L4=1",)),
    ("stm32mp157c-dk2", 0, 0x1002_0000, 0x1000_0000, 0x60000, ()),
    ("stm32mp157c-dk2", 0, 0x3005_0000, 0x3000_0000, 0x60000, ()),
]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    def built(
        *flags: str,
        code: int = FLASH,
        boundary: int = 0,
        ram: int = 0x2000_0000,
        size: int = 0x10000,
    ) -> Path:
        script, elf = tmp_path / "start.ld", tmp_path / "start.elf"
        text = (FOLDER / "start.ld").read_text()
        places = {"CODE_BASE": code, "RAM_BASE": ram, "RAM_BYTES": size}
        for name, value in places.items():
            text = text.replace(name, hex(value))
        loaded = boundary and not any(flag.startswith("-DLARGE") for flag in flags)
        lines = [line for line in text.split("\n") if loaded or ".seam" not in line]
        script.write_text("\n".join(lines).replace("SEAM_BASE", hex(boundary)))
        boundary_flags = [f"-DSEAM={boundary:#x}"] if boundary else []
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, *boundary_flags, *flags]
        subprocess.run([*command, "-T", script, FOLDER / "start.c", "-o", elf], check=True)
        return elf

    return built


def records_of(elf: Path) -> bincopy.BinFile:
    """The bytes that a program puts in memory."""
    records = bincopy.BinFile()
    for address, data in parts_of(read_program(elf)):
        records.add_binary(data, address)
    return records


@pytest.mark.parametrize(("board", "code", "boundary", "ram", "size", "flags"), BOUNDARIES)
def test_a_program_may_lie_over_two_memories(
    build: Build, board: str, code: int, boundary: int, ram: int, size: int, flags: tuple[str, ...]
) -> None:
    right = "reset handler ran\nover a join\n"
    large = boundary - ram + 0x2000
    cleared = build(
        f"-DLARGE_BYTES={large}", *flags, code=code, boundary=boundary, ram=ram, size=size
    )
    done = package.Board(board).load(cleared).run("1s")
    assert (done.exit_code, done.console) == (0, right), done.message
    elf = build(*flags, code=code, boundary=boundary, ram=ram, size=size)
    done = package.Board(board).load(elf).run("1s")
    assert (done.exit_code, done.console) == (0, right), done.message
    # The same program in records of both kinds.
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


def test_a_program_after_a_bootloader_starts_with_its_own_table(build: Build) -> None:
    elf = build("-Wl,--entry=main", code=FLASH + 0x8000)
    done = package.Board("stm32f4-disco").load(elf).run("1s")
    assert (done.exit_code, done.console) == (0, "reset handler ran\n"), done.message
    assert (
        "starts with the vector table at 0x08008000, where the program was linked to"
        in done.notes[0]
    )
    assert done.notes[0].endswith("the chip alone starts with that at 0x00000000")
    # Another vector table does not matter if the chip finds one.
    bare = package.Board("stm32f4-disco").load(bytes(16), base=FLASH).run("1s")
    assert "0x00000000, SP 0x00000000 and PC 0x00000000, as the chip does: " in bare.notes[0]


def test_plain_bytes_at_a_wrong_base_get_a_note_with_the_right_one(
    build: Build, tmp_path: Path, cyclescope: Command
) -> None:
    plain = tmp_path / "start.bin"
    records = records_of(build(code=FLASH + 0x8000))
    # the linker's own headers come before it
    records.exclude(0, FLASH + 0x8000)
    plain.write_bytes(bytes(records.as_binary()))
    meant = "mean a base of 0x08008000"
    for base in (0x3000_0000, 0x0810_0000 - 16, None):
        with pytest.raises(ElfError, match=meant):
            package.Board("stm32f4-disco").load(plain, base=base)
        with pytest.raises(ElfError, match=meant):
            package.Board("stm32f4-disco").load(plain.read_bytes(), base=base)
    # The board takes them all the same where it has a memory.
    for base in (FLASH, FLASH + 0x4000):
        note = package.Board("stm32f4-disco").load(plain, base=base).run("1ms").notes[0]
        assert note.endswith("first words mean a base of 0x08008000"), note
    done = package.Board("stm32f4-disco").load(plain, base=FLASH + 0x8000).run("1s")
    assert done.console == "reset handler ran\n"
    # A file that is too large is refused before it is read: this one has no blocks on the disk.
    with plain.open("r+b") as file:
        file.truncate(500 << 20)
    refused = cyclescope("run", plain, "--board=stm32f4-disco", f"--base={FLASH:#x}")
    assert refused.status == 121
    assert "its 524288000 bytes do not fit at 0x08000000: the board has 1048576 bytes" in (
        refused.stderr
    )
    refused = cyclescope("run", plain, "--board=stm32f4-disco")
    assert "plain bytes need --base" in refused.stderr


@pytest.mark.parametrize(
    ("cpu", "note"),
    [
        ("cortex_m0plus", "built for a Cortex-M0"),
        ("cortex_m3", "built for a Cortex-M3: its times are those of a Cortex-M4"),
        ("cortex_m7+fp_armv8d16sp", "built for a Cortex-M7: its times are those of a Cortex-M4"),
        ("cortex_m33", "; instructions that are newer than Armv7 are undefined here"),
    ],
)
def test_a_program_for_another_core_has_the_times_of_this_one(
    build: Build, cpu: str, note: str
) -> None:
    target = "eabihf" if "+" in cpu else "eabi"
    elf = build("-target", f"thumb-freestanding-{target}", f"-mcpu={cpu}", "-DNO_FPU=1")
    done = package.Board("stm32f4-disco").load(elf).run("1s")
    assert (done.exit_code, done.console) == (0, "reset handler ran\n"), done.message
    (message,) = done.notes
    assert note in message
    assert message.endswith("(its build attributes)")


def test_standard_output_has_the_bytes_of_the_console(build: Build, cyclescope: Command) -> None:
    elf = build("-DBYTES=1")
    sent = b"\x7f\x80\xff\xc3\xa4\n\xe2\x82"
    command = [sys.executable, "-m", "cyclescope", "run", elf, "--board=stm32f4-disco"]
    for more, end in (["-q"], b""), (["-q", "--console=stdio"], b""), ([], b"\n"):
        done = subprocess.run(
            [*command, *more], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
        )
        assert done.stdout.startswith(sent + end), more
        assert done.stdout == sent or not more
    result = package.Board("stm32f4-disco").load(elf).run("1s")
    assert result.console == sent.decode(errors="replace")
    chunks: list[str] = []
    package.Board("stm32f4-disco").load(elf).run(
        "1s", console=chunks.append, console_errors="surrogateescape"
    )
    assert "".join(chunks).encode(errors="surrogateescape") == sent


def test_option_bytes_are_set_by_name(build: Build, cyclescope: Command) -> None:
    elf = build("-DOPTIONS=0x40022020")
    run = ("run", elf, "--board=nucleo-l4r5zi", "-q")
    for given, printed in {
        (): "two banks",
        ("--option-bytes=DBANK=0",): "one bank",
        ("--option-bytes", "nBOOT0=1", "--option-bytes", "dbank=0"): "one bank",
        ("--option-bytes=OPTR=0xffaff8aa",): "one bank",
        ("--set=flash.cyclescope,option-bytes=DBANK=0",): "one bank",
    }.items():
        done = cyclescope(*run, *given)
        assert done.stdout == f"{printed}\nreset handler ran\n", done.stderr
    for given, why in {
        "DBANK=2": "DBANK has 1 bits: 0 to 0x1",
        "DBNK=0": "there are RDP, ",
        "DBANK": "NAME=VALUE is expected",
    }.items():
        refused = cyclescope(*run, f"--option-bytes={given}")
        assert refused.status == 121, refused
        assert why in refused.stderr
    times = [
        package.Board("nucleo-l4r5zi", {"flash.cyclescope,option-bytes": text}).load(elf).run("1s")
        for text in ("", "DBANK=0")
    ]
    assert times[0].elapsed_ps != times[1].elapsed_ps
    kept = package.Board("stm32f4-disco", {"flash.cyclescope,option-bytes": "WDG_SW=0"})
    notes = kept.load(build()).run("1s").notes
    assert any("not modelled: WDG_SW" in note for note in notes), notes


def test_monitor_commands_are_those_of_openocd_or_errors(build: Build, tmp_path: Path) -> None:
    elf = build()
    with rsp.served(tmp_path, elf, "--board=stm32f4-disco") as (_, client):
        assert isinstance(client, rsp.Client)
        begin = client.ask("g")
        for command in ("halt", "init", "arm semihosting enable"):
            assert client.monitor(command) == ""
        for command in ("reset", "reset halt", "reset init"):
            client.ask("vCont;s:1")
            assert client.monitor(command) == "the board is at reset\n"
            assert client.ask("g") == begin
        # As load does: the program's entry point is where the file says, and a reset ends that.
        start = client.ask("pf")
        assert client.ask("Pf=40000008") == "OK"
        assert client.ask("pf") == "40000008"
        assert client.monitor("reset halt") == "the board is at reset\n"
        assert client.ask("pf") == start != "40000008"
        assert client.monitor("reset run").startswith("the board is at reset; it runs by continue")
        for command, message in {
            "rset halt": "did you mean 'reset'?",
            "reset hard": "it takes other words, or more",
            "flash probe 0": "there is no such command",
            "read": "it takes other words, or more",
        }.items():
            before = len(client.output)
            assert client.ask("qRcmd," + command.encode().hex()) == "E01"
            text = client.output[before:].decode()
            assert text.startswith(f"monitor {command} is not understood: {message}"), text
            # The next one is done again.
            assert "cpu0" in client.monitor("time")
        client.ask("vCont;s:1")


def test_a_debugger_reads_and_writes_over_two_memories(build: Build, tmp_path: Path) -> None:
    with rsp.served(tmp_path, build(), "--board=stm32f4-disco") as (_, client):
        assert isinstance(client, rsp.Client)
        assert client.ask("M2001bffc,8:0102030405060708") == "OK"
        assert client.memory(0x2001_BFFC, 8) == bytes(range(1, 9))
        assert client.memory(0x2001_C000, 4) == bytes(range(5, 9))
        # Nothing is mapped after the second one.
        assert client.ask("m2001fffc,8") == "00000000"
        assert client.ask("M2001fffc,8:0102030405060708").startswith("E")
