"""Untrusted firmware and boards: they reach no file of the host except the named ones.

A firmware that tries runs under strace, and its log is compared with that of a harmless one.
Without strace, it runs in a folder that lacks the files in question. If the kernel (Landlock) lets
the tool open only the files that it was given, nothing changes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import host_calls
import hosted
import landlock
import pytest
from conftest import ROOT, Command
from tiers import mostly_long

import cyclescope
from cyclescope import firmware
from cyclescope.statuses import Status

# A board for each interface to the host; boards with a flash keep it in a file.
BOARDS = {
    "kc705-axi-quad-spi": ("--set", "flash0.cyclescope,image=flash.bin"),
    "sama5d2-xplained": ("--set", "flash0.cyclescope,image=flash.bin"),
    "minimal-armv7m": (),
    "ben-nanonote": (),
}
OUTPUTS = ("--json", "result.json", "--vcd", "waves.vcd")
SECRET = "nobody's business\n"
# Read by an interpreter or a C library whatever they run.
SYSTEM = [sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/proc", "/dev/urandom"]
SYSTEM += ["/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/dev/null"]


def is_confinable() -> bool:
    try:
        return landlock.version() > 0
    except landlock.NotAvailableError:
        return False


HAS_STRACE = host_calls.is_there()
NEEDS_LANDLOCK = pytest.mark.skipif(not is_confinable(), reason="the kernel has no Landlock")
NEEDS_EITHER = pytest.mark.skipif(
    not (HAS_STRACE or is_confinable()),
    reason="strace can't be used, and the kernel has no Landlock",
)


def build(name: str, board: str) -> Path:
    source = ROOT / "tests" / "firmware" / f"{name}.c"
    return firmware.build(firmware.board_recipe(name, board, [source], include=[hosted.PROGRAM]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with a secret, and a folder in it with ways out."""
    work = tmp_path / "work"
    inside = work / "files"
    (inside / "inside").mkdir(parents=True)
    (work / "temporary").mkdir()
    (work / "secret.txt").write_text(SECRET)
    (tmp_path / "secret.txt").write_text(SECRET)
    (inside / "own.txt").write_text("the firmware's own\n")
    (inside / "link").symlink_to("../secret.txt")
    (inside / "folder-link").symlink_to("..")
    return work


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **more}


def command(elf: Path, board: str, *more: str) -> list[str]:
    arguments = ("run", str(elf), "--board", board, *BOARDS[board], *OUTPUTS, *more)
    return [sys.executable, "-m", "cyclescope", *arguments]


def is_named(path: Path, folder: Path) -> bool:
    """An output, or what is written beside it to take its place at once."""
    is_half_made = path.name.startswith(".cyclescope-")
    is_output = any(name in path.name for name in ("result.json", "waves.vcd", "flash.bin"))
    is_temporary = path.is_relative_to(folder / "temporary")
    return is_temporary or (path.parent == folder and (is_output or is_half_made))


def check(board: str, folder: Path, log: Path, *more: str) -> int:
    """Run the hostile program and see that it keeps within what is named: its status.

    Without strace the kernel keeps it there, and all is as without.
    """
    return (check_calls if HAS_STRACE else check_confined)(board, folder, log, *more)


def check_confined(board: str, folder: Path, log: Path, *more: str) -> int:
    """Files that the firmware may not open give it no more than missing files."""
    bare = shutil.copytree(folder, log / "work", symlinks=True)
    (bare / "secret.txt").unlink()
    called = command(build("hostile", board), board, *more)
    variables = {own: environment(TMPDIR=str(own / "temporary")) for own in (folder, bare)}
    done = subprocess.run(
        called, cwd=folder, env=variables[folder], capture_output=True, check=False, timeout=300
    )
    kept_in = confined(called, bare, [build("hostile", board)], variables[bare])
    assert (done.returncode, done.stderr) == (kept_in.returncode, kept_in.stderr)
    files = [
        {path.relative_to(own): path.read_bytes() for path in own.rglob("*") if is_file(path)}
        for own in (folder, bare)
    ]
    assert files[0].pop(Path("secret.txt")) == SECRET.encode()
    assert files[0] == files[1]
    assert (folder.parent / "secret.txt").read_text() == SECRET
    return done.returncode


def is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def check_calls(board: str, folder: Path, log: Path, *more: str) -> int:
    """Run both programs and compare: the status of the hostile one."""
    runs = {}
    for name in ("exit_main", "hostile"):
        called = command(build(name, board), board, *more)
        variables = environment(TMPDIR=str(folder / "temporary"))
        runs[name] = host_calls.traced(called, folder, variables, log)
    (_, benign), (done, hostile) = runs["exit_main"], runs["hostile"]
    given = folder / "files" if more else folder / "result.json"
    own = {path for path in hostile.read | hostile.written if path.is_relative_to(given)}
    allowed = benign.read | own | {build("hostile", board)}
    strange = {path for path in hostile.read - allowed if not path.is_relative_to("/proc")}
    assert not strange
    for path in (hostile.written | hostile.changed) - benign.written - benign.changed:
        assert path.is_relative_to(given) or is_named(path, folder), path
    for path in benign.written | benign.changed:
        assert is_named(path, folder) or path == Path("/dev/null"), path
    assert hostile.others == []
    assert b"Traceback" not in done.stderr
    secrets = (folder / "secret.txt", folder.parent / "secret.txt")
    assert [secret.read_text() for secret in secrets] == [SECRET, SECRET]
    assert not {*secrets, Path("/etc/passwd")} & hostile.read
    return done.returncode


@NEEDS_EITHER
@pytest.mark.parametrize("board", mostly_long(BOARDS, {"minimal-armv7m"}))
def test_a_firmware_opens_no_file_of_the_host(board: str, folder: Path, tmp_path: Path) -> None:
    assert check(board, folder, tmp_path / "log") == 0


@NEEDS_EITHER
@pytest.mark.parametrize("board", mostly_long(BOARDS, {"kc705-axi-quad-spi"}))
def test_a_firmware_with_a_folder_stays_in_it(board: str, folder: Path, tmp_path: Path) -> None:
    assert check(board, folder, tmp_path / "log", "--semihosting-dir", "files") > 0
    # it made files of its own there, and nowhere else
    assert sorted(path.name for path in folder.iterdir() if path.suffix == ".txt") == ["secret.txt"]
    assert not Path("/tmp/hostile").exists()


# As strace 6.1 writes it; a call of a thread is cut in two.
LOG = """\
7 execve("/usr/bin/python3", ["python3", "-c"], 0x7ffc4d1c /* 20 vars */) = 0
7 openat(AT_FDCWD<@>, "made", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0666) = 3<@/made>
7 openat(AT_FDCWD<@>, "none", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
7 rename("made", "moved") = 0
8 openat(AT_FDCWD<@>, "/etc/hostname", O_RDONLY|O_CLOEXEC <unfinished ...>
7 unlink("moved") = 0
8 <... openat resumed>) = 4</etc/hostname>
9 execve("/usr/bin/true", ["true"], 0x7ffd0f18 /* 20 vars */) = 0
7 socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 5<UNIX-STREAM:[4711]>
7 connect(5<UNIX-STREAM:[4711]>, {sa_family=AF_UNIX, sun_path="nowhere"}, 10) = -1 ENOENT (...)
"""


def test_the_log_shows_what_a_program_does(tmp_path: Path) -> None:
    """Or the tests above would pass by seeing nothing."""
    logged = [host_calls.calls(LOG.replace("@", str(tmp_path)), tmp_path)]
    if HAS_STRACE:
        logged.append(traced_script(tmp_path))
    for calls in logged:
        assert Path("/etc/hostname") in calls.read
        assert tmp_path / "made" in calls.written
        assert {tmp_path / "made", tmp_path / "moved"} <= calls.changed
        assert any(call.startswith("execve") for call in calls.others)
        assert any(call.startswith("socket") for call in calls.others)


def traced_script(folder: Path) -> host_calls.Calls:
    """The log of strace for a program that makes the calls in `LOG`."""
    script = (
        "import os, socket, subprocess, threading; open('made', 'w'); os.rename('made', 'moved');"
        "thread = threading.Thread(target=lambda: open('/etc/hostname'));"
        "thread.start(); thread.join(); os.unlink('moved'); subprocess.run(['true']);"
        "socket.socket(socket.AF_UNIX).connect_ex('nowhere')"
    )
    called = [sys.executable, "-c", script]
    done, calls = host_calls.traced(called, folder, environment(), folder / "log")
    assert done.returncode == 0, done.stderr
    return calls


# ---- With the kernel's help


def confined(
    called: list[str], folder: Path, more: list[Path], variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command that may read what it needs, and write in one folder."""
    # the folder that a package installed for development is found in
    readable = [*SYSTEM, Path(cyclescope.__file__).resolve().parent.parent]
    script = (
        "import json, os, sys, landlock;"
        "readable, writable, called = json.loads(sys.argv[1]);"
        "landlock.restrict(readable, writable); os.execv(called[0], called)"
    )
    places = [[*map(str, readable), *map(str, more)], [str(folder)], called]
    return subprocess.run(
        [sys.executable, "-c", script, json.dumps(places)],
        cwd=folder,
        env=(variables or environment()) | {"PYTHONPATH": str(ROOT / "tests" / "support")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=300,
    )


@NEEDS_LANDLOCK
@pytest.mark.parametrize("board", mostly_long(BOARDS, {"sama5d2-xplained", "ben-nanonote"}))
def test_all_is_the_same_where_nothing_else_can_be_opened(board: str, tmp_path: Path) -> None:
    elf = build("hostile", board)
    outputs = []
    for name in ("free", "confined"):
        own = tmp_path / name
        own.mkdir()
        called = command(elf, board)
        if name == "free":
            done = subprocess.run(called, cwd=own, capture_output=True, check=False)
        else:
            done = confined(called, own, [elf])
        files = sorted(path.name for path in own.iterdir())
        result = (own / "result.json").read_text()
        outputs.append((done.returncode, done.stderr, files, result))
    assert outputs[0] == outputs[1]
    assert outputs[0][0] == 0


@NEEDS_LANDLOCK
def test_the_kernel_keeps_a_program_out(tmp_path: Path) -> None:
    (tmp_path / "free").mkdir()
    script = "import sys; print(open(sys.argv[1]).read())"
    for path in ("/etc/passwd", tmp_path / "secret.txt"):
        (tmp_path / "secret.txt").write_text(SECRET)
        done = confined([sys.executable, "-c", script, str(path)], tmp_path / "free", [])
        assert b"PermissionError" in done.stderr
    (tmp_path / "free" / "own.txt").write_text("own")
    done = confined([sys.executable, "-c", script, "own.txt"], tmp_path / "free", [])
    assert done.stdout == b"own\n", done.stderr


# ---- Boards


@pytest.mark.parametrize("named", ["secret.txt", "/etc/passwd", "../secret.txt"])
def test_a_board_names_no_file_of_the_host(cyclescope: Command, tmp_path: Path, named: str) -> None:
    (tmp_path / "secret.txt").write_text(SECRET)
    board = tmp_path / "anyones.dts"
    shipped = ROOT / "boards" / "kc705-axi-quad-spi.dts"
    board.write_text(
        f'/dts-v1/;\n/include/ "{shipped}"\n&flash0 {{\n\tcyclescope,image = "{named}";\n}};\n'
    )
    elf = build("exit_main", "kc705-axi-quad-spi")
    done = cyclescope("run", elf, "--board", board)
    assert done.status == Status.USAGE
    assert done.error == (
        "anyones.dts:4: flash@0: cyclescope,image names a file on the host: a board's source may "
        'not; leave it "" here, and name the file by --set flash0.cyclescope,image=FILE'
    )
    assert (tmp_path / "secret.txt").read_text() == SECRET
    # the user who runs it may
    allowed = ("--set", "flash0.cyclescope,image=flash.bin")
    board.write_text(board.read_text().replace(named, ""))
    assert cyclescope("run", elf, "--board", board, *allowed).status == 7
