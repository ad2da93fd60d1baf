"""Common situations of firmware discard no decoded and no compiled code.

The host's speed in these situations depends on it: `bench/speed/situations.py` measures it.
"""

from __future__ import annotations

import functools

from conftest import ROOT

from cyclescope import Board, firmware
from cyclescope._engine import Machine

SOURCE = ROOT / "bench" / "speed" / "programs" / "situations.c"
BOARD = "stm32f4-disco"
CACHES, MPU, FLASH, POLLS = 0, 1, 2, 3
MOST_REGIONS_MORE = 3


@functools.cache
def ended(situation: int, hindered: int, loops: int, compile_after: int = 20) -> Machine:
    """The machine after the program's end."""
    macros = {"SITUATION": str(situation), "HINDERED": str(hindered), "LOOPS": str(loops)}
    elf = firmware.build(firmware.board_recipe("situations", BOARD, [SOURCE], macros))
    machine = Board(BOARD, unmapped="warn").load(elf).start()
    machine.compile_after(compile_after)
    report = machine.run(None, None)
    assert (report["outcome"], report["code"]) == ("exit", 0), report["message"]
    return machine


def regions(situation: int, hindered: int, loops: int) -> int:
    """The number of compilations."""
    return sum(count for count, _ in ended(situation, hindered, loops).compiled())


def test_code_from_flash_without_caches_is_compiled() -> None:
    loops = 5000
    assert 0 < regions(CACHES, 1, loops) <= regions(CACHES, 0, loops) + MOST_REGIONS_MORE
    compiled, interpreted = (ended(CACHES, 1, loops, after).now() for after in (20, 0))
    assert compiled == interpreted > 2 * ended(CACHES, 0, loops).now()


def test_regions_of_the_mpu_that_tasks_set_leave_compiled_code() -> None:
    assert regions(MPU, 1, 300) <= regions(MPU, 0, 300) + MOST_REGIONS_MORE


def test_words_that_are_programmed_leave_the_code_of_other_sectors() -> None:
    assert regions(FLASH, 1, 60) <= regions(FLASH, 0, 60) + MOST_REGIONS_MORE


def test_polls_of_what_has_no_model_are_skipped() -> None:
    machine = ended(POLLS, 1, 100_000)
    assert sum(machine.skipped()) > 0
