"""Results do not depend on compiled code: no code is compiled, or blocks after any number of runs,
or a thread compiles during the run, on cores of each kind.
"""

from __future__ import annotations

import functools
import json

import pytest
import tiers
from conftest import Command
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped_programs import NAMES, PROGRAMS, built, loaded

from cyclescope._engine import EngineError

# For each kind of core: its caches, its interrupts, and code that is not compiled.
SHORT = {
    "rv32-cached",
    "rv32-interrupts",
    "rv32-flash",
    "nios-v",
    "picorv32",
    "a5",
    "a7-and-m4-talking",
    "m4",
    "mips",
    "mips-local",
}
# the last is the maximum; no block runs that many times
RUNS = st.one_of(st.integers(1, 40), st.integers(41, 3000), st.just(65535))


def result(name: str, compile_after: int | None, skip_polling: bool = True) -> str:
    """The console's text, then the output of `run --json`."""
    done = loaded(name).run(compile_after=compile_after, skip_polling=skip_polling)
    assert (done.outcome, done.exit_code) == ("exit", 0), done.message
    return done.console + json.dumps(done.to_dict(), indent=2)


@functools.cache
def interpreted(name: str) -> str:
    return result(name, 0)


@pytest.mark.parametrize("name", tiers.mostly_long(NAMES, SHORT))
@settings(max_examples=tiers.sized(2, 4))
@given(runs=RUNS, skip_polling=st.booleans())
def test_results_are_the_same_after_however_many_runs_code_is_compiled(
    name: str, runs: int, skip_polling: bool
) -> None:
    assert result(name, runs, skip_polling) == interpreted(name)


@pytest.mark.parametrize("name", tiers.mostly_long(NAMES, {*SHORT, "a5-uncached-sram"}))
def test_results_are_the_same_where_a_thread_compiles(name: str) -> None:
    assert result(name, None) == interpreted(name)


@pytest.mark.parametrize("name", tiers.mostly_long(NAMES, SHORT))
def test_code_is_compiled_or_counted_as_never_compiled(name: str) -> None:
    program, machine = PROGRAMS[name], loaded(name).start()
    machine.compile_after(1)
    cores = machine.run(None, None)["cores"]
    for core, (regions, refused) in zip(cores, machine.compiled(), strict=True):
        assert (regions > 0) == program.compiles, core["name"]
        assert refused == 0
        interpreted = core["never_compiled"]
        if program.compiles:
            assert 0 < interpreted < core["instructions"] / 2, core["name"]
        else:
            assert interpreted > 0.9 * core["instructions"], core["name"]


@pytest.mark.parametrize("name", ["rv32-cached", "mips"])
def test_the_command_line_writes_the_same_file(name: str, cyclescope: Command) -> None:
    call = ("run", built(name), "--board", PROGRAMS[name].board, "--json", "-")
    written = {cyclescope(*call, *more).stdout for more in ((), ("--compile-after", "0"))}
    written.add(cyclescope(*call, "--compile-after", "7").stdout)
    assert len(written) == 1
    assert json.loads(written.pop())["cores"][0]["never_compiled"] > 0


def test_an_invalid_number_of_runs_is_refused(cyclescope: Command) -> None:
    call = ("run", built("rv32-local"), "--board", "minimal-rv32", "--compile-after", "65536")
    assert "65536 is not in the range 0<=x<=65535" in cyclescope(*call).error
    with pytest.raises(EngineError):
        loaded("rv32-local").run(compile_after=-1)
