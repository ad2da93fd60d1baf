"""`cyclescope ipc` with both cores of the virtual STM32MP157: app rpmsg_tty_bridge and the M4's."""

from __future__ import annotations

import json
import re

import pytest
from conftest import Command
from tiers import ALL, mostly_long, sized

from cyclescope import firmware
from cyclescope.board import Board
from cyclescope.experiments.rpmsg_tty import LINUX_DELAY_US
from cyclescope.statuses import Status

BOARD = "stm32mp157c-dk2"


def measured(cyclescope: Command, *arguments: str) -> dict[str, int]:
    """Nanoseconds of each test."""
    finished = cyclescope("ipc", "--board", BOARD, "--json", "-", *arguments)
    assert finished.status == 0, finished.stderr
    found = json.loads(finished.stdout)
    assert found["clock"] == "virtual"
    return {f"{test['block_bytes']}x{test['blocks']}": test["time_ns"] for test in found["tests"]}


def on_the_board(test: str) -> int:
    """Nanoseconds of a test whose client is on the board."""
    size, blocks = map(int, test.split("x"))
    settings = {
        "tests": "one",
        "block_bytes": size,
        "blocks": blocks,
        "linux_delay_us": LINUX_DELAY_US,
    }
    result = Board(BOARD).load(firmware.build_app("rpmsg_tty", BOARD, settings)).run("1s")
    assert (result.outcome, result.exit_code) == ("exit", 0), result.console
    return int(json.loads(re.findall(r"^\{.*\}$", result.console, re.MULTILINE)[-1])["value"])


def test_the_reports_tests_take_their_time_and_the_same_each_time(cyclescope: Command) -> None:
    # by default the command makes all of them, as other boards' tests show
    chosen = () if ALL else ("--test", "512x1", "--test", "1024x2")
    arguments = ("ipc", "--board", BOARD, "--json", "-", *chosen)
    first, second = (cyclescope(*arguments).stdout for _ in range(2))
    tests = json.loads(first)["tests"]
    assert tests == json.loads(second)["tests"]
    assert len(tests) == sized(2, 11)
    # without the client's CRC
    assert all(abs(test["error_pct"]) < 5 for test in tests), tests


@pytest.mark.parametrize("test", mostly_long(["512x1", "4096x1"], short={"512x1"}))
def test_the_client_on_the_host_measures_what_the_boards_own_does(
    cyclescope: Command, test: str
) -> None:
    here, there = measured(cyclescope, "--test", test)[test], on_the_board(test)
    # but for the CRC, bit by bit: nanoseconds a byte, of 650 MHz
    assert 50 < (there - here) / int(test.split("x")[0]) < 300


def test_settings_are_the_apps(cyclescope: Command) -> None:
    tests = ("--test", "512x1")
    logged = measured(cyclescope, *tests)["512x1"]
    silent = measured(cyclescope, *tests, "--set", "log=off")["512x1"]
    assert silent < logged / 40
    faster = measured(cyclescope, *tests, "--set", "baud_rate=230400")["512x1"]
    assert logged / 2 < faster < logged * 0.55


def test_more_than_the_buffers_hold_waits_for_them(cyclescope: Command) -> None:
    # 20 messages, and 16 buffers
    assert 65_000_000 < measured(cyclescope, "--test", "4096x2")["4096x2"] < 75_000_000


def test_the_original_overflow_is_reported_with_the_waiting_side(cyclescope: Command) -> None:
    arguments = ("--test", "512x1", "--test", "4096x2", "--set", "overflow=original")
    finished = cyclescope("ipc", "--board", BOARD, "--timeout", "300ms", *arguments)
    assert finished.status == 1
    assert re.search(
        r"^cyclescope: error: test 4096x2: \S+: a block of 4096 bytes was not accepted within 300 "
        "ms: the other side has stopped reading$",
        finished.stderr,
        re.MULTILINE,
    )
    assert re.search(
        r"note: the console printed: .*write: sleeps; \d+ bytes accepted, \d+ sent, no buffer is",
        finished.stderr,
    )
    assert re.search(r"note: uart7 printed: .*UART0: \d+/8192", finished.stderr)
    assert "512x1" in finished.stdout


def test_an_unknown_setting_is_refused(cyclescope: Command) -> None:
    wrong = cyclescope("ipc", "--board", BOARD, "--set", "log=maybe")
    assert (wrong.status, wrong.error) == (Status.USAGE, "--set log=maybe: allowed: on, off")
    absent = cyclescope("ipc", "--board", BOARD, "--set", "logs=on")
    assert absent.status == Status.USAGE
    assert absent.error.startswith("--set logs")
