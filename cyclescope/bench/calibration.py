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
    # what is read and imported for the first run counts once in a bench, too
    Board(_BOARD).load(elf).run()
    with ThreadPoolExecutor(threads, thread_name_prefix="calibration") as pool:
        found = [pool.submit(_mean_s, elf) for _ in range(threads)]
        return statistics.mean(one.result() for one in found)


def _mean_s(elf: str) -> float:
    """What the program takes on this thread, with the time in which others have the processor."""
    began_s = time.perf_counter()
    runs, took_s = 0, 0.0
    while took_s < _LASTS_S:
        Board(_BOARD).load(elf).run()
        runs += 1
        took_s = time.perf_counter() - began_s
    return took_s / runs
