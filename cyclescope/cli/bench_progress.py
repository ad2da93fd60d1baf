"""Progress of `cyclescope bench` on stderr: plan, lines on experiments, and a status line."""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from cyclescope.bench import costs
from cyclescope.bench.costs import REPORT, Table
from cyclescope.bench.forecast import Forecast
from cyclescope.bench.planning import Job
from cyclescope.bench.rows import RunRecord
from cyclescope.cli.tables.bench_lines import Lines
from cyclescope.units import count, format_duration

# before this share of the work is done, the elapsed time does not predict the remaining time
_ENOUGH_S = 2.0


class Watch:
    """Follows runs from their start to their end; does not affect them."""

    def __init__(self, jobs: Sequence[Job], forecast: Forecast) -> None:
        self.forecast = forecast
        self._total = len(jobs)
        self._running: dict[int, Job] = {}
        self._since_s: dict[int, float] = {}
        self._runs: dict[str, float] = {}
        self._builds: dict[str, list[float]] = defaultdict(list)
        self._done, self._done_s = 0, 0.0
        self._began_s = time.monotonic()
        self._ran_s = 0.0
        self._lock = threading.Lock()

    def started(self, job: Job) -> None:
        """Called when a job begins, by any thread."""
        with self._lock:
            self._running[id(job)] = job
            self._since_s[id(job)] = time.monotonic()

    def built(self, job: Job) -> None:
        """Called when a job's firmware is built and its run begins, by any thread."""
        now_s = time.monotonic()
        with self._lock:
            if self.forecast.is_new(job):
                self._builds[costs.build_key(job)].append(now_s - self._since_s[id(job)])
            self._since_s[id(job)] = now_s

    def finished(self, job: Job, record: RunRecord) -> None:
        """Called when a run has ended."""
        now_s = time.monotonic()
        with self._lock:
            self._running.pop(id(job), None)
            self._done += 1
            self._done_s += self.forecast.of(job)
            # cached runs did not start
            if record.error is None and id(job) in self._since_s:
                self._runs[costs.key(job)] = now_s - self._since_s[id(job)]
        self._ran_s = now_s - self._began_s

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began_s

    @property
    def took(self) -> Table:
        """Seconds that runs, builds and the rest took up to now."""
        after_s = self.elapsed_s - self._ran_s
        runs = self._runs | ({REPORT: after_s / self._done} if self._done else {})
        return Table(runs, {name: statistics.mean(own) for name, own in self._builds.items()})

    @property
    def left_s(self) -> float:
        """The remaining seconds: by the forecast at first, then by the progress so far."""
        planned_s = self.forecast.expected_s
        if self._done_s > _ENOUGH_S:
            planned_s = self.elapsed_s * self.forecast.total_s / self._done_s
        return max(planned_s - self.elapsed_s, 0.0)

    @property
    def line(self) -> str:
        """The status line: finished runs, remaining time, current runs."""
        with self._lock:
            running = [job.configured.label for job in self._running.values()]
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        now = f": {running[0]}{more}" if running else ""
        return f"{self._done}/{self._total} runs, {format_duration(self.left_s)} left{now}"


def announcement(jobs: Sequence[Job], forecast: Forecast, threads: int) -> str:
    """The plan and its duration on this host, in a sentence or two."""
    experiments = len({job.experiment.name for job in jobs})
    boards = len({job.run.board for job in jobs})
    by = "as last time here" if forecast.is_from_here else "by how fast this machine is now"
    built = f", {count(forecast.builds, 'program')} to be built" if forecast.builds else ""
    kept = f"{forecast.kept} of them were made before, and nothing they depend on has changed.\n"
    return (
        f"{count(len(jobs), 'run')} of {count(experiments, 'experiment')} "
        f"on {count(boards, 'board')}, {threads} at a time: firmware is built, run and measured.\n"
        f"{kept if forecast.kept else ''}"
        f"About {format_duration(forecast.expected_s)} ({by}{built})."
    )


@contextmanager
def shown(jobs: Sequence[Job], forecast: Forecast, threads: int) -> Iterator[Watch]:
    """Print the plan, and show the progress of the jobs that are passed to the watch."""
    screen = Console(stderr=True)
    print(announcement(jobs, forecast, threads), file=sys.stderr, flush=True)
    if not screen.is_terminal:
        yield _Milestones(jobs, forecast)
        return
    watch = _Line(jobs, forecast, screen)
    with watch.progress:
        yield watch


class _Milestones(Watch):
    """For a file or pipe: prints lines at once."""

    def __init__(self, jobs: Sequence[Job], forecast: Forecast) -> None:
        super().__init__(jobs, forecast)
        self._lines = Lines(jobs)

    def finished(self, job: Job, record: RunRecord) -> None:
        super().finished(job, record)
        for said in self._lines.finished(job, record, self.elapsed_s):
            self._say(said)

    def _say(self, said: str) -> None:
        print(said, file=sys.stderr, flush=True)


class _Line(_Milestones):
    """For a terminal: prints lines above a status line, which is removed at the end."""

    def __init__(self, jobs: Sequence[Job], forecast: Forecast, screen: Console) -> None:
        super().__init__(jobs, forecast)
        columns = (BarColumn(bar_width=16), TextColumn("{task.description}"))
        self.progress = Progress(*columns, console=screen, transient=True, get_time=time.monotonic)
        self._task = self.progress.add_task("", total=max(forecast.total_s, 1e-3))
        self._width = max(screen.width - 20, 20)

    def started(self, job: Job) -> None:
        super().started(job)
        self._show()

    def finished(self, job: Job, record: RunRecord) -> None:
        super().finished(job, record)
        self._show()

    def _say(self, said: str) -> None:
        self.progress.console.print(Text(said), soft_wrap=True)

    def _show(self) -> None:
        line = self.line
        if len(line) > self._width:
            line = line[: self._width - 1] + "…"
        self.progress.update(self._task, completed=self._done_s, description=line)
