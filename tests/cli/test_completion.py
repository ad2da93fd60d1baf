"""Shell completion: what is offered for a word, and that shells take the script."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, Command
from warm_start import WarmStart

import cyclescope as package
from cyclescope import experiments, suites
from cyclescope.board.description.devicetree_bindings import bindings
from cyclescope.cli import cli

RUN = f"run a.elf --board {BOARD}"


Offered = Callable[[str], list[str]]


@pytest.fixture
def offered(command_line: WarmStart, tmp_path: Path) -> Offered:
    """The completions that bash gets for the last word of a line; "file:" before a file's name."""

    def call(line: str) -> list[str]:
        words = ["cyclescope", *shlex.split(line)] + ([""] if line.endswith(" ") else [])
        asked = {
            "_CYCLESCOPE_COMPLETE": "bash_complete",
            "COMP_WORDS": shlex.join(words),
            "COMP_CWORD": str(len(words) - 1),
        }
        status, output, errors = command_line.call([], tmp_path, os.environ | asked, 60)
        assert (status, errors) == (0, b"")
        items = [item.split(",", 1) for item in output.decode().splitlines() if item]
        return [value if kind == "plain" else f"{kind}:{value}" for kind, value in items]

    return call


def test_commands_and_options_are_offered(offered: Offered) -> None:
    assert offered(" ") == list(cli.list_commands(None))  # type: ignore[arg-type]
    assert offered("de") == ["demo", "debug", "devices"]
    assert "--vcd-signals" in offered(f"{RUN} --vcd")


@pytest.mark.parametrize("line", ["run --board {}", "board {}", "ipc --board {}"])
def test_boards_are_offered_and_files_else(line: str, offered: Offered) -> None:
    assert offered(line.format("''")) == package.shipped_boards()
    assert offered(line.format("kc")) == [BOARD]
    assert offered(line.format("./my")) == ["file:./my"]


def test_settings_are_labels_then_properties(offered: Offered) -> None:
    labels = offered(f"{RUN} --set ")
    assert {"cpu0.", "spi0.", "flash0.", "ddr."} <= set(labels)
    assert all(label.count(".") == 1 for label in labels)
    found = offered(f"{RUN} --set spi0.xlnx,f")
    assert found == ["spi0.xlnx,fifo-depth="]
    assert "spi0.clock-frequency=" in offered(f"board {BOARD} --set spi0.")


def test_settings_of_a_board_of_ones_own(offered: Offered, tmp_path: Path) -> None:
    (tmp_path / "my.dts").write_text('/dts-v1/;\n/include/ "minimal-rv32.dts"\n&uart0 { own; };')
    assert "uart0.own=" in offered("run a.elf --board my.dts --set uart0.")


def test_wires_devices_and_experiments_are_offered(offered: Offered) -> None:
    wires = offered(f"{RUN} --vcd x --vcd-signals spi0.")
    assert wires[0] == "spi0.*"
    assert {"spi0.sck", "spi0.cs0"} <= set(wires)
    assert offered("devices ") == [entry.compatible for entry in bindings()]
    assert offered("show ") == list(experiments.KNOWN)
    assert offered("bench ") == [*experiments.KNOWN, *suites.ALL]


@pytest.mark.parametrize(
    "line",
    [
        "run --set ",
        "run --board none --set ",
        "run --board ./none.dts --vcd-signals ",
        "run --board broken.dts --set ",
        "run --stdin none --set ",
    ],
)
def test_a_broken_board_gives_no_completions(line: str, offered: Offered, tmp_path: Path) -> None:
    (tmp_path / "broken.dts").write_text("/dts-v1/; / {")
    assert offered(line) == []


def test_scripts_are_printed_for_each_shell(cyclescope: Command) -> None:
    for shell, has in (("bash", "complete -o nosort"), ("zsh", "#compdef"), ("fish", "--max 1")):
        done = cyclescope("completion", shell)
        assert (done.status, done.stderr) == (0, "")
        assert has in done.stdout
        assert "_CYCLESCOPE_COMPLETE" in done.stdout
        # a value may have commas
        assert shell != "fish" or 'split ","' not in done.stdout
    done = cyclescope("completion", "tcsh")
    assert "tcsh" in done.error


def in_bash(line: str, folder: Path) -> list[str]:
    """The completions that bash itself offers at the end of a line, by the script."""
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    script = f"""
        eval "$(cyclescope completion bash)"
        compopt() {{ echo "compopt $1 $2"; }}
        COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}
        _cyclescope_completion cyclescope
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.skipif(shutil.which("bash") is None, reason="not installed: bash")
def test_bash_takes_the_script(tmp_path: Path) -> None:
    (tmp_path / "spi0.file").touch()
    assert in_bash("cyclescope dev", tmp_path) == ["devices"]
    board = f"cyclescope run a.elf --board {BOARD}"
    # more is to be typed: bash adds no space
    found = in_bash(f"{board} --set spi0.xlnx,fi", tmp_path)
    assert found == ["compopt -o nospace", "spi0.xlnx,fifo-depth="]
    # a pattern of wires is not a pattern of files
    assert in_bash(f"{board} --vcd-signals spi0.", tmp_path)[0] == "spi0.*"
