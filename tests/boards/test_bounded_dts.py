"""Devicetree sources that would never end, or lead to where a board has no business: one line."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Command

from cyclescope import Board
from cyclescope.board.description import devicetree
from cyclescope.errors import BoardError

HEAD = "/dts-v1/;\n"
# A limit of the host's processor time: wide, because a failure takes minutes or for ever.
MOST_S = 30


def refusal(path: Path) -> str:
    """The one line with which a board is refused, soon."""
    started = time.process_time()
    with pytest.raises(BoardError) as caught:
        devicetree.parse(path)
    assert time.process_time() - started < MOST_S
    (fault,) = caught.value.faults
    assert "\n" not in fault
    assert len(fault) < 1000
    return fault


def board(folder: Path, source: str, name: str = "board.dts") -> Path:
    """A board's file."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(HEAD + source)
    return path


def test_a_fault_is_one_line_whatever_its_file_is_called(tmp_path: Path) -> None:
    with pytest.raises(BoardError) as caught:
        Board(board(tmp_path, '# 1 "two\nlines"\n/ { };\n'))
    assert caught.value.faults
    assert not any("\n" in fault for fault in caught.value.faults)


def test_a_board_that_includes_itself_is_refused(tmp_path: Path) -> None:
    path = board(tmp_path, '/include/ "board.dts"\n/ { };\n')
    assert "board.dts:2: '" in refusal(path)
    assert refusal(path).endswith("board.dts' includes itself")


@pytest.mark.parametrize("again", ["../board.dts", "link.dts", "./../parts/../board.dts"])
def test_a_board_that_includes_itself_by_others_is_refused(tmp_path: Path, again: str) -> None:
    path = board(tmp_path, '/include/ "parts/a.dtsi"\n/ { };\n')
    board(tmp_path, f'/include/ "b.dtsi"\n/ {{ x {{ /include/ "{again}" }}; }};\n', "parts/a.dtsi")
    board(tmp_path, f'/include/ "{again}"\n', "parts/b.dtsi")
    (tmp_path / "parts" / "link.dts").symlink_to(path)
    fault = refusal(path)
    assert "parts/b.dtsi:2: '" in fault
    assert fault.endswith("includes itself")


def test_the_command_line_says_it_in_one_line(cyclescope: Command, tmp_path: Path) -> None:
    path = board(tmp_path, '/include/ "board.dts"\n/ { };\n')
    done = cyclescope("board", path)
    assert done.status != 0
    assert "board.dts:2: " in done.error


def test_includes_are_of_bounded_depth_and_number(tmp_path: Path) -> None:
    for level in range(40):
        twice = f'/include/ "{level + 1}.dtsi"\n' * 2
        (tmp_path / f"{level}.dtsi").write_text(twice)
    (tmp_path / "40.dtsi").write_text("\n")
    assert "more than 16 deep" in refusal(board(tmp_path, '/include/ "0.dtsi"\n/ { };\n'))
    filler = "/* " + "x" * 10_000 + " */\n"
    (tmp_path / "14.dtsi").write_text(filler)
    assert "bytes of source" in refusal(board(tmp_path, '/include/ "0.dtsi"\n/ { };\n'))


def test_a_file_may_be_included_more_than_once(tmp_path: Path) -> None:
    (tmp_path / "part.dtsi").write_text("size = <1>;\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "more.dtsi").write_text('/include/ "../part.dtsi"\n')
    source = '/ { a { /include/ "part.dtsi" }; b { /include/ "parts/more.dtsi" }; };\n'
    root = devicetree.parse(board(tmp_path, source))
    assert [list(node.props) for node in root.children] == [["size"], ["size"]]


def special(folder: Path, kind: str) -> Path:
    """A file that can't be read: opening it, or reading all of it, never ends."""
    path = folder / f"{kind}.dtsi"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(1 << 40)
    else:
        path.symlink_to({"zero": "/dev/zero", "secret": "/etc/passwd", "missing": "nowhere"}[kind])
    return path


def test_a_shipped_part_is_found_unless_there_is_one_beside_the_board(tmp_path: Path) -> None:
    path = board(tmp_path, '/ { /include/ "n25q128a13.dtsi" };\n')
    root = devicetree.parse(path)
    assert root.props["compatible"].value.startswith(b"micron,n25q128a13")
    assert [Path(file).name for file in root.files] == ["board.dts", "n25q128a13.dtsi"]
    (tmp_path / "n25q128a13.dtsi").write_text("own;\n")
    assert list(devicetree.parse(path).props) == ["own"]


@pytest.mark.parametrize("name", ["../boards/n25q128a13.dtsi", "./n25q128a13.dtsi", "none.dtsi"])
def test_an_include_that_is_not_shipped_is_looked_for_beside_the_board(
    tmp_path: Path, name: str
) -> None:
    fault = refusal(board(tmp_path, f'/ {{ /include/ "{name}" }};\n'))
    assert "No such file or directory" in fault
    assert str(tmp_path) in fault


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('#include "n25q128a13.dtsi"', None),
        ("# include  <n25q128a13.dtsi> // Micron", None),
        ('#include "n25q128a.dtsi"', "did you mean 'n25q128a13.dtsi'"),
        ("#include <dt-bindings/gpio/gpio.h>", "headers need the C preprocessor: preprocess"),
        ("#define PINS 4", "#define needs the C preprocessor: preprocess"),
        ("#endif ", "cpp -nostdinc"),
        # a property is not a directive, and a comment has no effect
        ("#size-cells = <1>;", None),
        ('/*\n#include "none.dtsi"\n*/', None),
    ],
)
def test_lines_for_the_preprocessor_are_done_or_refused_in_their_place(
    tmp_path: Path, line: str, said: str | None
) -> None:
    path = board(tmp_path, f"/ {{\n{line}\n}};\n")
    if said is not None:
        fault = refusal(path)
        assert said in fault
        assert "board.dts:3: " in fault
        return
    root = devicetree.parse(path)
    assert ("compatible" in root.props) == (".dtsi" in line and "*" not in line)


@pytest.mark.parametrize("kind", ["fifo", "folder", "huge", "zero", "secret", "missing"])
@pytest.mark.parametrize("form", ['/include/ "{}"\n/ {{ }};\n', '/ {{ a = /incbin/ ("{}"); }};\n'])
def test_only_regular_files_are_read(tmp_path: Path, kind: str, form: str) -> None:
    path = special(tmp_path, kind)
    fault = refusal(board(tmp_path, form.format(path.name)))
    assert "board.dts:2: '" in fault
    assert path.name in fault
    assert "root" not in fault.split("'")[2], "what is in the file is nobody's business"


def test_standard_input_is_no_part_of_a_board(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from cyclescope import errors\nfrom cyclescope.board.description import devicetree\n"
        "try:\n    devicetree.parse(Path(sys.argv[1]))\n"
        "except errors.BoardError as error:\n    print(error)"
    )
    for source in ('/include/ "-"\n/ { };\n', '/ { a = /incbin/ ("-"); };\n'):
        path = board(tmp_path, source)
        with subprocess.Popen(
            [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert b"board.dts:2: '" in process.stdout.read()  # its input is open still


def test_a_binary_part_lies_beside_the_board(tmp_path: Path) -> None:
    (tmp_path / "beside.bin").write_bytes(b"\1\2\3")
    root = devicetree.parse(board(tmp_path, '/ { a = /incbin/ ("beside.bin"); };\n'))
    assert root.props["a"].value == b"\1\2\3"
    other = board(tmp_path, '/ { a = /incbin/ ("../beside.bin"); };\n', "folder/board.dts")
    assert "beside the board only" in refusal(other)


BOMBS = {
    "shift": ("/ { a = <(1 << 4000000000)>; };\n", "shifted by 0 to 63"),
    "negative shift": ("/ { a = <(1 << (0 - 1))>; };\n", "shifted by 0 to 63"),
    "power": (f"/ {{ a = <({'*'.join(['0xffffffff'] * 50_000)})>; }};\n", "in 64 bits"),
    "digits": (f"/ {{ a = <0x{'f' * 900_000}>; }};\n", "in 64 bits"),
    "decimal digits": (f"/ {{ a = <{'9' * 900_000}>; }};\n", "malformed"),
    "parentheses": (f"/ {{ a = <{'(' * 400_000}1>; }};\n", "nest too deep"),
    "signs": (f"/ {{ a = <({'-' * 400_000}1)>; }};\n", "nest too deep"),
    "cells": (f"/ {{ a = <{'0 ' * 400_000}>; }};\n", "the value of a is too long"),
    "bits": (f"/ {{ a = /bits/ 64 <{'0 ' * 400_000}>; }};\n", "the value of a is too long"),
    "bytes": (f"/ {{ a = [{'00' * 400_000}]; }};\n", "the value of a is too long"),
    "strings": ("/ { a = " + '"xx", ' * 100_000 + '"x"; };\n', "the value of a is too long"),
    "paths": (f"/ {{ n: n {{ }}; a = {', '.join(['&n'] * 9000)}; }};\n", "a is too long"),
    "phandles": (f"/ {{ n: n {{ }}; a = <{'&n ' * 9000}>; }};\n", "a is too long"),
    "references": (f"/ {{ n: n {{ }}; {'a = <' + '&n ' * 900 + '>;'} }};\n" * 5, "4096 references"),
    "labels": (f"/ {{ {' '.join(f'l{i}:' for i in range(9000))} n {{ }}; }};\n", "4096 labels"),
    "value labels": (
        f"/ {{ a = <{' '.join(f'l{i}:' for i in range(900))} {'x:' * 300}>; }};\n",
        "a is",
    ),
    "nodes": (f"/ {{ {''.join(f'n{i} {{ }};' for i in range(9000))} }};\n", "4096 nodes"),
    "depth": ("/ {" + "n {" * 9000, "nest too deep"),
    "names": (f"/ {{ {'n' * 5000}; }};\n", "a name has more than 256"),
    "source": ("/ { };\n" + "/* x */\n" * 200_000, "more than 1048576 bytes"),
    "zero bytes": ('/include/ "a\\0.dtsi"\n/ { };\n', "malformed"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_unbounded_growth_is_refused(tmp_path: Path, bomb: str) -> None:
    source, said = BOMBS[bomb]
    assert said in refusal(board(tmp_path, source))


def test_the_largest_board_is_parsed_in_time(tmp_path: Path) -> None:
    path = "n" * 200
    chain = "".join(f"{path}{level} {{ " for level in range(25))
    nodes = "".join(f"l{i}: n{i} {{ }}; " for i in range(4000))
    uses = "".join(
        f"a{i} = <{' '.join(f'&l{i * 250 + j}' for j in range(250))}>;" for i in range(16)
    )
    started = time.process_time()
    root = devicetree.parse(board(tmp_path, f"/ {{ {chain} {nodes} {'};' * 25} {uses} }};\n"))
    assert time.process_time() - started < MOST_S
    assert sum(1 for _ in root.walk()) == 4026
