"""`cyclescope ipc` with a virtual board: its tty as a pseudo-terminal, in its own time."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from conftest import ROOT, Command
from tiers import ALL

from cyclescope import firmware
from cyclescope.board import Board
from cyclescope.errors import IpcError
from cyclescope.ipc import clock
from cyclescope.ipc.client import Results, run_tests
from cyclescope.ipc.link import open_link
from cyclescope.ipc.protocol import COUNT, TtyTest, blocks_of, parse_test, report_tests
from cyclescope.ipc.server import LINGER_PS, Server
from cyclescope.ipc.virtual import VirtualTty

BOARD = "sama5d2-xplained"
TTY = """
/ {
	tty0: serial@fc070000 {
		compatible = "virtio,mmio";
		reg = <0xfc070000 0x200>;
		dma-coherent;
	};
};
"""
MS = 10**9
LIBRARY = ROOT / "firmware" / "rpmsg"
MakeBoard = Callable[..., Path]


def build(fault: str = "NONE", answer_bytes: int = 2) -> Path:
    source = [ROOT / "tests" / "firmware" / "ipc" / "tty_echo.c"]
    library = [LIBRARY / f"{part}.c" for part in ("link_fault", "vring", "virtqueue_driver")]
    driver = ROOT / "firmware" / "drivers" / "virtio_console.c"
    recipe = firmware.board_recipe(
        "tty_echo",
        BOARD,
        [*source, driver, *library],
        include=[LIBRARY],
        settings={"memory": "ddr", "cache": "on"},
        macros={"FAULT": fault, "ANSWER_BYTES": str(answer_bytes)},
    )
    return firmware.build(recipe)


@pytest.fixture
def board(changed_board: MakeBoard) -> Path:
    return changed_board(TTY, BOARD)


def measure(board: Path, elf: Path, tests: tuple[TtyTest, ...], checked: bool = False) -> Results:
    timeout_ps = 20 * MS
    with (
        Server(VirtualTty(Board(board), elf)) as server,
        closing(open_link(server.port, timeout_ps, 115200)) as link,
    ):
        results = run_tests(link, tests, timeout_ps, checked)
        if results.error:
            results.error = results.error.replace(server.port, "PORT")
        return results


def times(results: Results) -> list[int]:
    assert results.error is None
    return [measured.time_ns for measured in results.measured]


# ---- Time


def test_times_are_the_boards_and_the_same_each_time(board: Path) -> None:
    elf = build()
    tests = report_tests() if ALL else (parse_test("512x1"), parse_test("4096x1"))
    first = measure(board, elf, tests)
    assert first.clock == "virtual"
    assert times(first) == times(measure(board, elf, tests))
    # the program's CRC takes a time by the byte
    by_bytes = {measured.test.total_bytes: measured.time_ns for measured in first.measured}
    assert by_bytes[4096] / by_bytes[512] == pytest.approx(8, rel=0.1)


def test_a_slow_host_measures_the_same(board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elf = build()
    tests = (parse_test("512x4"), parse_test("1024x1"))
    expected = times(measure(board, elf, tests))
    # bytes come to the server one by one
    monkeypatch.setattr("cyclescope.ipc.server._CHUNK_BYTES", 1)
    assert times(measure(board, elf, tests)) == expected


def test_time_stands_still_while_nothing_is_asked_for(board: Path) -> None:
    with Server(VirtualTty(Board(board), build())) as server:
        found = clock.connect(server.port)
        assert found
        before = found.now_ps()
        with Path(server.port).open("wb", buffering=0) as terminal:
            terminal.write(blocks_of(TtyTest(512, 1))[0])
            assert found.now_ps() == before
            # they were not said to have been written, so the firmware has not got them
            waited, count = found.sent(2, MS)
            assert (count, (waited - before) // MS) == (0, 1)
            taken, count = found.taken(512, MS)
            assert waited < taken < waited + MS
            assert count == 512
            assert found.sent(2, MS)[1] == 2
        found.close()


def test_a_second_client_and_a_wrong_request_are_refused(board: Path) -> None:
    with Server(VirtualTty(Board(board), build())) as server:
        first = clock.connect(server.port)
        assert first
        with pytest.raises(IpcError, match="another client has the board's clock"):
            clock.connect(server.port)
        with pytest.raises(IpcError, match="unknown request 'taken -1 5'"):
            first.taken(-1, 5)
        assert first.now_ps() > 0
        first.close()


# ---- A terminal without the clock


def exchange(port: str, data: bytes, count: int) -> bytes:
    with Path(port).open("r+b", buffering=0) as terminal:
        terminal.write(data)
        answer = b""
        while len(answer) < count:
            assert select.select([terminal], [], [], 60)[0]
            answer += terminal.read(count - len(answer))
    return answer


def board_time(port: str) -> int:
    with closing(open_link(port, MS, 115200)) as link:
        return link.now_ps()


def test_any_program_may_use_the_terminal(board: Path) -> None:
    with Server(VirtualTty(Board(board), build())) as server:
        for test in (TtyTest(512, 1), TtyTest(4096, 1)):
            data = b"".join(blocks_of(test))
            assert exchange(server.port, data, 2) == COUNT.pack(test.total_bytes)
        # the board rests when nothing has come for a while
        earlier, now = -1, board_time(server.port)
        started = now
        while now != earlier:
            time.sleep(0.1)
            earlier, now = now, board_time(server.port)
        assert now <= started + LINGER_PS + MS
        # and a client that asks for the time is still served
        with closing(open_link(server.port, MS, 115200)) as link:
            assert run_tests(link, (TtyTest(512, 2),), 20 * MS).error is None


# ---- What goes wrong on the board


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            "STOPS",
            "PORT: no answer within 20 ms to 1024 bytes: the firmware did not receive all of .*",
        ),
        ("ENDS", r"PORT: changed: its program ended.*; it printed: echo \| no more \| .* status 3"),
        ("RING", "PORT: changed: its program ended, with status 1; .* the console needs a reset.*"),
    ],
)
def test_a_board_that_fails_is_reported(board: Path, fault: str, said: str) -> None:
    results = measure(board, build(fault), (TtyTest(512, 1), TtyTest(512, 2)))
    assert len(results.measured) == 1
    assert results.error
    assert re.fullmatch(f"test 512x2: {said}", results.error), results.error


def test_a_block_that_the_board_does_not_take_is_reported(board: Path) -> None:
    # the second packet is taken and not answered; then the driver's four buffers of 4096 fill up
    with (
        Server(VirtualTty(Board(board), build("STOPS"))) as server,
        closing(open_link(server.port, 20 * MS, 115200)) as link,
    ):
        for block in blocks_of(TtyTest(512, 1)) * 2:
            link.write(block)
        with pytest.raises(IpcError, match="a block of 30000 bytes was not accepted within 20 ms"):
            link.write(bytes(30000))


def test_the_board_gets_what_was_written(board: Path) -> None:
    checked = measure(board, build(answer_bytes=4), report_tests(), checked=True)
    assert checked.error is None


def test_a_board_without_a_tty_is_reported(cyclescope: Command) -> None:
    finished = cyclescope("ipc", "--board", BOARD, "--firmware", build())
    assert (finished.status, finished.error) == (
        1,
        f"{BOARD}: the board has no tty for the host: it needs a node virtio,mmio",
    )


# ---- The command


def test_the_command_measures_a_board(cyclescope: Command, board: Path, tmp_path: Path) -> None:
    arguments = ("ipc", "--board", board, "--firmware", build(), "--json", "-")
    first, second = (json.loads(cyclescope(*arguments).stdout) for _ in range(2))
    assert (first["clock"], len(first["tests"])) == ("virtual", 11)
    assert first["tests"] == second["tests"]


def test_the_command_shows_what_a_failing_board_printed(cyclescope: Command, board: Path) -> None:
    arguments = ("--firmware", build("STOPS"), "--timeout", "20ms")
    finished = cyclescope("ipc", "--board", board, *arguments)
    assert finished.status == 1
    assert "cyclescope: note: the console printed: echo\n" in finished.stderr
    assert "512x1" in finished.stdout


@contextmanager
def offered(board: Path, *arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command that offers a board's tty, and what it says that the terminal is."""
    chosen = ("--board", board, "--firmware", build(), *arguments)
    server = subprocess.Popen(
        [sys.executable, "-m", "cyclescope", "ipc", "--serve", *map(str, chosen)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout
        yield server, server.stdout.readline().strip()
    finally:
        server.kill()
        server.communicate()


def test_the_command_offers_a_terminal(cyclescope: Command, board: Path, tmp_path: Path) -> None:
    link = tmp_path / "ttyRPMSG0"
    with offered(board, "--link", link) as (server, terminal):
        assert Path(terminal).is_char_device()
        assert os.path.realpath(link) == terminal
        tests = ("--test", "512x2", "--test", "1024x1")
        found = json.loads(cyclescope("ipc", "--port", link, *tests, "--json", "-").stdout)
        assert found["clock"] == "virtual"
        in_one = measure(board, build(), (TtyTest(512, 2), TtyTest(1024, 1)))
        assert [test["time_ns"] for test in found["tests"]] == times(in_one)
        server.send_signal(signal.SIGINT)
        _, stderr = server.communicate(timeout=60)
        assert server.returncode == 130
        assert stderr == "cyclescope: error: interrupted by SIGINT\n"
    assert not link.is_symlink()
    assert not clock.socket_path(terminal).exists()


def test_a_link_of_another_server_is_left_to_it(
    cyclescope: Command, board: Path, tmp_path: Path
) -> None:
    link = tmp_path / "ttyRPMSG0"
    with offered(board, "--link", link) as (server, terminal):
        second = cyclescope(
            "ipc", "--board", board, "--firmware", build(), "--serve", "--link", link
        )
        assert second.status == 1
        assert second.error == f"{link}: links to an existing terminal: remove the link first"
        assert os.path.realpath(link) == terminal
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 143
    assert not link.is_symlink()


def test_a_server_that_was_killed_can_be_started_again(board: Path, tmp_path: Path) -> None:
    link = tmp_path / "ttyRPMSG0"
    with offered(board, "--link", link) as (server, first):
        server.kill()
        server.wait()
    assert str(link.readlink()) == first
    # the name of the terminal is another's by now
    others = [pty.openpty() for _ in range(3)]
    try:
        assert link.exists()
        with offered(board, "--link", link) as (_, terminal):
            assert terminal
            assert os.path.realpath(link) == terminal
            with closing(open_link(str(link), MS, 115200)) as found:
                assert found.now_ps() > 0
    finally:
        for descriptor in (end for pair in others for end in pair):
            os.close(descriptor)


def test_a_link_of_another_program_is_left_to_it(board: Path, tmp_path: Path) -> None:
    # as socat makes one
    master, slave = pty.openpty()
    link = tmp_path / "ttyRPMSG0"
    link.symlink_to(os.ttyname(slave))
    with pytest.raises(IpcError, match="links to an existing terminal"):
        Server(VirtualTty(Board(board), build()), link)
    assert str(link.readlink()) == os.ttyname(slave)
    os.close(master)
    os.close(slave)


def test_a_client_that_leaves_does_not_block_the_next(board: Path) -> None:
    with Server(VirtualTty(Board(board), build())) as server:
        first = clock.connect(server.port)
        assert first
        started_ps = first.now_ps()
        # hours of the host's time; a client that only waits gets messages meanwhile
        first._lines.send(f"sent 1000 {10**6 * 10**12}")
        with pytest.raises(IpcError, match="another client has the board's clock"):
            clock.connect(server.port)
        first.close()
        with closing(open_link(server.port, 20 * MS, 115200)) as second:
            assert started_ps < second.now_ps() < 10**5 * 10**12
            assert run_tests(second, (TtyTest(512, 1),), 20 * MS).error is None


def test_a_client_may_have_said_all_that_it_will(board: Path) -> None:
    with (
        Server(VirtualTty(Board(board), build())) as server,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client,
    ):
        client.connect(str(clock.socket_path(server.port)))
        client.sendall(b"sent 1 100000000000\n")
        client.shutdown(socket.SHUT_WR)
        assert clock.Lines(client).receive()


def test_a_link_takes_nobodys_place(cyclescope: Command, board: Path, tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("mine")
    finished = cyclescope(
        "ipc", "--board", board, "--firmware", build(), "--serve", "--link", taken
    )
    assert finished.status == 1
    assert finished.error == f"{taken}: can't link the terminal there: File exists"
    assert taken.read_text() == "mine"
