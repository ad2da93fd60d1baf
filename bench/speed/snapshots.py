"""The cost of a snapshot: a machine with two cores and 512 MiB of RAM, in the middle of a run."""

from __future__ import annotations

import statistics
import time

from record import say

from cyclescope import Board, firmware

BOARD, APP = "stm32mp157c-dk2", "coremark_pair"
AT_PS = 10_000_000_000


def measure(pairs: int) -> None:
    """Take one, and load it into a machine that was just built and into one that has run on."""
    board = Board(BOARD).load(firmware.build_app(APP, BOARD, {"iterations": 10}))
    taken, fresh, again = [], [], []
    size_bytes = 0
    for _ in range(pairs):
        machine, other = board.start(), board.start()
        machine.run_to(AT_PS)
        begun = time.perf_counter()
        snapshot = machine.snapshot()
        taken.append(time.perf_counter() - begun)
        size_bytes = len(snapshot)
        begun = time.perf_counter()
        other.restore(snapshot)
        fresh.append(time.perf_counter() - begun)
        machine.run_to(2 * AT_PS)
        begun = time.perf_counter()
        machine.restore(snapshot)
        again.append(time.perf_counter() - begun)
        machine.finish()
        other.finish()
    taken_ms, fresh_ms, again_ms = (
        round(1000 * statistics.median(seconds), 1) for seconds in (taken, fresh, again)
    )
    say(
        f"a snapshot of {BOARD} with {APP} in the middle, {size_bytes / 1e6:.1f} MB: taken in "
        f"{taken_ms} ms, loaded in {fresh_ms} ms, and in {again_ms} ms where it has run on",
        snapshot_taken_ms=taken_ms,
        snapshot_loaded_ms=fresh_ms,
        snapshot_loaded_again_ms=again_ms,
    )
