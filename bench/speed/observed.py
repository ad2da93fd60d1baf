"""The cost of observing: a profile, a timeline of functions, waits, and nothing."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from processes import APP, built, result_of, timed
from record import say
from uncached import ARM_BOARD, BOARD, RHEALSTONE, RHEALSTONE_UNCACHED

from cyclescope import firmware

Cycles = list[tuple[str, int]]
OFF = "nothing"


def compare(iterations: int, loops: int, pairs: int, before: Path | None) -> None:
    """The same programs with and without; and with an earlier build, in the checkout `before`."""
    switches = firmware.build_app(RHEALSTONE, ARM_BOARD, {"loops": loops, **RHEALSTONE_UNCACHED})
    _observe(f"{APP} on {BOARD}", "observed", BOARD, built(BOARD, iterations, {}), pairs, before)
    title = f"{RHEALSTONE}'s {RHEALSTONE_UNCACHED['operation']} on {ARM_BOARD}, caches off"
    _observe(title, "observed_uncached", ARM_BOARD, switches, pairs, before)


def _observe(
    title: str, numbers: str, board: str, elf: Path, pairs: int, before: Path | None
) -> None:
    """A program in each way, in turn, so that a change of the host's pace is in all of them."""
    with tempfile.TemporaryDirectory() as folder:
        commands = _commands(board, elf, Path(folder), before)
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        cycles: dict[str, Cycles] = {}
        for _ in range(pairs):
            for name, command in commands.items():
                host_seconds, done = timed(command)
                seconds[name].append(host_seconds)
                cycles[name] = _cycles(result_of(done))
    changed = [name for name in commands if cycles[name] != cycles[OFF]]
    if changed:
        sys.exit(f"bench/speed: {', '.join(changed)} changed the cycles of {title}")
    say(f"{title}, with what it is asked beside its result, the same cycles:")
    off = seconds.pop(OFF)
    say(f"{OFF:<38} {statistics.median(off):6.2f} s")
    for name, times in seconds.items():
        ratios = [on / without for on, without in zip(times, off, strict=True)]
        median = statistics.median(ratios)
        say(
            f"{name:<38} {statistics.median(times):6.2f} s  {median:.2f} times as long, "
            f"pair by pair ({min(ratios):.2f} to {max(ratios):.2f})",
            **{f"{numbers}_{name.replace(' ', '_').replace(',', '')}_ratio": round(median, 2)},
        )


def _commands(board: str, elf: Path, folder: Path, before: Path | None) -> Mapping[str, list[str]]:
    """The ways; the first one, without observers, runs twice to show the noise of this host."""

    def command(name: str, *options: str, python: str = sys.executable) -> list[str]:
        # -P: no module from the current folder
        cyclescope = [python, "-P", "-m", "cyclescope", name, str(elf), "--board", board]
        return [*cyclescope, "--limit", "10000s", "--json", "-", *options]

    trace = ("--trace", str(folder / "timeline.pftrace"), "--trace-kind", "function")
    earlier = {}
    if before is not None:
        python = before.resolve() / ".venv" / "bin" / "python"
        earlier = {f"{OFF}, earlier build": command("run", python=str(python))}
    return {
        OFF: command("run"),
        f"{OFF}, again": command("run"),
        **earlier,
        "profile": command("profile"),
        "timeline of functions": command("run", *trace),
        "waits": command("run", "--waits"),
    }


def _cycles(result: Mapping[str, Any]) -> Cycles:
    return [(core["name"], core["cycles"]) for core in result["cores"]]
