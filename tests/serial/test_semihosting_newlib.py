"""Programs that others build: newlib's rdimon, by Debian's arm-none-eabi-gcc."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Command
from gcc import GCC, PACKAGES, has_newlib

PROGRAM = ROOT / "tests" / "firmware" / "semihosting" / "newlib.c"
BOARD = "minimal-armv7a"
CPU = ["-march=armv7-a+nofp", "-mfloat-abi=soft"]
PLACE = ["-Wl,--section-start=.init=0x80000000", "-Wl,--defsym=__stack=0x80100000"]

pytestmark = pytest.mark.skipif(not has_newlib(), reason=f"needs the packages {PACKAGES}")


@pytest.fixture(scope="module", params=["-marm", "-mthumb"])
def elf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    elf = tmp_path_factory.mktemp("newlib") / "newlib.elf"
    command = [GCC, *CPU, request.param, "-O2", "-g", "-Wall", "-Wextra", "-Werror", PROGRAM]
    subprocess.run([*command, "--specs=rdimon.specs", *PLACE, "-o", elf], check=True)
    return elf


def test_the_return_value_of_main_is_the_status(cyclescope: Command, elf: Path) -> None:
    for status in (0, 3, 111):
        done = cyclescope("run", elf, "--board", BOARD, "--", "return", status)
        assert done.status == status, done.stderr
    done = cyclescope("run", elf, "--board", BOARD, "--", "exit", 3)
    assert (done.status, done.stdout.splitlines()[0]) == (3, "at exit")


def test_abort_is_a_failure(cyclescope: Command, elf: Path) -> None:
    done = cyclescope("run", elf, "--board", BOARD, "--", "abort")
    assert done.status == 1
    assert "ADP_Stopped_RunTimeErrorUnknown" in done.stderr


def test_files_are_those_of_the_c_library(cyclescope: Command, elf: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    run = ("run", elf, "--board", BOARD, "--semihosting-dir", folder, "--")
    done = cyclescope(*run, "files", "two words")
    assert done.status == 0, done.stderr
    assert done.stdout.splitlines()[:4] == [
        "line two words",
        "number 42",
        "3 bytes at the end: 42\n".rstrip(),
        "gone 2",
    ]
    assert (folder / "kept.txt").read_text() == "two words\n42\n"
    assert [path.name for path in folder.iterdir()] == ["kept.txt"]


def test_input_and_errors(cyclescope: Command, elf: Path, tmp_path: Path) -> None:
    (tmp_path / "input").write_text("one\ntwo\n")
    done = cyclescope("run", elf, "--board", BOARD, "--stdin", "input", "--", "copy")
    assert done.status == 0
    assert done.stdout.splitlines()[:3] == ["> one", "> two", "2 lines"]
