"""Programs take their clocks from the board: the times that they print follow a changed clock.

What a program prints of a function or a call is held against what the simulation has for it. A
clock that the program had from elsewhere would show as the factor by which it was changed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

import pytest
import tiers
from conftest import ROOT

from cyclescope import Board, disks, firmware, shipped_boards
from cyclescope.board import board_tree
from cyclescope.board.results import RunResult, Settings, StackEntry
from cyclescope.disks import Disk
from cyclescope.errors import BoardError, FirmwareError
from cyclescope.firmware import clocks

SLEEPS = ROOT / "tests" / "firmware" / "sleeps.c"
# A clock is changed to this part of it: a wrong constant shows as a quarter more or a fifth less.
PART = 0.8
# What a program times has a part of the calls around it, whose share other clocks change.
TOLERANCE = 0.05
# Clocks that are a PLL's output divided: of each alone only such frequencies are right. Those of
# the JZ4740 the boot loader has set; those of the SAMA5D2 each program sets as its board has them.
ALONE_HZ: dict[str, int | None] = {
    **{"cclk": 672_000_000, "hclk": 84_000_000, "pclk": 84_000_000, "mclk": 84_000_000},
    # twice and four times its MCK are right, whose half the 32-bit matrix has, or all of it
    **{"cpu_clk": 332_000_000, "mck": None, "h32mx": 166_000_000},
}
# No program of ours is built for these boards.
WITHOUT_PROGRAMS = {"minimal-armv7a", "minimal-mips32"}
# Their clocks follow from oscillators and what a program sets: test_stm32_boards.py has them.
SET_BY_PROGRAMS = {"nucleo-f411re", "nucleo-l4r5zi", "stm32f4-disco"}
# These boards only have a device more, or another one, than others: their programs are those.
SAME_AS = {
    "ben-nanonote-rf230": "ben-nanonote",
    "nucleo-f411re-sensors": "nucleo-f411re",
    "nucleo-l4r5zi-n25q128a": "nucleo-l4r5zi",
    "nucleo-l4r5zi-sensors": "nucleo-l4r5zi",
    "stm32mp157c-dk2-lm75": "stm32mp157c-dk2",
    "stm32mp157c-dk2-nor": "stm32mp157c-dk2",
    "stm32mp157c-dk2-rf231": "stm32mp157c-dk2",
    "stm32mp157c-dk2-tty": "stm32mp157c-dk2",
}

NS, US = 1e3, 1e6
Results = list[dict[str, int | float | str]]


@dataclass(frozen=True)
class Timed:
    """A time that an app prints on a board.

    `printed_ps` works it out from the app's results; `function` is what it is the time of, `call`
    the call whose window has it. Without either it must stay what it is: the app counts cycles of
    a core that waits for no other clock, or what it times has a clock of its own.
    """

    board: str
    app: str
    settings: Settings
    printed_ps: Callable[[Results], float]
    function: str = ""
    call: str = ""
    card: str = ""
    overrides: Mapping[str, int] = field(default_factory=dict)


def metric(name: str, unit_ps: float, **where: int) -> Callable[[Results], float]:
    """The first result of a name, with what else it must say, in picoseconds."""

    def printed_ps(results: Results) -> float:
        found = (r for r in results if r["metric"] == name and where.items() <= r.items())
        return float(next(found)["value"]) * unit_ps

    return printed_ps


FILE_BYTES = tiers.sized(16384, 65536)
CACHED = {"operation": "task-switch", "memory": "sram", "cache": "on", "loops": 300, "tick": "off"}
ONE_TEST = {"tests": "one", "block_bytes": 512, "blocks": 1}
WRITTEN = {"transfer": "4096", "file_bytes": FILE_BYTES, "gap_s": 0, "write_order": "r006"}
REGISTER_READ = "at86rf230_read_register"
ACCESS = {"stack": "spi_atben", "operation": "access", "loops": tiers.sized(5, 20)}

TIMED = {
    "quad write": Timed(
        "kc705-axi-quad-spi",
        "quad_spi_throughput",
        {"pages": 16},
        metric("write_time", US),
        "program_page",
    ),
    "XIP read": Timed(
        "kc705-axi-quad-spi",
        "xip_read",
        {"bytes": 4096},
        metric("read_time", US),
        "read_window",
        overrides={"spi0.xlnx,xip-mode": 1},
    ),
    "FAT write": Timed(
        "nios2-mmc",
        "fat_write",
        WRITTEN,
        metric("total_time", 1e12),
        "write_file",
        card="card0",
    ),
    "task switch": Timed("sama5d2-xplained", "rhealstone", CACHED, metric("cycles", 1)),
    "register read": Timed(
        "ben-nanonote", "bitbang_spi", ACCESS, metric("read_register_time", US), REGISTER_READ
    ),
    "register read by SSI": Timed(
        "ben-nanonote-ssi",
        "bitbang_spi",
        ACCESS | {"stack": "spi-jz4740-ssi"},
        metric("read_register_time", US),
        REGISTER_READ,
    ),
    "message": Timed("stm32mp157c-dk2", "rpmsg_tty", ONE_TEST, metric("time", NS), call="run_test"),
    "flash bench": Timed("picosoc-icebreaker", "picosoc_flash_bench", {}, metric("cycles", 1)),
    "flash bench on HX8K": Timed("picosoc-hx8k", "picosoc_flash_bench", {}, metric("cycles", 1)),
}
SLEEPING = ("kc705-axi-quad-spi", "minimal-rv32", "minimal-armv7m", "stm32mp157c-dk2")


# The short tier changes few clocks: alone those that most of a program's times depend on, all of a
# board that has none of them.
ALONE_IN_SHORT = ("sys_clk", "cpu_clk", "ext", "ck_mcu", "clk_hsi")


@cache
def fixed_clocks(board: str) -> tuple[tuple[str, int], ...]:
    """The labels and frequencies in hertz of a board's fixed clocks."""
    return tuple(clocks.frequencies_hz(board_tree(board)).items())


def changes(board: str) -> list[dict[str, int]]:
    """A board's clocks, one changed at a time, then all."""
    scaled = {label: int(hz * PART) for label, hz in fixed_clocks(board)}
    alone = {label: ALONE_HZ.get(label, hz) for label, hz in scaled.items()}
    each = [{label: hz} for label, hz in alone.items() if hz is not None]
    found = each if len(each) == 1 else [*each, scaled]
    return [{f"{label}.{clocks.FREQUENCY}": hz for label, hz in change.items()} for change in found]


def with_changes(names: Mapping[str, str]) -> Iterator[object]:
    for name, board in names.items():
        found = {
            "all" if len(change) > 1 else next(iter(change)).partition(".")[0]: change
            for change in changes(board)
        }
        short = found.keys() & ALONE_IN_SHORT or {"all"}
        for label, change in found.items():
            is_short = label in short or len(found) == 1
            yield pytest.param(
                name,
                change,
                id=f"{name}-{label}".replace(" ", "-"),
                marks=[] if is_short else pytest.mark.long,
            )


def run(timed: Timed, overrides: dict[str, int]) -> RunResult:
    elf = firmware.build_app(timed.app, timed.board, timed.settings, overrides)
    with contextlib.ExitStack() as copies:
        images = {}
        if timed.card:
            image = copies.enter_context(disks.copy_of(disks.image(Disk(136 * 2**20))))
            images = {f"{timed.card}.cyclescope,image": str(image)}
        board = Board(timed.board, {**timed.overrides, **overrides, **images}).load(elf)
        sections = [timed.function] if timed.function else []
        return board.run("600s", sections=sections, windows=[timed.call] if timed.call else [])


def sum_ps(stack: tuple[StackEntry, ...]) -> int:
    return sum(entry.ps for entry in stack)


@cache
def usual(name: str) -> RunResult:
    return run(TIMED[name], {})


def share(name: str, result: RunResult) -> float:
    """The app's printed time as a fraction of the simulated time."""
    timed = TIMED[name]
    assert (result.outcome, result.exit_code) == ("exit", 0), result.message
    lines = [line for line in result.console.splitlines() if line.startswith("{")]
    printed_ps = timed.printed_ps([json.loads(line) for line in lines])
    if timed.function:
        (section,) = result.cores[0].sections
        calls = section.calls if timed.app == "bitbang_spi" else 1
        return printed_ps / (sum_ps(section.stack) / calls)
    if timed.call:
        (window,) = result.windows
        return printed_ps / (window.end_ps - window.begin_ps)
    return printed_ps


@pytest.mark.parametrize(
    ("name", "change"), list(with_changes({name: timed.board for name, timed in TIMED.items()}))
)
def test_printed_times_follow_each_clock(name: str, change: dict[str, int]) -> None:
    changed = run(TIMED[name], change)
    assert share(name, changed) == pytest.approx(share(name, usual(name)), rel=TOLERANCE)


@pytest.mark.parametrize(
    ("board", "change"), list(with_changes({board: board for board in SLEEPING}))
)
def test_a_program_sleeps_as_long_as_it_says(board: str, change: dict[str, int]) -> None:
    recipe = firmware.board_recipe("sleeps", board, [SLEEPS], overrides=change)
    result = Board(board, change).load(firmware.build(recipe)).run("1s", sections=["sleep_for"])
    (section,) = result.cores[0].sections
    assert sum_ps(section.stack) == pytest.approx(1e9, rel=TOLERANCE)
    assert sum_ps(section.stack) >= 1e9


def test_no_board_is_left_out() -> None:
    covered = {timed.board for timed in TIMED.values()} | set(SLEEPING)
    others = WITHOUT_PROGRAMS | SET_BY_PROGRAMS | set(SAME_AS)
    assert covered | others == set(shipped_boards())
    for board in WITHOUT_PROGRAMS:
        with pytest.raises(FirmwareError):
            firmware.board_recipe("sleeps", board, [SLEEPS])
    for board, other in SAME_AS.items():
        assert fixed_clocks(board) == fixed_clocks(other)


OSCILLATOR = "clk_hsi.cyclescope,actual-frequency"


def test_programs_do_not_know_an_oscillators_error() -> None:
    timed = TIMED["message"]
    wrong = {OSCILLATOR: 60_000_000}
    assert firmware.build_app(timed.app, timed.board, timed.settings, wrong) == firmware.build_app(
        timed.app, timed.board, timed.settings
    )
    late = run(timed, wrong)
    # nearly all of it are characters, which are longer by what the oscillator is slow by
    longer = late.elapsed_ps / usual("message").elapsed_ps
    assert longer == pytest.approx(64 / 60, rel=0.02)


def test_an_oscillators_frequency_is_one() -> None:
    with pytest.raises(BoardError, match=r"actual-frequency is 4100000000; a clock has 1 to"):
        Board("stm32mp157c-dk2", {OSCILLATOR: 4_100_000_000})
    described = Board("stm32mp157c-dk2", {OSCILLATOR: 60_000_000}).describe()
    assert {"name": "clk_hsi", "hz": 60_000_000} in described["clocks"]


def test_a_label_that_is_no_clock_is_refused() -> None:
    with pytest.raises(FirmwareError, match=r"AXI_HZ in its board\.toml: unknown clock spi0"):
        clocks.macros("kc705-axi-quad-spi", {"AXI_HZ": "spi0"}, {})
