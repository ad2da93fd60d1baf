"""Closed, full and broken streams, terminals of few letters, odd files and folders: a line each."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import BOARD, Command

from cyclescope import resources
from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.statuses import Status

Program = Callable[[str], Path]
CYCLESCOPE = f"{shlex.quote(sys.executable)} -m cyclescope"
NOT_WRITTEN, NOBODY_READS = Status.USAGE, Status.BROKEN_PIPE


@dataclass(frozen=True)
class Done:
    """The end of a shell's line; `status` is that of its call of `$C`."""

    status: int
    stdout: str
    stderr: str


Shell = Callable[..., Done]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs a line in which `$C` is the command; nothing may end in a traceback or without end."""

    status = tmp_path / "status of $C"

    def run(line: str, **environment: str) -> Done:
        status.unlink(missing_ok=True)
        # only some shells give the status of a pipe's first command
        called = f'{CYCLESCOPE} "$@"; set -- $?; echo $1 > {shlex.quote(str(status))}; return $1'
        done = subprocess.run(
            ["sh", "-c", f"cyclescope() {{ {called}; }}\n{line.replace('$C', 'cyclescope')}"],
            cwd=tmp_path,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=200,
            check=False,
        )
        found = Done(int(status.read_text()), done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in found.stderr, found.stderr
        assert "a fault of Cyclescope" not in found.stderr, found.stderr
        return found

    return run


def error(message: str) -> str:
    return f"cyclescope: error: {message}\n"


# ---- Standard streams


def test_a_closed_output_is_reported(shell: Shell, program: Program) -> None:
    done = shell("$C list >&-")
    assert (done.status, done.stderr) == (Status.USAGE, error("standard output: closed"))
    run = f"$C run {program('exit_main')} --board {BOARD} --json out.json"
    done = shell(f"{run} >&-; cat out.json")
    assert done.status == NOT_WRITTEN
    # the first output has stopped the run; the files that were asked for are written
    assert done.stderr.endswith(" of simulated time: standard output: closed\n")
    assert json.loads(done.stdout)["outcome"] == "interrupted"


def test_all_streams_may_be_closed(shell: Shell, program: Program) -> None:
    run = f"$C run {program('exit_main')} --board {BOARD} --json out.json"
    done = shell(f"{run} <&- >&- 2>&-; cat out.json")
    # no file has taken the place of a stream
    assert (done.status, json.loads(done.stdout)["outcome"]) == (NOT_WRITTEN, "interrupted")
    assert shell(f"$C run {program('exit_main')} --board {BOARD} 2>&-").status == 7
    assert shell("$C board nothing 2>&-").status == Status.USAGE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the host has no /dev/full")
def test_a_full_output_is_reported(shell: Shell, program: Program) -> None:
    message = error("standard output: No space left on device")
    done = shell("$C list > /dev/full")
    assert (done.status, done.stderr) == (Status.USAGE, message)
    done = shell(f"$C run {program('exit_main')} --board {BOARD} > /dev/full")
    assert done.status == NOT_WRITTEN
    assert done.stderr.endswith(" of simulated time: standard output: No space left on device\n")
    assert shell(f"$C run {program('exit_main')} --board {BOARD} 2> /dev/full").status == 7


def test_a_reader_that_leaves_stops_what_never_ends(shell: Shell, program: Program) -> None:
    # the console's line comes when its reader is gone
    run = f"$C run {program('endless_loop')} --board {BOARD} --limit 100000s --json out.json"
    done = shell(f"{run} | true")
    assert done.status == NOBODY_READS
    assert "\ncyclescope: error: interrupted after " in done.stderr
    assert done.stderr.endswith(" of simulated time: standard output: Broken pipe\n")


def test_a_run_that_has_ended_is_not_worse_for_its_reader(shell: Shell, program: Program) -> None:
    # its console is not a line of output, and the summary comes when it has ended
    done = shell(f"$C run {program('exit_code')} --board {BOARD} | true")
    assert (done.status, done.stderr) == (42, "")
    done = shell("$C list | true")
    assert (done.status, done.stderr) == (NOBODY_READS, "")


def test_a_terminal_of_few_letters(shell: Shell, tmp_path: Path) -> None:
    board = tmp_path / "board.dts"
    text = (resources.boards() / f"{BOARD}.dts").read_text()
    board.write_text(text.replace('model = "', 'model = "\N{SNOWMAN} caf\u00e9 ', 1))
    done = shell(f"$C board ./{board.name}", PYTHONIOENCODING="ascii")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith("\\u2603 caf\\xe9 ")


def test_a_console_of_other_letters_than_the_terminals(program: Program) -> None:
    script = (
        "from cyclescope.host.terminal import Outlet, prepared, Stop\n"
        "import sys\n"
        "with prepared():\n"
        "    out = Outlet(sys.stdout, Stop())\n"
        "    out.write('caf\\u00e9 \\u2603')\n"
        "    print(' \\u2603', out.error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"caf\\xe9 \\u2603 \\u2603 None\n"


# ---- Files


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("/dev/zero", "this is a device, not a file"),
        ("/", "this is a directory, not a file"),
        ("pipe", "this pipe has no writer"),
        ("sparse", "larger than the limit of 512 MiB"),
        (b"none-\xff".decode(errors="surrogateescape"), "No such file or directory"),
        ("two\nlines", "No such file or directory"),
    ],
)
def test_an_elf_of_the_wrong_kind_of_file_is_refused(
    cyclescope: Command, tmp_path: Path, file: str, said: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 10 * 2**30)
    done = cyclescope("run", file, "--board", BOARD, timeout_s=100)
    shown = file.replace("\udcff", "\\xff").replace("\n", "\\n")
    assert (done.status, done.stderr) == (Status.USAGE, error(f"{shown}: {said}"))


def test_an_elf_from_a_pipe(shell: Shell, program: Program) -> None:
    # the writer may take its time
    writer = f"(sleep 3; cat {program('exit_main')})"
    done = shell(f"{writer} | $C run /dev/fd/0 --board {BOARD}")
    assert (done.status, done.stderr) == (7, "")


def test_a_pipe_has_a_bound(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", f"cat /dev/zero > {pipe}"], stderr=subprocess.DEVNULL)
    with pytest.raises(UsageError, match="pipe: larger than the limit of 1 MiB"):
        inputs.read(pipe, 2**20)
    writer.wait(60)


def test_names_that_are_no_text(tmp_path: Path, program: Program) -> None:
    name = b"caf\xe9.elf".decode(errors="surrogateescape")
    (tmp_path / name).write_bytes(program("exit_main").read_bytes())
    board = b"./caf\xe9.dts".decode(errors="surrogateescape")
    (tmp_path / board).write_bytes((resources.boards() / f"{BOARD}.dts").read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "cyclescope", "run", name, "--board", board, "--json", "-"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 7
    result = json.loads(done.stdout)
    assert (result["firmware"], result["board"]) == ("caf\\xe9.elf", "caf\\xe9")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ('/include/ "{}"', "only .dts and .dtsi files can be included"),
        ('/ {{ x = /incbin/("{}"); }};', "/incbin/ takes files beside the board only"),
    ],
)
@pytest.mark.parametrize("file", ["/dev/zero", "/"])
def test_an_impossible_include_of_a_board_is_refused(
    cyclescope: Command, tmp_path: Path, file: str, said: str, how: str
) -> None:
    (tmp_path / "board.dts").write_text(f"/dts-v1/;\n{how.format(file)}\n")
    done = cyclescope("board", "./board.dts")
    assert done.status == Status.USAGE
    assert done.stderr.startswith("cyclescope: error: board.dts:2: ")
    assert said in done.stderr


@pytest.mark.parametrize("board", ["/dev/zero", "/", "/dev/null"])
def test_a_board_of_the_wrong_kind_of_file_is_refused(cyclescope: Command, board: str) -> None:
    done = cyclescope("board", board)
    assert done.status == Status.USAGE
    assert done.stderr.startswith(f"cyclescope: error: {board}: this is a d")


# ---- Folders


def test_a_working_directory_that_is_gone(shell: Shell, program: Program) -> None:
    gone = "mkdir gone; cd gone; rmdir ../gone"
    done = shell(f"{gone}; $C run {program('exit_main')} --board {BOARD}")
    assert (done.status, done.stderr) == (7, "")
    done = shell(f"{gone}; $C bench picosoc-xip")
    assert done.status == Status.USAGE
    assert done.stderr.count("\n") == 1
    done = shell(f"{gone}; $C run none.elf --board {BOARD}")
    assert (done.status, done.stderr) == (
        Status.USAGE,
        error("none.elf: No such file or directory"),
    )


def test_no_home_and_no_folder_for_scratch(shell: Shell, program: Program) -> None:
    run = f"$C run {program('exit_main')} --board {BOARD}"
    done = shell(f"unset HOME; {run}", TMPDIR="/nowhere")
    assert (done.status, done.stderr) == (7, "")
