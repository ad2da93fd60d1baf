"""The experiment `flash-waits`: sums by hand over lines of the flash, and what changes nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import tiers
from conftest import ROOT
from elf_files import loaded, sizes, symbols, words

import cyclescope as package
from cyclescope import bench, experiments, firmware
from cyclescope.bench import planning
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.board.results import RunResult, Value
from cyclescope.errors import FirmwareError
from cyclescope.experiments.answers import pick
from cyclescope.experiments.flash_waits import APP, EXPERIMENT, F407, F411, L4R5, OFFSETS

# What a read of the array brings (RM0090 and RM0432), and the most wait states of a board's clocks.
LINE_BYTES = {F407: 16, F411: 16, L4R5: 8}
MOST_WAITS = {F407: 5, F411: 3, L4R5: 5}
FETCH, LOAD = "fetch: flash window", "load: flash window"
TURNS, JUMPS = ("bus matrix", "loads of two memories"), "taken branches"


def run(
    board: str,
    section: str | None = None,
    overrides: dict[str, int] | None = None,
    **settings: Value,
) -> tuple[Path, RunResult]:
    elf = firmware.build_app(APP, board, {"sweep": "ends"} | settings)
    sections = [section] if section else []
    loaded_board = package.Board(board, overrides=overrides).load(elf)
    result = loaded_board.run("20s", sections=sections, windows=["timed_rounds"])
    assert result.exit_code == 0, result.console
    # nothing that a chip would suffer from
    assert result.notes == ()
    return elf, result


def ends(result: RunResult) -> dict[tuple[Value, Value], tuple[int, dict[str, int]]]:
    """Cycles and causes by clock and by what is on."""
    return {
        (metric.settings["clock_mhz"], metric.settings["accelerators"]): (
            int(metric.value),
            {entry.cause: entry.cycles for entry in window.cores[0].stack},
        )
        for metric, window in zip(result.metrics, result.windows, strict=True)
    }


@pytest.fixture(scope="module")
def by_board() -> Callable[[str], tuple[Path, RunResult]]:
    """A run from flash, once a board."""
    kept: dict[str, tuple[Path, RunResult]] = {}

    def get(board: str) -> tuple[Path, RunResult]:
        if board not in kept:
            kept[board] = run(board, "crc16_byte")
        return kept[board]

    return get


def straight_code(elf: Path, result: RunResult, board: str) -> tuple[int, int, int]:
    """The lines that crc16_byte lies in, its calls with all off, and what these waited for."""
    first = symbols(elf)["crc16_byte"] & ~1
    last = first + sizes(elf)["crc16_byte"] - 1
    lines = last // LINE_BYTES[board] - first // LINE_BYTES[board] + 1
    off = result.windows[2]
    (section,) = (one for one in off.cores[0].sections if one.name == "crc16_byte")
    return lines, section.calls, {entry.cause: entry.cycles for entry in section.stack}[FETCH]


# a core that asks for a line when that is due
LATE = {"flash.cyclescope,words-ahead": 0}


@pytest.mark.parametrize("board", [F407, F411, L4R5])
def test_straight_code_waits_for_each_of_its_lines(
    by_board: Callable[[str], tuple[Path, RunResult]], board: str
) -> None:
    """crc16_byte has no jump: a call reads each line that it lies in once, with all off."""
    lines, calls, waits = straight_code(*run(board, "crc16_byte", LATE), board)
    assert calls > 300
    assert waits == calls * lines * MOST_WAITS[board]
    # after the call for the whole first line, and then the core asks earlier
    _, _, usual = straight_code(*by_board(board), board)
    assert calls * MOST_WAITS[board] < usual < waits


def test_the_page_has_the_sum_by_hand() -> None:
    elf, result = run(F407, "crc16_byte", LATE)
    lines, calls, waits = straight_code(elf, result, F407)
    _, causes = ends(result)[168, "off"]
    page = " ".join((ROOT / "docs" / "flash-waits.md").read_text(encoding="utf-8").split())
    for words_of_it in (
        f"Its {sizes(elf)['crc16_byte']} bytes lie in {lines} lines of 16 bytes",
        f"calls it {calls} times: {calls} x {5 * lines} = **{waits:,} cycles**",
        f"a round has {causes[LOAD] // 5:,} reads of constants",
    ):
        assert words_of_it in page


@pytest.mark.parametrize("board", [F407, F411, L4R5])
def test_without_wait_states_nothing_matters(
    by_board: Callable[[str], tuple[Path, RunResult]], board: str
) -> None:
    found = ends(by_board(board)[1])
    (slow, _), *_ = found
    assert found[slow, "off"] == found[slow, "all"]
    assert FETCH not in found[slow, "off"][1]
    # and all boards have the same core
    assert found[slow, "off"] == ends(by_board(F407)[1])[16, "off"]


def turns_of(causes: dict[str, int]) -> int:
    return sum(causes.get(cause, 0) for cause in TURNS)


@pytest.mark.parametrize(("board", "stack"), [(F407, "ccm"), (L4R5, "sram3")])
def test_a_stack_elsewhere_costs_what_the_bus_matrix_takes(
    by_board: Callable[[str], tuple[Path, RunResult]], board: str, stack: str
) -> None:
    usual = ends(by_board(board)[1])
    elf, moved = run(board, stack=stack)
    (top,) = words(loaded(elf, 0x0800_0000, 0x0800_0004), 0, 1)
    assert top == symbols(elf)[f"__{stack}_top"] != symbols(elf)["__sram1_top"]
    turns = {place: turns_of(causes) for place, (_, causes) in ends(moved).items()}
    # loads of two memories in turn: the matrix turns, or the core does not overlap them
    assert 0 not in turns.values()
    # where the flash is waited for, other accesses find the bus idle, and fewer loads overlap
    assert max(turns.values()) <= 1.2 * min(turns.values())
    for place, (cycles, causes) in usual.items():
        if place[0] == 16:
            assert ends(moved)[place][0] - cycles == turns[place] - turns_of(causes)


@pytest.mark.parametrize("board", [F407, L4R5])
def test_code_in_sram_comes_a_cycle_later_after_each_jump(
    by_board: Callable[[str], tuple[Path, RunResult]], board: str
) -> None:
    usual = ends(by_board(board)[1])[16, "off"]
    (sram,) = {cycles for cycles, _ in ends(run(board, code="sram1")[1]).values()}
    # the wait states of the flash are no matter; a jump takes a cycle beyond its own at least
    assert 0 < sram - usual[0] < usual[1][JUMPS]


@pytest.mark.parametrize(
    ("board", "stack", "said"),
    [
        (F407, "sram3", "that of an STM32F407 may be in sram1 or ccm"),
        (F411, "ccm", "that of an STM32F411 can only be in sram1"),
        (L4R5, "ccm", "that of an STM32L4R5 may be in sram1, sram2 or sram3"),
    ],
)
def test_a_memory_that_the_chip_lacks_is_refused(board: str, stack: str, said: str) -> None:
    with pytest.raises(FirmwareError, match=f"stack: {said}"):
        firmware.build_app(APP, board, {"sweep": "ends", "stack": stack})


def test_the_offset_of_code_in_a_line_matters_with_all_off(
    by_board: Callable[[str], tuple[Path, RunResult]],
) -> None:
    usual, moved = ends(by_board(F407)[1]), ends(run(F407, offset=4)[1])
    assert moved[16, "off"] == usual[16, "off"]
    assert moved[168, "off"][0] != usual[168, "off"][0]
    # by whole lines it changes nothing
    whole = ends(run(F407, offset=16)[1])
    assert whole[168, "off"] == usual[168, "off"]


def test_no_code_runs_from_core_coupled_memory() -> None:
    source = ROOT / "tests" / "firmware" / "stm32" / "run_from_ccm.c"
    elf = firmware.build(firmware.board_recipe("run_from_ccm", F407, [source]))
    done = package.Board(F407).load(elf).run("1s")
    assert done.exit_code == 67, done.console
    assert done.console.startswith("it holds 47702001\n")
    assert "instruction bus error, pc 0x10000000" in done.console


# ---- the experiment in its short form


# Its boards; in the short tier one whose flash has lines of 16 bytes.
BOARDS = (F407, L4R5, F411) if tiers.ALL else (F407,)
HIGHEST = {board: mhz for board, mhz in {F407: 168, L4R5: 120}.items() if board in BOARDS}


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    jobs = planning.plan(experiments.select(["flash-waits"]))
    short = [job for job in jobs if job.run.settings["code"] == "flash" and job.run.board in BOARDS]
    # nothing here looks at waits
    recorded = bench.Recorded(waits=tiers.ALL)
    (table,) = bench.tabulate(short, bench.run_jobs(short, threads=2, recorded=recorded))
    return table


def relative(result: ExperimentResult, board: str, **settings: Value) -> Row:
    usual: dict[str, Value] = {"stack": "sram1", "offset": 0, "accelerators": "all"}
    rows = [row for row in result.rows if row.board == board]
    found = pick(rows, "relative_speed", **(usual | settings))
    assert found is not None
    return found


def test_each_setting_has_its_own_stack(result: ExperimentResult) -> None:
    assert [(run.label, run.error) for run in result.failures] == []
    timed = [row for row in result.rows if row.metric == "cycles"]
    for row in timed:
        # the call, and the look at the counter around it
        assert 0 <= row.simulated - sum(entry.cycles for entry in row.stack) < 20
    assert len({row.stack for row in timed}) > tiers.sized(20, 40)


def test_each_further_wait_state_costs_as_much(result: ExperimentResult) -> None:
    """With caches off: a cycle for each literal; for lines the more, the fewer come in time."""
    rows = [row for row in result.rows if (row.board, row.metric) == (F407, "cycles")]
    found = {
        (row.settings["clock_mhz"], row.settings["accelerators"]): (
            int(row.simulated),
            {entry.cause: entry.cycles for entry in row.stack},
        )
        for row in rows
        if row.settings["sweep"] == "whole"
    }
    assert len(found) == 9 * 6
    clocks = (60, 84, 100, 144, 168)
    waits = [found[mhz, "i-cache"][1][LOAD] for mhz in clocks]
    steps = {more - less for less, more in itertools.pairwise(waits)}
    assert len(steps) == 1
    assert waits[0] == pytest.approx(steps.pop(), rel=0.02)
    waits = [0, *(found[mhz, "d-cache"][1][FETCH] for mhz in clocks)]
    rising = [more - less for less, more in itertools.pairwise(waits)]
    assert rising == sorted(rising)
    # at a clock of another rate but as many wait states nothing changes
    for way in ("off", "prefetch", "i-cache", "d-cache", "caches", "all"):
        assert found[100, way][0] == found[120, way][0]
    # the data cache holds all literals; the instruction cache does nothing for them
    assert LOAD not in found[168, "caches"][1]
    assert found[168, "i-cache"][1][LOAD] == found[168, "off"][1][LOAD]
    cycles = [found[168, way][0] for way in ("off", "d-cache", "prefetch", "i-cache", "caches")]
    assert cycles == sorted(cycles, reverse=True)


def test_claims_stand_beside_the_highest_clocks(result: ExperimentResult) -> None:
    claimed = [row for row in result.rows if row.published is not None]
    highest = ((F407, 168), (L4R5, 120), (F411, 100))
    assert [(row.board, row.settings["clock_mhz"]) for row in claimed] == [
        one for one in highest if one[0] in BOARDS
    ]
    assert {row.settings["accelerators"] for row in claimed} == {"all"}
    # they are no cells
    assert {row.basis for row in claimed} == {"derived"}


def test_with_all_on_an_stm32f4_loses_next_to_nothing(result: ExperimentResult) -> None:
    assert 98 < relative(result, F407, clock_mhz=168).simulated < 100
    assert relative(result, F407, clock_mhz=168, accelerators="off").simulated < 65
    # a read brings half as much on an STM32L4+
    if L4R5 in BOARDS:
        assert relative(result, L4R5, clock_mhz=120, accelerators="off").simulated < 50


def test_times_and_gains_follow_from_cycles(result: ExperimentResult) -> None:
    def cycles(row: Row, accelerators: Value) -> float:
        wanted = {**row.settings, "accelerators": accelerators}
        found = pick([one for one in result.rows if one.board == row.board], "cycles", **wanted)
        assert found is not None
        return found.simulated

    times = [row for row in result.rows if row.metric == "time"]
    gains = [row for row in result.rows if row.metric == "gain"]
    # all clocks of two boards, each in six ways
    assert len(times) == 6 * len(gains) > tiers.sized(45, 90)
    for row in times:
        in_us = cycles(row, row.settings["accelerators"]) / float(row.settings["clock_mhz"])
        assert row.simulated == pytest.approx(in_us, abs=6e-4)
    for row in gains:
        times_as_fast = cycles(row, "off") / cycles(row, "caches")
        assert row.simulated == pytest.approx(times_as_fast, abs=6e-4)
    most = {row.settings["wait_states"]: row.simulated for row in gains}
    assert most[0] == 1
    assert 1.5 < most[5] < 3


def numbers_of(text: str) -> list[float]:
    """The percentages and the numbers of cycles in a text."""
    return [
        float(n.replace(",", ""))
        for n in re.findall(r"\d[\d,.]*(?= %| to | cycles|, both|\.$)", text)
    ]


def test_the_answer_has_what_rows_say(result: ExperimentResult) -> None:
    shares = [
        relative(result, board, clock_mhz=mhz, accelerators=way).simulated
        for board, mhz in HIGHEST.items()
        for way in ("all", "caches", "off")
    ]
    assert numbers_of(result.answer) == [float(f"{share:.3g}") for share in shares]
    one_board = [row for row in result.rows if row.board == F407]
    one, both = EXPERIMENT.answer(one_board), result.answer
    assert both.startswith(one.removesuffix("."))
    assert ("STM32F407" in one, "STM32L4R5" in one) == (True, False)
    # a way is missing
    lacking = [row for row in one_board if row.settings["accelerators"] != "caches"]
    assert EXPERIMENT.answer(lacking) == EXPERIMENT.answer([]) == ""


def test_findings_have_what_rows_say(result: ExperimentResult) -> None:
    def cycles(board: str, mhz: int, way: str, offset: int = 0) -> float:
        usual: dict[str, Value] = {"code": "flash", "stack": "sram1", "offset": offset}
        rows = [row for row in result.rows if row.board == board]
        found = pick(rows, "cycles", **usual, clock_mhz=mhz, accelerators=way)
        assert found is not None
        return found.simulated

    findings = list(EXPERIMENT.findings(result.rows))
    assert len(findings) == 3 * len(HIGHEST)
    for board, mhz in HIGHEST.items():
        off, on, alone = (text for text in findings if text.startswith(board))
        for text, way in ((off, "off"), (on, "all")):
            moved = [cycles(board, mhz, way, at) for at in (0, *OFFSETS[board])]
            more = 100 * max(moved) / min(moved) - 100
            assert f"takes {min(moved):,} to {max(moved):,} cycles a round, {more:.2g} % " in text
        ways = [cycles(board, mhz, way) for way in ("prefetch", "caches", "all")]
        assert numbers_of(alone) == ways
        # by all words of a line
        assert OFFSETS[board] == tuple(range(4, LINE_BYTES[board], 4))
        assert f"moved by up to {LINE_BYTES[board] - 4} bytes" in off
    assert list(EXPERIMENT.findings([row for row in result.rows if row.board == F411])) == []


def test_only_whole_sweeps_are_lines_of_a_plot(result: ExperimentResult) -> None:
    swept = {(row.board, row.settings["sweep"]) for row in result.rows if row.sweeps}
    assert swept == {(board, "whole") for board in HIGHEST}
    plots = {sweep.title: row.metric for row in result.rows for sweep in row.sweeps}
    assert plots == {"Speed per MHz by clock": "relative_speed", "Time of a round by clock": "time"}
