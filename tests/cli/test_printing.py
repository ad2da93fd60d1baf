"""Output of firmware appears soon and whole, whatever reads it, and fills no memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import hosted
import pytest
from conftest import BOARD, ROOT, Command

from cyclescope import Board, firmware
from cyclescope.board.results import parse_metrics
from cyclescope.board.wiring import printed

PROGRAMS = ROOT / "tests" / "firmware" / "console"
CALL_BYTES = 63 * 1024
MIB = 1 << 20
# memory of Python, of the engine, and of the result, with room to spare
MOST_RESIDENT_BYTES = 400 * MIB


def build(name: str, **macros: int) -> Path:
    defined = {f"APP_{macro.upper()}": str(value) for macro, value in macros.items()}
    source, include = [PROGRAMS / f"{name}.c"], [hosted.PROGRAM]
    recipe = firmware.board_recipe(name, BOARD, source, defined, include=include)
    return firmware.build(recipe)


def start(elf: Path, *options: str) -> subprocess.Popen[bytes]:
    """A run in a process of its own that may not have much memory."""
    # not by a fork of this process, which may have mapped more than the host has memory
    bounded = ("sh", "-c", f'ulimit -v {3 << 20}; exec "$@"', "sh")
    command = [sys.executable, "-m", "cyclescope", "run", str(elf), "--board", BOARD, *options]
    return subprocess.Popen(
        [*bounded, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def most_resident_bytes(process: subprocess.Popen[bytes]) -> int:
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmHWM")


def cpu_ticks(process: subprocess.Popen[bytes]) -> int:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def read(process: subprocess.Popen[bytes], count: int) -> None:
    assert process.stdout
    while count > 0:
        chunk = os.read(process.stdout.fileno(), min(count, MIB))
        assert chunk, process.stderr.read() if process.stderr else ""
        count -= len(chunk)


def test_a_program_that_prints_without_end_fills_no_memory() -> None:
    process = start(build("print_much", calls=0))
    try:
        # more than the result keeps, so that only what is bounded grows
        read(process, 100 * MIB)
        assert most_resident_bytes(process) < MOST_RESIDENT_BYTES
    finally:
        process.kill()
        process.communicate()


def test_a_slow_reader_has_the_simulation_wait_and_one_that_leaves_ends_it() -> None:
    process = start(build("print_much", calls=0))
    assert process.stdout
    assert process.stderr
    try:
        read(process, MIB)
        # the pipe is full soon, and from then on nothing happens
        time.sleep(1)
        before = cpu_ticks(process)
        time.sleep(1)
        assert cpu_ticks(process) - before < os.sysconf("SC_CLK_TCK") // 4
        assert most_resident_bytes(process) < MOST_RESIDENT_BYTES
        read(process, MIB)
        process.stdout.close()
        assert process.wait(timeout=60) == 128 + signal.SIGPIPE
        assert process.stderr.read().count(b"\n") == 1
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_result_keeps_the_first_bytes_and_says_what_is_missing(
    cyclescope: Command, tmp_path: Path
) -> None:
    calls = printed.KEPT_BYTES // CALL_BYTES + 2
    elf = build("print_much", calls=calls)
    done = cyclescope("run", elf, "--board", BOARD, "--json", "result.json")
    assert done.status == 0
    # the terminal gets all of it
    assert done.stdout.count("\n", 0, calls * CALL_BYTES) == calls * 63
    missing = calls * CALL_BYTES - printed.KEPT_BYTES
    note = f"the console's last {missing} bytes are not in the result, which keeps 16777216"
    assert json.loads((tmp_path / "result.json").read_text())["notes"] == [note]
    assert note in done.stderr


def test_the_kept_part_of_a_text_ends_with_a_whole_character(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(printed, "KEPT_BYTES", 6)
    heard: list[str] = []
    console = printed.Console(heard.append)
    for byte in "a\u00e4b\u20acc".encode():
        console.write(bytes([byte]))
    console.finish()
    assert "".join(heard) == "a\u00e4b\u20acc"
    # the third byte of the euro sign and the c are beyond
    assert console.text == "a\u00e4b"
    note = "uart7's last 2 bytes are not in the result, which keeps 6"
    assert list(console.notes("uart7")) == [note]
    streams = printed.Streams(None)
    streams.write("uart5", b"123456")
    streams.write("uart7", b"1234567")
    assert streams.finish() == {"uart5": "123456", "uart7": "123456"}
    assert list(streams.notes()) == [note.replace("2 bytes", "1 bytes")]


def test_a_line_without_an_end_comes_in_pieces() -> None:
    lines: list[tuple[str, str]] = []
    streams = printed.Streams(lambda name, line: lines.append((name, line)))
    for _ in range(5):
        streams.write("uart7", b"x" * 40_000)
    assert [len(line) for _, line in lines] == [80_000, 80_000]
    streams.finish()
    assert sum(len(line) for _, line in lines) == 200_000


def test_early_output_shows_early() -> None:
    class HeardError(Exception):
        pass

    def stop(text: str) -> None:
        assert text == "early\n"
        raise HeardError

    machine = Board(BOARD).load(build("print_and_work")).start()
    with pytest.raises(HeardError):
        machine.run(10**13, lambda chunk: stop(chunk.decode()))
    # some thousand cycles of start-up, and 200000 to the hand-over, at 100 MHz
    assert 2e9 < machine.now() < 2.2e9


@pytest.mark.parametrize(
    "line", ['{"metric":"x","unit":"s","value":', '{"a":' * 100_000, '{"value":' + "9" * 5000 + "}"]
)
def test_a_console_that_was_cut_gives_the_metrics_before(line: str) -> None:
    whole = '{"metric":"rounds","unit":"","value":3}\n'
    assert [metric.name for metric in parse_metrics(whole + line)] == ["rounds"]


def test_serial_lines_are_shown_though_the_consoles_line_has_no_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from cyclescope.cli.shown_run import _MOST_HELD_CHARACTERS, ConsoleWriter

    writer = ConsoleWriter(sys.stdout)
    writer.console("an unfinished line")
    for _ in range(_MOST_HELD_CHARACTERS // 1000):
        writer.stream("uart7", "x" * 1000)
    shown = capsys.readouterr().out
    assert shown.startswith("an unfinished line\nuart7: xxx")
    assert len(shown) > _MOST_HELD_CHARACTERS


def test_a_virtual_boards_last_words_are_bounded() -> None:
    from cyclescope.ipc.virtual import VirtualTty

    tty = VirtualTty.__new__(VirtualTty)
    tty._console, tty._streams = b"", {}
    for _ in range(100):
        tty._printed(b"console\n" * 1000)
        tty._printed_on("uart7", b"log\n" * 1000)
    assert len(tty._console) <= 1 << 16
    assert len(tty._streams["uart7"]) <= 1 << 16
    assert tty.last_words()[0].startswith("the console printed: console | console")


def test_a_terminal_that_nobody_reads_has_the_board_wait() -> None:
    from cyclescope.ipc.server import _MOST_OUTPUT_BYTES, Server

    class Endless:
        """A board whose program sends without end."""

        sent_bytes = fed_bytes = taken_bytes = 0
        at_ps = 0

        def now_ps(self) -> int:
            return self.at_ps

        def feed(self, data: bytes) -> None:
            self.fed_bytes += len(data)

        def run_until_sent(self, total_bytes: int, for_ps: int) -> int:
            self.sent_bytes += 1 << 16
            self.at_ps += 1000
            return self.at_ps

        def drain(self) -> bytes:
            return bytes(1 << 16)

        def stop(self) -> None:
            pass

    board = Endless()
    with Server(board) as server:
        terminal = os.open(server.port, os.O_RDWR | os.O_NOCTTY)
        os.write(terminal, b"x")
        deadline = time.monotonic() + 30
        while board.sent_bytes < _MOST_OUTPUT_BYTES and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.3)
        sent = board.sent_bytes
        assert _MOST_OUTPUT_BYTES <= sent < 2 * _MOST_OUTPUT_BYTES
        got = 0
        while got < _MOST_OUTPUT_BYTES // 2:
            got += len(os.read(terminal, 1 << 16))
        time.sleep(0.3)
        assert board.sent_bytes > sent
        os.close(terminal)
