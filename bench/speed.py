"""How fast the simulator is: a CoreMark-like program with caches and all timing on, beside QEMU.

The same sources run on a board and, where it is installed (Debian: qemu-system-misc,
qemu-system-arm, qemu-system-mips), on a machine of QEMU's, which models no time at all: RISC-V code
on `kc705-axi-quad-spi` beside qemu-system-riscv32, Arm code on `sama5d2-xplained`, with both levels
of caches, translation and branch prediction, beside qemu-system-arm, MIPS code on `ben-nanonote`
beside qemu-system-mipsel. Both are timed as whole processes, start-up included, in turn; medians
count, and the ratio is taken pair by pair.
Instructions are those that Cyclescope counted; QEMU runs the same ones but for the console driver
and what starts a board.

Then both cores of `stm32mp157c-dk2` run the program at once; their instructions are added up.

A second part runs fewer rounds of the program where every instruction is fetched over the bus: on
the first board with its caches off, and on PicoSoC, from SPI flash in place; and an operation of
the Rhealstone benchmark with the caches of the SAMA5D2 off.

A third part writes a file to an SD card, which is waiting for the card nearly all of the time: with
iterations of polling loops skipped and with each of them run. Both must give the same result. Then
the experiment `fat-write` runs whole, once.

    python bench/speed.py [--iterations N] [--uncached-iterations N] [--pairs N] [--out FILE]

FILE, which is docs/speed.json for the numbers that the pages have, gets what was printed and the
single numbers by name.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from cyclescope import disks, firmware
from cyclescope.errors import DiskError
from cyclescope.experiments import fat_write
from cyclescope.firmware.settings import Value

APP = "coremark_like"
BOARD = "kc705-axi-quad-spi"
CACHES_OFF = ("cpu0.i-cache-size=0", "cpu0.d-cache-size=0")
PICOSOC = "picosoc-icebreaker"
ARM_BOARD = "sama5d2-xplained"
MIPS_BOARD = "ben-nanonote"
ARM_CACHED: dict[str, Value] = {"memory": "sram", "cache": "on", "branch_prediction": "on"}
RHEALSTONE = "rhealstone"
RHEALSTONE_UNCACHED: dict[str, Value] = {
    "operation": "task-preempt",
    "memory": "sram",
    "cache": "off",
}
POLLED_FILE_BYTES = 128 * 1024
TWO_CORES = ("coremark_pair", "stm32mp157c-dk2")
# of both cores together, for one of the second core's
ROUNDS_FOR_ONE = 5


class Record:
    """What was printed, and the numbers in it by their names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.numbers: dict[str, float] = {}

    def say(self, line: str, **numbers: float) -> None:
        """Print a line, and remember it with its numbers."""
        print(line)
        self.lines.append(line)
        self.numbers |= numbers

    def write(self, path: Path) -> None:
        """Write all of it as JSON."""
        text = json.dumps({**self.numbers, "printed": self.lines}, indent=1)
        path.write_text(f"{text}\n", encoding="utf-8")


RECORD = Record()
say = RECORD.say


@dataclass(frozen=True)
class Pair:
    """A board, and the emulator to compare it with; `name` is what its speeds are called."""

    name: str
    board: str
    board_settings: dict[str, Value]
    qemu: str
    arguments: tuple[str, ...]
    package: str
    qemu_board: str


PAIRS = (
    Pair(
        name="riscv",
        board=BOARD,
        board_settings={},
        qemu="qemu-system-riscv32",
        arguments=("-M", "virt", "-bios", "none"),
        package="qemu-system-misc",
        qemu_board="qemu-virt",
    ),
    Pair(
        name="arm",
        board=ARM_BOARD,
        board_settings=ARM_CACHED,
        qemu="qemu-system-arm",
        arguments=("-M", "virt", "-cpu", "cortex-a15"),
        package="qemu-system-arm",
        qemu_board="qemu-virt-arm",
    ),
    Pair(
        name="mips",
        board=MIPS_BOARD,
        board_settings={},
        qemu="qemu-system-mipsel",
        arguments=("-M", "malta"),
        package="qemu-system-mips",
        qemu_board="qemu-malta",
    ),
)


def timed(command: list[str]) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Seconds of host time for a whole process, and what it printed."""
    begun = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    seconds = time.perf_counter() - begun
    if done.returncode != 0:
        sys.exit(
            f"bench/speed.py: {command[0]} failed with {done.returncode}: {done.stderr.strip()}"
        )
    return seconds, done


def built(board: str, iterations: int, board_settings: dict[str, Value]) -> Path:
    """The program for a board, with settings that are the board's and not its own."""
    settings: dict[str, Value] = {"iterations": iterations, **board_settings}
    return firmware.build(firmware.app_recipe(firmware.load_app(APP), board, settings))


def cyclescope_command(board: str, elf: Path, *sets: str) -> list[str]:
    """Runs a program on a board, with the result as JSON."""
    options = [word for setting in sets for word in ("--set", setting)]
    return [
        *(sys.executable, "-m", "cyclescope", "run", str(elf), "--board", board, *options),
        *("--limit", "10000s", "--json", "-"),
    ]


def instructions_of(done: subprocess.CompletedProcess[str]) -> float:
    """Millions of instructions that a run took."""
    return sum(core["instructions"] for core in json.loads(done.stdout)["cores"]) / 1e6


def compare_with_qemu(pair: Pair, iterations: int, pairs: int) -> None:
    """All timing on, beside QEMU where it is installed."""
    ours = cyclescope_command(pair.board, built(pair.board, iterations, pair.board_settings))
    qemu = shutil.which(pair.qemu)
    peer: list[str] = []
    if qemu:
        elf = built(pair.qemu_board, iterations, {})
        # no ROMs of network and graphics cards: QEMU alone, without recommended packages, has none
        cards = ("-nic", "none", "-vga", "none")
        peer = [qemu, *pair.arguments, *cards, "-nographic", "-semihosting", "-kernel", str(elf)]
    seconds, peer_seconds = [], []
    for _ in range(pairs):
        host_seconds, done = timed(ours)
        seconds.append(host_seconds)
        if peer:
            peer_seconds.append(timed(peer)[0])
    millions, median = instructions_of(done), statistics.median(seconds)
    mips = millions / median
    say(f"{APP} on {pair.board}, {iterations} iterations: {millions:.0f} million instructions")
    say(
        f"cyclescope, caches and all timing on: {median:6.2f} s  {mips:6.0f} MIPS",
        **{f"{pair.name}_mips": round(mips)},
    )
    if not peer:
        say(f"{pair.qemu}: not installed (Debian: apt-get install {pair.package}); no comparison")
        return
    peer_median = statistics.median(peer_seconds)
    name = f"{pair.qemu}, no timing:"
    say(
        f"{name:<37} {peer_median:6.2f} s  {millions / peer_median:6.0f} MIPS",
        **{f"{pair.name}_qemu_mips": round(millions / peer_median)},
    )
    print_ratios("ratio of speeds", seconds, peer_seconds)


def run_two_cores(iterations: int, pairs: int) -> None:
    """Two cores of different clocks at once."""
    app, board = TWO_CORES
    elf = firmware.build_app(app, board, {"iterations": max(1, iterations // ROUNDS_FOR_ONE)})
    seconds = []
    for _ in range(pairs):
        host_seconds, done = timed(cyclescope_command(board, elf))
        seconds.append(host_seconds)
    millions, median = instructions_of(done), statistics.median(seconds)
    say(f"{app} on both cores of {board}: {millions:.0f} million instructions")
    say(
        f"cyclescope, caches and all timing on: {median:6.2f} s  {millions / median:6.0f} MIPS",
        two_cores_mips=round(millions / median),
    )


def compare_uncached(iterations: int, loops: int, pairs: int) -> None:
    """Every instruction fetched over the bus: caches off, and PicoSoC from its flash."""
    switches = firmware.build_app(RHEALSTONE, ARM_BOARD, {"loops": loops, **RHEALSTONE_UNCACHED})
    numbers = ("riscv_uncached_mips", "picosoc_mips", "arm_uncached_mips")
    commands = {
        f"{BOARD}, caches off": cyclescope_command(
            BOARD, built(BOARD, iterations, {}), *CACHES_OFF
        ),
        f"{PICOSOC}, from flash": cyclescope_command(PICOSOC, built(PICOSOC, iterations, {})),
        f"{ARM_BOARD}, caches off": cyclescope_command(ARM_BOARD, switches),
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
        result = json.loads(done[name].stdout)
        pace = result["elapsed_ps"] / 1e12 / median
        say(
            f"{name:<38} {median:6.2f} s  {millions / median:6.1f} MIPS  "
            f"({pace:.1f} times as fast as the board)",
            **{number: round(millions / median, 1)},
        )
    off, picosoc, _ = seconds.values()
    print_ratios("ratio of PicoSoC's speed to the first", picosoc, off)


def compare_polling(pairs: int) -> None:
    """A program that waits for a card: iterations of its polling loops skipped, or each run."""
    settings = {"transfer": "768", "file_bytes": POLLED_FILE_BYTES, "gap_s": 0}
    elf = firmware.build_app(fat_write.APP, fat_write.BOARD, settings)
    try:
        card = disks.image(fat_write.DISK)
    except DiskError as error:
        say(f"{fat_write.APP}: not run: {error}")
        return
    seconds: dict[bool, list[float]] = {True: [], False: []}
    results = []
    for _ in range(pairs):
        for skip, times in seconds.items():
            with disks.copy_of(card) as copy:
                image = f"card0.cyclescope,image={copy}"
                host_seconds, done = timed(
                    [
                        *(sys.executable, "-m", "cyclescope", "run", str(elf)),
                        *("--board", fat_write.BOARD, "--set", image, "--limit", "1000s"),
                        *("--skip-polling" if skip else "--no-skip-polling", "--json", "-"),
                    ]
                )
            times.append(host_seconds)
            results.append(json.loads(done.stdout))
    if any(result["cores"] != results[0]["cores"] for result in results):
        sys.exit("bench/speed.py: skipping of polling loops changed a result")
    simulated = results[0]["elapsed_ps"] / 1e12
    say(
        f"{fat_write.APP} in calls of 768 bytes, {simulated:.1f} s simulated, the same cycles:",
        polled_simulated_s=round(simulated, 1),
    )
    for skip, times in seconds.items():
        median = statistics.median(times)
        name = "polling loops skipped" if skip else "each iteration run"
        say(
            f"{name:<38} {median:6.2f} s  ({simulated / median:.1f} times as fast as the board)",
            **{"polled_s" if skip else "polled_each_s": round(median, 2)},
        )
    print_ratios("ratio of speeds", seconds[True], seconds[False])
    with tempfile.TemporaryDirectory() as folder:
        bench = [sys.executable, "-m", "cyclescope", "bench", "fat-write", "--out", folder]
        whole, _ = timed(bench)
    say(f"the experiment fat-write whole, both write orders at once: {whole:.1f} s")


def print_ratios(what: str, seconds: list[float], peer_seconds: list[float]) -> None:
    """How many times faster than the peer, pair by pair."""
    ratios = [theirs / mine for mine, theirs in zip(seconds, peer_seconds, strict=True)]
    median = statistics.median(ratios)
    say(f"{what}, pair by pair: {median:.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def main() -> None:
    """Run the pairs and print what came out."""
    parser = argparse.ArgumentParser(
        description="Simulated speed, beside QEMU where it is installed."
    )
    parser.add_argument("--iterations", type=int, default=6000, help="rounds of the program")
    parser.add_argument(
        "--uncached-iterations", type=int, default=150, help="rounds where nothing is cached"
    )
    parser.add_argument(
        "--uncached-loops", type=int, default=20000, help="Rhealstone's operations there"
    )
    parser.add_argument("--pairs", type=int, default=5, help="how often each runs")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    options = parser.parse_args()
    processors = os.cpu_count() or 1
    say(
        f"host: {processors} processors; {options.pairs} runs each, medians of whole processes",
        processors=processors,
    )
    for pair in PAIRS:
        compare_with_qemu(pair, options.iterations, options.pairs)
    run_two_cores(options.iterations, options.pairs)
    compare_uncached(options.uncached_iterations, options.uncached_loops, options.pairs)
    compare_polling(options.pairs)
    if options.out:
        RECORD.write(options.out)


if __name__ == "__main__":
    main()
