"""Measures the simulator's speed, and how its time and memory grow.

A CoreMark-like program is built from the same sources for a board and for a machine of QEMU, if
that is installed (Debian: qemu-system-misc, qemu-system-arm, qemu-system-mips). QEMU models no
time. `beside_qemu.py` has the pairs, one for each kind of core. Both are timed alternately as whole
processes, start-up included; the results are medians, and the ratio is calculated pair by pair.
Instructions are those that Cyclescope counted; QEMU runs the same ones except for the console
driver and the board's start-up. Then both cores of `stm32mp157c-dk2` run the program at once; their
instructions are added up.

A second part (`uncached.py`) runs fewer rounds of the program where every instruction is fetched
over the bus: on the first board with its caches off, and on PicoSoC, from SPI flash in place; and
an operation of the Rhealstone benchmark with the caches of the SAMA5D2 off.

A third part (`bus_matrix.py`) accesses two memories of a bus matrix alternately, and one.

A fourth part (`waiting.py`) writes a file to an SD card: nearly all of the time the program waits
for the card. It is run with iterations of polling loops skipped, and with each iteration run. Both
must give the same result. Then the whole experiment `fat-write` runs once.

A fifth part (`observed.py`) measures the cost of observing: the program with its caches on, and the
operation of the Rhealstone benchmark with them off, each without anything, with a profile, with a
timeline of its functions, and with its waits, alternately; all must take the same cycles. The first
runs twice in each round: the difference is the noise of this host. `--before DIR` also runs it with
an earlier build, in another checkout (`make build`).

A sixth part (`start_up.py`) measures the cost of starting: the program `hello` as a whole process,
and the first block that is compiled to host code.

A seventh part (`python_devices.py`) measures a call of a device in Python.

An eighth part (`snapshots.py`) takes a snapshot of a machine, and loads it. A ninth
(`held_runs.py`) has a debugger halt and resume a run, and go back ten seconds. A tenth
(`sweeps.py`) makes the same short runs with one worker and with two, and on a Dask cluster.

An eleventh part (`situations.py`) runs firmware in common situations (flash with its caches off, an
MPU region at each task switch, programming of the flash, polls of a register without a model), and
the same work without them.

A twelfth part (`linux_boot.py`) boots Debian's Linux to its first program, which powers the board
off, beside QEMU; it needs the packages that `scripts/install-debian-packages linux` brings.

The last part (`growth.py`) runs more of the same: instructions, devices that are polled, time that
is slept away; and measures wall time and memory.

    python bench/speed [--iterations N] [--uncached-iterations N] [--pairs N] [--before DIR]
        [--out FILE] [PART]...

FILE gets the output, and the single numbers by name. The pages take their numbers from
docs/speed.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import beside_qemu
import bus_matrix
import growth
import held_runs
import linux_boot
import observed
import python_devices
import situations
import snapshots
import start_up
import sweeps
import uncached
import waiting
from record import RECORD, say

from cyclescope.host import processors
from cyclescope.units import parse_time_ps


def main() -> None:
    """Run the parts and print their results."""
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
    parser.add_argument(
        "--turning-loops", type=int, default=10**7, help="rounds of turns of a bus matrix"
    )
    parser.add_argument(
        "--most-instructions", type=int, default=10**10, help="of the run that grows"
    )
    parser.add_argument("--polled", default="1s", help="simulated time of polling devices")
    parser.add_argument("--held", default="4s", help="simulated time that a debugger holds")
    parser.add_argument("--back", default="10s", help="how far a debugger goes back")
    parser.add_argument("--sweep-runs", type=int, default=1000, help="runs of a sweep")
    parser.add_argument("--pairs", type=int, default=5, help="how often each runs")
    parser.add_argument("--before", type=Path, help="a checkout with an earlier build")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    parts: dict[str, Callable[[], None]] = {
        "qemu": lambda: beside_qemu.compare(options.iterations, options.pairs),
        "uncached": lambda: uncached.compare(
            options.uncached_iterations, options.uncached_loops, options.pairs
        ),
        "bus-matrix": lambda: bus_matrix.compare(options.turning_loops, options.pairs),
        "waiting": lambda: waiting.compare(options.pairs),
        "observed": lambda: observed.compare(
            options.iterations, options.uncached_loops, options.pairs, options.before
        ),
        "start-up": lambda: start_up.measure(options.pairs),
        "python-devices": lambda: python_devices.measure(options.pairs),
        "snapshots": lambda: snapshots.measure(options.pairs),
        "debugger": lambda: held_runs.measure(
            parse_time_ps(options.held), parse_time_ps(options.back), options.pairs
        ),
        "sweeps": lambda: sweeps.measure(options.sweep_runs, options.pairs),
        "situations": lambda: situations.compare(options.pairs),
        "linux": lambda: linux_boot.compare(options.pairs),
        "growth": lambda: growth.measure(options.most_instructions, options.polled, options.pairs),
    }
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}")
    options = parser.parse_args()
    unknown = set(options.parts) - parts.keys()
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    found = processors.count()
    say(
        f"host: {found} processors; {options.pairs} runs each, medians of whole processes",
        processors=found,
    )
    for name, part in parts.items():
        if not options.parts or name in options.parts:
            part()
    if options.out:
        RECORD.write(options.out)


if __name__ == "__main__":
    main()
