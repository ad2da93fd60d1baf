"""PicoSoC against its RTL: every case, to the cycle; and our own programs on it."""

from __future__ import annotations

import itertools
import json
import zlib
from pathlib import Path

import pytest
from conftest import ROOT, Command

import cyclescope as package
from cyclescope import bench, experiments, firmware
from cyclescope.bench import planning, published
from cyclescope.bench.results import ExperimentResult
from cyclescope.board.description.parameters import CALIBRATED
from cyclescope.board.results import RunResult
from cyclescope.experiments import picosoc_xip

BOARDS = picosoc_xip.BOARDS
NAME = "picosoc-xip"
MODES = ("dual", "dual-crm", "quad", "quad-crm", "quad-ddr", "quad-ddr-crm")


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    """The whole experiment, as `cyclescope bench picosoc-xip` runs it."""
    jobs = planning.plan(experiments.select([NAME]))
    (table,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads=2))
    return table


def program(name: str, board: str) -> Path:
    """The ELF of a program of tests/firmware."""
    source = ROOT / "tests" / "firmware" / f"{name}.c"
    return firmware.build(firmware.board_recipe(name, board, [source]))


def run(name: str, board: str) -> RunResult:
    return package.Board(board).load(program(name, board)).run()


def test_every_case_takes_the_cycles_that_the_rtl_took(result: ExperimentResult) -> None:
    assert [(run.label, run.error) for run in result.failures] == []
    compared = [row for row in result.rows if row.published is not None]
    off = [
        (row.board, *row.settings.values(), row.simulated, row.published)
        for row in compared
        if not row.is_exact
    ]
    assert off == []
    # as many as the table has, each its own: none was left out
    where = {(row.board, *row.settings.items()) for row in compared}
    assert len(where) == len(compared) == len(published.load("picosoc_rtl").results)
    assert {row.basis for row in compared} == {"predicted"}


def test_nothing_was_fitted(result: ExperimentResult) -> None:
    assert set(result.parameters) == set(BOARDS)
    assert not any(
        parameter.basis == CALIBRATED
        for parameters in result.parameters.values()
        for parameter in parameters
    )


def test_every_run_accounts_for_all_of_its_time_and_notes_nothing_new(
    result: ExperimentResult,
) -> None:
    assert result.exact
    for record in result.runs:
        assert record.result is not None
        (core,) = record.result.cores
        assert sum(entry.ps for entry in core.stack) == record.result.elapsed_ps
        # one kernel stores to the flash on purpose, one traps
        known = {
            "probe": ["a write to the window reads the flash"],
            "trap": ["unknown instruction"] * 3,
        }.get(record.settings.get("program"), [])
        assert len(record.result.notes) == len(known), (record.label, record.result.notes)
        assert all(text in note for text, note in zip(known, record.result.notes, strict=True))


@pytest.mark.parametrize("board", BOARDS)
def test_the_flash_bench_measures_49_modes(result: ExperimentResult, board: str) -> None:
    rows = [
        row for row in result.rows if row.run.app == picosoc_xip.FLASH_BENCH and row.board == board
    ]
    cycles = {
        (row.settings["flash_mode"], row.settings.get("dummy")): row.simulated for row in rows
    }
    wanted = {("single", None)} | {(mode, dummy) for mode in MODES for dummy in range(1, 9)}
    assert len(rows) == 49
    assert set(cycles) == wanted
    for mode in MODES:
        falling = [cycles[mode, dummy] for dummy in range(8, 0, -1)]
        # a dummy clock costs two cycles in each jump, so each costs the same
        steps = {before - after for before, after in itertools.pairwise(falling)}
        assert len(steps) == 1
        assert min(steps) > 0
    for dummy in range(1, 9):
        times = [cycles["single", None], *(cycles[mode, dummy] for mode in MODES)]
        assert times == sorted(times, reverse=True)


def ring_sum() -> int:
    """The result of the flash bench's walk through its ring of nodes."""
    total = at = 0
    for _ in range(320):
        total = (total * 31 + (40503 * (at + 1) & 0xFFFF)) & 0xFFFFFFFF
        at = (13 * at + 7) % 32
    return total


def sorted_sum() -> int:
    """The result of the flash bench's sort."""
    noise, numbers, total = 1, [], 0
    for _ in range(40):
        noise = (noise * 1664525 + 1013904223) & 0xFFFFFFFF
        numbers.append(noise >> 16)
    for number in sorted(numbers):
        total = (total * 31 + number) & 0xFFFFFFFF
    return total


def test_the_flash_benchs_work_is_done_right(result: ExperimentResult) -> None:
    source = resources_text("work.c")
    text = "".join(
        part.split('"')[1]
        for part in source.split("text[] =")[1].split(";\n")[0].splitlines()
        if part
    )
    checksum = zlib.crc32(text.encode())
    for part in (ring_sum(), sorted_sum()):
        checksum = (checksum * 31 + part) & 0xFFFFFFFF
    consoles = [
        record.result.console
        for record in result.runs
        if record.result and record.app == picosoc_xip.FLASH_BENCH
    ]
    assert len(consoles) == 2
    for console in consoles:
        assert console.startswith(f"checksum 0x{checksum:08x}\n")


def resources_text(name: str) -> str:
    """A source of the flash bench."""
    return (ROOT / "firmware" / "apps" / picosoc_xip.FLASH_BENCH / name).read_text(encoding="utf-8")


def test_the_command_line_runs_such_an_elf_and_gives_its_words(
    cyclescope: Command, tmp_path: Path
) -> None:
    folder = ROOT / "firmware" / "apps" / picosoc_xip.KERNELS / "elf"
    elf = folder / "alu-asm-rv32im-sram-gcc.elf"
    done = cyclescope("run", elf, "--board", "picosoc-hx8k", "--json", "result.json")
    assert done.status == 0, done.stderr
    words = json.loads((tmp_path / "result.json").read_text())["results"]["user0"]
    assert len(words) == 19 * 4
    # 136 instructions, whose cycles can be counted by hand: none of them comes from flash
    assert words[:3] == [0xCA5E0000, 573, 136]
    assert {tuple(words[place + 1 : place + 4]) for place in range(0, len(words), 4)} == {
        tuple(words[1:4])
    }
    assert "results of user0: 76 words" in done.stdout


@pytest.mark.parametrize("board", BOARDS)
def test_programs_print_and_end(board: str) -> None:
    hello = package.Board(board).load(firmware.build_app("hello", board, {})).run()
    assert (hello.outcome, hello.exit_code) == ("exit", 0)
    assert hello.console == f"hello from {board}\n"


@pytest.mark.parametrize("board", BOARDS)
def test_a_status_that_is_not_0_stops_the_core(board: str) -> None:
    ended = run("exit_main", board)
    assert ended.outcome == "fault"
    assert ended.console.endswith("exit status 7\n")


@pytest.mark.parametrize("board", BOARDS)
def test_numbers_are_divided_with_and_without_a_divider(board: str) -> None:
    operands = ((100, 7), (2**32 - 1, 1), (2**32 - 1, 2**32 - 2), (2**31, 3), (5, 9), (0, 4))
    expected = [
        f"{dividend // divisor} {dividend % divisor} {(dividend << 20 | 0xABCDE) // divisor}\n"
        for dividend, divisor in operands
    ]
    assert run("division", board).console == "".join(expected)


def test_a_board_shows_how_its_core_fetches() -> None:
    policies = {
        board: package.Board(board).describe()["cores"][0]["fetch_policy"]
        for board in (*BOARDS, "kc705-axi-quad-spi")
    }
    assert policies == dict.fromkeys(BOARDS, "prefetch-next") | {"kc705-axi-quad-spi": "on-demand"}
