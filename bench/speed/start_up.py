"""The cost of starting: a process's start, and the first block that is compiled to host code."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time

from beside_qemu import PAIRS
from processes import peak_mib, run_command, small_program, timed
from record import say

from cyclescope import Board, firmware

HELLO = ("hello", "kc705-axi-quad-spi")
# The number of iterations of the loop; its block is compiled halfway through them.
LOOPS, COMPILE_AFTER = 400, 200
# Times of a millisecond: many of them cost nothing.
COMPILES_A_PAIR = 4


def measure(pairs: int) -> None:
    """Compares the start with that of an empty interpreter; then times the first compiled block."""
    _time_hello(pairs)
    _time_first_compile(pairs * COMPILES_A_PAIR)


def _time_hello(pairs: int) -> None:
    """`cyclescope run hello`, with the interpreter's byte code kept as after an installation."""
    app, board = HELLO
    command = run_command(board, firmware.build_app(app, board, {}))
    nothing = [sys.executable, "-c", ""]
    seconds, idle_seconds = [], []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        timed(command, environment=environment)
        for _ in range(pairs):
            seconds.append(timed(command, environment=environment)[0])
            idle_seconds.append(timed(nothing, environment=environment)[0])
    median, idle = statistics.median(seconds), statistics.median(idle_seconds)
    mib = peak_mib(command)
    say(
        f"cyclescope run {app} on {board}: {median:.2f} s ({min(seconds):.2f} to "
        f"{max(seconds):.2f}), {idle:.2f} s of it for Python itself; at most {mib:.0f} MiB",
        start_up_s=round(median, 2),
        start_up_mib=round(mib),
    )


def _time_first_compile(runs: int) -> None:
    """A loop that becomes host code in its middle, less the same loop interpreted."""
    say("time until the first block is host code, by the core, in ms of a processor:")
    for pair in PAIRS:
        elf = small_program("one_loop", pair.board, LOOPS=LOOPS).read_bytes()
        # another process can only add to it
        with_s = min(_run_s(pair.board, elf, COMPILE_AFTER) for _ in range(runs))
        without_s = min(_run_s(pair.board, elf, 0) for _ in range(runs))
        first_ms = round(max(with_s - without_s, 0) * 1000, 2)
        say(f"{pair.core:<38} {first_ms:6.2f} ms", **{f"{pair.name}_first_compile_ms": first_ms})


def _run_s(board: str, elf: bytes, compile_after: int) -> float:
    """Seconds of a processor for a run of a new machine."""
    machine = Board(board).load(elf).start()
    machine.compile_after(compile_after)
    begun = time.thread_time()
    machine.run(None, None)
    return time.thread_time() - begun
