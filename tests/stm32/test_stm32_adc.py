"""The ADC of an STM32L4R5, by a program: a sequence by DMA in the time of its sampling."""

from __future__ import annotations

import re

from conftest import ROOT

import cyclescope as package
from cyclescope import firmware


def test_a_program_converts_a_sequence_by_dma() -> None:
    source = ROOT / "tests" / "firmware" / "stm32" / "adc_l4.c"
    elf = firmware.build(firmware.board_recipe("adc_l4", "nucleo-l4r5zi", [source]))
    board = package.Board("nucleo-l4r5zi", {"adc1.cyclescope,temperature-millicelsius": 35_000})
    done = board.load(elf).run("1s")
    assert (done.exit_code, done.notes) == (0, ()), done.console
    lines = dict(line.split(": ", 1) for line in done.console.splitlines())
    (calibration,) = map(int, re.findall(r"\d+", lines["calibration"]))
    assert 116 - 10 <= calibration <= 116 + 20
    reference, sensor, cycles = map(int, re.findall(r"\d+", lines["codes"]))
    # 1.212 V, and 0.76 V at 30 degrees with 2.5 mV for each more, of 3.3 V in 12 bits.
    assert (reference, sensor) == (1_212_000 * 4096 // 3_300_000, 772_500 * 4096 // 3_300_000)
    # 247.5 and 640.5 cycles of sampling, 12.5 each of conversion, 2 before.
    assert 2 + 260 + 653 - 10 <= cycles <= 2 + 260 + 653 + 30
