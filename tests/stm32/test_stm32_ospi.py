"""A flash on OCTOSPI1 of an STM32L4R5: a program erases, programs, reads and runs it."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

import cyclescope as package
from cyclescope import firmware

HZ = 4_000_000


def test_a_program_uses_a_flash_in_all_modes() -> None:
    source = ROOT / "tests" / "firmware" / "stm32" / "ospi.c"
    elf = firmware.build(firmware.board_recipe("ospi", "nucleo-l4r5zi", [source]))
    loaded = package.Board("nucleo-l4r5zi-n25q128a").load(elf)
    done = loaded.run("1s")
    assert (done.exit_code, done.notes) == (0, ()), done.console
    lines = dict(line.split(": ", 1) for line in done.console.splitlines())
    assert lines["id"] == "18ba20"
    # 250 ms of a subsector, found by the poll that follows: each 116 clocks and two margins.
    cycles = int(lines["erase"].split()[0])
    assert 0 <= cycles - HZ // 4 <= 2 * 120 + 100
    # 64 of a page's 256 bytes, in a fourth of 500 us.
    cycles = int(lines["program"].split()[0])
    assert 0 <= cycles - HZ // 8000 <= 2 * 120 + 100
    # 40 clocks up to the data, and two a byte; what begins and ends it comes on top.
    wrong, cycles = map(int, re.findall(r"\d+", lines["read"]))
    assert wrong == 0
    assert 40 + 64 * 2 <= cycles <= 40 + 64 * 2 + 40
    word, cycles, result = re.split(r", | cycles, ", lines["mapped"])
    assert (word, result) == ("20202020", "84")
    assert 40 + 4 * 2 <= int(cycles) <= 40 + 4 * 2 + 20
    # Skipping iterations of polling loops makes no difference.
    single = loaded.run("1s", skip_polling=False)
    assert (single.console, single.cores) == (done.console, done.cores)


@pytest.mark.parametrize(
    ("pin", "signal", "so"),
    [
        (10, "CLK", "a command is sent, but the memory gets no clock"),
        (11, "NCS", "a command is sent, but the memory is not selected"),
        (13, "IO1", "a command uses it, and its receiver reads ones"),
    ],
)
def test_without_a_pin_ones_are_read(pin: int, signal: str, so: str) -> None:
    source = ROOT / "tests" / "firmware" / "stm32" / "ospi.c"
    recipe = firmware.board_recipe("ospi", "nucleo-l4r5zi", [source], {"WITHOUT_PIN": str(pin)})
    done = package.Board("nucleo-l4r5zi-n25q128a").load(firmware.build(recipe)).run("1s")
    assert done.console == "id: ffffff\n"
    (note,) = done.notes
    assert note.startswith(
        f"octospi1: no pin carries its {signal}: {so}. It takes PE{pin} (alternate function 10; "
    )
