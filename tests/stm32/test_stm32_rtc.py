"""The RTC of STM32s, by a program: its calendar, alarm and wake-ups to the clock of LSI."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware

LSI_HZ = 32_000


@pytest.mark.parametrize(
    ("board", "macros", "hclk_hz"),
    [
        ("stm32f4-disco", {}, 16_000_000),
        ("nucleo-f411re", {}, 16_000_000),
        ("nucleo-l4r5zi", {"STM32L4": "1"}, 4_000_000),
    ],
)
def test_a_program_keeps_time(board: str, macros: dict[str, str], hclk_hz: int) -> None:
    source = ROOT / "tests" / "firmware" / "stm32" / "rtc.c"
    elf = firmware.build(firmware.board_recipe("rtc", board, [source], macros))
    loaded = package.Board(board).load(elf)
    done = loaded.run("4s")
    assert (done.exit_code, done.notes) == (0, ()), done.console
    lines = dict(line.split(": ", 1) for line in done.console.splitlines())
    assert lines["reset"] == "000000 002101"
    lsi = hclk_hz // LSI_HZ
    # Two clocks from the edge after the write.
    assert 2 * lsi <= int(lines["init"].split()[0]) <= 3 * lsi + 60
    # Two seconds from 23:59:58 on, four clocks after the edge at which initialization ended.
    time, cycles = lines["alarm"].split(", ")
    assert time == "000000"
    begins = 4 * lsi + 2 * hclk_hz
    assert begins <= int(cycles.split()[0]) <= begins + lsi + 60
    # Half a second each; handlers begin within some cycles of one another.
    for wakeup in map(int, re.findall(r"\d+", lines["wake-ups"])):
        assert abs(wakeup - hclk_hz // 2) <= 10
    # 28 February 2024, a Wednesday, was a day of a leap year: the 29th follows.
    assert lines["date"] == "248229, backup: 12345678"
    # Skipping iterations of polling loops makes no difference.
    single = loaded.run("4s", skip_polling=False)
    assert (single.console, single.cores) == (done.console, done.cores)
