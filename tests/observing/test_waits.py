"""Waits of cores: exact to the picosecond, and equal however a run is simulated."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import BOARD, ROOT, Command
from test_fat_write_polling import EXPERIMENT as FAT_WRITE
from test_schemas import faults
from tiers import mostly_long

from cyclescope import Board, firmware
from cyclescope.bench import images, planning
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import CoreResult, RunResult, Section, StackEntry, Value
from cyclescope.profile.tables import VIEWS, WAITED, rows
from cyclescope.statuses import Status

Program = Callable[[str], Path]
Stack = tuple[StackEntry, ...]

# Short programs: the app, its board, its settings, properties of the board, functions to watch.
App = tuple[str, str, Mapping[str, Value], Mapping[str, OverrideValue], tuple[str, ...]]
SOON_ERASED = {"flash0.cyclescope,bulk-erase-typical-ms": 3}
APPS: dict[str, App] = {
    "console": ("hello", "nucleo-f411re", {}, {}, ("console_print",)),
    "timer": ("hello", BOARD, {}, {}, ("console_print",)),
    "work": ("coremark_like", BOARD, {}, {}, ()),
    "page-programs": (
        "quad_spi_throughput",
        BOARD,
        {"pages": 4, "timed": "page"},
        SOON_ERASED,
        ("program_page", "xlnx_axi_quad_spi_write", "spi_nor_wait_ready"),
    ),
    "rtos": ("freertos_hello", "nucleo-l4r5zi", {}, {}, ()),
    "two-cores": (
        "rpmsg_tty",
        "stm32mp157c-dk2",
        {"tests": "one", "block_bytes": 512, "blocks": 1},
        {},
        # main of the M4 has no end, so that none of its waits are in a call that ended
        ("cm4:main", "cm4:format_log", "cm4:usart_put"),
    ),
}
CARD = "card"
CARD_SETTINGS = {"port": "mmc", "file_bytes": "4096", "gap_s": "0", "write_order": "r006"}
CARD_SECTION = "f_write"

# The longest waits of each core, and their least share of the run.
EXPECTED: dict[str, dict[str, dict[str, float]]] = {
    "console": {"cpu0": {"usart2: character sent": 0.9}},
    # the driver sleeps until a timer wakes it to look at the UART again
    "timer": {"cpu0": {"clint: counting": 0.9}},
    "work": {"cpu0": {"CPU": 0.8, "clint: counting": 0.1, "access: ddr": 0.02}},
    "page-programs": {
        "cpu0": {"flash0: page program": 0.001, "flash0: bulk erase": 0.003, "spi0: shifting": 1e-5}
    },
    "rtos": {"cpu0": {"lpuart1: character sent": 0.1}},
    "two-cores": {
        "cpu0": {"ipcc: interrupt awaited": 0.4, "uart4: character sent": 0.4},
        "cm4": {"uart7: character sent": 0.5},
    },
    CARD: {"cpu0": {}},
}
# Ways to simulate a run, other than the usual one.
HOWS = [{"skip_polling": False}, {"compile_after": 0}, {"compile_after": 1}]


@contextmanager
def board(name: str) -> Iterator[tuple[Board, tuple[str, ...]]]:
    """A board with its program, and the functions to watch; a card is as new each time."""
    if name != CARD:
        app, board_name, settings, overrides, watched = APPS[name]
        yield (
            Board(board_name, overrides).load(firmware.build_app(app, board_name, settings)),
            watched,
        )
        return
    sets = [(f"{FAT_WRITE.runs[0].app}.{key}", value) for key, value in CARD_SETTINGS.items()]
    configured = planning.plan([FAT_WRITE], sets, quick=True)[0].configured
    elf = firmware.build_app(
        configured.app, configured.board, configured.settings, configured.overrides
    )
    with images.of_run(configured) as (overrides, _):
        yield Board(configured.board, overrides).load(elf), (CARD_SECTION,)


def simulated(name: str, **how: Any) -> RunResult:
    with board(name) as (loaded, watched):
        return loaded.run("100s", sections=watched, **how)


@cache
def usual(name: str) -> RunResult:
    return simulated(name, waits=True)


@cache
def profiled(name: str) -> RunResult:
    return simulated(name, waits=True, profile=True)


def stacks(result: RunResult) -> Iterator[tuple[CoreResult | Section, Stack]]:
    """All stacks by what was waited for, each beside what has the same time by cause."""
    for core in result.cores:
        for part in (core, *core.sections):
            assert part.waits is not None
            yield part, part.waits


def without_waits(result: RunResult) -> dict[str, Any]:
    data = result.to_dict()
    data.pop("critical_path", None)
    for core in data["cores"]:
        for part in (core, *core["sections"]):
            del part["waits"]
    return data


NAMES = [*APPS, CARD]
# With a core of each kind, and two cores; a timer, a flash and pauses of an RTOS.
SHORT = {"timer", "page-programs", "rtos", "two-cores"}


@pytest.mark.parametrize("name", NAMES)
def test_waits_are_all_of_the_time(name: str) -> None:
    result = usual(name)
    assert result.outcome == "exit", result.message
    for part, waits in stacks(result):
        assert sum(entry.ps for entry in waits) == sum(entry.ps for entry in part.stack)
        assert all(entry.ps > 0 for entry in waits)
        assert len({entry.cause for entry in waits}) == len(waits)
    for core in result.cores:
        assert sum(entry.ps for entry in core.waits or ()) == result.elapsed_ps


@pytest.mark.parametrize("name", NAMES)
def test_a_run_takes_the_same_time_with_and_without(name: str) -> None:
    plain = simulated(name)
    assert all(core.waits is None for core in plain.cores)
    assert without_waits(usual(name)) == plain.to_dict()
    assert usual(name).console == plain.console


# In the short tier, code of two cores is compiled as late as usual: all of it takes long.
CASES = mostly_long(
    [(name, how) for name in NAMES for how in HOWS],
    lambda case: case[0] in SHORT and case != ("two-cores", {"compile_after": 1}),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_waits_do_not_depend_on_how_a_run_is_simulated(case: tuple[str, dict[str, Any]]) -> None:
    name, how = case
    assert simulated(name, waits=True, **how) == usual(name)


@pytest.mark.parametrize("name", NAMES)
def test_waits_have_the_name_of_their_device(name: str) -> None:
    result = usual(name)
    waits = {
        core.name: {entry.cause: entry.ps / result.elapsed_ps for entry in core.waits or ()}
        for core in result.cores
    }
    for core, expected in EXPECTED[name].items():
        for cause, least in expected.items():
            assert waits[core].get(cause, 0) >= least, (cause, waits[core])


def section(result: RunResult, name: str) -> dict[str, int]:
    """The picoseconds of a section by what was waited for."""
    (found,) = (one for core in result.cores for one in core.sections if one.name == name)
    return {entry.cause: entry.ps for entry in found.waits or ()}


def test_waits_of_a_section_are_those_in_its_calls() -> None:
    result = usual("page-programs")
    # 4 pages of 500 us; the frames that ask, and what wakes the core from its pauses, are its own
    programs_ps = section(result, "spi_nor_wait_ready")["flash0: page program"]
    assert 0.8 * 4 * 500_000_000 < programs_ps <= 4 * 500_000_000
    # 4 frames of 544 clocks of 25 ns; the core does not wait for what it has begun before it looks
    wire_ps = section(result, "xlnx_axi_quad_spi_write")["spi0: shifting"]
    assert 0.8 * 4 * 544 * 25_000 < wire_ps <= 4 * 544 * 25_000


@pytest.mark.parametrize("name", ["page-programs", "two-cores"])
def test_waits_of_a_profile_are_those_of_the_run(name: str) -> None:
    result = profiled(name)
    assert result.to_dict() == usual(name).to_dict()
    assert result.profile is not None
    for core, profile in zip(result.cores, result.profile.cores, strict=True):
        sums: dict[str, int] = {}
        for wait in profile.waits or ():
            sums[wait.what] = sums.get(wait.what, 0) + wait.ps
        assert sums
        whole = {entry.cause: entry.ps for entry in core.waits or ()}
        assert {what: whole[what] for what in sums} == sums
    frame = result.profile.waits()
    assert list(frame.columns) == ["core", "function", "waited_for", "ps", "path"]
    assert len(frame) == sum(len(core.waits or ()) for core in result.profile.cores)


@pytest.mark.parametrize("name", ["timer", "page-programs", "rtos", "two-cores"])
def test_functions_files_and_tasks_have_all_waits_of_a_profile(name: str) -> None:
    profile = profiled(name).profile
    assert profile is not None
    for core in profile.cores:
        sums = Counter[str]()
        for wait in core.waits or ():
            sums[wait.what] += wait.ps
        for by in WAITED:
            found = Counter[str]()
            for row in rows(core, by):
                assert row.waits is not None
                found.update(row.waits)
            assert found == sums, by
        for by in set(VIEWS) - set(WAITED):
            assert {row.waits for row in rows(core, by)} == {None}


@pytest.mark.parametrize("name", ["timer", "page-programs", "rtos", "two-cores"])
def test_nothing_waits_longer_than_it_takes(name: str) -> None:
    """A sleep that an interrupt ends is of what slept, not of the handler."""
    profile = profiled(name).profile
    assert profile is not None
    for core in profile.cores:
        waited = Counter[int]()
        for wait in core.waits or ():
            waited[wait.path] += wait.ps
        cycle_ps = 10**12 / min(core.rates_hz)
        for path, ps in waited.items():
            # a call is seen from one cycle to the next
            calls = core.paths[path].calls + 1
            assert ps <= (core.total_cycles[path] + calls) * cycle_ps, core.names(path)


@pytest.mark.parametrize("name", mostly_long(["page-programs", CARD], {"page-programs"}))
def test_calls_across_skipped_iterations_are_as_long_as_each(name: str) -> None:
    usual_rows, other = (
        rows(simulated(name, profile=True, **how).profile.cores[0], "function")
        for how in ({}, {"skip_polling": False})
    )
    longest = {row.name: (row.calls, row.longest_cycles, row.total_cycles) for row in usual_rows}
    assert longest == {row.name: (row.calls, row.longest_cycles, row.total_cycles) for row in other}


def test_a_sleep_is_of_the_device_whose_interrupt_ended_it() -> None:
    """Eight ticks of the system timer, whose line changes with each; and two copies by DMA."""
    name, disco = "interrupted_sleeps", "stm32f4-disco"
    source = ROOT / "tests" / "firmware" / "stm32" / f"{name}.c"
    elf = firmware.build(firmware.board_recipe(name, disco, [source]))
    functions = ("sleep_for_ticks", "sleep_for_copies")
    result = Board(disco).load(elf).run("1s", sections=functions, waits=True)
    assert result.outcome == "exit", result.message
    ticks, copies = (
        {entry.cause: entry.ps for entry in section.waits or ()}
        for section in result.cores[0].sections
    )
    # each sleep begins some instructions after the tick before it
    assert 7.98e9 < ticks["systick: counting"] < 8e9
    assert copies["dma2: DMA transfer"] > 0.99 * sum(copies.values())
    for waits, other in ((ticks, "dma2"), (copies, "systick")):
        assert not any(name.startswith(("asleep", other)) for name in waits)


def test_a_profile_without_waits_has_an_empty_table(program: Program) -> None:
    profile = Board(BOARD).load(program("exit_main")).run(profile=True).profile
    assert profile is not None
    assert profile.cores[0].waits is None
    assert profile.waits().empty


def test_the_command_shows_them(cyclescope: Command, program: Program) -> None:
    elf = program("exit_main")
    call = ("run", elf, "--board", BOARD, "--section", "main")
    done = cyclescope(*call, "--waits", "--json", "run.json")
    assert re.search("^what cpu0 waited for +$", done.stdout, re.M)
    assert re.search("^what main waited for +$", done.stdout, re.M)
    assert re.search("^│ clint: counting +│ +[0-9.]+ [mu]?s │ +[0-9.]+ % │$", done.stdout, re.M)
    assert "waited for" not in cyclescope(*call).stdout


def test_the_json_has_them_if_they_are_asked_for(cyclescope: Command, program: Program) -> None:
    elf = program("exit_main")
    call = ("run", elf, "--board", BOARD, "--section", "main", "--json", "-")
    done = cyclescope(*call, "--waits")
    data = json.loads(done.stdout)
    assert faults("run", data) == []
    (core,) = data["cores"]
    assert sum(entry["ps"] for entry in core["waits"]) == data["elapsed_ps"]
    assert core["sections"][0]["waits"]
    (plain,) = json.loads(cyclescope(*call).stdout)["cores"]
    assert "waits" not in plain
    assert "waits" not in plain["sections"][0]


def test_a_profile_says_what_functions_waited_for(cyclescope: Command, program: Program) -> None:
    call = ("profile", program("exit_main"), "--board", BOARD)
    done = cyclescope(*call, "--waits")
    assert done.status == Status.SUCCESS, done.stderr
    assert re.search("^│ clock_sleep_us .* clint: counting [0-9.]+ ms +│$", done.stdout, re.M)
    data = json.loads(cyclescope(*call, "--waits", "--json", "-").stdout)
    assert faults("profile", data) == []
    rows = {row["name"]: row["waits"] for row in data["cores"][0]["rows"]}
    assert list(rows["clock_sleep_us"]) == ["clint: counting"]
    assert rows["main"] == {}


@pytest.mark.parametrize("by", ["file", "task"])
def test_a_profile_says_what_files_and_tasks_waited_for(
    cyclescope: Command, program: Program, by: str
) -> None:
    call = ("profile", program("exit_main"), "--board", BOARD, "--waits", "--by", by)
    done = cyclescope(*call)
    assert done.status == Status.SUCCESS, done.stderr
    row = {"file": "clock.[ch]", "task": "from reset"}[by]
    assert re.search(f"^│ .*{row} .* clint: counting [0-9.]+ ms +│$", done.stdout, re.M)
    data = json.loads(cyclescope(*call, "--json", "-").stdout)
    assert faults("profile", data) == []
    assert all("waits" in row for row in data["cores"][0]["rows"])


@pytest.mark.parametrize("by", ["line", "address"])
def test_lines_and_addresses_have_no_waits(cyclescope: Command, program: Program, by: str) -> None:
    call = ("profile", program("exit_main"), "--board", BOARD, "--waits", "--by", by)
    wrong = cyclescope(*call)
    assert wrong.status == Status.USAGE
    assert f"not by {by}: give --by function, file or task" in wrong.error
