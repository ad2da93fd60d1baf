"""How wall time and memory grow: with instructions, with devices polled, with time slept away."""

from __future__ import annotations

import statistics

from beside_qemu import PAIRS
from processes import (
    APP,
    built,
    instructions_of,
    measuring_command,
    peak_mib,
    run_command,
    small_program,
    timed,
)
from record import say

BOARD = "kc705-axi-quad-spi"
FEWEST_INSTRUCTIONS = 10**6
INSTRUCTIONS_A_ROUND = 140_000
# Longer runs are made once.
MOST_REPEATED_INSTRUCTIONS = 10**9
# All that runs often is host code long before.
MEMORY_INSTRUCTIONS = 10**8
DEVICES = (1, 2, 4, 6)
SLEPT_S = (1, 10, 100, 1000)
LIMIT_STATUS = 124


def measure(most_instructions: int, polled: str, pairs: int) -> None:
    """Tables of wall time over the growing quantity."""
    _grow_instructions(most_instructions, pairs)
    _say_memory(min(most_instructions, MEMORY_INSTRUCTIONS))
    _grow_devices(polled, pairs)
    _grow_sleep(pairs)


def _grow_instructions(most: int, pairs: int) -> None:
    """Linear in instructions, with the same memory."""
    say(f"{APP} on {BOARD}, more and more rounds:")
    wanted = FEWEST_INSTRUCTIONS
    while wanted <= most:
        command = measuring_command(BOARD, built(BOARD, _rounds(wanted), {}))
        count = pairs if wanted <= MOST_REPEATED_INSTRUCTIONS else 1
        runs = [timed(command) for _ in range(count)]
        median = statistics.median(seconds for seconds, _ in runs)
        millions = instructions_of(runs[0][1])
        mib = peak_mib(command)
        exponent = len(str(wanted)) - 1
        say(
            f"{f'{millions:.0f} million instructions':<38} {median:6.2f} s  "
            f"{median * 1000 / millions:8.2f} ns an instruction  at most {mib:.0f} MiB",
            **{f"grown_1e{exponent}_s": round(median, 2), f"grown_1e{exponent}_mib": round(mib)},
        )
        wanted *= 10


def _rounds(instructions: int) -> int:
    """The rounds of the program that take about this number of instructions."""
    return max(1, round(instructions / INSTRUCTIONS_A_ROUND))


def _say_memory(instructions: int) -> None:
    """The time of a run on each core."""
    say(f"memory of {APP} on each core, {instructions / 1e6:.0f} million instructions:")
    for pair in PAIRS:
        elf = built(pair.board, _rounds(instructions), pair.board_settings)
        mib = peak_mib(measuring_command(pair.board, elf))
        say(f"{pair.core:<38} {mib:6.0f} MiB", **{f"{pair.name}_mib": round(mib)})


def _grow_devices(polled: str, pairs: int) -> None:
    """The time of a run with each number of devices: iterations of the loop are skipped."""
    say(f"devices polled without an end, {polled} simulated:")
    for devices in DEVICES:
        elf = small_program("polls", BOARD, DEVICES=devices)
        command = run_command(BOARD, elf, "--limit", polled)
        times = [timed(command, (LIMIT_STATUS,))[0] for _ in range(pairs)]
        median = statistics.median(times)
        say(
            f"{f'{devices} of them':<38} {median:6.2f} s",
            **{f"polls_{devices}_s": round(median, 2)},
        )


def _grow_sleep(pairs: int) -> None:
    """The time of a run for each sleep: nothing happens."""
    say("a core that sleeps:")
    for slept_s in SLEPT_S:
        elf = small_program("sleeps", BOARD, SECONDS=slept_s)
        command = run_command(BOARD, elf, "--limit", f"{2 * slept_s}s")
        median = statistics.median(timed(command)[0] for _ in range(pairs))
        say(f"{f'{slept_s} s':<38} {median:6.2f} s", **{f"slept_{slept_s}_s": round(median, 2)})
