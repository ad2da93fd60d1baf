"""Names of functions for a run to watch, and of places in the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BOARD, ROOT, Command

from cyclescope import firmware
from cyclescope.board import Board
from cyclescope.errors import EngineError
from cyclescope.statuses import Status

TARGET = ["-target", "riscv32-freestanding", "-mcpu=generic_rv32+m+c", "-ffreestanding"]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in C++."""
    elf = tmp_path_factory.mktemp("names") / "names.elf"
    source = ROOT / "tests" / "firmware" / "names.cpp"
    how = ["-O1", "-g", "-nostdlib", "-Wl,--image-base=0x80000000", source, "-o", elf]
    subprocess.run([sys.executable, "-m", "ziglang", "c++", *TARGET, *map(str, how)], check=True)
    return elf


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("flash::twice", 3),
        ("flash::twice(int)", 3),
        ("cpu0:flash::twice", 3),
        ("_ZN5flash5twiceEi", 3),
        ("flash::Chip::size", 1),
        ("flash::Chip::size() const", 1),
        ("twice", 3),
        ("Chip::size", 1),
        ("cpu0:size", 1),
        ("cpu0:work", 1),
    ],
)
def test_functions_are_found_as_they_are_written(name: str, calls: int, names: Path) -> None:
    board = Board(BOARD).load(names)
    result = board.run(sections=[name], profile=[name])
    (section,) = result.cores[0].sections
    assert (section.name, section.calls) == (name.removeprefix("cpu0:"), calls)
    assert result.profile is not None
    frame = result.profile.calls()
    assert list(frame.function) == [name.removeprefix("cpu0:")] * calls


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("flash::thrice", "flash::thrice"),
        ("cpu1:work", "the board has no core cpu1"),
        ("flash:twice", "the board has no core flash"),
    ],
)
def test_an_unknown_function_is_an_error(name: str, message: str, names: Path) -> None:
    with pytest.raises(EngineError, match=message):
        Board(BOARD).load(names).run(sections=[name])


def test_commands_take_short_names_and_show_readable_ones(names: Path, cyclescope: Command) -> None:
    run = ("--board", BOARD, "--quiet", "--no-console")
    shown = cyclescope("annotate", names, "twice", *run)
    assert shown.stdout.startswith("cpu0: flash::twice(int)")
    listed = cyclescope("disassemble", names, "Chip::size").stdout
    assert "<flash::Chip::size() const>:" in listed
    assert "  <flash::twice>" in cyclescope("disassemble", names, "work").stdout
    counted = cyclescope("run", names, *run[:2], "--count-when", '"twice" in cpu0.calls')
    assert counted.status == 0
    wrong = cyclescope("run", names, *run[:2], "--section", "Chip::sice")
    assert wrong.error.endswith("no function 'Chip::sice' to watch; did you mean 'Chip::size'?")


def test_a_name_that_may_mean_several_is_an_error_with_all_of_them(
    cyclescope: Command, tmp_path: Path
) -> None:
    elf, source = tmp_path / "several.elf", tmp_path / "several.cpp"
    text = (ROOT / "tests" / "firmware" / "names.cpp").read_text()
    more = "namespace led { __attribute__((noinline, used)) int twice(char n) { return n * 2; } }\n"
    source.write_text(more + text)
    how = ["-O1", "-g", "-nostdlib", "-Wl,--image-base=0x80000000", source, "-o", elf]
    subprocess.run([sys.executable, "-m", "ziglang", "c++", *TARGET, *map(str, how)], check=True)
    message = (
        "2 functions may be meant by 'twice': led::twice(char), flash::twice(int): give more of"
    )
    for call in (
        ("run", elf, "--board", BOARD, "--section", "twice"),
        ("run", elf, "--board", BOARD, "--calls", "twice"),
        ("run", elf, "--board", BOARD, "--count-when", '"twice" in cpu0.calls'),
        ("profile", elf, "--board", BOARD, "--function", "twice"),
        ("annotate", elf, "twice", "--board", BOARD),
        ("disassemble", elf, "twice"),
    ):
        done = cyclescope(*call)
        assert done.status == Status.USAGE
        assert message in done.error
    assert cyclescope("run", elf, "--board", BOARD, "--section", "led::twice").status == 0


def test_code_at_address_0_has_no_name_of_what_the_linker_left_out() -> None:
    # lld lets the debug information of functions that it left out begin at 0, where SRAM is here
    board = Board("nios2-mmc").load(firmware.build_app("hello", "nios2-mmc", {}))
    symbols = {name: address for address, _, name in board.functions("cpu0")}
    start = symbols["_start"]
    ((frame,),) = board.places("cpu0", [start])
    assert frame[0] == "_start"
    places = board.places("cpu0", sorted(symbols.values()))
    named = dict(zip(sorted(symbols.values()), places, strict=True))
    assert named[symbols["main"]][-1][0] == "main"
    assert named[symbols["main"]][-1][1].endswith("main.c")
