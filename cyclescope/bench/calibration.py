"""How fast this host runs the simulator now, measured in a fraction of a second.

The unit is a small known program: a filter on a PicoSoC that runs from its SPI flash, at the host's
speed while as many threads as will be used do the same. So processors that share execution units,
or that other processes use, count with their share.
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
    """The program's time on one of `threads` busy threads, in seconds. Raises `FirmwareError`."""
    elf = str(build_app(_APP, _BOARD, _SETTINGS))
    # the first run of a bench also includes reading and importing
    Board(_BOARD).load(elf).run()
    with ThreadPoolExecutor(threads, thread_name_prefix="calibration") as pool:
        found = [pool.submit(_mean_s, elf) for _ in range(threads)]
        return statistics.mean(one.result() for one in found)


def _mean_s(elf: str) -> float:
    """The program's time on this thread, including the time when others have the processor."""
    began_s = time.perf_counter()
    runs, took_s = 0, 0.0
    while took_s < _LASTS_S:
        Board(_BOARD).load(elf).run()
        runs += 1
        took_s = time.perf_counter() - began_s
    return took_s / runs
