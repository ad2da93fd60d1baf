"""Whole processes: their time and memory, and the output of Cyclescope's processes about a run."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cyclescope import firmware
from cyclescope.firmware.settings import Value

APP = "coremark_like"

# A process's peak counts that of the one it was forked from: this one is small.
_PEAK = """
import resource, subprocess, sys
nothing = subprocess.DEVNULL
done = subprocess.run(sys.argv[1:], stdin=nothing, stdout=nothing, stderr=nothing)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def timed(
    command: list[str], statuses: tuple[int, ...] = (0,), environment: Mapping[str, str] = {}
) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Seconds of host time for a whole process, and its output.

    `environment` replaces this process's own, if it has anything.
    """
    begun = time.perf_counter()
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        env=dict(environment) or None,
    )
    seconds = time.perf_counter() - begun
    if done.returncode not in statuses:
        sys.exit(f"bench/speed: {command[0]} failed with {done.returncode}: {done.stderr.strip()}")
    return seconds, done


def peak_mib(command: list[str]) -> float:
    """The most memory that a process had at a time."""
    launcher = [sys.executable, "-I", "-S", "-c", _PEAK, *command]
    status, kib = map(int, subprocess.check_output(launcher, text=True).split())
    if status != 0:
        sys.exit(f"bench/speed: {' '.join(command)} failed with {status}")
    return kib / 1024


def built(board: str, iterations: int, board_settings: Mapping[str, Value]) -> Path:
    """The program for a board, with settings that are the board's and not its own."""
    settings: dict[str, Value] = {"iterations": iterations, **board_settings}
    return firmware.build(firmware.app_recipe(firmware.load_app(APP), board, settings))


def small_program(name: str, board: str, **macros: int) -> Path:
    """A program of `programs/`, with the values of its macros."""
    source = Path(__file__).parent / "programs" / f"{name}.c"
    texts = {macro: str(value) for macro, value in macros.items()}
    return firmware.build(firmware.board_recipe(name, board, [source], texts))


def run_command(board: str, elf: Path, *options: str) -> list[str]:
    """The command that runs a program on a board."""
    return [sys.executable, "-m", "cyclescope", "run", str(elf), "--board", board, *options]


def measuring_command(board: str, elf: Path, *sets: str) -> list[str]:
    """Runs a program on a board however long it takes, with the result as JSON."""
    options = [word for setting in sets for word in ("--set", setting)]
    return run_command(board, elf, *options, "--limit", "10000s", "--json", "-")


def result_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The result of a run, from its JSON."""
    return json.loads(done.stdout)


def instructions_of(done: subprocess.CompletedProcess[str]) -> float:
    """Millions of instructions that a run took."""
    return sum(core["instructions"] for core in result_of(done)["cores"]) / 1e6
