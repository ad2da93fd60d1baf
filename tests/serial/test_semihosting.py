"""Semihosting gives a firmware the files that the user names, and nothing else of the host."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import hosted
import pytest
from conftest import Command
from tiers import ALL, mostly_long

import cyclescope as package
from cyclescope.statuses import OTHER_OF_FIRMWARE, Status

SECOND_PS = 10**12
UART_STATUS = dict(
    zip(hosted.BOARDS, (0x10000008, 0x10000008, 0x40000008, 0xB0000008), strict=True)
)


@pytest.fixture(params=hosted.BOARDS)
def board(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The firmware's folder, and beside it a file that is not the firmware's."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


def lines(board: str, *arguments: str, **given: object) -> list[str]:
    """The program's output for its arguments; it must end by itself, with status 0."""
    loaded = package.Board(board).load(hosted.built(board))
    result = loaded.run("1s", arguments=arguments, **given)
    assert (result.outcome, result.exit_code) == ("exit", 0), result.message
    return result.console.splitlines()


def test_an_exit_status_is_the_firmwares(cyclescope: Command, board: str) -> None:
    run = ("run", hosted.built(board), "--board", board)
    first = board == hosted.BOARDS[0]
    for status in (0, 3, OTHER_OF_FIRMWARE - 1) if ALL or first else (0, 3):
        done = cyclescope(*run, "--", "exit", str(status))
        assert done.status == status, done.stderr
        assert "note" not in done.stderr
    # Cyclescope's own statuses, and those that a shell can't distinguish
    others = (OTHER_OF_FIRMWARE, Status.USAGE, Status.LIMIT, 255, 256)
    for status in others if ALL or first else others[-1:]:
        done = cyclescope(*run, "--", "exit", str(int(status)))
        assert done.status == OTHER_OF_FIRMWARE
        assert f"the firmware's exit status is {int(status)}" in done.stderr
    if ALL or first:
        assert cyclescope(*run, "--quiet", "--", "exit", "255").stderr == ""


def test_exit_status_ran_accepts_any_status_of_the_firmware(cyclescope: Command) -> None:
    board = "minimal-rv32"
    run = ("run", hosted.built(board), "--board", board, "--exit-status", "ran")
    for status in ("0", "3", "255"):
        assert cyclescope(*run, "--", "exit", status).status == 0
    # a run that is cut off has not ended
    done = cyclescope(*run, "--limit", "1us", "--", "exit", "3")
    assert done.status == Status.LIMIT


@pytest.mark.parametrize("board", hosted.ARM_OPERATIONS)
@pytest.mark.parametrize("command", ["reason", "extended"])
def test_the_end_for_another_reason_is_a_failure_that_is_named(
    cyclescope: Command, board: str, command: str
) -> None:
    for reason, name in ((0x20023, "RunTimeErrorUnknown"), (0x20028, "DivisionByZero")):
        done = cyclescope("run", hosted.built(board), "--board", board, "--", command, str(reason))
        assert done.status == 1
        assert f"ADP_Stopped_{name}" in done.stderr


def test_features_say_that_a_status_can_be_given() -> None:
    for board in hosted.ARM_OPERATIONS:
        console = lines(board, "features")
        assert console == ["length 5", "read 5", "features 3", "close 0"]


def test_files_are_written_read_and_removed(board: str, folder: Path) -> None:
    console = lines(
        board,
        "put",
        "/a.txt",
        "hello world",
        "add",
        "a.txt",
        ", and more",
        "get",
        "a.txt",
        "update",
        "a.txt",
        "HELLO",
        "from",
        "../a.txt",
        "3",
        semihosting_dir=folder,
    )
    assert console == [
        "write 11",
        "close 0",
        "write 10",
        "close 0",
        "length 21",
        "terminal 0",
        "seek 0",
        "read 21",
        "hello world, and more",
        "write 5",
        "close 0",
        "length 21",
        "terminal 0",
        "seek 0",
        "read 18",
        "LO world, and more",
    ]
    assert (folder / "a.txt").read_text() == "HELLO world, and more"
    assert lines(board, "remove", "a.txt", "remove", "a.txt", semihosting_dir=folder) == [
        "remove 0",
        "remove -1",
        "errno 2",
    ]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("board", hosted.ARM_OPERATIONS)
def test_files_are_renamed(board: str, folder: Path) -> None:
    (folder / "old").write_text("contents")
    (folder / "sub").mkdir()
    assert lines(board, "rename", "old", "sub/new", semihosting_dir=folder) == ["rename 0"]
    assert (folder / "sub" / "new").read_text() == "contents"
    assert not (folder / "old").exists()


def test_much_is_copied_as_a_whole(board: str, folder: Path) -> None:
    console = lines(board, "large", "large", semihosting_dir=folder)
    assert console == ["write 200003", "read 200003", "wrong 0"]
    contents = (folder / "large").read_bytes()
    assert contents == bytes((at ^ at >> 8) & 0xFF for at in range(200003))


def test_few_files_are_open_at_once(board: str, folder: Path) -> None:
    (folder / "file").write_text("")
    assert lines(board, "many", "file", semihosting_dir=folder) == ["opened 64", "errno 24"]


def test_invalid_handles_and_addresses_are_errors(board: str, folder: Path) -> None:
    (folder / "file").write_text("contents")
    console = lines(board, "misuse", "file", semihosting_dir=folder)
    bad_handle, bad_address = ["handle -1", "errno 9"], ["address -1", "errno 14"]
    assert console == [*bad_handle * 3, *bad_address * 2, "endless 1"]


@pytest.mark.parametrize(
    ("path", "errno"),
    [
        ("../secret", 2),
        ("/../../secret", 2),
        ("sub/../../secret", 2),
        ("/etc/passwd", 2),
        ("out", 13),
        ("absolute", 13),
        ("up/secret", 13),
        ("sub/out", 13),
        ("new", 13),
        ("fifo", 13),
        ("device", 13),
        ("sub", 21),
        ("..", 21),
    ],
)
def test_nothing_outside_the_folder_is_reached(folder: Path, path: str, errno: int) -> None:
    board = "minimal-rv32"
    (folder / "sub").mkdir()
    (folder / "out").symlink_to("../secret")
    (folder / "new").symlink_to("../new")
    (folder / "up").symlink_to("..")
    (folder / "absolute").symlink_to("/etc/passwd")
    (folder / "sub" / "out").symlink_to("../out")
    os.mkfifo(folder / "fifo")
    if os.geteuid() == 0:
        os.mknod(folder / "device", 0o600 | 0o020000, os.makedev(1, 3))
    else:
        (folder / "device").symlink_to("/dev/null")
    refused = ["open -1", f"errno {errno}"]
    assert lines(board, "get", path, "update", path, "x", semihosting_dir=folder) == refused * 2
    if errno != 2:
        assert (
            lines(board, "put", path, "x", "add", path, "x", semihosting_dir=folder) == refused * 2
        )
    assert (folder.parent / "secret").read_text() == "secret"
    assert sorted(entry.name for entry in folder.parent.iterdir()) == ["folder", "secret"]


def test_a_link_within_the_folder_is_followed(board: str, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "file").write_text("contents")
    (folder / "link").symlink_to("sub/../sub/file")
    assert lines(board, "get", "link", semihosting_dir=folder)[-1] == "contents"


def test_refused_calls_are_noted(folder: Path) -> None:
    (folder / "out").symlink_to("../secret")
    loaded = package.Board("minimal-rv32").load(hosted.built("minimal-rv32"))
    result = loaded.run(arguments=["get", "out", "remove", "sub"], semihosting_dir=folder)
    assert result.notes == (
        "semihosting: 'out' was not opened: a symbolic link leads out of the folder",
    )


def test_without_the_option_there_are_no_files(
    cyclescope: Command, board: str, tmp_path: Path
) -> None:
    (tmp_path / "here").write_text("contents")
    elf = hosted.built(board)
    done = cyclescope(
        "run",
        elf,
        "--board",
        board,
        "--",
        "get",
        "here",
        "put",
        "new",
        "x",
        "get",
        "/etc/passwd",
        "remove",
        "here",
    )
    assert done.status == 0
    assert done.stdout.startswith("open -1\nerrno 2\n" * 3 + "remove -1\nerrno 2\n")
    assert "'here' was not opened: no folder is given for files (--semihosting-dir)" in done.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["here"]


def test_the_folder_has_to_be_one(cyclescope: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = ("run", hosted.built("minimal-rv32"), "--board", "minimal-rv32")
    for name, why in (("nowhere", "No such file or directory"), ("file", "Not a directory")):
        done = cyclescope(*run, "--semihosting-dir", name)
        assert (done.status, done.error) == (Status.USAGE, f"{name}: {why}")
    done = cyclescope(*run, "--stdin", "nowhere")
    assert (done.status, done.error) == (Status.USAGE, "nowhere: No such file or directory")


def test_an_input_that_is_closed_is_one_line() -> None:
    command = [sys.executable, "-m", "cyclescope", "run", str(hosted.built("minimal-rv32"))]
    done = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *command, "--board", "minimal-rv32", "--stdin", "-"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == Status.USAGE
    assert done.stderr == "cyclescope: error: --stdin -: the standard input is closed\n"


def test_arguments_follow_the_programs_name(cyclescope: Command, board: str) -> None:
    elf = hosted.built(board)
    words = ["arguments", "two words", "", "it's", "--json", "--", 'a"b']
    done = cyclescope("run", elf, "--board", board, "--", *words)
    assert done.status == 1 + len(words)
    assert done.stdout.splitlines()[: done.status] == [elf.name, *words]


def test_arguments_need_their_dashes(cyclescope: Command) -> None:
    done = cyclescope("run", "a.elf", "b", "--board", "minimal-rv32")
    assert done.status == Status.USAGE
    assert "b" in done.error


def test_standard_input_is_the_users(board: str, tmp_path: Path) -> None:
    read = ["one", "two", "end 0"]
    for stdin in (b"one\ntwo", io.BytesIO(b"one\ntwo")):
        assert " ".join(lines(board, "lines", stdin=stdin)).split() == " ".join(read).split()
    (tmp_path / "input").write_bytes(b"one\ntwo")
    with (tmp_path / "input").open("rb") as file:
        assert " ".join(lines(board, "lines", stdin=file)).split() == " ".join(read).split()
    assert lines(board, "lines") == ["end 0"]


@pytest.mark.parametrize("board", hosted.ARM_OPERATIONS)
def test_a_character_is_read_or_the_end(board: str) -> None:
    console = lines(board, "character", "0", "character", "0", stdin=b"A")
    assert console == ["character 65", "character -1"]


def _started(board: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "cyclescope", "run", str(hosted.built(board))]
    return subprocess.Popen(
        [*command, "--board", board, "--stdin", "-", "--", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


# In the short tier one board whose semihosting is Arm's, and one where it is MIPS's.
WAITING = mostly_long(hosted.BOARDS, {hosted.BOARDS[0], hosted.MIPS})


@pytest.mark.parametrize("board", WAITING)
def test_output_is_visible_before_input_is_awaited(board: str) -> None:
    with _started(board, "exit?", "", "lines") as run:
        assert run.stdout.readline() == b"no such command\n"
        run.stdin.write(b"typed\n")
        run.stdin.flush()
        assert run.stdout.readline() == b"typed\n"
        run.stdin.close()
        rest = run.stdout.read()
    assert b"end 0\n" in rest
    assert run.returncode == 0


@pytest.mark.parametrize("board", WAITING)
def test_a_wait_for_input_takes_no_simulated_time(board: str) -> None:
    with _started(board, "put", "", "", "lines") as run:
        run.stdout.readline()
        run.stdin.write(b"typed")
        run.stdin.close()
        waited = run.stdout.read().decode()
    at_once = package.Board(board).load(hosted.built(board))
    result = at_once.run(arguments=["put", "", "", "lines"], stdin=b"typed")
    (core,) = result.cores
    assert re.search(r"cycles +([\d,]+)", waited)[1].replace(",", "") == str(core.cycles)


def test_a_wait_for_input_can_be_interrupted() -> None:
    with _started("minimal-rv32", "exit?", "", "lines") as run:
        run.stdout.readline()
        run.send_signal(signal.SIGINT)
        run.wait(timeout=60)
    assert run.returncode == 130


def test_clocks_are_simulated_time() -> None:
    for board in hosted.ARM_OPERATIONS:
        loaded = package.Board(board).load(hosted.built(board))
        result = loaded.run(arguments=["times"])
        values = dict(line.split() for line in result.console.splitlines())
        assert (values["clock"], values["time"]) == ("0", "0")
        assert values["frequency"] == str(10**9)
        assert 0 < int(values["elapsed"]) * 1000 < result.elapsed_ps < SECOND_PS // 100
        assert loaded.run(arguments=["times"]) == result


@pytest.mark.parametrize("board", hosted.ARM_OPERATIONS)
def test_calls_without_a_counterpart_on_the_host_fail(board: str, folder: Path) -> None:
    console = lines(
        board,
        "heap",
        "",
        "temporary",
        "7",
        "system",
        "touch x",
        "unknown",
        "153",
        semihosting_dir=folder,
    )
    assert console == [
        "heap 0",
        "temporary 0",
        "semihosting-7.tmp",
        "system -1",
        "unknown -1",
    ]
    assert list(folder.iterdir()) == []


def test_mips_has_a_log_assertions_and_exceptions(cyclescope: Command) -> None:
    board = hosted.MIPS
    assert lines(board, "log", "n %d!", "unknown", "22") == ["n 42!unknown -1"]
    run = ("run", hosted.built(board), "--board", board, "--")
    done = cyclescope(*run, "assert", "a < b")
    assert done.status == OTHER_OF_FIRMWARE
    assert "status is 134" in done.stderr
    assert "assertion 'a < b' failed, 'file.c', line 12" in done.stderr
    done = cyclescope(*run, "exception", "")
    assert done.status == OTHER_OF_FIRMWARE
    assert "exception that it can't handle" in done.stderr


def test_a_loop_that_prints_while_it_polls_prints_each_round(board: str) -> None:
    loaded = package.Board(board).load(hosted.built(board))
    runs = [
        loaded.run("5ms", arguments=["poll", str(UART_STATUS[board])], skip_polling=skip)
        for skip in (True, False)
    ]
    assert runs[0].console == runs[1].console
    assert runs[0].console.count(".") > 100
    assert runs[0].cores == runs[1].cores
