"""Signals of an STM32 leave the chip through pins that have their function, and no others."""

from __future__ import annotations

from conftest import ROOT

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.scripts import parse_script

BOARD = "stm32f4-disco"


def test_only_a_pin_with_its_function_carries_a_signal() -> None:
    source = ROOT / "tests" / "firmware" / "stm32" / "pins.c"
    elf = firmware.build(firmware.board_recipe("pins", BOARD, [source]))
    done = package.Board(BOARD).load(elf).run("1s")
    assert done.exit_code == 0
    assert done.console.splitlines() == [
        "at PA2",
        "at PA2 again",
        "without pins ff",
        "without MISO ff",
        "with pins 3f",
        "an input 00",
        "TIM4_CH1 10",
        "another's 00",
    ]
    notes = [note.split(" (first at")[0] for note in done.notes]
    assert notes == [
        "usart2: no pin carries its TX: a character was written, and nothing is on the line. "
        "It takes PA2 (alternate function 7; now an input)",
        "spi1: no pin carries its SCK: a word is sent, but no chip gets a clock. "
        "It takes PA5 (alternate function 5; now an input)",
        "spi1: no pin carries its MOSI: a word is sent, but the chip reads ones. "
        "It takes PA7 (alternate function 5; now an input)",
        "spi1: no pin carries its MISO: the chip answers, but ones are received. "
        "It takes PA6 (alternate function 5; now an input)",
        "timers4: no pin carries its CH1: the channel's output is on, but drives no pin. "
        "It takes PB6 (alternate function 2; now an input) or "
        "PD12 (alternate function 2; now an input)",
    ]


def test_characters_that_arrive_while_rx_has_no_pin_are_lost() -> None:
    source = ROOT / "tests" / "firmware" / "stm32" / "rx_pin.c"
    elf = firmware.build(firmware.board_recipe("rx_pin", BOARD, [source]))
    session = parse_script('expect "off"\nsend "abc"\nexpect "on"\nsend "d"\n')
    done = package.Board(BOARD).load(elf).run("1s", script=session)
    assert done.console.splitlines() == ["off", "received 0, 0", "on", "received 1, 64"]
    assert done.counters["usart2.rx_characters"] == 1
    (note,) = done.notes
    assert note.startswith(
        "usart2: no pin carries its RX: a character came, and is lost, as are those that follow. "
        "It takes PA3 (alternate function 7; now an input)"
    )
