"""How far published cells move when a parameter does: `cyclescope bench --sensitivity`.

Each published run is made in its short form unchanged, and again for each move of a value that no
document settles (see `moves`). The change of a cell is relative to the same short form, in percent.
Measurements are kept in the cache by all that they depend on, so that a stopped measurement
continues where it was, and one after a change makes only the runs that the change affects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from cyclescope import disks, resources
from cyclescope._engine import Stop
from cyclescope.bench import moves, programs, short_forms
from cyclescope.bench.experiment import Experiment, Run
from cyclescope.bench.influence import Change
from cyclescope.bench.moves import Move, Moved
from cyclescope.bench.planning import Job, with_all_settings
from cyclescope.bench.running import measured, run_job
from cyclescope.bench.short_forms import Form
from cyclescope.board import board_tree
from cyclescope.board.description import digests
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import Metric, Value
from cyclescope.errors import EngineError
from cyclescope.firmware import clocks
from cyclescope.host import kept

# App, board, settings, frequencies of the board's clocks if they were changed.
_Program = tuple[str, str, tuple[tuple[str, Value], ...], tuple[tuple[str, OverrideValue], ...]]


@dataclass(frozen=True)
class Trial:
    """One run with one move, or with none; `cells` are the labels of what it measures, in order."""

    experiment: Experiment
    full: Run
    run: Run
    path: str = ""
    to: str = ""

    @property
    def job(self) -> Job:
        """The run as the bench makes it."""
        return Job(self.experiment, self.run, {self.path: self.to} if self.path else {})


@dataclass(frozen=True)
class Pair:
    """A published run with a move and without it."""

    move: Move
    before: Trial
    after: Trial


def plan(experiments: Sequence[Experiment]) -> list[Pair]:
    """All pairs of runs of some experiments."""
    return [
        _pair(experiment, run, moved)
        for experiment in experiments
        for moved in moves.of(experiment)
        for run in moves.published_runs(experiment)
        if not moved.move.board or moved.move.board == run.board
    ]


def _pair(experiment: Experiment, run: Run, moved: Moved) -> Pair:
    short = short_forms.form(experiment, run)
    if moved.choice is None:
        before = Trial(experiment, short.full, short.run)
        return Pair(moved.move, before, replace(before, path=moved.path, to=moved.move.to))
    form = run if moved.choice.is_whole else experiment.short_form(run)
    before = Trial(experiment, short.full, with_all_settings(form))
    return Pair(
        moved.move, before, replace(before, run=with_all_settings(moved.choice.change(form)))
    )


# Called with the number of finished trials and of all trials.
Progress = Callable[[int, int], None]


def measure(
    pairs: Sequence[Pair], threads: int, stop: Stop | None = None, progress: Progress | None = None
) -> list[Change]:
    """Make the runs that the cache lacks, and return the changes of all pairs' cells.

    Raises `EngineError` for a run that fails, naming the move; after `stop` is requested it returns
    the changes that are known by then.
    """
    stop = stop or Stop()
    _build(pairs, threads, stop)
    if stop.requested:
        return []
    trials: dict[str, tuple[Trial, Move]] = {}
    keys: dict[int, tuple[str, str]] = {}
    for number, pair in enumerate(pairs):
        keys[number] = (key(pair.before), key(pair.after))
        for trial, name in zip((pair.before, pair.after), keys[number], strict=True):
            trials.setdefault(name, (trial, pair.move))
    measured = _measured(trials, threads, stop, progress or (lambda done, total: None))
    changes: list[Change] = []
    for number, pair in enumerate(pairs):
        before, after = (measured.get(name) for name in keys[number])
        if before is not None and after is not None:
            changes += _changes(pair, before, after)
    return changes


def check_complete(experiments: Sequence[Experiment], changes: Sequence[Change]) -> None:
    """Raises `EngineError` for a published cell that short forms lack.

    Without the check, the cell would seem to depend on nothing.
    """
    for experiment in experiments:
        runs = moves.published_runs(experiment)
        labels = {label for run in runs for label in experiment.published_labels(run)}
        found = [change for change in changes if change.move.experiment == experiment.name]
        missing = labels - {change.cell for change in found}
        if found and missing:
            raise EngineError(
                f"{experiment.name}: the short form of its runs has no {min(missing)}"
            )


def _build(pairs: Sequence[Pair], threads: int, stop: Stop) -> None:
    """Build all programs in parallel: their digests are part of the measurements' keys."""
    runs = [trial.run for pair in pairs for trial in (pair.before, pair.after)]
    programs = list(dict.fromkeys(map(_program, runs)))
    with ThreadPoolExecutor(threads, thread_name_prefix="build") as pool:
        for _ in pool.map(lambda one: None if stop.requested else _elf(one), programs):
            pass


def _measured(
    trials: Mapping[str, tuple[Trial, Move]], threads: int, stop: Stop, progress: Progress
) -> dict[str, list[Metric]]:
    """What each trial measured, by its key: from the cache, or from its run."""
    measured = {name: found for name in trials if (found := _kept(name)) is not None}
    waiting = [name for name in trials if name not in measured]
    progress(len(measured), len(trials))
    with ThreadPoolExecutor(threads, thread_name_prefix="sensitivity") as pool:
        futures = {pool.submit(_run, *trials[name], stop): name for name in waiting}
        try:
            for future in as_completed(futures):
                metrics = future.result()
                if metrics is None:
                    continue
                name = futures[future]
                measured[name] = metrics
                _keep(name, metrics)
                progress(len(measured), len(trials))
        except BaseException:
            stop.request()
            pool.shutdown(cancel_futures=True)
            raise
    return measured


def _run(trial: Trial, move: Move, stop: Stop) -> list[Metric] | None:
    """The metrics of a trial's run; None if it was stopped. Raises `EngineError` if it failed."""
    if stop.requested:
        return None
    record = run_job(trial.job, stop=stop, checks_disk=False, built=_elf(_program(trial.run)))
    if stop.requested:
        return None
    if record.error is not None or record.result is None:
        raise EngineError(
            f"{trial.experiment.name}: {move.parameter} = {trial.to or move.value}: "
            f"{record.label}: {record.error}"
        )
    return measured(trial.job, record.result)


def _changes(pair: Pair, before: Sequence[Metric], after: Sequence[Metric]) -> Iterator[Change]:
    """How far each published cell of a pair's runs moved, in percent; without cells that are 0."""
    form = Form(pair.before.experiment, pair.before.full, pair.before.run)
    try:
        yield from (Change(pair.move, *moved) for moved in form.moved(before, after))
    except EngineError as error:
        move = pair.move
        raise EngineError(f"{move.experiment}: {move.parameter} = {move.to}: {error}") from None


# ---- what is kept


def key(trial: Trial) -> str:
    """The name of a trial's measurement: a digest of all that it depends on."""
    run = trial.job.configured
    return digests.of_parts(
        [
            digests.of_engine(),
            _digest_of_elf(_program(run)),
            _digest_of_board(run.board),
            digests.of_overrides(run.overrides),
            str(disks.image(run.disk).name) if run.disk else "",
            run.limit,
        ]
    )


def _program(run: Run) -> _Program:
    changed = clocks.frequencies(run.overrides)
    return run.app, run.board, tuple(sorted(run.settings.items())), tuple(sorted(changed.items()))


@cache
def _elf(program: _Program) -> Path:
    """The ELF of a program. Checking whether it is up to date takes longer than most runs."""
    app, board, settings, changed = program
    return programs.built(app, board, dict(settings), dict(changed))


@cache
def _digest_of_elf(program: _Program) -> str:
    return hashlib.sha256(_elf(program).read_bytes()).hexdigest()


@cache
def _digest_of_board(board: str) -> str:
    return digests.of_tree(board_tree(board))


def _place(name: str) -> Path:
    return resources.cache() / "sensitivity" / f"{name}.json"


def _kept(name: str) -> list[Metric] | None:
    try:
        return [Metric(*metric) for metric in kept.read_json(_place(name))]
    except TypeError:
        return None


def _keep(name: str, metrics: Sequence[Metric]) -> None:
    """Remember a trial's measurement."""
    rows = [[one.name, one.unit, one.value, dict(one.settings)] for one in metrics]
    kept.write_json(_place(name), rows)
