"""A program that waits for a card nearly all of the time, and a whole experiment."""

from __future__ import annotations

import statistics
import sys
import tempfile

from processes import result_of, run_command, timed
from record import say, say_ratios

from cyclescope import disks, firmware
from cyclescope.errors import DiskError
from cyclescope.experiments import fat_write

POLLED_FILE_BYTES = 128 * 1024


def compare(pairs: int) -> None:
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
                polling = "--skip-polling" if skip else "--no-skip-polling"
                options = ("--set", image, "--limit", "1000s", polling, "--json", "-")
                host_seconds, done = timed(run_command(fat_write.BOARD, elf, *options))
            times.append(host_seconds)
            results.append(result_of(done))
    if any(result["cores"] != results[0]["cores"] for result in results):
        sys.exit("bench/speed: skipping of polling loops changed a result")
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
    say_ratios("ratio of speeds", seconds[True], seconds[False])
    with tempfile.TemporaryDirectory() as folder:
        bench = [sys.executable, "-m", "cyclescope", "bench", "fat-write", "--again"]
        bench += ["--out", folder]
        whole, _ = timed(bench)
    title = "the experiment fat-write whole, with waits and profiles of both runs at once"
    say(f"{title}: {whole:.1f} s")
