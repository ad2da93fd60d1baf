"""Drivers for the Ben NanoNote's transceiver: accesses, frames, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from ben_nanonote import BOARD
from tiers import mostly_long, sized

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import RunResult, Value

Change = Callable[..., Path]

# Slowest first. The last one has the transceiver on the serial controller.
CONTROLLER = "spi-jz4740-ssi"
DRIVERS = ["spi-gpio", "spi-gpio-atben", "spi-jz4740-gpio", "spi_atben", CONTROLLER]
FAILED = 1
# The repetitions of each access; one in the short tier, as in some programs of other tests.
LOOPS = sized(1, 3)
PEER = (
    "&transceiver {{ cyclescope,air-frame-bytes = <{lengths}>; "
    "cyclescope,air-interval-us = <4928>; }};"
)
# register reads, register writes, buffer reads, buffer writes
COUNTED = ("register_reads", "register_writes", "buffer_reads", "buffer_writes")
RECEPTION, TRANSMISSION = (1, 0, 1, 0), (9, 4, 0, 1)


def board_of(stack: str) -> str:
    return "ben-nanonote-ssi" if stack == CONTROLLER else BOARD


@cache
def ran(elf: Path, board: Path | str) -> RunResult:
    return package.Board(board).load(elf).run("10s")


def run(stack: str, board: Path | None = None, **settings: Value) -> RunResult:
    """The result of a program; identical programs run once."""
    elf = firmware.build_app("bitbang_spi", board_of(stack), {"stack": stack} | settings)
    return ran(elf, board or board_of(stack))


def results(result: RunResult) -> dict[tuple[str, int], float]:
    """Values by metric and number of bytes."""
    assert (result.outcome, result.exit_code) == ("exit", 0), result.console
    lines = [json.loads(line) for line in result.console.splitlines() if line.startswith("{")]
    found = {}
    for line in lines:
        length = line.get("data_bytes", line.get("frame_bytes", 0))
        found[line["metric"], length] = line["value"]
    return found


def counts(found: dict[tuple[str, int], float], length: int) -> tuple[float, ...]:
    """Accesses a frame."""
    return tuple(found[metric, length] / found["frames", length] for metric in COUNTED)


def test_drivers_are_faster_in_the_order_of_their_savings() -> None:
    found = [results(run(stack, operation="access", loops=LOOPS)) for stack in DRIVERS]
    for slower, faster in pairwise(found):
        for bytes_ in (1, 120):
            for metric in ("read_buffer_time", "write_buffer_time"):
                assert slower[metric, bytes_] > faster[metric, bytes_], (metric, bytes_)
        assert slower["read_register_time", 1] > faster["read_register_time", 1]
        assert slower["write_register_time", 1] > faster["write_register_time", 1]


@pytest.mark.parametrize("stack", mostly_long(DRIVERS, {"spi-gpio-atben", CONTROLLER}))
def test_a_received_frame_takes_one_read_of_either_kind(stack: str, changed_board: Change) -> None:
    board = changed_board(PEER.format(lengths="5 127"), board_of(stack))
    found = results(run(stack, board, operation="reception", frames=4))
    assert (found["frames", 5], found["frames", 127]) == (2, 2)
    for length in (5, 127):
        assert counts(found, length) == RECEPTION
        assert found["wakeups", length] == found["frames", length]
    assert found["reception_cost", 5] < found["reception_cost", 127]


@pytest.mark.parametrize("stack", mostly_long(DRIVERS, {"spi_atben", CONTROLLER}))
def test_a_sent_frame_takes_what_the_report_counts(stack: str) -> None:
    found = results(run(stack, operation="transmission", frames=3))
    for length in (1, 120, 125):
        assert counts(found, length) == TRANSMISSION
    assert (
        found["transmission_cost", 1]
        < found["transmission_cost", 120]
        < found["transmission_cost", 125]
    )
    # with the pauses between frames there is more time than work
    assert 0 < found["busy_share", 125] < 100


def test_the_transceiver_counts_as_the_driver_does() -> None:
    few, more = (run("spi_atben", operation="transmission", frames=n) for n in (3, 6))
    counters = ("register_reads", "register_writes", "frame_buffer_reads", "frame_buffer_writes")
    difference = tuple(
        (
            more.counters[f"atben.transceiver.{name}"]
            - few.counters.get(f"atben.transceiver.{name}", 0)
        )
        / 3
        for name in counters
    )
    assert difference == TRANSMISSION


def test_frames_are_sent_in_the_wanted_period() -> None:
    settings: dict[str, Value] = {"operation": "transmission", "frames": 2, "frame_bytes": 10}
    found = results(run("spi_atben", **settings, period_us=3000))
    assert found["period", 10] == pytest.approx(3000, rel=0.01)
    assert found["cost_load", 10] == pytest.approx(found["transmission_cost", 10] / 30, abs=0.1)


def test_time_for_linuxs_wake_ups_is_added() -> None:
    for stack, messages in (("spi-gpio", 2), ("spi_atben", 0)):
        without, with_ = (
            results(run(stack, operation="access", loops=LOOPS, wakeup_ns=ns)) for ns in (0, 40_000)
        )
        spent = with_["read_buffer_time", 1] - without["read_buffer_time", 1]
        assert spent == pytest.approx(40 * messages, abs=1), stack


def test_a_silent_peer_ends_a_reception() -> None:
    result = run("spi_atben", operation="reception")
    assert (result.outcome, result.exit_code) == ("exit", FAILED)
    assert "no frame for 200000 us: 0 received\n" in result.console


@pytest.mark.parametrize("stack", ["spi-jz4740-gpio", "spi_atben"])
def test_straight_code_has_mode_0_only(stack: str) -> None:
    result = run(stack, operation="access", spi_mode=1)
    assert (result.outcome, result.exit_code) == ("exit", FAILED)
    assert "at86rf230: mode bits 0x01 are not for spi" in result.console
    assert "SPI driver: invalid argument\n" in result.console


OTHER_MODES = [(stack, mode) for mode in (1, 2) for stack in ("spi-gpio", "spi-gpio-atben")]


# In the short tier each driver has one of the modes.
@pytest.mark.parametrize(
    "case", mostly_long(OTHER_MODES, {("spi-gpio", 1), ("spi-gpio-atben", 2)}), ids=str
)
def test_the_transceiver_has_no_other_mode(case: tuple[str, int]) -> None:
    stack, mode = case
    result = run(stack, operation="access", spi_mode=mode)
    assert (result.outcome, result.exit_code) == ("exit", FAILED)
    assert "at86rf230: no AT86RF23x answers: part number 0x" in result.console


def test_the_controller_keeps_the_transceivers_limits() -> None:
    result = run(CONTROLLER, operation="access", loops=1)
    assert (result.exit_code, result.notes) == (0, ())


def test_a_clock_that_is_too_fast_is_noted() -> None:
    result = run(CONTROLLER, operation="access", loops=1, spi_hz=12_000_000)
    noted = (
        r"transceiver: the period of SCLK was 83\.33[34] ns at [0-9.]+ ms; the least is 133\.333 ns"
    )
    assert any(re.search(noted, note) for note in result.notes), result.notes


def test_the_controller_has_modes_that_the_transceiver_has_not() -> None:
    result = run(CONTROLLER, operation="access", spi_mode=1)
    assert (result.outcome, result.exit_code) == ("exit", FAILED)
    assert "at86rf230: no AT86RF23x answers: part number 0x" in result.console
