"""Misspelt names of all kinds: the message asks whether the right one is meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, Command
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.similar_names import did_you_mean, did_you_mean_or, similar_names
from cyclescope.statuses import Status

Program = Callable[[str], Path]


def test_near_names_are_found_best_first() -> None:
    known = ["xlnx,fifo-depth", "xlnx,num-ss-bits", "reg", "uart0", "uart1", "axi-uart"]
    assert similar_names("xlnx,fifo-size", known) == ["xlnx,fifo-depth"]
    # names that begin with it stand before names that contain it
    assert similar_names("uart", known) == ["uart1", "uart0", "axi-uart"]
    assert similar_names("re", known) == ["reg"]
    assert similar_names("colour", known) == similar_names("", known) == []
    assert did_you_mean("uart2", ["uart0", "uart1"]) == "; did you mean 'uart1' or 'uart0'?"
    assert did_you_mean_or("zzz", known, "there are many") == "; there are many"


@given(st.text(max_size=600), st.lists(st.text(max_size=600), max_size=5))
def test_any_input_gives_at_most_three_similar_names(name: str, known: list[str]) -> None:
    found = similar_names(name, known)
    assert set(found) <= set(known)
    assert len(found) <= 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rnu", "a.elf"], "unknown command 'rnu'; did you mean 'run'?"),
        (["frobnicate"], "unknown command 'frobnicate'; there are demo, run, boot, profile,"),
        (["board", BOARD, "--sets", "a=b"], "'--set'"),
        (["bench", "fat-wirte"], "did you mean 'fat-write'"),
        (["show", "rhealston"], "did you mean 'rhealstone'?"),
        (["board", "minimal-rv23"], "did you mean 'minimal-rv32'"),
        (
            ["board", "minimal-rv32", "--set", "cpu0.i-cache-size=4096"],
            "cpu0 can have this property (number), but the board file does not",
        ),
        (["board", "./bords/mine.dts"], "./bords/mine.dts: no such board file"),
        (["devices", "xlnx,axi-quad-spi"], "did you mean 'xlnx,axi-quad-spi-1.00.a'"),
        (
            ["board", BOARD, "--set", "spi0.xlnx,fifo-dept=16"],
            "did you mean 'spi0.xlnx,fifo-depth'",
        ),
        (
            ["board", BOARD, "--set", "sip0.xlnx,fifo-depth=16"],
            "did you mean 'spi0.xlnx,fifo-depth'",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_misspelt_name_is_asked_for(cyclescope: Command, arguments: list[str], said: str) -> None:
    done = cyclescope(*arguments)
    assert done.status == Status.USAGE
    assert said in done.error


def test_a_misspelt_file_of_a_board_is_asked_for(cyclescope: Command, tmp_path: Path) -> None:
    (tmp_path / "arty.dts").write_text("/dts-v1/; / { };")
    assert "no such board file; did you mean 'arty.dts'?" in cyclescope("board", "atry.dts").error


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("--section", "mian", "no function 'mian' to watch; did you mean 'main'?"),
        ("--section", "cpu1:main", "no core cpu1; did you mean 'cpu0'?"),
        ("--section", "zz\n", "no function 'zz\\n' to watch"),
        ("--section", "m" * 100_000, "to watch"),
        ("--vcd-signals", "spi0.ck", "'spi0.ck'; did you mean 'spi0.sck'"),
    ],
)
def test_misspelt_functions_cores_and_wires_are_asked_for(
    cyclescope: Command, program: Program, option: str, name: str, said: str
) -> None:
    vcd = ["--vcd", "waves.vcd"] if option == "--vcd-signals" else []
    done = cyclescope("run", program("exit_main"), "--board", BOARD, option, name, *vcd)
    assert done.status == Status.USAGE
    assert said in done.error
