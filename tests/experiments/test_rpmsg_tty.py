"""RPMsg between two cores of an STM32MP157C-DK2: a report's tests, broken links, overflow."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest
from tiers import ALL, sized

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import RunResult, Value

APP = "rpmsg_tty"
BOARD = "stm32mp157c-dk2"
FAILED = 1
REPORT = [
    (512, 1),
    (512, 2),
    (512, 4),
    (512, 8),
    (1024, 1),
    (1024, 2),
    (1024, 4),
    (1024, 5),
    (2048, 1),
    (2048, 2),
    (4096, 1),
]
# the M4's log on UART7: 18 characters, then the text
PREFIX = 18


@cache
def ran(elf: Path) -> RunResult:
    return package.Board(BOARD).load(elf).run("10s")


def run(**settings: Value) -> RunResult:
    """The result of a program; identical programs run once."""
    return ran(firmware.build_app(APP, BOARD, settings))


def one(block_bytes: int, blocks: int, **settings: Value) -> RunResult:
    return run(tests="one", block_bytes=block_bytes, blocks=blocks, **settings)


def times(result: RunResult) -> dict[tuple[int, int], int]:
    """The time of each test, in nanoseconds, by its bytes of a block and blocks."""
    assert (result.outcome, result.exit_code) == ("exit", 0), result.console
    lines = [json.loads(line) for line in result.console.splitlines() if line.startswith("{")]
    return {(line["block_bytes"], line["blocks"]): line["value"] for line in lines}


def messages_of(block_bytes: int, blocks: int) -> list[int]:
    """The bytes of each message: a write goes in pieces of 2048, a piece in messages of 496."""
    pieces = [min(2048, block_bytes - at) for at in range(0, block_bytes, 2048)]
    return [min(496, piece - at) for piece in pieces for at in range(0, piece, 496)] * blocks


def test_all_tests_of_the_report_are_acknowledged_in_its_order() -> None:
    result = run(log="off")
    assert list(times(result)) == REPORT
    assert "rpmsg: creating channel rpmsg-tty-channel addr 0x0\n" in result.console
    assert "rpmsg_tty: new channel: 0x401 -> 0x1 : ttyRPMSG1\n" in result.console
    # the report's own line
    assert "buffer with CRC16 0x1818\n" in result.console


def test_the_transcript_has_the_reports_lines() -> None:
    result = run(transcript="on", log="off")
    stamped = r"- \d\d:\d\d:\d\d\.\d{3} INFO: (.*)"
    lines = re.findall(stamped, result.console)
    assert lines[:4] == [
        "Application started",
        "Connected to /dev/ttyRPMSG0",
        "Initialized buffer with CRC16: 0x1818",
        "---- Creating tests ----",
    ]
    assert lines[4:15] == [f"-> Add test: block={size}, blocks: {n}" for size, n in REPORT]
    assert lines[15] == "---- Starting tests ----"
    assert lines[16:] == [
        f"-> b: {size}, n:{n}, nsec: {ns}, bytes sent: {size * n}"
        for (size, n), ns in times(result).items()
    ]
    assert times(result) == pytest.approx(times(run(log="off")), rel=0.015)
    assert re.search(r"^\[    0\.\d{6}\] rpmsg: creating channel ", result.console, re.MULTILINE)


def test_the_log_has_a_line_for_each_message() -> None:
    # in the short tier what other tests run, too: in pieces and messages
    block_bytes, blocks = (1024, 2) if ALL else (4096, 2)
    log = one(block_bytes, blocks).streams["uart7"]
    total, received = block_bytes * blocks, 0
    expected = [f"length: {total}"]
    for message in messages_of(block_bytes, blocks):
        received += message
        expected.append(f"UART0: {received}/{total}")
    expected.append(f"UART0 resp: {total}")
    lines = [line[PREFIX:] for line in log.splitlines()]
    assert lines[-len(expected) :] == expected


def test_the_log_is_nearly_all_of_the_time() -> None:
    logged, silent = times(one(512, 8)), times(one(512, 8, log="off"))
    assert silent[512, 8] < logged[512, 8] / 20


def test_linuxs_delay_counts_once_a_test() -> None:
    for blocks in (1, 8) if ALL else (8,):
        without = times(one(512, blocks, log="off"))[512, blocks]
        delayed = times(one(512, blocks, log="off", linux_delay_us=100))[512, blocks]
        assert abs(delayed - without - 100_000) < 5_000


def test_a_writer_without_a_free_buffer_waits() -> None:
    # 20 messages, 16 buffers
    assert list(times(one(4096, 2))) == [(4096, 2)]


def test_a_writer_that_nobody_wakes_is_explained() -> None:
    result = one(4096, 2, overflow="original")
    assert (result.outcome, result.exit_code) == ("exit", FAILED)
    # three pieces, and the first message of the fourth: the 17th message finds no buffer
    for said in (
        "write: sleeps; 6144 of 8192 bytes accepted, no buffer is free\n",
        "hang: a7: write() waits until its driver has room for 2048 bytes more",
        "hang: vring1: the M4 has returned 16 of 16 buffers, nobody on the A7 takes them\n",
        "hang: m4: was sent 6640 of 8192 bytes, waits for the others",
    ):
        assert said in result.console


@pytest.mark.parametrize("overflow", ["wait", "original"])
def test_sixteen_messages_fit(overflow: str) -> None:
    assert list(times(one(512, 8, overflow=overflow))) == [(512, 8)]


# In the short tier each fault has one side.
@pytest.mark.parametrize(
    ("fault", "side", "said"),
    [
        (
            "vring-index",
            "a7",
            r"crash of m4: vring1: available index went from \d to 40002, at most \d+ may be new",
        ),
        pytest.param(
            "vring-index",
            "m4",
            r"rpmsg: a7: vring0: used index went from \d to 40002, at most \d+ may be new",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "length",
            "a7",
            "crash of m4: vring1: descriptor 2 has 600 bytes, a buffer has at most 512",
            marks=pytest.mark.long,
        ),
        ("length", "m4", "rpmsg: a7: vring0: a payload of 600 bytes in a buffer for 496"),
        (
            "endpoint",
            "a7",
            "crash of m4: vring1: a message from 0x400 to endpoint 0x77, which nobody has",
        ),
        pytest.param(
            "endpoint",
            "m4",
            "rpmsg: a7: vring0: a message from 0x0 to endpoint 0x999, which nobody has",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "mailbox",
            "a7",
            "crash of m4: mailbox: the A7 has not acknowledged channel 1 for 500 ms",
            marks=pytest.mark.long,
        ),
        ("mailbox", "m4", "rpmsg: a7: mailbox: the M4 has not acknowledged channel 2 for 500 ms"),
    ],
)
def test_a_broken_link_is_reported_by_the_side_that_sees_it(
    fault: str, side: str, said: str
) -> None:
    result = run(fault=fault, fault_side=side)
    assert (result.outcome, result.exit_code) == ("exit", FAILED), result.console
    assert re.search(said, result.console)


def test_the_same_program_takes_the_same_time_again() -> None:
    elf = firmware.build_app(APP, BOARD, {"log": "off"})
    first, second = ran(elf), package.Board(BOARD).load(elf).run("10s")
    assert first.console == second.console
    assert first.elapsed_ps == second.elapsed_ps


def test_polls_that_are_skipped_take_the_same_time() -> None:
    # in the short tier a program that other files have as well
    settings = {"tests": "one", "block_bytes": 512, "blocks": sized(1, 2)}
    elf = firmware.build_app(APP, BOARD, settings)
    skipped, walked = (
        package.Board(BOARD).load(elf).run("10s", skip_polling=skips) for skips in (True, False)
    )
    assert times(skipped) == times(walked)
    assert skipped.elapsed_ps == walked.elapsed_ps
    assert skipped.streams == walked.streams
