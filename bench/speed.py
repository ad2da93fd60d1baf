"""How fast the simulator is: a CoreMark-like program with caches and all timing on, beside QEMU.

The same sources run on the board `kc705-axi-quad-spi` and, where qemu-system-riscv32 is installed
(Debian: qemu-system-misc), on QEMU's virt machine, which models no time at all. Both are timed as
whole processes, start-up included, in turn; medians count, and the ratio is taken pair by pair.
Instructions are those that Cyclescope counted; QEMU runs the same ones but for the console driver.

    python bench/speed.py [--iterations N] [--pairs N]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from cyclescope import firmware

BOARD = "kc705-axi-quad-spi"
QEMU = "qemu-system-riscv32"
QEMU_ARGUMENTS = ["-M", "virt", "-bios", "none", "-nographic", "-semihosting", "-kernel"]


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


def cyclescope_command(elf: Path) -> list[str]:
    """Runs the ELF on the board, with the result as JSON."""
    return [
        sys.executable,
        "-m",
        "cyclescope",
        "run",
        str(elf),
        "--board",
        BOARD,
        "--limit",
        "1000s",
        "--json",
        "-",
    ]


def main() -> None:
    """Run the pairs and print what came out."""
    parser = argparse.ArgumentParser(
        description="Simulated speed, beside QEMU where it is installed."
    )
    parser.add_argument("--iterations", type=int, default=6000, help="rounds of the program")
    parser.add_argument("--pairs", type=int, default=5, help="how often each runs")
    options = parser.parse_args()

    settings = {"iterations": options.iterations}
    ours = cyclescope_command(firmware.build_app("coremark_like", BOARD, settings))
    qemu = shutil.which(QEMU)
    peer = (
        [qemu, *QEMU_ARGUMENTS, str(firmware.build_app("coremark_like", "qemu-virt", settings))]
        if qemu
        else None
    )

    seconds, peer_seconds = [], []
    for _ in range(options.pairs):
        host_seconds, done = timed(ours)
        seconds.append(host_seconds)
        if peer:
            peer_seconds.append(timed(peer)[0])
    result = json.loads(done.stdout)
    millions = sum(core["instructions"] for core in result["cores"]) / 1e6
    cycles = sum(core["cycles"] for core in result["cores"]) / 1e6

    print(
        f"coremark_like, {options.iterations} iterations: "
        f"{millions:.0f} million instructions, {cycles:.0f} million cycles"
    )
    print(
        f"host: {os.cpu_count()} processors; {options.pairs} runs each, medians of whole processes"
    )
    median = statistics.median(seconds)
    print(f"cyclescope, caches and all timing on: {median:6.2f} s  {millions / median:6.0f} MIPS")
    if not peer:
        print(f"{QEMU}: not installed (Debian: apt-get install qemu-system-misc); no comparison")
        return
    peer_median = statistics.median(peer_seconds)
    print(f"{QEMU}, no timing:        {peer_median:6.2f} s  {millions / peer_median:6.0f} MIPS")
    ratios = [theirs / mine for mine, theirs in zip(seconds, peer_seconds, strict=True)]
    print(
        f"ratio of speeds, pair by pair: {statistics.median(ratios):.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f})"
    )


if __name__ == "__main__":
    main()
