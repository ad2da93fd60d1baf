"""The jobs of the bench: made from experiments and `--set` before anything is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from cyclescope.bench.experiment import Experiment, Run
from cyclescope.bench.profiles import name_of
from cyclescope.bench.rows import RunRecord
from cyclescope.board import Board, board_tree
from cyclescope.board.description import overrides
from cyclescope.board.results import RunResult, Settings
from cyclescope.errors import SettingError
from cyclescope.firmware import is_available, load_app, with_defaults


class Explained(Enum):
    """Which run is made with waits and a profile (`running.Recorded`)."""

    ITSELF = "itself"
    IN_SHORT = "in its short form"
    """The moment's short form, made for that purpose: the run itself would take too long."""
    NOT = "not"


@dataclass(frozen=True)
class Job:
    """A run of an experiment as it was planned: `extra` are the board overrides of `--set`.

    `published` says whether the document has a number for the run as the experiment declares it,
    before any `--set`.
    """

    experiment: Experiment
    run: Run
    extra: Mapping[str, str] = field(default_factory=dict)
    explained: Explained = Explained.ITSELF
    published: bool = False

    @property
    def configured(self) -> Run:
        """The run with the user's overrides on top of its own."""
        return replace(self.run, overrides=dict(self.run.overrides) | dict(self.extra))

    @property
    def profile_name(self) -> str:
        """The name of its run's profile: no other run of a bench has that name."""
        run = self.configured
        settings = {
            name: value for name, value in run.all_settings.items() if name not in run.implied
        }
        return name_of(self.experiment.name, run.board, run.app, settings)

    def shortened(self, settings: Settings) -> Job:
        """The job with these settings of its app: it has no published number."""
        implied = tuple(name for name in self.run.implied if name not in settings)
        run = replace(self.run.changed(settings), documented=False, implied=implied)
        return replace(self, run=run, explained=Explained.ITSELF, published=False)

    def record(self, result: RunResult | None, error: str | None = None) -> RunRecord:
        """The job's configuration with its outcome."""
        run = self.configured
        settings = run.all_settings
        return RunRecord(run.label, run.app, run.board, settings, result, error, run.implied)


def plan(
    experiments: Sequence[Experiment],
    sets: Iterable[tuple[str, str]] = (),
    quick: bool = False,
    with_extra: bool = False,
) -> list[Job]:
    """The jobs of some experiments, each configuration once; extra runs only `with_extra`.

    Raises `SettingError` for a `--set` that fits no app setting and no property of any board, and
    if there is no prebuilt ELF for the settings; `BoardError` if it makes a board invalid.
    """
    jobs = [
        Job(
            experiment,
            experiment.quickened(run) if quick else run,
            published=experiment.has_published(run),
        )
        for experiment in experiments
        for run in map(with_all_settings, experiment.runs)
        if with_extra or not run.is_extra
    ]
    for path, text in sets:
        jobs = _with_set(jobs, path, text)
    unique: dict[tuple[str, ...], Job] = {}
    for job in _possible(jobs):
        run = job.configured
        name = (job.experiment.name, run.board, run.app, repr(run.all_settings))
        # of the same configurations, one that the document measured
        if name not in unique or (run.documented and not unique[name].run.documented):
            unique[name] = job
    planned = list(unique.values())
    _check_boards(planned)
    return planned


def _check_boards(jobs: Sequence[Job]) -> None:
    """Check boards with the values of `--set` before the first run, not after the last."""
    checked: list[tuple[str, Mapping[str, str]]] = []
    for job in jobs:
        changed = (job.run.board, job.extra)
        if job.extra and changed not in checked:
            checked.append(changed)
            Board(*changed)


def _possible(jobs: Sequence[Job]) -> list[Job]:
    """The jobs without those whose prebuilt ELF for the values of `--set` does not exist."""
    kept = [
        job for job in jobs if job.run.documented or is_available(job.run.app, job.run.settings)
    ]
    for app in {job.run.app: None for job in jobs}:
        if all(job.run.app != app for job in kept):
            raise SettingError(f"app {app} has no prebuilt ELF with the settings of --set")
    return kept


def with_all_settings(run: Run) -> Run:
    """The run with all defaults of its app, which count as implied."""
    settings = with_defaults(run.app, run.settings)
    implied = tuple(name for name in settings if name not in run.settings)
    return replace(run, settings=settings, implied=implied)


def _with_set(jobs: list[Job], path: str, text: str) -> list[Job]:
    """The jobs after one `--set`: an app setting by its path, else a board's property."""
    changed = [_with_app_setting(job, path, text) for job in jobs]
    if any(job is not None for job in changed):
        return [new or old for new, old in zip(changed, jobs, strict=True)]
    trees = {board: board_tree(board) for board in {job.run.board for job in jobs}}
    having = {board for board, tree in trees.items() if overrides.find(tree, path, text)}
    if not having:
        known = [known for job in jobs for known in _app_settings(job)]
        known += [known for tree in trees.values() for known in overrides.paths(tree)]
        raise overrides.unknown_path(path, dict.fromkeys(known))
    return [
        replace(job, extra=dict(job.extra) | {path: text}) if job.run.board in having else job
        for job in jobs
    ]


def _app_settings(job: Job) -> dict[str, str]:
    """The settings of a job's app by the paths that name them, the app's own paths among them."""
    owners = (job.experiment.name, job.run.app)
    settings = {f"{owner}.{name}": name for owner in owners for name in job.run.settings}
    return settings | dict(load_app(job.run.app).paths)


def _with_app_setting(job: Job, path: str, text: str) -> Job | None:
    """The job with an app setting changed; None if its app has no setting of this path."""
    name = _app_settings(job).get(path)
    if name is None:
        return None
    kind = load_app(job.run.app).settings[name]
    value = kind.parse(text)
    if value is None:
        raise SettingError(f"--set {path}={text}: allowed: {kind}")
    if value == job.run.settings[name]:
        return job
    # a changed app is no longer what the document measured
    run = job.shortened({name: value}).run
    return replace(job, run=run)
