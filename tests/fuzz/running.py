"""Runs firmware on a machine, and checks whether its reports can be true."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import cyclescope
from cyclescope._engine import EngineError, Machine
from fuzz.inputs import Input, MisbehaviourError

# One of two cores may be ahead of the other, by an instruction or a quantum.
_QUANTUM_PS = 10**6
# How far a single instruction or transfer may run past the limit.
_LIMITS_PS = (10**6, 10**7, 10**7, 2 * 10**7, 10**8, 10**9)
_LIMIT_WEIGHTS = (20, 30, 20, 15, 12, 3)


# Limits for reading a file of less than 1 MiB.
READ_MEMORY_BYTES = 1 << 30
READ_S = 5.0


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Runs a reader with bounded memory, and checks its time afterwards."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    has_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (has_bytes + READ_MEMORY_BYTES, before[1]))
    began_s = time.process_time()
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    took_s = time.process_time() - began_s
    if took_s > READ_S:
        raise MisbehaviourError(f"reading took {took_s:.1f} s")


def options(random: Random) -> Input:
    """Options of a run: its limit, its recordings, and the simulator's own settings."""
    (limit_ps,) = random.choices(_LIMITS_PS, _LIMIT_WEIGHTS)
    chosen: Input = {"limit_ps": limit_ps}
    if random.random() < 0.2:
        chosen["skip_polling"] = False
    if random.random() < 0.3:
        chosen["compile_after"] = random.choice((0, 1, 2, 16))
    if random.random() < 0.1:
        chosen["waves"] = True
    if random.random() < 0.1:
        chosen["slices"] = random.randrange(1, 5)
    if random.random() < 0.1:
        chosen["hosted"] = True
    if random.random() < 0.005:
        chosen["whole"] = True
    return chosen


def refused(act: Callable[[], object]) -> bool:
    """Whether the engine refuses something; raises `MisbehaviourError` if that says nothing."""
    try:
        act()
    except EngineError as error:
        check_message(error)
        return True
    return False


def check_message(error: Exception) -> None:
    """Raises `MisbehaviourError` for a message that is not one line of text."""
    lines = getattr(error, "faults", None) or [str(error)]
    for line in lines:
        if not line.strip() or "\n" in line or "panicked" in line:
            raise MisbehaviourError(f"a message that is not one line of text: {line!r}")


def run_elf(machine: Machine, elf: bytes, made: Input) -> str:
    """Load and run an ELF as an input says: how it ended."""
    if refused(lambda: machine.load(elf, "firmware")):
        return "refused"
    machine.skip_polling(made.get("skip_polling", True))
    if "compile_after" in made:
        machine.compile_after(made["compile_after"])
    # a firmware that has files
    if made.get("hosted"):
        _give_folder(machine)
    for name in made.get("watch", ()):
        refused(lambda name=name: machine.watch([name]))
    for name in made.get("windows", ()):
        refused(lambda name=name: machine.watch_calls([name]))
    signals = list(range(len(machine.wave_signals()))) if made.get("waves") else []
    if signals:
        machine.record_waves(signals)
    report = _run(machine, made)
    if signals:
        _, unit_ps = machine.wave_summary()
        for piece in machine.vcd(signals, unit_ps or 1, report["elapsed_ps"]):
            assert piece
    return str(report["outcome"])


def _give_folder(machine: Machine) -> None:
    """A folder with a file for each of the first letters of what programs find in memory."""
    folder = Path("hosted")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "a").write_bytes(b"text\n")
    (folder / "out").symlink_to("..")
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        machine.semihosting(descriptor, b"typed\n", [b"firmware", b"argument"])
    finally:
        os.close(descriptor)


def _run(machine: Machine, made: Input) -> dict[str, Any]:
    limit_ps = made["limit_ps"]
    slices = made.get("slices", 1)
    for part in range(1, slices + 1):
        report = machine.run(
            limit_ps * part // slices, lambda chunk: None, lambda name, chunk: None
        )
        check_report(report)
        if report["outcome"] != "limit":
            break
    return report


def check_report(report: dict[str, Any]) -> None:
    """Raises `MisbehaviourError` if a core's time does not add up, or an end has no reason."""
    if report["outcome"] not in ("exit", "asleep", "fault", "limit"):
        raise MisbehaviourError(f"the run ended by {report['outcome']}")
    if report["outcome"] != "exit":
        message = report["message"]
        if not message or "\n" in message:
            raise MisbehaviourError(f"a run ends with the message {message!r}")
    elapsed_ps = report["elapsed_ps"]
    for core in report["cores"]:
        # one that is idle counts whole cycles
        several_ps = _QUANTUM_PS + 10**12 // core["hz"]
        allowed_ps = several_ps if len(report["cores"]) > 1 else 0
        total_ps = sum(share["ps"] for share in core["stack"])
        if abs(total_ps - elapsed_ps) > allowed_ps:
            raise MisbehaviourError(f"{core['name']}'s stack is {total_ps} ps of {elapsed_ps} ps")


def run_whole(board: str, elf: bytes, made: Input) -> str:
    """A run through the package, as in a user's script, with waveforms in a file."""
    vcd = Path("waves.vcd") if made.get("waves") else None
    try:
        result = cyclescope.Board(board).load(elf).run(limit=made["limit_ps"], vcd=vcd)
    except EngineError as error:
        check_message(error)
        return "refused"
    result.to_dict()
    return result.outcome
