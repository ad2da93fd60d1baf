"""Common situations of firmware, and the same work without them: the caches of the flash off, a
region of the MPU at each task switch, programming of the flash, polls of a register without a
model.
"""

from __future__ import annotations

import statistics

from processes import instructions_of, measuring_command, small_program, timed
from record import say, say_ratios

BOARD = "stm32f4-disco"
# By the number that the program has for each: what the firmware does, and how often.
SITUATIONS = (
    ("code from flash with its caches off", "caches_off", 10**8),
    ("an MPU region at each switch of tasks", "mpu_region", 4 * 10**6),
    ("flash that is programmed beside code", "flash_programmed", 20_000),
    ("polls of what has no model", "unmodelled_polls", 10**8),
)


def compare(pairs: int) -> None:
    """Each situation and the same work without it, alternately."""
    say(f"beside the work, on {BOARD}:")
    for number, (name, key, loops) in enumerate(SITUATIONS):
        commands = []
        for hindered in (1, 0):
            elf = small_program(
                "situations", BOARD, SITUATION=number, HINDERED=hindered, LOOPS=loops
            )
            commands.append([*measuring_command(BOARD, elf), "--unmapped", "warn"])
        seconds: list[list[float]] = [[], []]
        millions = [0.0, 0.0]
        for _ in range(pairs):
            for way, command in enumerate(commands):
                host_seconds, done = timed(command)
                seconds[way].append(host_seconds)
                millions[way] = instructions_of(done)
        mips = [
            count / statistics.median(times) for count, times in zip(millions, seconds, strict=True)
        ]
        say(f"{name:<38} {mips[0]:6.1f} MIPS", **{f"{key}_mips": round(mips[0], 1)})
        say(f"{'  without':<38} {mips[1]:6.1f} MIPS")
        say_ratios("  ratio of speeds", *seconds, number=f"{key}_ratio")
