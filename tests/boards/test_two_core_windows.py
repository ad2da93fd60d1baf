"""Messages, windows and stacks of an STM32MP157 whose cores compute at once."""

import re

import pytest

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import RunResult
from cyclescope.errors import EngineError

APP = "coremark_pair"
BOARD = "stm32mp157c-dk2"
ROUNDS = 3
QUANTUM_PS = 1_000_000


def run(**options: object) -> RunResult:
    elf = firmware.build_app(APP, BOARD, {"iterations": ROUNDS})
    return package.Board(BOARD).load(elf).run(**options)  # type: ignore[arg-type]


def test_both_cores_calculate_the_same_checksum() -> None:
    result = run()
    assert result.exit_code == 0, result.console
    _, ours, theirs = result.console.splitlines()[0].rsplit("0x", 2)
    assert ours.split(",")[0] == theirs


def test_functions_of_either_core_can_be_watched() -> None:
    first, second = run(sections=("list_round", "cm4:list_round")).cores
    assert [(section.name, section.calls) for section in first.sections] == [
        ("list_round", 4 * ROUNDS)
    ]
    assert [(section.name, section.calls) for section in second.sections] == [
        ("list_round", ROUNDS)
    ]
    assert sum(entry.cycles for entry in second.sections[0].stack) < second.cycles


@pytest.mark.parametrize("function", ["cm4:nothing", "cm4:", ":main"])
def test_a_function_that_is_not_there_is_named(function: str) -> None:
    with pytest.raises(EngineError, match=f"no function '{function}'"):
        run(sections=(function,))


def test_a_core_that_is_not_there_is_named() -> None:
    with pytest.raises(EngineError, match="no core cm5; did you mean 'cm4'"):
        run(sections=("cm5:main",))


def test_a_window_holds_what_both_did_in_a_call() -> None:
    plain = run(sections=("list_round",))
    result = run(sections=("cm4:list_round",), windows=("list_round",))
    assert len(result.windows) == 4 * ROUNDS
    # looking takes no time
    assert result.elapsed_ps == plain.elapsed_ps
    assert result.cores[0].stack == plain.cores[0].stack
    section = plain.cores[0].sections[0]
    whole = sum(entry.cycles for entry in section.stack)
    assert sum(window.cores[0].cycles for window in result.windows) == whole
    end_ps = 0
    for window in result.windows:
        assert end_ps < window.begin_ps < window.end_ps <= result.elapsed_ps
        end_ps = window.end_ps
        for core in window.cores:
            length_ps = core.cycles * 10**12 // core.hz
            assert abs(length_ps - (window.end_ps - window.begin_ps)) <= 2 * QUANTUM_PS
            assert sum(entry.cycles for entry in core.stack) == core.cycles
    calls = sum(window.cores[1].sections[0].calls for window in result.windows)
    assert 0 <= calls <= ROUNDS


def test_the_limits_message_says_where_both_cores_are() -> None:
    result = run(limit=4_000_000_000)
    assert result.outcome == "limit"
    assert result.message is not None
    # the first is printing; the second is done, in its own program
    assert "; cpu0 polled uart4 at pc 0xc000" in result.message
    assert re.search(
        r"; cm4 waited for an interrupt at pc 0x1000\w+ \(main\+\w+, firmware/.*/cm4/main.c:\d+\)",
        result.message,
    )
