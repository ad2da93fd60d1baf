"""SPI modes and clocks beyond the transceiver's limits: wrong answers, counted."""

from __future__ import annotations

import json

import pytest
from ben_nanonote import BOARD

import cyclescope as package
from cyclescope import firmware
from cyclescope.bench.rows import UNPUBLISHED, Row, RunRecord
from cyclescope.board.results import RunResult, Value
from cyclescope.experiments import bitbang_spi_limits

CONTROLLER, CONTROLLER_BOARD = "spi-jz4740-ssi", "ben-nanonote-ssi"
# The PLL gives 336 MHz, by even numbers: the fastest that are not above what is asked for.
CLOCKS_KHZ = [1000, 2000, 4000, 7304, 14000, 28000, 56000]
# MISO has its bit 10 ns after SCK's falling edge; a half period of 56 MHz is less than that.
TOO_FAST_KHZ = 56000


def run(stack: str, board: str) -> RunResult:
    settings: dict[str, Value] = {"stack": stack, "operation": "limits", "loops": 2}
    elf = firmware.build_app("bitbang_spi", board, settings)
    result = package.Board(board).load(elf).run("10s")
    assert (result.outcome, result.exit_code) == ("exit", 0), result.console
    return result


def measured(result: RunResult, metric: str) -> dict[tuple[int, int], float]:
    """Values of a metric by mode and clock; mode 0 if the metric has no mode."""
    lines = [json.loads(line) for line in result.console.splitlines() if line.startswith("{")]
    return {
        (line.get("spi_mode", 0), line["sck_khz"]): line["value"]
        for line in lines
        if line["metric"] == metric
    }


def noted(result: RunResult, text: str) -> int:
    return sum(text in note for note in result.notes)


def test_the_controller_answers_in_mode_0_up_to_the_limit_of_the_wire() -> None:
    result = run(CONTROLLER, CONTROLLER_BOARD)
    answers = measured(result, "right_answers")
    assert list(answers) == [(mode, clock) for mode in range(4) for clock in CLOCKS_KHZ]
    right = [place for place, percent in answers.items() if percent == 100]
    assert right == [(0, clock) for clock in CLOCKS_KHZ if clock < TOO_FAST_KHZ]
    assert {answers[place] for place in answers if place not in right} == {0}
    # for mode 0, whose clocks come first, each with its time
    assert noted(result, "the period of SCLK was 71.42") == 1
    assert noted(result, "t2, from SCLK's falling edge to its next rising edge, was 8.92") == 1
    assert noted(result, "t5, ") == 0


def test_a_faster_clock_gives_less_and_less_than_its_rate() -> None:
    rates = measured(run(CONTROLLER, CONTROLLER_BOARD), "rate_at_clock")
    shares = [rates[0, clock] / clock for clock in CLOCKS_KHZ]
    assert [clock for _, clock in rates] == CLOCKS_KHZ
    assert list(rates.values()) == sorted(rates.values())
    assert shares == sorted(shares, reverse=True)
    # a byte is eight clocks and a pause, which the accesses to registers make
    pause_us = 8000 / rates[0, 56000] - 8 / 56
    assert 0.25 < pause_us < 0.6
    assert rates[0, 1000] == pytest.approx(8 / (8 + pause_us) * 1000, rel=0.03)


@pytest.mark.parametrize(("stack", "modes"), [("spi-gpio", [0, 1, 2, 3]), ("spi_atben", [0])])
def test_pins_have_the_clock_that_software_gives(stack: str, modes: list[int]) -> None:
    result = run(stack, BOARD)
    answers = measured(result, "right_answers")
    assert answers == {(mode, 0): 0 if mode else 100 for mode in modes}
    assert measured(result, "rate_at_clock") == {}
    assert noted(result, "the period of SCLK") == 0
    assert noted(result, "SCLK rests high") == (len(modes) > 1)


def answer(stack: str, mode: int, sck_khz: int, percent: float) -> Row:
    settings: dict[str, Value] = {"stack": stack, "spi_mode": mode, "sck_khz": sck_khz}
    record = RunRecord("run", "app", "a", settings, None)
    return Row("x", "a", settings, "right_answers", "%", percent, None, UNPUBLISHED, "row", record)


def test_findings_name_modes_and_clocks() -> None:
    rows = [
        answer("pins", 0, 0, 100),
        answer("pins", 1, 0, 0),
        answer("wires", 0, 2000, 99.9),
        *(answer("controller", mode, 2000, 100) for mode in (0, 3)),
        answer("controller", 0, 7304, 100),
        answer("controller", 0, 14000, 50),
    ]
    assert list(bitbang_spi_limits.findings(rows)) == [
        "With pins all answers are right in SPI mode 0.",
        "With controller all answers are right in SPI mode 0 and 3 up to an SCK of 7.304 MHz, and "
        "not at 14 MHz; the transceiver allows 7.5 MHz.",
    ]
    (fine,) = bitbang_spi_limits.findings([answer("controller", 0, 2000, 100)])
    assert "2 MHz, the fastest tried;" in fine
    assert not list(bitbang_spi_limits.findings([]))
