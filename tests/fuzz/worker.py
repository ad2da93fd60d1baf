"""A worker: runs inputs one after the other, and notes the current one in shared memory."""

from __future__ import annotations

import contextlib
import faulthandler
import mmap
import os
import resource
import struct
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import landlock

from fuzz.inputs import Input, MisbehaviourError

OUTCOMES = ("refused", "exit", "asleep", "fault", "limit", "done")
"""Outcomes of an input without a finding."""

# A board may have as much memory as there are addresses; next to nothing of it is touched.
MEMORY_BYTES = 10 << 30
_WAITS = 6
_FINISHED = 2**64 - 1


class Target(Protocol):
    """A kind of input, and the code that runs it."""

    name: str

    def make(self, seed: str) -> Input:
        """An input; the same for the same seed and corpus."""

    def run(self, made: Input) -> str | tuple[str, int]:
        """Run an input: one of `OUTCOMES`, and the number of programs if the input has several.

        Any exception is a finding.
        """


@runtime_checkable
class Reducing(Protocol):
    """A target that can reduce an input with a finding."""

    def reduced(self, made: Input) -> Input:
        """A smaller input that fails, too, made in some seconds."""


Source = Callable[[int], tuple[int, Input] | None]
"""The n-th input with its target's index; None after the last."""


class Slot:
    """State that a worker shares with its parent: the input under way, and sums for each target."""

    # number of the input, target's index, when it began by the clock (0: none is under way) and by
    # the time that the process has had of the processor
    _NOW = struct.Struct("<QQQQ")
    # nanoseconds of all, nanoseconds and number of the slowest, programs; a count for each outcome
    _SUMS = struct.Struct(f"<QQQQ{len(OUTCOMES)}Q")

    def __init__(self, targets: int) -> None:
        self._memory = mmap.mmap(-1, self._NOW.size + targets * self._SUMS.size)

    def begin(self, number: int, target: int) -> None:
        """An input is under way from now on."""
        now = time.monotonic_ns(), time.process_time_ns()
        self._NOW.pack_into(self._memory, 0, number, target, *now)

    def end(self, number: int, target: int, outcome: str | None, programs: int = 1) -> None:
        """The input is done, and had `programs` programs; without an outcome it was a finding."""
        *_, began = self._NOW.unpack_from(self._memory, 0)
        took = time.process_time_ns() - began
        busy, slowest, which, ran, *counts = self.sums(target)
        if took > slowest:
            slowest, which = took, number
        if outcome is not None:
            ran += programs
            counts[OUTCOMES.index(outcome)] += 1
        at = self._NOW.size + target * self._SUMS.size
        self._SUMS.pack_into(self._memory, at, busy + took, slowest, which, ran, *counts)
        self.idle(number)

    def idle(self, number: int = 0) -> None:
        """No input is under way after number `number`."""
        self._NOW.pack_into(self._memory, 0, number, 0, 0, 0)

    def finished(self) -> None:
        """There is nothing left to do."""
        self.idle(_FINISHED)

    @property
    def is_finished(self) -> bool:
        """All inputs were run."""
        return self.now()[0] == _FINISHED

    def now(self) -> tuple[int, int]:
        """Number and target of the input that is or was under way."""
        number, target, _, _ = self._NOW.unpack_from(self._memory, 0)
        return number, target

    def is_late(self, pid: int, longest_s: float) -> bool:
        """Whether an input had the processor for longer, or waits for much longer.

        Others may need the processor, too: that makes no input slow.
        """
        _, _, began_ns, used_before_ns = self._NOW.unpack_from(self._memory, 0)
        waited_s = (time.monotonic_ns() - began_ns) / 1e9
        if not began_ns or waited_s <= longest_s:
            return False
        used_s = _processor_s(pid) - used_before_ns / 1e9
        return used_s > longest_s or waited_s > _WAITS * longest_s

    def sums(self, target: int) -> tuple[int, ...]:
        """Busy time, time and number of the slowest, programs, and a count for each outcome."""
        at = self._NOW.size + target * self._SUMS.size
        return self._SUMS.unpack_from(self._memory, at)


def _processor_s(pid: int) -> float:
    """The processor time of a process; 0 if it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


Report = Callable[[int, int, Input, str, str], None]
"""Takes a finding: number, target, input, a line about it, and details."""


def work(
    targets: Sequence[Target],
    source: Source,
    numbers: Iterator[int],
    slot: Slot,
    report: Report,
) -> None:
    """Run all inputs."""
    for number in numbers:
        slot.begin(number, 0)
        found = source(number)
        if found is None:
            break
        target, made = found
        slot.begin(number, target)
        outcome, programs = None, 1
        try:
            ran = targets[target].run(made)
            outcome, programs = (ran, 1) if isinstance(ran, str) else ran
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            slot.idle(number)
            what = (
                str(error)
                if isinstance(error, MisbehaviourError)
                else f"{type(error).__name__}: {error}"
            )
            report(number, target, _reduced(targets[target], made), what, traceback.format_exc())
            slot.begin(number, target)
        slot.end(number, target, outcome, programs)
    slot.finished()


def _reduced(target: Target, made: Input) -> Input:
    return target.reduced(made) if isinstance(target, Reducing) else made


def confine(scratch: Path, log: Path, reports: Path) -> None:
    """Limit this process: its memory, its writes to two folders, its output to a file."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    os.close(descriptor)
    # prints the place of a crash in Python
    faulthandler.enable(2)
    os.chdir(scratch)
    tempfile.tempdir = os.fspath(scratch)
    # without Landlock, only the targets' own checks protect the host
    with contextlib.suppress(landlock.NotAvailableError):
        landlock.restrict(["/"], [scratch, reports, log, "/dev/pts", "/dev/ptmx", "/dev/null"])
