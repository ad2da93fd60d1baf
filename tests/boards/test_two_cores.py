"""Both cores of an STM32MP157: the A7's program loads and starts the M4's, which answers."""

import re

import pytest

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import RunResult, Value

APP = "hello_two_cores"
BOARD = "stm32mp157c-dk2"
HELLO = "[00000.000][INFO ]hello from the M4"
# 10 bits of 1110 half cycles of hsi_ck (drivers/stm32_usart.c)
CHARACTER_US = 86.71875


def run(skip_polling: bool = True, **settings: Value) -> RunResult:
    elf = firmware.build_app(APP, BOARD, settings)
    return package.Board(BOARD).load(elf).run(skip_polling=skip_polling)


def answer_us(result: RunResult) -> float:
    """From the M4's start to its message, as the A7's program measures it."""
    (found,) = [metric for metric in result.metrics if metric.name == "answer_time"]
    return found.value / 1000


def test_both_say_hello() -> None:
    result = run()
    assert result.exit_code == 0
    assert "hello from the A7 of stm32mp157c-dk2\n" in result.console
    assert "the M4 says 0x4d345f34\n" in result.console
    assert result.streams["uart7"] == f"{HELLO}\n"


def test_a_character_of_the_log_costs_the_m4_its_published_time() -> None:
    logged, silent = run(), run(log="off")
    assert "uart7" not in silent.streams
    each_us = (answer_us(logged) - answer_us(silent)) / len(f"{HELLO}\n")
    # the line's formatting is in it, too
    assert CHARACTER_US < each_us < CHARACTER_US + 4


def test_two_runs_are_equal_with_every_round_of_polling_or_without() -> None:
    assert run() == run()
    assert run() == run(skip_polling=False)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("undefined", r"hard fault: undefined instruction, pc 0x1000\w+, lr 0x"),
        ("bus", r"hard fault: (im)?precise data bus error.*, pc 0x1000\w+, lr 0x"),
    ],
)
def test_a_fault_of_the_m4_is_printed_on_its_log_and_ends_the_run(fault: str, said: str) -> None:
    result = run(fault=fault)
    assert result.exit_code == 67
    assert re.search(said, result.streams["uart7"]), result.streams
    assert result.streams["uart7"].startswith(HELLO)
