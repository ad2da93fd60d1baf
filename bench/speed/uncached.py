"""Programs that fetch every instruction over the bus: caches off, or code in SPI flash in place."""

from __future__ import annotations

import statistics
import subprocess

from processes import APP, built, instructions_of, measuring_command, result_of, timed
from record import say, say_ratios

from cyclescope import firmware
from cyclescope.firmware.settings import Value

BOARD = "kc705-axi-quad-spi"
CACHES_OFF = ("cpu0.i-cache-size=0", "cpu0.d-cache-size=0")
PICOSOC = "picosoc-icebreaker"
ARM_BOARD = "sama5d2-xplained"
RHEALSTONE = "rhealstone"
RHEALSTONE_UNCACHED: dict[str, Value] = {
    "operation": "task-preempt",
    "memory": "sram",
    "cache": "off",
}


def compare(iterations: int, loops: int, pairs: int) -> None:
    """Every instruction fetched over the bus: caches off, and PicoSoC from its flash."""
    switches = firmware.build_app(RHEALSTONE, ARM_BOARD, {"loops": loops, **RHEALSTONE_UNCACHED})
    numbers = ("riscv_uncached_mips", "picosoc_mips", "arm_uncached_mips")
    commands = {
        f"{BOARD}, caches off": measuring_command(BOARD, built(BOARD, iterations, {}), *CACHES_OFF),
        f"{PICOSOC}, from flash": measuring_command(PICOSOC, built(PICOSOC, iterations, {})),
        f"{ARM_BOARD}, caches off": measuring_command(ARM_BOARD, switches),
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    done: dict[str, subprocess.CompletedProcess[str]] = {}
    for _ in range(pairs):
        for name, command in commands.items():
            host_seconds, done[name] = timed(command)
            seconds[name].append(host_seconds)
    say(
        f"{APP}, {iterations} iterations, and {RHEALSTONE}'s {RHEALSTONE_UNCACHED['operation']}, "
        f"{loops} loops, instructions fetched over the bus:"
    )
    for (name, times), number in zip(seconds.items(), numbers, strict=True):
        millions, median = instructions_of(done[name]), statistics.median(times)
        result = result_of(done[name])
        pace = result["elapsed_ps"] / 1e12 / median
        say(
            f"{name:<38} {median:6.2f} s  {millions / median:6.1f} MIPS  "
            f"({pace:.1f} times as fast as the board)",
            **{number: round(millions / median, 1)},
        )
    off, picosoc, _ = seconds.values()
    say_ratios("ratio of PicoSoC's speed to the first", picosoc, off)
