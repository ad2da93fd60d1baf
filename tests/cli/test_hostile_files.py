"""Reading any file ends within 5 s and 1 GiB, with a line that names the file."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import hostile_files
import pytest
from conftest import Finished
from warm_start import WarmStart

from cyclescope import Board, _engine

BOARD = ("--board", "minimal-armv7m")
BOUNDS = (2**30, 5)
# For a file below 1 MiB.
SIZE_BYTES = 2**20
BAD = 121

Call = Callable[..., Finished]


@pytest.fixture
def bounded(tmp_path: Path, command_line: WarmStart) -> Call:
    """Calls the command line, which ends by a signal where it takes more than it may."""

    def call(*arguments: object) -> Finished:
        texts = [str(argument) for argument in arguments]
        found = command_line.call(texts, tmp_path, os.environ, 60, bounds=BOUNDS)
        finished = Finished(found[0], found[1].decode(), found[2].decode())
        assert "a fault of Cyclescope" not in finished.stderr, finished.stderr
        assert "more memory than the host has" not in finished.stderr
        return finished

    return call


def written(path: Path, contents: str | bytes) -> Path:
    """A file of less than what the bounds are for."""
    data = contents.encode() if isinstance(contents, str) else contents
    assert len(data) <= SIZE_BYTES + 1
    path.write_bytes(data)
    return path


def check_refused(done: Finished, file: Path, message: str, what: str) -> None:
    assert (done.status, done.stdout) == (BAD, ""), (what, done)
    assert all(text in done.error for text in (str(file), message)), (what, done.error)
    assert len(done.error) < 600, what


def test_programs_run_whatever_is_said_of_them(bounded: Call, tmp_path: Path) -> None:
    for what, elf in hostile_files.elf_files():
        file = written(tmp_path / "x.elf", elf)
        done = bounded("profile", file, *BOARD)
        assert done.status == 0, (what, done.stderr)
        # the symbol as it is, or the address if that is too long
        shown = elf[elf.index(b"_Z") :].split(b"\0")[0].decode() if b"_Z" in elf else "main"
        shown = "0x40" if b"xxxx\0" in elf and ".debug_str" not in what else shown
        assert shown[:20] in done.stdout or "main" in done.stdout, (what, done.stdout)


def test_segments_of_the_same_bytes_are_not_loaded(bounded: Call, tmp_path: Path) -> None:
    for copies, message in [
        ((8_000, 500_000), "it has 8000 segments: at most 1024 are loaded"),
        ((1_000, 500_000), "its segments load 500000000 bytes, and the file has"),
    ]:
        file = written(tmp_path / "x.elf", hostile_files.executable(copies=copies))
        check_refused(bounded("run", file, *BOARD), file, message, str(copies))


def test_chips_are_refused_before_they_are_written_out(bounded: Call, tmp_path: Path) -> None:
    memory = ("--memory", "ram=0x20000000:128Ki")
    elf = written(tmp_path / "x.elf", hostile_files.executable())
    for what, text, message in hostile_files.svd_files():
        file = written(tmp_path / "x.svd", text)
        check_refused(bounded("new-board", file, "--clock", "16M", *memory), file, message, what)
    check_refused(bounded("run", elf, *BOARD, "--svd", file), file, message, what)
    written(file, hostile_files.many_fields())
    assert bounded("new-board", file, "--clock", "16M", *memory).status == 0


@pytest.mark.parametrize("command", ["sweep", "fit"])
def test_requests_are_refused(bounded: Call, tmp_path: Path, command: str) -> None:
    for what, text, message in hostile_files.toml_files():
        file = written(tmp_path / "x.toml", text)
        if message == "no such key" and command == "fit":
            message = "key"
        check_refused(bounded(command, file), file, message, what)


def test_records_are_refused(bounded: Call, tmp_path: Path) -> None:
    for what, text, message in hostile_files.record_files():
        file = written(tmp_path / "x.hex", text)
        check_refused(bounded("run", file, *BOARD), file, message, what)


def test_scripts_are_refused(bounded: Call, tmp_path: Path) -> None:
    elf = written(tmp_path / "x.elf", hostile_files.executable())
    escapes = "\\n" * 400_000
    for text, message in [
        (f'send "{escapes}" pausing 1us', ":1: 400,000 characters: at most 10,000 one by one"),
        ("end\n" * 250_000, ":200001: a script has at most 200,000 steps"),
        (f'\nsend "{escapes}\n', ":2: a text has no closing quote"),
    ]:
        file = written(tmp_path / "x.script", text)
        done = bounded("run", elf, "--board", "stm32f4-disco", "--script", f"usart2={file}")
        check_refused(done, file, message, message)


def test_devices_are_refused_wherever_a_file_is_read(bounded: Call, tmp_path: Path) -> None:
    elf = written(tmp_path / "x.elf", hostile_files.executable())
    zeros = Path("/dev/zero")
    toml, boards = tmp_path / "zeros.toml", tmp_path
    for path in (toml, boards / "zeros.dts"):
        path.symlink_to(zeros)
    for arguments in [
        ("run", elf, *BOARD, "--from", zeros),
        ("run", elf, *BOARD, "--svd", zeros),
        ("run", zeros, *BOARD),
        ("run", elf, "--board", "stm32f4-disco", "--script", f"usart2={zeros}"),
        ("run", elf, *BOARD, "--devices", zeros),
        ("disassemble", zeros),
        ("annotate", zeros, "main", *BOARD),
        ("compare", zeros, elf),
        ("show", "--results", zeros),
        ("sweep", toml),
        ("fit", toml),
        ("sweep", zeros, *BOARD, "--vary", "sys_clk.clock-frequency=1M,2M"),
        ("run", elf, "--board", boards / "zeros.dts"),
        ("fit", elf, *BOARD, "--free", "sram.cyclescope,first-word-cycles=1:9", "--cells", zeros),
    ]:
        done = bounded(*arguments)
        assert done.status == BAD, (arguments, done)
        assert all(text in done.error for text in ("zero", "a device")), (arguments, done.error)


class AlarmError(Exception):
    """A signal's handler has been called."""


def test_a_signal_ends_the_reading_of_debug_information() -> None:
    units = hostile_files.shared_lines(2_000_000, 400_000)
    board = Board("minimal-armv7m").load(hostile_files.executable(sections=units))
    # the run has been interrupted: only work that ends soon is still reported
    _engine.hurry(True)
    began_s = time.process_time()
    assert board.places("cpu0", [0x40]) == [[("main", None, None, None)]]
    assert time.process_time() - began_s < 0.8
    _engine.hurry(False)

    def ring(number: int, frame: object) -> None:
        raise AlarmError

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        began_s = time.process_time()
        with pytest.raises(AlarmError):
            board.places("cpu0", [0x40])
        assert time.process_time() - began_s < 0.6
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
