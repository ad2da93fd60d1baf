"""How fast this host runs the simulator now, in a fraction of a second.

The unit is a small known program: a filter on a PicoSoC that runs from its SPI flash, as fast as
the host does it while as many threads as will be used do the same. So processors that share what
they compute with, or that others use, count as what they bring.
"""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor

from cyclescope.board import Board
from cyclescope.board.results import Settings
from cyclescope.firmware import build_app

_APP, _BOARD = "picosoc_kernels", "picosoc-hx8k"
_SETTINGS: Settings = {
    "program": "filter",
    "opt": "Os",
    "isa": "rv32im",
    "code_in": "flash",
    "compiler": "gcc",
}
_LASTS_S = 0.3


def unit_s(threads: int) -> float:
    """What the program takes on one of so many threads, in seconds. Raises `FirmwareError`."""
    elf = str(build_app(_APP, _BOARD, _SETTINGS))
    until_s = time.perf_counter() + _LASTS_S
    with ThreadPoolExecutor(threads, thread_name_prefix="calibration") as pool:
        found = [pool.submit(_medians, elf, until_s) for _ in range(threads)]
        return statistics.mean(one.result() for one in found)


def _medians(elf: str, until_s: float) -> float:
    """The median of the program's times on this thread, up to a time of the clock."""
    took_s: list[float] = []
    while not took_s or time.perf_counter() < until_s:
        began_s = time.perf_counter()
        Board(_BOARD).load(elf).run()
        took_s.append(time.perf_counter() - began_s)
    return statistics.median(took_s)
