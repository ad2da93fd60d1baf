"""I2C on an STM32MP157: a program reads an LM75, with the times of the bus and its waveform."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from conftest import Command
from waveforms import NEEDS_SIGROK, annotations, edges, only_scope, without_pauses

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import RunResult
from cyclescope.statuses import Status

BOARD = "stm32mp157c-dk2-lm75"
KERNEL_PS = 15_625
"""A cycle of 64 MHz."""
# tSYNC1: falling in 3 ns after a filter of 50 ns are 3.4 cycles, so 4, and 2 of synchronisation.
# tSYNC2: rising in 96 ns, 146 ns, are 9.3 cycles, so 10, and 2.
SYNC1, SYNC2 = 6, 12


@dataclass(frozen=True)
class Speed:
    """The fields of I2C_TIMINGR, in cycles of the kernel clock."""

    khz: str
    low: int
    high: int
    setup: int

    @property
    def period(self) -> int:
        """tSCL."""
        return SYNC1 + self.low + SYNC2 + self.high

    @property
    def hold(self) -> int:
        """From START to SCL's first falling edge."""
        return SYNC1 + self.high


# 0xF0421015: 22 * 16, 17 * 16 and 5 * 16 cycles; 642 a clock, 10.03 us, 99.7 kHz
# 0x7033050B: 12 * 8, 6 * 8 and 4 * 8 cycles; 162 a clock, 2.53 us, 395 kHz
SPEEDS = [Speed("100", 352, 272, 80), Speed("400", 96, 48, 32)]
EACH = pytest.mark.parametrize("speed", SPEEDS, ids=lambda speed: speed.khz)


def thermometer(speed: Speed = SPEEDS[0], **settings: int) -> Path:
    return firmware.build_app(
        "i2c_thermometer", "stm32mp157c-dk2", {"bus_khz": speed.khz, **settings}
    )


def board(**overrides: OverrideValue) -> package.Board:
    named = {name.replace("__", ".").replace("_", "-"): value for name, value in overrides.items()}
    return package.Board(BOARD, named)


@cache
def run(speed: Speed) -> RunResult:
    return board().load(thermometer(speed)).run()


def untimed(result: RunResult) -> RunResult:
    return replace(result, wall_ns=0)


def record(speed: Speed, vcd: Path) -> RunResult:
    return board().load(thermometer(speed)).run(vcd=vcd, vcd_signals=["i2c1.*"])


@EACH
def test_the_temperature_is_read(speed: Speed) -> None:
    result = run(speed)
    assert (result.outcome, result.exit_code, result.notes) == ("exit", 0, ())
    assert result.console.startswith("21.5 C\n")
    # pointer and repeated START; address, and two bytes; nobody acknowledges the last byte
    counts = {"frames": 2, "bytes": 5, "nacks": 1, "lm75.conversions": 3}
    assert {name: result.counters[f"i2c1.{name}"] for name in counts} == counts


# With these the bus's clocks fall in step with the core's, so that iterations can be equal.
IN_STEP = {"pclk1.clock-frequency": 65_000_000, "ck_axi.clock-frequency": 325_000_000}


@pytest.mark.parametrize("clocks", [{}, IN_STEP], ids=["as shipped", "in step"])
def test_polling_is_skipped_with_the_same_result(clocks: dict[str, OverrideValue]) -> None:
    elf = thermometer()
    skipping, polling = (
        package.Board(BOARD, clocks).load(elf).run(skip_polling=skip) for skip in (True, False)
    )
    assert untimed(skipping) == untimed(polling)
    assert skipping.console.startswith("21.5 C\n")


@EACH
def test_frames_take_the_clocks_that_they_have(speed: Speed, tmp_path: Path) -> None:
    vcd = tmp_path / "out.vcd"
    assert untimed(record(speed, vcd)) == untimed(run(speed))
    found = edges(vcd.read_text(), "i2c1")
    conditions = [edge for edge in found if edge.wire == "sda" and edge.others["scl"]]
    assert [edge.level for edge in conditions] == [0, 0, 1]
    start, restart, stop = (edge.at_ps for edge in conditions)
    falls = [edge.at_ps for edge in found if (edge.wire, edge.level) == ("scl", 0)]
    # Two bytes, 18 clocks, after the first START. The pointer waited in I2C_TXDR.
    first = [start + (speed.hold + clock * speed.period) * KERNEL_PS for clock in range(19)]
    assert falls[:19] == first
    # Three bytes, 27 clocks, after the second one, whenever the program asks for it; then SCL is
    # low, and high, once more up to the STOP.
    second = [restart + (speed.hold + clock * speed.period) * KERNEL_PS for clock in range(28)]
    assert falls[19:] == second
    assert stop == second[-1] + speed.period * KERNEL_PS
    # The program sees TC, and orders the START within some microseconds. That takes two cycles to
    # the bus, SDA is set up, SCL rises, and SDA falls as long after that as SCL is low elsewhere.
    least = SYNC1 + 2 + speed.setup + SYNC2 + speed.low
    assert least * KERNEL_PS < restart - first[-1] < least * KERNEL_PS + 6_000_000
    # The program measures the whole transfer, with its own polls and calls.
    measured = json.loads(run(speed).console.splitlines()[1])
    assert measured["metric"] == "transfer_time"
    assert 0 < measured["value"] * 1000 - (stop - start) < 5_000_000


def test_pull_ups_that_are_weaker_make_the_bus_slower() -> None:
    speed = SPEEDS[1]
    slow = board(i2c1__i2c_scl_rising_time_ns=300).load(thermometer(speed)).run()
    took = [json.loads(result.console.splitlines()[1])["value"] for result in (run(speed), slow)]
    # 350 ns are 22.4 cycles, so 23 instead of 10: 13 more in each of 45 clocks, in front of the
    # repeated START and the STOP, and where that is detected. The program polls twice for an end.
    more_ps = 13 * (45 + 1 + 1 + 1) * KERNEL_PS
    assert abs((took[1] - took[0]) * 1000 - more_ps) < 2 * 400_000


@pytest.mark.parametrize(("millicelsius", "text"), [(-10_250, "-10.5 C"), (99_900, "99.5 C")])
def test_the_board_says_how_warm_it_is(cyclescope: Command, millicelsius: int, text: str) -> None:
    value = millicelsius % 2**32
    setting = f"lm75.cyclescope,temperature-millicelsius={value}"
    done = cyclescope("run", thermometer(), "--board", BOARD, "--set", setting)
    assert done.status == 0, done.stderr
    assert done.stdout.startswith(f"{text}\n")


def test_without_the_chip_nobody_acknowledges(cyclescope: Command) -> None:
    done = cyclescope("run", thermometer(), "--board", BOARD, "--set", "lm75.reg=0x49")
    assert done.status == 1
    assert "no acknowledge" in done.stdout


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("lm75.reg=0x80", "7 bits"),
        ("lm75.cyclescope,temperature-millicelsius=200000", "-55000 to 125000"),
    ],
)
def test_impossible_chip_settings_are_refused(cyclescope: Command, setting: str, said: str) -> None:
    done = cyclescope("run", thermometer(), "--board", BOARD, "--set", setting)
    assert done.status == Status.USAGE
    assert said in done.stderr


def test_an_interface_that_the_board_does_not_use_is_not_there() -> None:
    off = {"i2c1.status": "disabled"}
    result = package.Board("stm32mp157c-dk2", off).load(thermometer()).run()
    assert result.exit_code != 0
    assert "there is no model of i2c1" in result.notes[0]


@NEEDS_SIGROK
@EACH
def test_sigrok_reads_the_frames(speed: Speed, tmp_path: Path) -> None:
    vcd = tmp_path / "out.vcd"
    record(speed, vcd)
    alone = tmp_path / "alone.vcd"
    alone.write_text(without_pauses(only_scope(vcd.read_text(), "i2c1")))
    said = annotations(alone, "i2c:scl=scl:sda=sda", "i2c=addr-data", step_ps=1000)
    frames = [line.partition(": ")[2] for line in said]
    assert frames == [
        "Start",
        "Write",
        "Address write: 48",
        "ACK",
        "Data write: 00",
        "ACK",
        "Start repeat",
        "Read",
        "Address read: 48",
        "ACK",
        "Data read: 15",
        "ACK",
        "Data read: 80",
        "NACK",
        "Stop",
    ]
