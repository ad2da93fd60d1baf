"""Jobs, as planned in planning.py, run side by side.

The order of results is the plan's, however many jobs run at once (`threads`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cyclescope import disks
from cyclescope._engine import Stop
from cyclescope.bench import moments, profiles
from cyclescope.bench.costs import Costs
from cyclescope.bench.costs import load as load_costs
from cyclescope.bench.experiment import Run
from cyclescope.bench.planning import Job
from cyclescope.bench.rows import RunRecord
from cyclescope.bench.short_forms import of_cells
from cyclescope.bench.threads import side_by_side
from cyclescope.bench.views import Moment
from cyclescope.board import Board
from cyclescope.board.excerpts import Excerpt, excerpt
from cyclescope.board.frames import Trigger
from cyclescope.board.overrides import OverrideValue
from cyclescope.board.results import INTERRUPTED, Metric, RunResult, Value
from cyclescope.errors import DiskError, EngineError, FirmwareError, OutputError
from cyclescope.errors import told as in_words
from cyclescope.firmware import build_app, load_app, unchanging
from cyclescope.host import outputs

# Of the notes of a run that fails, so many are told at once.
_MOST_NOTES = 3
# How the path of an override ends that names the image of a chip.
IMAGE = ".cyclescope,image"
# Of a console, the end is told where a run failed.
_MOST_LINES = 2


@dataclass(frozen=True)
class Told:
    """What runs tell beside their results, which are the same with it.

    Those are waits, profiles, and the windows that experiments show.
    """

    waits: bool = True
    profiles: bool = False
    moments: bool = False


@dataclass(frozen=True)
class Following:
    """What is called as runs begin, in any thread, and as they end, in that of `run_jobs`."""

    started: Callable[[Job], None] = lambda job: None
    finished: Callable[[Job, RunRecord], None] = lambda job, record: None


def run_jobs(
    jobs: Sequence[Job],
    threads: int,
    following: Following | None = None,
    keep: Path | None = None,
    stop: Stop | None = None,
    costs: Costs | None = None,
    told: Told = Told(),
) -> list[RunRecord | None]:
    """Run jobs, `threads` at a time, the longest first; the records are in the jobs' order.

    So no processor waits for a long one at the end. A run that fails gives a record with its error;
    its disk stays in the folder `keep` if there is one. After `stop` is requested nothing begins,
    and what is under way is stopped: its record is None.
    """
    stop = stop or Stop()
    following = following or Following()
    seconds = (costs or load_costs()).of
    records: list[RunRecord | None] = [None] * len(jobs)
    places = sorted(range(len(jobs)), key=lambda place: -seconds(jobs[place]))

    def ended(turn: int, record: RunRecord | None) -> None:
        records[places[turn]] = record
        if record is not None:
            following.finished(jobs[places[turn]], record)

    shown = moments.of(jobs) if told.moments else {}
    runs = [
        partial(_finished, jobs[place], following, keep, stop, told, shown.get(place, ()))
        for place in places
    ]
    with unchanging():
        side_by_side(runs, threads, stop, ended)
    return records


def _finished(
    job: Job,
    following: Following,
    keep: Path | None,
    stop: Stop,
    told: Told,
    shown: Sequence[Moment],
) -> RunRecord | None:
    """The record of a job; None if `stop` was requested before it was finished."""
    if stop.requested:
        return None
    following.started(job)
    record = run_job(job, keep, stop, told=told, shown=shown)
    # what is stopped may fail of that
    is_finished = record.result is not None and record.result.outcome != INTERRUPTED
    return record if is_finished or not stop.requested else None


def run_job(
    job: Job,
    keep: Path | None = None,
    stop: Stop | None = None,
    checks_disk: bool = True,
    built: Path | None = None,
    told: Told = Told(waits=False),
    shown: Sequence[Moment] = (),
) -> RunRecord:
    """Build and run one job; what goes wrong with it is in the record's `error`.

    The disk of a run that fails is copied to the folder `keep` if there is one; not of one that
    `stop` has ended. Without `checks_disk` nobody looks at what a run left on its disk. `built` is
    the job's ELF where it was built before. Of the run these moments are `shown`.
    """
    run = job.configured
    try:
        elf = built or build_app(run.app, run.board, run.settings, run.overrides)
        cells = job.experiment.cells_of(run)
        parts = [found for cell in cells if (found := cell.parts(run.settings))]
        sections = [name for cell in cells for name in cell.timed]
        sections += [name for found in parts for name, _ in found.functions]
        with _inserted(run) as (overrides, image):
            board = Board(run.board, overrides).load(str(elf))
            result = board.run(
                run.limit,
                sections=dict.fromkeys((*sections, *run.watched)),
                windows=dict.fromkeys((*(found.call for found in parts), *run.windows)),
                frame_on=run.frame_on,
                stop=stop,
                waits=told.waits,
                profile=told.profiles,
            )
            if result.outcome == INTERRUPTED:
                return job.record(result, result.message)
            # the path of a kept ELF says where this machine keeps it
            record = judged(job, replace(result, firmware=run.app, profile=None))
            if result.profile is not None:
                title = f"{job.experiment.name}: {run.label}, on {run.board}"
                # as of the result, nothing of where its ELF is kept
                own = profiles.packed(
                    job.profile_name, title, replace(result.profile, firmware=run.label)
                )
                record = replace(record, profile=own)
            record = _checked(job, record, image, keep) if image and checks_disk else record
        if shown and record.error is None:
            record = replace(record, moments=tuple(_moment(run, one, stop) for one in shown))
        if stop is not None and stop.requested:
            # what was stopped is no window of the run
            record = replace(record, moments=())
        return record
    except Exception as error:
        # other runs are not to be lost for it
        return job.record(None, in_words(error))


def _moment(run: Run, moment: Moment, stop: Stop | None) -> tuple[Moment, Excerpt | str]:
    """What goes on in a window of a run, or why that is not known: the run counts without it."""
    try:
        return moment, _excerpt(run, moment, stop)
    except EngineError as error:
        return moment, in_words(error)


def _excerpt(run: Run, moment: Moment, stop: Stop | None) -> Excerpt:
    """A window of a run: it is run to find the begin, and once more up to the end."""
    short = run.changed(moment.shortened)
    elf = build_app(short.app, short.board, short.settings, short.overrides)
    with _inserted(short) as (overrides, _):
        board = Board(short.board, overrides).load(str(elf))
        profile = board.run(short.limit, profile=[moment.function], stop=stop).profile
    window_ps = moments.window_ps(moment, profile) if profile else (0, 0)
    with _inserted(short) as (overrides, _):
        machine = Board(short.board, overrides).load(str(elf)).start()
        return excerpt(machine, *window_ps, moment.wires, moment.in_place, stop)


@contextlib.contextmanager
def _inserted(run: Run) -> Iterator[tuple[Mapping[str, OverrideValue], Path | None]]:
    """A run's overrides with copies of images in place, and the copy of its disk's."""
    with inserted(run.overrides, run.disk, run.slot(run.settings)) as found:
        yield found


@contextlib.contextmanager
def inserted(
    overrides: Mapping[str, OverrideValue], disk: disks.Disk | None = None, slot: str = ""
) -> Iterator[tuple[Mapping[str, OverrideValue], Path | None]]:
    """Overrides with copies of the images that they name, and the copy of the `disk` in the `slot`.

    Images that the user names are copied too: other runs may start from them at the same time. The
    copies' paths are for the board alone: results tell nothing of where they were.
    """
    named = {
        path: Path(str(own))
        for path, own in overrides.items()
        if path.endswith(IMAGE) and own and (disk or Path(str(own)).exists())
    }
    if disk is not None and slot not in named:
        named[slot] = disks.image(disk)
    with contextlib.ExitStack() as open_copies:
        copies = {
            path: open_copies.enter_context(disks.copy_of(image)) for path, image in named.items()
        }
        # one that does not exist yet is an erased flash
        unnamed = {path: "" for path in overrides if path.endswith(IMAGE)}
        at = {path: str(copy) for path, copy in copies.items()}
        yield dict(overrides) | unnamed | at, copies.get(slot)


def _checked(job: Job, record: RunRecord, image: Path, keep: Path | None) -> RunRecord:
    """The record with the error that is on the disk, if the run has none of its own."""
    error = record.error or _damage(job.configured, image)
    if error is not None and keep is not None:
        words = re.sub(r"[^\w.=]+", "-", f"{job.experiment.name} {record.label}")
        error = f"{error}; {_kept(image, keep / f'{words}.img')}"
    return replace(record, error=error)


def _kept(image: Path, place: Path) -> str:
    """Keep the disk of a run that failed; says where it is, or why it is not."""
    try:
        outputs.make_folder(place.parent)
        with outputs.opened(place, "wb") as new:
            disks.copy_into(image, new)
    except OutputError as error:
        return f"its disk is lost: {error}"
    return f"its disk is {place}"


def _damage(run: Run, image: Path) -> str | None:
    """What is wrong with the image that a run left; None if nothing is."""
    try:
        disks.check(image)
        disks.compare(image, run.files(run.settings))
        # where files were is known of the disk that the run brings, and of no other
        if run.disk is not None and run.slot(run.settings) not in run.overrides:
            disks.compare_deleted(image, run.disk, run.deleted(run.settings))
    except DiskError as error:
        return str(error)
    return None


def judged(job: Job, result: RunResult) -> RunRecord:
    """The record of a job that ran to an end, with why it counts as failed if it does."""
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
"""By name and by the settings of the one measurement; of the same twice, the later counts."""


def metrics_of(job: Job, result: RunResult) -> Metrics:
    """What the firmware printed and what it gave as words. Raises `FirmwareError` for bad words."""
    records = load_app(job.run.app).records
    words = records.metrics(result) if records else ()
    metrics = (*result.metrics, *words)
    return {(metric.name, tuple(metric.settings.items())): metric for metric in metrics}


def measured(job: Job, result: RunResult) -> list[Metric]:
    """The results of a run that its experiment has cells for, in the order of its table."""
    found = tuple(metrics_of(job, result).values())
    return [metric for _, metric in of_cells(job.experiment, job.run, found)]


def _differences(job: Job, metrics: Metrics) -> Iterator[str]:
    """What is not as published though it must be."""
    for cell in job.experiment.cells_of(job.run):
        for (name, settings), metric in metrics.items():
            if name not in cell.exact:
                continue
            value = job.experiment.published_value(job.run, cell, metric.settings, name)
            if value is not None and value != metric.value:
                where = " ".join(f"{setting}={chosen}" for setting, chosen in settings)
                yield f"{where}: {name} is {metric.value}, published {value}"
