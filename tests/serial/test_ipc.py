"""`cyclescope ipc` at a serial port: results, and what is said when something goes wrong."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Command
from ipc_peer import Answer, Peer, acknowledge, acknowledge_with_crc

from cyclescope.errors import IpcError, UsageError
from cyclescope.ipc import clock
from cyclescope.ipc.client import Results, run_tests
from cyclescope.ipc.link import open_link
from cyclescope.ipc.protocol import HEADER, TtyTest, blocks_of, crc16, parse_test, report_tests
from cyclescope.statuses import Status

MS = 10**9
SHORT_MS = 300


def results_at(peer: Peer, tests: tuple[TtyTest, ...], checked: bool = False) -> Results:
    with closing(open_link(peer.port, SHORT_MS * MS, 115200)) as link:
        return run_tests(link, tests, SHORT_MS * MS, checked)


def error_at(peer: Peer, test: str = "512x2", checked: bool = False) -> str:
    results = results_at(peer, (parse_test("512x1"), parse_test(test)), checked)
    assert results.error is not None
    return results.error.replace(peer.port, "PORT")


# ---- What goes over the port


def test_the_crc_is_that_of_the_reports_log() -> None:
    # "Initialized buffer with CRC16: 0x1818", over 32768 bytes of a ramp
    assert crc16(bytes(range(256)) * 128) == 0x1818


def test_the_tests_are_the_reports_in_its_order() -> None:
    tests = report_tests()
    assert " ".join(map(str, tests)) == (
        "512x1 512x2 512x4 512x8 1024x1 1024x2 1024x4 1024x5 2048x1 2048x2 4096x1"
    )
    assert (tests[0].published_ns, TtyTest(512, 16).published_ns) == (11970765, None)


def test_blocks_begin_with_the_header_and_go_on_as_in_the_reports_client() -> None:
    first, second = blocks_of(TtyTest(512, 2))
    assert first[:4] == b"\xcd\xab\x00\x04"
    assert first[6:] == bytes(k & 0xFF for k in range(6, 512))
    # the peer sends block n from the n-th byte of its one buffer
    assert second == first[1:4] + b"\x00\x00" + bytes(k & 0xFF for k in range(6, 513))
    assert (len(first), len(second)) == (512, 512)
    checked = b"".join(blocks_of(TtyTest(65535, 1), checked=True))
    assert len(checked) == 65535
    assert HEADER.unpack(checked[:6])[2] == crc16(checked[6:])


@pytest.mark.parametrize(
    "text", ["512", "512x", "x8", "5x1", "512x0", "512x128", "-512x1", "1e3x1"]
)
def test_a_test_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"test {text!r}: expected block bytes")):
        parse_test(text)


# ---- A peer that does what it should


def test_tests_run_one_after_the_other() -> None:
    with Peer() as peer:
        results = results_at(peer, report_tests())
    assert results.error is None
    assert [len(data) for data in peer.tests] == [test.total_bytes for test in report_tests()]
    assert [measured.test for measured in results.measured] == list(report_tests())
    assert all(measured.time_ns > 0 for measured in results.measured)
    assert results.clock == "host"


def test_a_firmware_that_checks_answers_with_a_crc() -> None:
    with Peer(acknowledge_with_crc) as peer:
        results = results_at(peer, report_tests(), checked=True)
    assert results.error is None
    assert peer.crcs == [crc16(data[HEADER.size :]) for data in peer.tests]


def test_bytes_from_before_a_test_are_no_answer() -> None:
    # two bytes too many, which come before the next test begins
    with Peer(lambda data: acknowledge(data) + b"??") as peer:
        results = results_at(peer, (parse_test("512x1"), parse_test("512x2")))
    assert results.error is None


# ---- Peers that do not


def lose(data: bytes) -> bytes | None:
    return acknowledge(data) if len(data) == 512 else None


def after_first(answer: bytes) -> Answer:
    return lambda data: acknowledge(data) if len(data) == 512 else answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lose, r"PORT: the device has disappeared: check its firmware \(.*\)"),
        (after_first(b""), r"PORT: no answer within 300 ms to 1024 bytes: the firmware did not .*"),
        (after_first(b"\x00"), r"PORT: received 1 of the answer's 2 bytes within 300 ms: .*"),
        (
            after_first(b"\xf0\x01"),
            r"PORT: 496 of 1024 written bytes are acknowledged: bytes were lost, or .*",
        ),
    ],
)
def test_a_fault_of_the_peer_is_one_clear_line(answer: Answer, said: str) -> None:
    with Peer(answer) as peer:
        error = error_at(peer)
        assert re.fullmatch(f"test 512x2: {said}", error), error


def test_a_wrong_crc_is_reported_with_both_values() -> None:
    def garbled(data: bytes) -> bytes:
        return acknowledge_with_crc(data if len(data) == 512 else data[:-1] + b"?")

    with Peer(garbled) as peer:
        error = error_at(peer, checked=True)
    assert re.fullmatch(
        "test 512x2: PORT: wrong CRC: the firmware answered 0x[0-9a-f]{4}, the written bytes "
        "have 0x[0-9a-f]{4}: the data was corrupted on the way",
        error,
    )


def test_a_peer_that_stops_reading_is_reported() -> None:
    with Peer(most_bytes=512) as peer:
        error = error_at(peer, "16384x3")
    assert error == (
        "test 16384x3: PORT: a block of 16384 bytes was not accepted within 300 ms: the other side "
        "has stopped reading"
    )


def test_results_before_a_failure_are_kept() -> None:
    with Peer(after_first(b"")) as peer:
        results = results_at(
            peer, (TtyTest(512, 1), TtyTest(512, 1), TtyTest(512, 2), TtyTest(512, 1))
        )
    assert [measured.test for measured in results.measured] == [TtyTest(512, 1), TtyTest(512, 1)]


# ---- Ports that can't be opened


def test_a_port_that_is_not_there_or_none(cyclescope: Command, tmp_path: Path) -> None:
    absent = cyclescope("ipc", "--port", tmp_path / "ttyRPMSG0")
    assert (absent.status, absent.error) == (
        1,
        f"{tmp_path}/ttyRPMSG0: no such device: start the firmware that makes the port, or name "
        "another one",
    )
    file = tmp_path / "file"
    file.touch()
    no_tty = cyclescope("ipc", "--port", file)
    assert (no_tty.status, no_tty.error) == (
        1,
        f"{file}: not a serial port: name one such as /dev/ttyRPMSG0",
    )


def test_a_port_that_someone_has_is_not_taken() -> None:
    with Peer() as peer:
        other = os.open(peer.port, os.O_RDWR | os.O_NOCTTY)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(IpcError, match=f"{peer.port}: another program has it open: close"):
            open_link(peer.port, MS, 115200)
        os.close(other)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--port", "x", "--board", "y"),
            "--port and --board exclude each other: a virtual board has",
        ),
        (("--serve",), "--serve needs --board"),
        (("--link", "x"), "--link needs --board"),
        (("--test", "512"), "test '512': expected block bytes and number of blocks, as in 512x8"),
        (("--timeout", "2"), "time '2': expected a number and s, ms, us, ns or ps, as in 10s"),
    ],
)
def test_wrong_usage(cyclescope: Command, arguments: tuple[str, ...], said: str) -> None:
    finished = cyclescope("ipc", *arguments)
    assert finished.status == Status.USAGE
    assert finished.error.startswith(said)


# ---- The command


def test_the_command_shows_published_beside_measured(cyclescope: Command, tmp_path: Path) -> None:
    with Peer() as peer:
        finished = cyclescope("ipc", "--port", peer.port, "--json", "out.json")
    assert finished.status == 0, finished.stderr
    assert re.search(r"│ 512x8 +│ +4096 │ +56.252 ms │ +\d+\.\d{3} ms │", finished.stdout)
    written = json.loads((tmp_path / "out.json").read_text())
    assert (written["clock"], written["error"], len(written["tests"])) == ("host", None, 11)
    first = written["tests"][0]
    assert (first["block_bytes"], first["blocks"], first["total_bytes"]) == (512, 1, 512)
    assert first["published_ns"] == 11970765


def test_a_failure_keeps_what_was_measured(cyclescope: Command) -> None:
    with Peer(after_first(b"\x01")) as peer:
        finished = cyclescope("ipc", "--port", peer.port, "--timeout", "300ms", "--json", "-")
    written = json.loads(finished.stdout)
    assert (finished.status, len(written["tests"])) == (1, 1)
    assert finished.error == written["error"]
    assert written["error"].startswith(
        f"test 512x2: {peer.port}: received 1 of the answer's 2 bytes"
    )


def test_an_interruption_keeps_what_was_measured(tmp_path: Path) -> None:
    with Peer(after_first(b"")) as peer:
        arguments = ["ipc", "--port", peer.port, "--timeout", "100s", "--json", "out.json"]
        running = subprocess.Popen(
            [sys.executable, "-m", "cyclescope", *arguments],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        while len(peer.tests) < 2:
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=60)
    assert (running.returncode, stderr) == (130, "cyclescope: error: interrupted by SIGINT\n")
    written = json.loads((tmp_path / "out.json").read_text())
    assert (len(written["tests"]), written["error"]) == (1, "interrupted by SIGINT")


def test_a_folder_without_room_for_the_clocks_socket_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(file))
    with pytest.raises(IpcError, match=f"{file}.*; set XDG_RUNTIME_DIR to another folder$"):
        clock.listen("/dev/pts/0")
