"""What `cyclescope bench` says while it works, on stderr: what it will do and how long that takes,
then one line that moves on a terminal, or milestones into a file or pipe.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from cyclescope.bench.costs import Costs
from cyclescope.bench.planning import Job
from cyclescope.bench.rows import RunRecord
from cyclescope.units import count, format_duration

# until so much of the work is done, what it took says little of what is left
_ENOUGH_S = 2.0


class Watch:
    """Follows runs from their start to their end; what it shows does not matter to them."""

    def __init__(self, jobs: Sequence[Job], costs: Costs, threads: int) -> None:
        self._costs, self._threads = costs, threads
        self._total, self._total_s = len(jobs), costs.total(jobs)
        self._left = Counter(job.experiment.name for job in jobs)
        self._running: dict[int, Job] = {}
        self._done, self._done_s = 0, 0.0
        self._began_s = time.monotonic()
        self._lock = threading.Lock()

    def started(self, job: Job) -> None:
        """A run begins; called by any thread."""
        with self._lock:
            self._running[id(job)] = job

    def finished(self, job: Job, record: RunRecord) -> None:
        """A run has ended."""
        with self._lock:
            self._running.pop(id(job), None)
            self._done += 1
            self._done_s += self._costs.of(job)
            self._left[job.experiment.name] -= 1

    @property
    def elapsed_s(self) -> float:
        """Since the start."""
        return time.monotonic() - self._began_s

    @property
    def expected_s(self) -> float:
        """How long all runs will take, as expected at the start."""
        return self._total_s / self._threads

    @property
    def left_s(self) -> float:
        """How long it will still take: as planned at first, then by what was done so far."""
        planned_s = self.expected_s
        if self._done_s > _ENOUGH_S:
            planned_s = self.elapsed_s * self._total_s / self._done_s
        return max(planned_s - self.elapsed_s, 0.0)

    @property
    def line(self) -> str:
        """Runs done, time left, what is running."""
        with self._lock:
            running = [job.configured.label for job in self._running.values()]
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        now = f": {running[0]}{more}" if running else ""
        return f"{self._done}/{self._total} runs, {format_duration(self.left_s)} left{now}"

    def milestone(self, job: Job, record: RunRecord) -> str | None:
        """A line if a run was the last of its experiment, or has failed."""
        name = job.experiment.name
        if record.error is not None:
            return f"cyclescope: failed: {record.label}: {record.error}"
        if self._left[name]:
            return None
        return f"[{self._done}/{self._total}] {name} done after {format_duration(self.elapsed_s)}"


def announcement(jobs: Sequence[Job], costs: Costs, threads: int) -> str:
    """What will be done and how long that takes here, in a sentence or two."""
    experiments = len({job.experiment.name for job in jobs})
    boards = len({job.run.board for job in jobs})
    expected_s = costs.total(jobs) / threads
    going_by = "as last time here" if costs.are_from_here(jobs) else "a guess: not run here before"
    return (
        f"{count(len(jobs), 'run')} of {count(experiments, 'experiment')} "
        f"on {count(boards, 'board')}, {threads} at a time: firmware is built, run and measured.\n"
        f"About {format_duration(expected_s)} ({going_by}), and what building firmware takes."
    )


@contextmanager
def shown(jobs: Sequence[Job], costs: Costs, threads: int) -> Iterator[Watch]:
    """Say what will be done, and show the progress of what the watch is told until the end."""
    screen = Console(stderr=True)
    print(announcement(jobs, costs, threads), file=sys.stderr)
    watch: Watch = (
        _Line(jobs, costs, threads, screen)
        if screen.is_terminal
        else _Milestones(jobs, costs, threads)
    )
    if not isinstance(watch, _Line):
        yield watch
        return
    with watch.progress:
        yield watch


class _Milestones(Watch):
    """Into a file or pipe."""

    def finished(self, job: Job, record: RunRecord) -> None:
        super().finished(job, record)
        if (said := self.milestone(job, record)) is not None:
            print(said, file=sys.stderr)


class _Line(Watch):
    """On a terminal: one line, which is gone in the end."""

    def __init__(self, jobs: Sequence[Job], costs: Costs, threads: int, screen: Console) -> None:
        super().__init__(jobs, costs, threads)
        columns = (BarColumn(bar_width=16), TextColumn("{task.description}"))
        self.progress = Progress(*columns, console=screen, transient=True, get_time=time.monotonic)
        self._task = self.progress.add_task("", total=max(self._total_s, 1e-3))
        self._width = max(screen.width - 20, 20)

    def started(self, job: Job) -> None:
        super().started(job)
        self._show()

    def finished(self, job: Job, record: RunRecord) -> None:
        super().finished(job, record)
        self._show()

    def _show(self) -> None:
        line = self.line
        if len(line) > self._width:
            line = line[: self._width - 1] + "…"
        self.progress.update(self._task, completed=self._done_s, description=line)
