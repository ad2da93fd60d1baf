"""Clocks that firmware changes by the controllers of JZ4740, SAMA5D2 and STM32MP157.

A program counts and prints by the clocks that the boot loader leaves, changes them, and does it
again: what the core, its memories and the console take follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT, Command

from cyclescope import Board, firmware
from cyclescope.board.results import RunResult, Section
from cyclescope.units import format_ps

SOURCE = ROOT / "tests" / "firmware" / "clock_changes.c"
LINE = "0123456789abcdefghijklmnopqrstuvwxyz\n"


@dataclass(frozen=True)
class Change:
    """Changes that a program makes to a board's clocks.

    The core's clock, in hertz, goes through `rates_hz`; a line of the console takes `line_times`
    as long after the change.
    """

    board: str
    rates_hz: tuple[int, ...]
    line_times: float


CHANGES = (
    # CPCCR halves the core's clock at once; the PLL then goes from 336 to 240 MHz. The baud rate
    # comes from EXTAL.
    Change("ben-nanonote", (336_000_000, 168_000_000, 120_000_000), 1),
    # The program's boot code sets the loader's clocks anew, by way of the main oscillator. The baud
    # rate comes from the 32-bit matrix' clock, which the prescaler of the processor's divides, too.
    Change("sama5d2-xplained", (498_000_000, 12_000_000, 249_000_000), 2),
    # HSE in the place of HSI.
    Change("stm32mp157c-dk2", (650_000_000, 325_000_000), 64 / 24),
)


# The program does not set its divider again: the receiver follows the rate, whatever it is.
FOLLOWED = '/ { chosen { stdout-path = "serial0"; }; };'


def run(board: str, path: Path | str) -> RunResult:
    elf = firmware.build(firmware.board_recipe("clock_changes", board, [SOURCE]))
    sections = [f"{what}_{when}" for what in ("count", "say") for when in ("before", "after")]
    return Board(path).load(elf).run("10s", sections=sections, profile=sections)


def time_ps(sections: dict[str, Section], name: str) -> int:
    return sum(entry.ps for entry in sections[name].stack)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.board)
def test_all_follows_a_clock_that_firmware_changes(
    change: Change, changed_board: Callable[[str, str], Path]
) -> None:
    result = run(change.board, changed_board(FOLLOWED, change.board))
    assert (result.outcome, result.exit_code, result.console) == ("exit", 0, 2 * LINE)
    assert result.notes == ()
    core = result.cores[0]
    assert {rate.hz for rate in core.clock_rates} == set(change.rates_hz)
    assert core.hz == change.rates_hz[-1]
    assert sum(entry.ps for entry in core.stack) == result.elapsed_ps
    sections = {section.name: section for section in core.sections}
    # The loop takes as many cycles, of the core's clock.
    slower = change.rates_hz[0] / change.rates_hz[-1]
    counted = time_ps(sections, "count_after") / time_ps(sections, "count_before")
    assert counted == pytest.approx(slower, rel=0.03)
    said = time_ps(sections, "say_after") / time_ps(sections, "say_before")
    assert said == pytest.approx(change.line_times, rel=0.03)
    # calls of a profile have the time of the clock that they ran by
    assert result.profile is not None
    for name, (call,) in result.profile.cores[0].calls.items():
        assert call.ps == pytest.approx(time_ps(sections, name), rel=0.001)


def test_a_profile_shows_times_of_calls_where_the_clock_changes(cyclescope: Command) -> None:
    elf = firmware.build(firmware.board_recipe("clock_changes", "ben-nanonote", [SOURCE]))
    shown = cyclescope("profile", elf, "--board", "ben-nanonote", "--function", "count_after")
    call = run("ben-nanonote", "ben-nanonote").section("count_after")
    (longest,) = [line for line in shown.stdout.splitlines() if line.startswith("longest ")]
    assert longest.split()[2:] == format_ps(call.ps).split()
    assert "the clock changed (336 MHz, then 168 MHz, then 120 MHz): cycles and times are" in (
        shown.stdout
    )


CLOCKED = """
import cyclescope
from cyclescope.devices import Device, Register


@cyclescope.device("acme,clocked", clocks=["its clock"])
class Clocked(Device):
    khz = Register(0x0, access="ro")

    @khz.on_read
    def read_khz(self):
        return self.clock_hz // 1000
"""
NODE = """
/ {
    clocked0: clocked@18000000 {
        compatible = "acme,clocked";
        reg = <0x18000000 0x1000>;
        clocks = <&pclk>;
    };
};
"""


def test_a_device_in_python_keeps_its_clock(
    cyclescope: Command, changed_board: Callable[[str, str], Path], tmp_path: Path
) -> None:
    devices = tmp_path / "clocked.py"
    devices.write_text(CLOCKED, encoding="utf-8")
    elf = firmware.build(firmware.board_recipe("clock_changes", "ben-nanonote", [SOURCE]))
    board = changed_board(NODE, "ben-nanonote")
    done = cyclescope("run", elf, "--board", board, "--devices", devices)
    assert done.status == 0
    assert done.stdout.startswith(2 * LINE)
    note = "note: clocked0: firmware changes a clock of this device, which is one in Python"
    assert note in done.stderr.replace("\n", " ")


def test_a_changed_clock_is_seen_in_the_record_of_rates() -> None:
    core = run("ben-nanonote", "ben-nanonote").cores[0]
    # Until the PLL has locked, after 32 periods of 32768 Hz, it was half of 336 MHz.
    (halved,) = [rate for rate in core.clock_rates if rate.hz == 168_000_000]
    assert halved.cycles / halved.hz == pytest.approx(32 / 32768, rel=0.05)
