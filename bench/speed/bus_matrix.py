"""A core on a bus matrix whose accesses turn that to another memory, and the same in one memory."""

from __future__ import annotations

import statistics

from processes import instructions_of, measuring_command, small_program, timed
from record import say, say_ratios

BOARD = "nucleo-l4r5zi"
# In SRAM1 after the programs' own data; in SRAM1 again, and in SRAM2.
FROM = 0x2002A000
WAYS = {
    "in two memories": (0x20030100, "turning_mips"),
    "in one memory": (0x2002A100, "not_turning_mips"),
}


def compare(loops: int, pairs: int) -> None:
    """Loads and stores that alternate between two memories, beside the same in one."""
    commands = {
        name: measuring_command(BOARD, small_program("turns", BOARD, FROM=FROM, TO=to, LOOPS=loops))
        for name, (to, _) in WAYS.items()
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    millions = {}
    for _ in range(pairs):
        for name, command in commands.items():
            host_seconds, done = timed(command)
            seconds[name].append(host_seconds)
            millions[name] = instructions_of(done)
    say(f"loads and stores in turn on {BOARD}, {loops} rounds:")
    for name, (_, number) in WAYS.items():
        median = statistics.median(seconds[name])
        mips = millions[name] / median
        say(f"{name:<38} {median:6.2f} s  {mips:6.1f} MIPS", **{number: round(mips, 1)})
    turning, staying = seconds.values()
    say_ratios("ratio of speeds", turning, staying)
