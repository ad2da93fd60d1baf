"""Results do not depend on what is compiled for the host: by nobody, after any number of runs, or
by a thread beside the run, on cores of each kind.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import elf32
import pytest
from conftest import ROOT, Command
from fuzz import boards
from fuzz.target_code import Code
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cyclescope import firmware
from cyclescope._engine import EngineError
from cyclescope.board import Board
from cyclescope.board.results import Value

CACHES_OFF: dict[str, Value] = {"cpu0.i-cache-size": 0, "cpu0.d-cache-size": 0}
SOON_ERASED: dict[str, Value] = {"flash0.cyclescope,bulk-erase-typical-ms": 10}
CACHED: dict[str, Value] = {"memory": "sram", "cache": "on", "branch_prediction": "on"}
# the last is the most; no block runs so often
RUNS = st.one_of(st.integers(1, 40), st.integers(41, 3000), st.just(65535))


@dataclass(frozen=True)
class Program:
    """A program of the repository on a board; `app` is the name of an app, or of a small program.

    `compiles` says whether any of it can become host code; what can't is never compiled.
    """

    board: str
    app: str
    settings: dict[str, Value] = field(default_factory=dict)
    overrides: dict[str, Value] = field(default_factory=dict)
    built_for: str | None = None
    compiles: bool = True


LIKE = "coremark_like"
PROGRAMS = {
    "rv32-local": Program("minimal-rv32", LIKE, {"iterations": 3}),
    "rv32-cached": Program("kc705-axi-quad-spi", LIKE, {"iterations": 3}),
    "rv32-uncached": Program("kc705-axi-quad-spi", LIKE, {"iterations": 1}, CACHES_OFF),
    "rv32-interrupts": Program("kc705-axi-quad-spi", "external_interrupt"),
    "rv32-flash": Program("kc705-axi-quad-spi", "quad_spi_throughput", {"pages": 4}, SOON_ERASED),
    "nios-v": Program("nios2-mmc", "timer_ticks"),
    "picorv32": Program("picosoc-icebreaker", LIKE, {"iterations": 1}, compiles=False),
    "a5": Program("sama5d2-xplained", LIKE, {"iterations": 3, **CACHED}),
    "a5-rtos": Program("sama5d2-xplained", "rhealstone", {"loops": 50, **CACHED}),
    **{
        f"a5-uncached-{memory}": Program(
            "sama5d2-xplained",
            "rhealstone",
            {"loops": 20, "operation": "task-switch", "memory": memory, "cache": "off"},
        )
        for memory in ("sram", "ddr", "qspi")
    },
    "a7-and-m4": Program("stm32mp157c-dk2", "coremark_pair", {"iterations": 1}),
    "a7-and-m4-talking": Program("stm32mp157c-dk2", "hello_two_cores"),
    "m4": Program("minimal-armv7m", LIKE, {"iterations": 3}),
    "mips": Program("ben-nanonote", LIKE, {"iterations": 3}),
    "mips-pins": Program("ben-nanonote", "bitbang_spi", {"loops": 10}),
    "mips-local": Program("minimal-mips32", LIKE, {"iterations": 3}, built_for="qemu-malta"),
}
NAMES = tuple(PROGRAMS)


@functools.cache
def built(name: str) -> Path:
    program = PROGRAMS[name]
    small = ROOT / "tests" / "firmware" / f"{program.app}.c"
    if small.is_file():
        return firmware.build(firmware.board_recipe(program.app, program.board, [small]))
    board = program.built_for or program.board
    if program.app == LIKE:  # whose settings are the board's, too
        app = firmware.load_app(LIKE)
        return firmware.build(firmware.app_recipe(app, board, program.settings, program.overrides))
    return firmware.build_app(program.app, board, program.settings, program.overrides)


def loaded(name: str) -> Board:
    program = PROGRAMS[name]
    return Board(program.board, program.overrides).load(built(name))


def result(name: str, compile_after: int | None, skip_polling: bool = True) -> str:
    """What `run --json` would write, behind the console's text."""
    done = loaded(name).run(compile_after=compile_after, skip_polling=skip_polling)
    assert (done.outcome, done.exit_code) == ("exit", 0), done.message
    return done.console + json.dumps(done.to_dict(), indent=2)


@functools.cache
def interpreted(name: str) -> str:
    return result(name, 0)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=4, deadline=None)
@given(runs=RUNS, skip_polling=st.booleans())
def test_results_are_the_same_after_however_many_runs_code_is_compiled(
    name: str, runs: int, skip_polling: bool
) -> None:
    assert result(name, runs, skip_polling) == interpreted(name)


@pytest.mark.parametrize("name", NAMES)
def test_results_are_the_same_where_a_thread_compiles(name: str) -> None:
    assert result(name, None) == interpreted(name)


@pytest.mark.parametrize("name", NAMES)
def test_what_can_be_compiled_is_and_what_can_not_is_told(name: str) -> None:
    program, machine = PROGRAMS[name], loaded(name).start()
    machine.compile_after(1)
    cores = machine.run(None, None)["cores"]
    for core, (regions, refused) in zip(cores, machine.compiled(), strict=True):
        assert (regions > 0) == program.compiles, core["name"]
        assert refused == 0
        told = core["never_compiled"]
        if program.compiles:
            assert 0 < told < core["instructions"] / 2, core["name"]
        else:
            assert told > 0.9 * core["instructions"], core["name"]


def random_run(made: dict[str, Any], runs: int | None) -> tuple[Any, ...]:
    """All that can be seen of a random program's run."""
    machine = boards.machine(made["board"])
    segments = [elf32.Segment(base, data) for base, data in made["segments"]]
    elf = elf32.executable(*segments, machine=made["machine"], entry=made["entry"])
    try:
        machine.load(elf, "firmware")
    except EngineError as error:
        return (str(error),)
    if runs is not None:
        machine.compile_after(runs)
    console: list[bytes] = []
    streams: list[tuple[str, bytes]] = []
    report = machine.run(made["limit_ps"], console.append, lambda *printed: streams.append(printed))
    return report, b"".join(console), streams, machine.registers()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32), runs=RUNS)
def test_random_programs_on_all_boards_end_the_same(seed: int, runs: int) -> None:
    made = Code().make(f"tiers-{seed}")
    assert random_run(made, runs) == random_run(made, 0)
    assert random_run(made, None) == random_run(made, 0)


@pytest.mark.parametrize("name", ["rv32-cached", "mips"])
def test_the_command_line_writes_the_same_file(name: str, cyclescope: Command) -> None:
    call = ("run", built(name), "--board", PROGRAMS[name].board, "--json", "-")
    written = {cyclescope(*call, *more).stdout for more in ((), ("--compile-after", "0"))}
    written.add(cyclescope(*call, "--compile-after", "7").stdout)
    assert len(written) == 1
    assert json.loads(written.pop())["cores"][0]["never_compiled"] > 0


def test_a_number_of_runs_that_is_none_is_refused(cyclescope: Command) -> None:
    call = ("run", built("rv32-local"), "--board", "minimal-rv32", "--compile-after", "65536")
    assert "65536 is not in the range 0<=x<=65535" in cyclescope(*call).error
    with pytest.raises(EngineError):
        loaded("rv32-local").run(compile_after=-1)
