"""Boards that fit a program: listed if `run` gets no board, or one that does not fit."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, Command

from cyclescope.board.setup.fitting import fitting_boards
from cyclescope.board.setup.programs import Program, read_program
from cyclescope.statuses import Status

BuiltProgram = Callable[[str], Path]


def test_without_a_board_the_message_names_those_that_it_fits(
    cyclescope: Command, program: BuiltProgram
) -> None:
    done = cyclescope("run", program("results"))
    assert done.status == Status.USAGE
    assert done.error.startswith("--board is missing: ")
    assert BOARD in done.error


def test_a_wrong_board_is_answered_with_right_ones(
    cyclescope: Command, program: BuiltProgram
) -> None:
    done = cyclescope("run", program("results"), "--board", "ben-nanonote")
    assert done.status == Status.USAGE
    assert "built for RISC-V" in done.error
    assert f"it fits {BOARD}" in done.error


def test_a_program_for_no_board_and_a_text_get_no_board_names(
    cyclescope: Command, tmp_path: Path
) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no program")
    done = cyclescope("run", text, "--board", BOARD)
    assert "it fits" not in done.error
    done = cyclescope("run", text)
    assert "no shipped board holds it" in done.error


@pytest.mark.parametrize("size", [0, 1, 40, 60, 200])
def test_a_cut_elf_fits_no_board(program: BuiltProgram, size: int) -> None:
    data = program("results").read_bytes()[:size]
    assert fitting_boards(Program("cut", elf=data)) == []


def test_a_board_whose_memory_ends_where_the_stack_begins_comes_first(tmp_path: Path) -> None:
    def boards_of(stack: int) -> list[str]:
        image = struct.pack("<II", stack, 0x0000_0009) + bytes.fromhex("fee7")
        file = tmp_path / "image.bin"
        file.write_bytes(image)
        return fitting_boards(read_program(file, base=0))

    assert boards_of(0x2008_0000)[0] == "minimal-armv7m"
