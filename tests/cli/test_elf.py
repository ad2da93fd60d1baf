"""A file that is no firmware for the board is refused with one line that names it."""

from pathlib import Path

import elf32
import pytest
import tiers
from conftest import BOARD, Command
from elf32 import DDR, EXIT_0, GOOD, Segment, executable

from cyclescope.statuses import Status

BAD = {
    "empty": (b"", ""),
    "a text": (b"#!/bin/sh\necho hello\n", "ELF"),
    "only the magic": (GOOD[:4], ""),
    "a truncated header": (GOOD[:40], ""),
    "truncated program headers": (GOOD[:70], ""),
    "a truncated segment": (GOOD[:-8], ""),
    "for Arm": (executable(Segment(DDR, EXIT_0), machine=elf32.EM_ARM), "Arm"),
    "64-bit": (executable(Segment(DDR, EXIT_0), bits=2), ""),
    "big-endian": (executable(Segment(DDR, EXIT_0), order=2), ""),
    "an object file": (executable(Segment(DDR, EXIT_0), kind=1), ""),
    "nothing to load": (executable(), ""),
    "outside memory": (executable(Segment(0x2000_0000, EXIT_0), entry=0x2000_0000), "0x20000000"),
    "past the end of memory": (
        executable(Segment(0xC001_FFF8, EXIT_0), entry=0xC001_FFF8),
        "0xc001fff8",
    ),
    "around the address space": (
        executable(Segment(0xFFFF_FFF8, EXIT_0), entry=0xFFFF_FFF8),
        "0xfffffff8",
    ),
    "on a device": (executable(Segment(0x4060_0000, EXIT_0), entry=0x4060_0000), "0x40600000"),
    "zeros past the end of memory": (executable(Segment(DDR, EXIT_0, 0x7FFF_FFFF)), "0x80000000"),
    "more than there are addresses": (
        executable(*[Segment(DDR, EXIT_0, 0x2000_0000)] * 9),
        "more than there are addresses",
    ),
    "an entry outside memory": (executable(Segment(DDR, EXIT_0), entry=0x1000_0000), "0x10000000"),
}

# Other boards are tried for these, which takes long; of each kind of fault the short tier has one.
LONG = {
    "past the end of memory",
    "around the address space",
    "an entry outside memory",
    "zeros past the end of memory",
    "an object file",
    "for Arm",
    "on a device",
}


def test_a_hand_made_elf_runs(cyclescope: Command, tmp_path: Path) -> None:
    (tmp_path / "good.elf").write_bytes(GOOD)
    done = cyclescope("run", "good.elf", "--board", BOARD)
    assert done.status == 0, done.stderr
    # it prints nothing: the summary begins at once
    assert done.stdout.startswith("instructions ")
    assert done.stderr == ""
    # the block RAM begins where the DDR ends
    (tmp_path / "good.elf").write_bytes(executable(Segment(0xBFFF_FFF8, EXIT_0), entry=0xBFFF_FFF8))
    assert cyclescope("run", "good.elf", "--board", BOARD).status == 0


@pytest.mark.parametrize("name", tiers.mostly_long(BAD, lambda name: name not in LONG))
def test_a_bad_elf_is_refused_with_one_line(cyclescope: Command, tmp_path: Path, name: str) -> None:
    data, said = BAD[name]
    (tmp_path / "bad.elf").write_bytes(data)
    done = cyclescope("run", "bad.elf", "--board", BOARD)
    assert done.status == Status.USAGE
    assert "bad.elf" in done.error
    assert said.lower() in done.error.lower()
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_a_file_that_is_not_there_is_named(cyclescope: Command) -> None:
    done = cyclescope("run", "no-such.elf", "--board", BOARD)
    assert done.status == Status.USAGE
    assert done.error == "no-such.elf: No such file or directory"


def test_a_folder_is_no_firmware(cyclescope: Command, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    done = cyclescope("run", "folder", "--board", BOARD)
    assert done.status == Status.USAGE
    assert "folder" in done.error
