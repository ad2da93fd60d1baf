"""The parent: starts workers, watches them, keeps their findings."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from fuzz.inputs import Input, save
from fuzz.worker import OUTCOMES, Slot, Source, Target, confine, work

_LOOK_S = 0.05
# how often it prints its progress
_PROGRESS_S = 60
# A panic's message comes before Python's dump of the stack: 100 lines, then all extension modules.
_LAST_WORDS_BYTES = 64 << 10
# how many inputs are kept of those with the same finding
_KEPT_OF_A_KIND = 3


@dataclass(frozen=True)
class Limits:
    """When to stop, and when an input is too slow. `longest_s` is the host's time for one."""

    inputs: int | None = None
    seconds: float | None = None
    longest_s: float = 10.0
    findings: int = 1000


@dataclass
class Finding:
    """A finding: a line about it, and the file of its input."""

    target: str
    what: str
    file: Path
    times: int = 1


@dataclass
class Sums:
    """Totals of a target's inputs."""

    outcomes: Counter[str] = field(default_factory=Counter)
    busy_s: float = 0.0
    slowest_s: float = 0.0
    slowest: int = 0
    programs: int = 0

    @property
    def inputs(self) -> int:
        """The number of inputs that were run to their end."""
        return sum(self.outcomes.values())


@dataclass
class Figures:
    """Totals of a run of the driver."""

    took_s: float
    sums: dict[str, Sums]
    findings: list[Finding]


class _Worker:
    """A process, started again when it dies."""

    def __init__(self, index: int, targets: Sequence[Target], source: Source) -> None:
        self._targets, self._source = targets, source
        self.slot = Slot(len(targets))
        self.scratch = Path(tempfile.mkdtemp(prefix=f"fuzz-{index}-")).resolve()
        self.log = self.scratch / "log"
        self.pid: int | None = None

    def start(self, numbers: Iterator[int]) -> None:
        self.slot.idle()
        for name in ("files", "reported"):
            shutil.rmtree(self.scratch / name, ignore_errors=True)
            (self.scratch / name).mkdir()
        self.pid = os.fork()
        if self.pid == 0:
            self._child(numbers)

    def _child(self, numbers: Iterator[int]) -> None:
        status = 1
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            confine(self.scratch / "files", self.log, self.scratch / "reported")
            work(self._targets, self._source, numbers, self.slot, self._report)
            status = 0
        finally:
            os._exit(status)

    def _report(self, number: int, target: int, made: Input, what: str, details: str) -> None:
        reported = self.scratch / "reported"
        save(reported / f"{number}.json", made)
        text = f"{target}\n{' '.join(what.split())}\n{details}"
        (reported / f"{number}.part").write_text(text, encoding="utf-8", errors="replace")
        (reported / f"{number}.part").rename(reported / f"{number}.txt")

    def reported(self) -> Iterator[tuple[int, str, str, Path]]:
        """Findings: target's index, what, details, file of the input."""
        for note in sorted((self.scratch / "reported").glob("*.txt")):
            target, what, details = note.read_text(encoding="utf-8").split("\n", 2)
            yield int(target), what, details, note.with_suffix(".json")
            note.unlink()

    def ended(self) -> int | None:
        """The status with which the process ended; None if it has not."""
        assert self.pid
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        self.pid = None
        return os.waitstatus_to_exitcode(status)

    def is_late(self, longest_s: float) -> bool:
        """Whether its input takes too long."""
        return self.pid is not None and self.slot.is_late(self.pid, longest_s)

    def kill(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = None

    def last_words(self) -> str:
        """The end of its output."""
        if not self.log.exists():
            return ""
        return self.log.read_bytes()[-_LAST_WORDS_BYTES:].decode(errors="replace")


class Driver:
    """Runs inputs of a source on `workers` workers; also a context manager, which cleans up.

    Findings go to a folder: the input, and a text about the finding beside it.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        source: Source,
        findings: Path,
        limits: Limits,
        workers: int = 1,
        say: Callable[[str], None] = print,
    ) -> None:
        self._targets, self._source, self._limits = targets, source, limits
        self._folder, self._say = findings, say
        self._workers = [_Worker(index, targets, source) for index in range(workers)]
        self._findings: dict[str, list[Finding]] = {}
        self._running: dict[int, _Worker] = {}
        self._deadline_s = float("inf")

    def __enter__(self) -> Driver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.kill()
            shutil.rmtree(worker.scratch, ignore_errors=True)

    def run(self) -> Figures:
        """Run until the source has no more, or a limit is reached."""
        began_s = time.monotonic()
        self._deadline_s = began_s + (self._limits.seconds or float("inf"))
        progress_s = began_s + _PROGRESS_S
        for index, worker in enumerate(self._workers):
            worker.start(self._numbers(index))
            self._running[index] = worker
        try:
            while self._running and self._found() < self._limits.findings:
                time.sleep(_LOOK_S)
                for index, worker in list(self._running.items()):
                    self._look_at(index, worker)
                if time.monotonic() > progress_s:
                    progress_s += _PROGRESS_S
                    self._say_progress(time.monotonic() - began_s)
        except KeyboardInterrupt:
            self._say("interrupted")
        for worker in self._workers:
            worker.kill()
            self._take_reports(worker)
        return self.figures(time.monotonic() - began_s)

    def _say_progress(self, took_s: float) -> None:
        all_sums = self.figures(took_s).sums.values()
        total, programs = (
            sum(sums.inputs for sums in all_sums),
            sum(sums.programs for sums in all_sums),
        )
        counts = f"{total} inputs, {programs} programs"
        self._say(f"{counts} in {took_s:.0f} s, findings: {self._found()}")

    def figures(self, took_s: float) -> Figures:
        """The totals up to now."""
        sums = {
            target.name: self._sums(index, target) for index, target in enumerate(self._targets)
        }
        findings = list(itertools.chain.from_iterable(self._findings.values()))
        return Figures(took_s, sums, findings)

    def _sums(self, index: int, target: Target) -> Sums:
        total = Sums()
        for worker in self._workers:
            busy_ns, slowest_ns, which, programs, *counts = worker.slot.sums(index)
            total.busy_s += busy_ns / 1e9
            total.programs += programs
            total.outcomes.update(dict(zip(OUTCOMES, counts, strict=True)))
            if slowest_ns / 1e9 > total.slowest_s:
                total.slowest_s, total.slowest = slowest_ns / 1e9, which
        return total

    def _numbers(self, first: int) -> Iterator[int]:
        """Numbers of a worker's inputs, interleaved with the other workers', until the deadline."""
        end = self._limits.inputs
        for number in itertools.count(first, len(self._workers)):
            if (end is not None and number >= end) or time.monotonic() > self._deadline_s:
                return
            yield number

    def _found(self) -> int:
        return sum(len(similar) for similar in self._findings.values())

    def _look_at(self, index: int, worker: _Worker) -> None:
        self._take_reports(worker)
        status = worker.ended()
        number, target = worker.slot.now()
        if status is None and not worker.is_late(self._limits.longest_s):
            return
        if status is not None and worker.slot.is_finished:
            del self._running[index]
            return
        if status is None:
            worker.kill()
            what = f"hang: more than {self._limits.longest_s:g} s"
        else:
            what = f"died: {_how(status)}: {_first_line(worker.last_words())}"
        self._lost(worker, number, target, what)
        worker.start(self._numbers(number + len(self._workers)))

    def _lost(self, worker: _Worker, number: int, target: int, what: str) -> None:
        """An input ended its worker: it is made once more, to be kept."""
        found = self._source(number)
        assert found is not None
        file = worker.scratch / "lost.json"
        save(file, found[1])
        self._keep(target, what, worker.last_words(), file)

    def _take_reports(self, worker: _Worker) -> None:
        for target, what, details, file in worker.reported():
            self._keep(target, what, details, file)

    def _keep(self, target: int, what: str, details: str, file: Path) -> None:
        name = self._targets[target].name
        signature = f"{name}: {re.sub('(0x)?[0-9a-f]*[0-9][0-9a-f]*', '#', what)}"
        similar = self._findings.setdefault(signature, [])
        if len(similar) >= _KEPT_OF_A_KIND:
            similar[0].times += 1
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        free = (self._folder / f"{name}-{number}.json" for number in itertools.count(1))
        kept = next(path for path in free if not path.exists())
        shutil.copyfile(file, kept)
        kept.with_suffix(".txt").write_text(f"{what}\n\n{details}", encoding="utf-8")
        similar.append(Finding(name, what, kept))
        self._say(f"finding in {name}: {what}\n    make fuzz REPLAY={_shown(kept)}")


def _how(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"status {status}"


def _first_line(words: str) -> str:
    """The first line of a panic or an abort; empty if there is no message."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    return next((line for line in lines if "panicked" in line or "memory" in line), "").strip()


def _shown(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
