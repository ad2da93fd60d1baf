"""The definition of an experiment: apps on boards with settings, and the published cells.

An experiment declares; `cyclescope.bench` runs. It knows apps, settings and documents, and
nothing of how a device works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cyclescope.bench import published
from cyclescope.bench.results import Omission
from cyclescope.bench.rows import Causes, Parts, Row, Steps
from cyclescope.bench.views import Frames, Moment, Pivot, Sweep
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.description.parameters import Parameter
from cyclescope.board.observing.frames import Trigger
from cyclescope.board.results import Settings, Value
from cyclescope.disks import Disk


def _no_files(settings: Settings) -> Mapping[str, bytes]:
    return {}


def _no_slot(settings: Settings) -> str:
    return ""


def _none_deleted(settings: Settings) -> Sequence[bytes]:
    return ()


def _no_parts(settings: Settings) -> Parts | None:
    return None


def _no_derived(rows: Sequence[Row]) -> Iterable[Row]:
    return ()


def _no_findings(rows: Sequence[Row]) -> Iterable[str]:
    return ()


def _no_answer(rows: Sequence[Row]) -> str:
    return ""


def _as_it_is(run: Run) -> Run:
    return run


@dataclass(frozen=True)
class Run:
    """One configuration: an app built with `settings`, on a board changed by `overrides`.

    `documented` says that the published document measured this configuration, so that its numbers
    may be compared; `where` has further conditions besides the settings. `limit` bounds the
    simulated time, as in "10s".

    With a `disk` the run has a copy of its image, whose volume must be sound afterwards; `slot`
    names the board property that takes the image's path, and `files` returns the files that the app
    leaves there by name, both from the run's settings. `deleted` has the contents of files that the
    app has deleted again, in their order: they must still lie where the files were, in the clusters
    that were free before the run, one after the other.

    `watched` names functions whose calls are counted, and `windows` functions whose calls are kept,
    for rows that follow from them (`RunResult.cores`, `RunResult.windows`); functions that
    cells need are watched in any case.

    `implied` names settings that only have their app's default: texts for readers leave them out. A
    run with `frame_on`, the label of an SPI bus, keeps the first frame on it, or the frame that a
    trigger is for: that is its result, and its app need not print one. `is_extra` marks a run of a
    larger sweep, which the bench makes with `--all` only; it can't be `documented`. A run that
    `is_needed` is made in any case, as runs with a published number are: rows that are compared
    with a published number follow from it.
    """

    app: str
    board: str
    settings: Settings
    overrides: Mapping[str, OverrideValue] = field(default_factory=dict)
    documented: bool = False
    limit: str = "10s"
    where: Mapping[str, Any] = field(default_factory=dict)
    disk: Disk | None = None
    slot: Callable[[Settings], str] = _no_slot
    files: Callable[[Settings], Mapping[str, bytes]] = _no_files
    deleted: Callable[[Settings], Sequence[bytes]] = _none_deleted
    watched: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()
    implied: tuple[str, ...] = ()
    frame_on: str | Trigger | None = None
    is_extra: bool = False
    is_needed: bool = False

    def changed(
        self, settings: Settings | None = None, overrides: Mapping[str, OverrideValue] | None = None
    ) -> Run:
        """The run with other settings of its app or other properties of its board."""
        return replace(
            self,
            settings=dict(self.settings) | dict(settings or {}),
            overrides=dict(self.overrides) | dict(overrides or {}),
        )

    def shortened(self, settings: Settings) -> Run:
        """The run with these settings, as far as its app has them."""
        return self.changed({name: settings[name] for name in settings if name in self.settings})

    @property
    def all_settings(self) -> dict[str, Value]:
        """App settings by name, then board overrides by path, as tables and JSON show them."""
        return dict(self.settings) | {
            path: value if isinstance(value, int | str) else ",".join(map(str, value))
            for path, value in sorted(self.overrides.items())
        }

    @property
    def label(self) -> str:
        """The configuration in words, for progress and messages."""
        words = [
            f"{name}={value}"
            for name, value in self.all_settings.items()
            if name not in self.implied
        ]
        return " ".join([self.app, *words])


@dataclass(frozen=True)
class Cell:
    """A metric of an app that becomes a row, and how to find its published number.

    If a run measures the metric with several settings, it becomes a row for each; these settings
    count as the run's.

    `label` names the row in words, with settings in braces ("{mode} write"); the source text of a
    parameter that was calibrated with the row uses this name. No label may be the start of another.
    The published number is `key` in the row that matches `where` and, for each setting named in
    `match`, has the run's value; without a `key` there is no number. If the document rounds some of
    its numbers, a row of the table has such a number's significant digits under the key `rounded`.
    `measured` are settings that each result states for itself, by name, with the document's names
    for them: they must have the result's value. `timed` names the app's functions whose time the
    metric holds: the row's cycle stack is theirs. `exact` names metrics that must have the value
    that the row has under the same name, or the run has failed: they show that the program did what
    the published one did. `pivots` and `sweeps` show many rows together: the first pivot and all
    sweeps that take the row. `parts` says how the metric's time is divided in a run with these
    settings: by functions, by events (`Steps`), or by causes if a run measures with many settings
    and has a call for each. Its row also has the waits of that call.

    `counts_as` names the independent number that a published cell with these settings stands for;
    without it each cell is one. Cells that follow from one another (two forms of a rate, times that
    are a count times a constant) have one name; None is for a cell that is not a number of its own,
    such as a sum of other cells.
    """

    app: str
    metric: str
    label: str
    key: str | None = None
    where: Mapping[str, Any] = field(default_factory=dict)
    match: tuple[str, ...] = ()
    measured: Mapping[str, str] = field(default_factory=dict)
    timed: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    pivots: tuple[Pivot, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    rounded: tuple[str, int] | None = None
    parts: Callable[[Settings], Parts | Causes | Steps | None] = _no_parts
    counts_as: Callable[[Settings], str | None] | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys under which the table may have its number."""
        exact = () if self.key is None else (self.key,)
        return exact if self.rounded is None else (*exact, self.rounded[0])


@dataclass(frozen=True)
class Choice:
    """One decision of an experiment that no document makes: a card's contents, how code is built.

    `what` has the property `name` of this value; `basis` is "assumed", or "calibrated" if it was
    chosen or kept because published cells fit; `source` says why, and names such a cell by its
    label. `change` returns a run with the `alternative` instead of the value. The effect is
    measured in the runs' short form, in the whole one if it `is_whole`.
    """

    what: str
    name: str
    value: Value
    basis: str
    source: str
    alternative: Value
    change: Callable[[Run], Run] = field(compare=False)
    is_whole: bool = False

    @property
    def parameter(self) -> Parameter:
        """The choice as tables of parameters show it."""
        named = (self.what, self.what, self.name, str(self.value), "", self.source, self.basis)
        return Parameter(*named, plausible=f"or {self.alternative}")


@dataclass(frozen=True)
class Experiment:
    """Apps on boards with settings, and the cells that were published.

    `published` names the table; `quick` holds settings that shorten the runs without a published
    number; `notes` are what a reader must know to judge the comparison. `choices` are values that
    were assumed or fitted here and not in a board; they count as the board's parameters do.
    `left_out` is what the model lacks, the largest effect first. `short_form` returns a run in the
    form in which the effects of parameters on its cells are measured: with fewer loops or smaller
    files, but the same rows in the same order. `derived` returns rows that follow from the others,
    such as ratios; `derived_pivots` are their pivots by metric, for tables from stored rows;
    `findings` says in sentences what the rows show; `frames` says how the frames are shown that its
    runs kept, and `moments` are windows of runs that are shown as timelines. `question` is what a
    firmware engineer would ask, `answer` answers it in a sentence from the rows; it is empty if
    they do not answer it. Without `is_explained` no run has waits and a profile unless all have.
    """

    name: str
    title: str
    published: str
    runs: tuple[Run, ...]
    cells: tuple[Cell, ...]
    quick: Settings = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    left_out: tuple[Omission, ...] = ()
    short_form: Callable[[Run], Run] = _as_it_is
    derived: Callable[[Sequence[Row]], Iterable[Row]] = _no_derived
    derived_pivots: Mapping[str, Pivot] = field(default_factory=dict)
    findings: Callable[[Sequence[Row]], Iterable[str]] = _no_findings
    frames: Frames | None = None
    moments: tuple[Moment, ...] = ()
    question: str = ""
    answer: Callable[[Sequence[Row]], str] = _no_answer
    is_explained: bool = True

    def published_value(
        self, run: Run, cell: Cell, settings: Settings | None = None, key: str | None = None
    ) -> int | float | None:
        """The document's number for a cell of a run; None if it has no such number.

        `settings` are those of the one measurement; `key` asks for another number of the same row.
        """
        stated = settings or {}
        known = dict(run.settings) | dict(stated)
        if cell.key is None or not run.documented or any(name not in known for name in cell.match):
            return None
        if any(name not in stated for name in cell.measured):
            return None
        measured = {theirs: stated[ours] for ours, theirs in cell.measured.items()}
        wanted = _where(run, cell, known)
        # the row of another run
        if any(wanted.get(name, value) != value for name, value in measured.items()):
            return None
        where = wanted | measured
        found = published.load(self.published).find(key or cell.key, where)
        if found is None and key is None and cell.rounded is not None:
            return published.load(self.published).find(cell.rounded[0], where)
        return found

    def independent(self, cell: Cell, label: str, settings: Settings) -> str:
        """The independent number that a published cell stands for; empty if it stands for none."""
        name = label if cell.counts_as is None else cell.counts_as(settings)
        return name or ""

    def printed_digits(self, run: Run, cell: Cell, settings: Settings | None = None) -> int | None:
        """How many digits of a cell's number the document prints; None for all of them."""
        if cell.rounded is None:
            return None
        key, digits = cell.rounded
        return None if self.published_value(run, cell, settings, key) is None else digits

    def has_published(self, run: Run) -> bool:
        """Whether the document has any number for this run."""
        table = published.load(self.published)
        return run.documented and any(
            any(table.has(key, _where(run, cell, run.settings)) for key in cell.keys)
            for cell in self.cells_of(run)
        )

    def published_labels(self, run: Run) -> list[str]:
        """The labels of a run's published numbers, as far as they are known before it runs."""
        return [label for _, label, _ in self._published_cells(run)]

    def independent_numbers(self, run: Run) -> set[str]:
        """The independent numbers that a run's published cells stand for."""
        found = {self.independent(*cell) for cell in self._published_cells(run)}
        return found - {""}

    def _published_cells(self, run: Run) -> Iterator[tuple[Cell, str, Settings]]:
        """The cells of a run that have a published number, with their labels and settings."""
        table = published.load(self.published)
        for cell in self.cells_of(run):
            for stated in table.distinct(tuple(cell.measured.values())):
                measured = dict(zip(cell.measured, stated.values(), strict=True))
                settings = dict(run.settings) | measured
                if self.published_value(run, cell, measured) is not None:
                    yield cell, cell.label.format_map(settings), settings

    def cells_of(self, run: Run) -> list[Cell]:
        """The cells that a run can fill: those of its app."""
        return [cell for cell in self.cells if cell.app == run.app]

    def quickened(self, run: Run) -> Run:
        """The run, shortened if nothing published depends on it."""
        if self.has_published(run):
            return run
        return run.shortened(self.quick)


def _where(run: Run, cell: Cell, settings: Settings) -> dict[str, Any]:
    """The values that a published row must have, as far as these settings determine them."""
    matched = {name: settings[name] for name in cell.match if name in settings}
    return dict(run.where) | dict(cell.where) | matched
