"""Jobs, as planned in planning.py, run in parallel.

The order of results is the plan's, regardless of the number of parallel jobs (`threads`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from cyclescope._engine import Stop
from cyclescope.bench import images, moments, order, profiles, programs
from cyclescope.bench.costs import Costs
from cyclescope.bench.costs import load as load_costs
from cyclescope.bench.images import IMAGE as IMAGE
from cyclescope.bench.planning import Explained, Job
from cyclescope.bench.rows import RunRecord
from cyclescope.bench.short_forms import of_cells
from cyclescope.bench.threads import side_by_side
from cyclescope.bench.views import Moment
from cyclescope.board import Board
from cyclescope.board.excerpts import Excerpt
from cyclescope.board.observing.frames import Trigger
from cyclescope.board.results import INTERRUPTED, Metric, RunResult, Value
from cyclescope.errors import EngineError, FirmwareError, error_text
from cyclescope.firmware import load_app, unchanging
from cyclescope.profile.profile import Profile

# The most notes of a failed run that its error quotes.
_MOST_NOTES = 3
# The most last lines of a failed run's console that its error quotes.
_MOST_LINES = 2


@dataclass(frozen=True)
class Recorded:
    """What runs record besides their results, which do not depend on it.

    These are waits and profiles, of the runs that are `explained`, and the windows that
    experiments show.
    """

    waits: bool = True
    profiles: bool = False
    moments: bool = False


@dataclass(frozen=True)
class Following:
    """Called as runs begin, in any thread, and as they end, in the thread of `run_jobs`."""

    started: Callable[[Job], None] = lambda job: None
    built: Callable[[Job], None] = lambda job: None
    """Its firmware is built: now it runs."""
    finished: Callable[[Job, RunRecord], None] = lambda job, record: None


class Before(Protocol):
    """The records of runs that were made before; new records are put there."""

    def has(self, job: Job) -> bool:
        """Whether there is a record of a job."""

    def get(self, job: Job) -> RunRecord | None:
        """The record of a job, if it exists and is complete."""

    def put(self, job: Job, record: RunRecord) -> None:
        """Keep the record of a job."""


def run_jobs(
    jobs: Sequence[Job],
    threads: int,
    following: Following | None = None,
    keep: Path | None = None,
    stop: Stop | None = None,
    costs: Costs | None = None,
    recorded: Recorded = Recorded(),
    before: Before | None = None,
) -> list[RunRecord | None]:
    """Run jobs, `threads` at a time, started by `order`; the records are in the jobs' order.

    A run that fails gives a record with its error; its disk is kept in the folder `keep`, if given.
    Jobs that were made `before` are not run: they finish without a start. After `stop` is requested
    no job starts, and running ones are stopped and have no record (None).
    """
    stop = stop or Stop()
    following = following or Following()
    seconds = (costs or load_costs()).of
    records: list[RunRecord | None] = [None] * len(jobs)
    places = order.places(jobs, seconds)

    def ended(turn: int, record: RunRecord | None) -> None:
        records[places[turn]] = record
        if record is not None:
            following.finished(jobs[places[turn]], record)

    shown = moments.of(jobs) if recorded.moments else {}
    runs = [
        partial(
            _once,
            jobs[place],
            before,
            stop,
            partial(_finished, jobs[place], following, keep, stop, recorded, shown.get(place, ())),
        )
        for place in places
    ]
    with unchanging():
        side_by_side(runs, threads, stop, ended)
    return records


def _once(
    job: Job, before: Before | None, stop: Stop, run: Callable[[], RunRecord | None]
) -> RunRecord | None:
    """A job's record as made before, or as `run` makes it, which is kept unless a stop came."""
    if before is None:
        return run()
    if (record := before.get(job)) is not None:
        return record
    record = run()
    if record is not None and not stop.requested:
        before.put(job, record)
    return record


def _finished(
    job: Job,
    following: Following,
    keep: Path | None,
    stop: Stop,
    recorded: Recorded,
    shown: Sequence[Moment],
) -> RunRecord | None:
    """The record of a job; None if `stop` was requested before it was finished."""
    if stop.requested:
        return None
    following.started(job)
    elf = _built(job)
    following.built(job)
    record = run_job(job, keep, stop, built=elf, recorded=recorded, shown=shown)
    # a run may fail because it was stopped
    is_finished = record.result is not None and record.result.outcome != INTERRUPTED
    return record if is_finished or not stop.requested else None


def _built(job: Job) -> Path | None:
    """The job's ELF; None if it can't be built, for which `run_job` gives the reason."""
    run = job.configured
    try:
        return programs.built(run.app, run.board, run.settings, run.overrides)
    except Exception:
        return None


def run_job(
    job: Job,
    keep: Path | None = None,
    stop: Stop | None = None,
    checks_disk: bool = True,
    built: Path | None = None,
    recorded: Recorded = Recorded(waits=False),
    shown: Sequence[Moment] = (),
) -> RunRecord:
    """Build and run one job; a failure becomes the record's `error`.

    The disk of a run that fails is copied to the folder `keep`, if given, unless `stop` ended the
    run. Without `checks_disk`, the disk that a run left is not checked. `built` is the job's ELF if
    it was built before. `shown` are the moments of this run; a job that is explained in short also
    runs in the first moment's short form.
    """
    run = job.configured
    itself = recorded if job.explained is Explained.ITSELF else Recorded(waits=False)
    kept = [moment.function for moment in shown if moment.is_of(run.all_settings)]
    try:
        elf = built or programs.built(run.app, run.board, run.settings, run.overrides)
        with images.of_run(run) as (overrides, image):
            board = Board(run.board, overrides).load(str(elf))
            result = _result(job, board, stop, itself, kept)
            if result.outcome == INTERRUPTED:
                return job.record(result, result.message)
            record = _with_profile(job, result)
            record = images.checked(job, record, image, keep) if image and checks_disk else record
        if record.error is None:
            record = _with_moments(job, record, shown, stop, recorded, result.profile)
        return record
    except Exception as error:
        # a failure must not lose the other runs
        return job.record(None, error_text(error))


def _result(
    job: Job, board: Board, stop: Stop | None, recorded: Recorded, kept: Sequence[str]
) -> RunResult:
    """A run's result on a board that has its ELF; a profile has the calls of `kept` functions."""
    if recorded.profiles and kept:
        # if there is no such function, the run itself continues without it
        with contextlib.suppress(EngineError):
            return _run(job, board, stop, recorded, kept)
    return _run(job, board, stop, recorded, recorded.profiles)


def _run(
    job: Job, board: Board, stop: Stop | None, recorded: Recorded, profile: bool | Sequence[str]
) -> RunResult:
    """The result of a run on a board that has its ELF."""
    run = job.configured
    cells = job.experiment.cells_of(run)
    parts = [found for cell in cells if (found := cell.parts(run.settings))]
    sections = [name for cell in cells for name in cell.timed]
    sections += [name for found in parts for name, _ in found.functions]
    windows = [name for found in parts for name in (found.call, *found.windows)]
    return board.run(
        run.limit,
        sections=dict.fromkeys((*sections, *run.watched)),
        windows=dict.fromkeys((*windows, *run.windows)),
        frame_on=run.frame_on,
        stop=stop,
        waits=recorded.waits,
        profile=profile,
    )


def _with_profile(job: Job, result: RunResult) -> RunRecord:
    """The record of a result; its profile is packed beside it."""
    run = job.configured
    # the path of a kept ELF belongs to this machine
    record = judged(job, replace(result, firmware=run.app, profile=None))
    if result.profile is None:
        return record
    title = f"{job.experiment.name}: {run.label}, on {run.board}"
    profile = replace(result.profile, firmware=run.label)
    return replace(record, profile=profiles.packed(job.profile_name, title, profile))


def _with_moments(
    job: Job,
    record: RunRecord,
    shown: Sequence[Moment],
    stop: Stop | None,
    recorded: Recorded,
    profile: Profile | None,
) -> RunRecord:
    """The record with excerpts of moments, and with a short form if that explains the run.

    `profile` is the run's own, with the calls of the functions of those moments that belong to it.
    """
    short, windows = None, dict[str, tuple[Moment, Excerpt | str]]()
    if shown and job.explained is Explained.IN_SHORT:
        shorter = job.shortened(shown[0].shortened)
        settings = shorter.configured.all_settings
        own = [moment for moment in shown if moment.is_of(settings)]
        made = run_job(shorter, stop=stop, recorded=recorded, shown=own)
        # no profile if the short form failed
        windows = {moment.title: (moment, window) for moment, window in made.moments}
        short = replace(made, moments=())
    settings = job.configured.all_settings
    found = tuple(
        windows.get(moment.title)
        or moments.of_run(job.configured, moment, stop, profile if moment.is_of(settings) else None)
        for moment in shown
    )
    if stop is not None and stop.requested:
        # a stopped run gives no window
        return record
    return replace(record, moments=found, short=short)


def judged(job: Job, result: RunResult) -> RunRecord:
    """The record of a job that ran to an end, with the reason if it counts as failed."""
    try:
        return job.record(result, _failure(job, result))
    except FirmwareError as error:
        return job.record(result, str(error))


def _failure(job: Job, result: RunResult) -> str | None:
    """Why a run that ended counts as failed; None if it does not."""
    if result.outcome != "exit":
        return result.message or result.outcome
    if result.exit_code != 0:
        noted = "".join(f"; note: {note}" for note in result.notes[:_MOST_NOTES])
        last = last_lines(result.console)
        return f"the firmware exited with status {result.exit_code}; its last lines: {last}{noted}"
    if result.failed_saves:
        return "; ".join(result.failed_saves)
    if job.run.frame_on is not None:
        return None if result.frame else _no_frame(job.run.frame_on)
    wanted = {cell.metric for cell in job.experiment.cells_of(job.run)}
    metrics = metrics_of(job, result)
    if not any(name in wanted for name, _ in metrics):
        return f"the firmware printed none of the results {', '.join(sorted(wanted))}"
    return next(_differences(job, metrics), None)


def last_lines(console: str) -> str:
    """The last lines of a console that are not empty, as one."""
    lines = [line.strip() for line in console.splitlines() if line.strip()]
    return " / ".join(lines[-_MOST_LINES:])


def _no_frame(frame_on: str | Trigger) -> str:
    if isinstance(frame_on, str):
        return f"no byte went over the SPI bus {frame_on}"
    return f"no frame ended in which {frame_on.bus}.{frame_on.select} was low"


Metrics = Mapping[tuple[str, tuple[tuple[str, Value], ...]], Metric]
"""By name and by the settings of the one measurement; of equal ones, the later counts."""


def metrics_of(job: Job, result: RunResult) -> Metrics:
    """The firmware's printed metrics and result words. Raises `FirmwareError` for bad words."""
    records = load_app(job.run.app).records
    words = records.metrics(result) if records else ()
    metrics = (*result.metrics, *words)
    return {(metric.name, tuple(metric.settings.items())): metric for metric in metrics}


def measured(job: Job, result: RunResult) -> list[Metric]:
    """The results of a run that its experiment has cells for, in the order of its table."""
    found = tuple(metrics_of(job, result).values())
    return [metric for _, metric in of_cells(job.experiment, job.run, found)]


def _differences(job: Job, metrics: Metrics) -> Iterator[str]:
    """Metrics that differ from the published ones although they must be equal."""
    for cell in job.experiment.cells_of(job.run):
        for (name, settings), metric in metrics.items():
            if name not in cell.exact:
                continue
            value = job.experiment.published_value(job.run, cell, metric.settings, name)
            if value is not None and value != metric.value:
                where = " ".join(f"{setting}={chosen}" for setting, chosen in settings)
                yield f"{where}: {name} is {metric.value}, published {value}"
