"""Rows of an experiment's table: metrics that firmware printed, beside the published numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from cyclescope.bench.views import Pivot, Sweep
from cyclescope.board.results import RunResult, Settings, StackEntry, WaitEntry, Window

if TYPE_CHECKING:
    from cyclescope.bench.profiles import RunProfile
    from cyclescope.bench.views import Moment
    from cyclescope.board.excerpts import Excerpt

_Entry = TypeVar("_Entry", bound=StackEntry)

PREDICTED = "predicted"
UNPUBLISHED = "unpublished"
DERIVED = "derived"


@dataclass(frozen=True)
class RunRecord:
    """A run of an experiment: its configuration, and its result or the reason it has none.

    `settings` has app settings by name and board overrides by path; those that are `implied` only
    have their app's default. `profile` is the data of its flame graph, if requested, and `moments`
    are windows of it that the report shows, each with its excerpt or the reason why that failed.
    `short` is a shorter form of it that was made for waits and a profile.
    """

    label: str
    app: str
    board: str
    settings: Settings
    result: RunResult | None
    error: str | None = None
    implied: tuple[str, ...] = ()
    profile: RunProfile | None = field(default=None, repr=False)
    moments: tuple[tuple[Moment, Excerpt | str], ...] = field(default=(), repr=False)
    short: RunRecord | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Row:
    """One line of an experiment's table.

    `label` names the cell in words ("quad write"); `published` and `error_pct` are missing (None)
    if the document has no such number; `basis` is "predicted", "calibrated" or "unpublished", or
    "derived" if the row follows from others (a ratio of two) and is no cell of its own. A cell is
    calibrated if it depends on anything calibrated (`influence`), which `calibrated_by` names.
    `interval_pct` is how far it moves, down and up in percent, in nine tenths of runs with all
    values drawn at once that the board assumes or has calibrated (`uncertainty`). `counts_as` names
    the independent number that a published cell stands for; it is empty for a cell that follows
    from others. `timed` names the functions whose time the metric holds; empty for the whole run.
    `pivot` and `sweeps` say how it is shown among many rows. `digits` is the number of significant
    digits that the document prints of `published`, if it rounds ("2E+05"); None for all. `parts`
    divides the measured time by what the cores did, if the experiment asks for that. `waits` are
    the first core's waits in the time that the metric measures (`CoreResult.waits`): in the
    measured call if there are `parts`. It is empty if the run has no waits, and if one run measured
    with many settings without `parts`.
    """

    experiment: str
    board: str
    settings: Settings
    metric: str
    unit: str
    simulated: int | float
    published: int | float | None
    basis: str
    label: str
    run: RunRecord = field(repr=False)
    timed: tuple[str, ...] = ()
    pivot: Pivot | None = field(default=None, repr=False)
    sweeps: tuple[Sweep, ...] = field(default=(), repr=False)
    digits: int | None = None
    parts: tuple[StackEntry, ...] = field(default=(), repr=False)
    waits: tuple[WaitEntry, ...] = field(default=(), repr=False)
    calibrated_by: tuple[str, ...] = ()
    interval_pct: tuple[float, float] | None = None
    counts_as: str = ""

    def following(self, **changes: Any) -> Row:
        """A row made from this one: it neither counts nor depends on anything as this one does."""
        own = {"calibrated_by": (), "interval_pct": None, "counts_as": "", "waits": ()}
        return replace(self, **(own | changes))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the simulated value over all that boards assume: from, to."""
        return None if self.interval_pct is None else self.moved(self.interval_pct)

    @property
    def is_inside(self) -> bool | None:
        """Whether the published number lies in the interval; None if either is missing."""
        if self.published is None or self.interval_pct is None:
            return None
        return self.is_in(self.interval_pct)

    def moved(self, changes_pct: tuple[float, float]) -> tuple[float, float]:
        """The simulated value with two changes in percent."""
        low, high = (_rounded(self.simulated * (1 + pct / 100)) for pct in changes_pct)
        return low, high

    def is_in(self, changes_pct: tuple[float, float]) -> bool:
        """Whether the published number, as it is printed, lies between two changes in percent."""
        if self.published is None:
            return False
        low, high = self.moved(changes_pct)
        half = 0.0 if self.digits is None else _half_of_last_digit(self.published, self.digits)
        return low - half <= self.published <= high + half

    @property
    def is_exact(self) -> bool:
        """Whether the simulated value is the published one, to the last digit that was printed."""
        if self.digits is None or self.published is None:
            return self.simulated == self.published
        return _to_digits(self.simulated, self.digits) == _to_digits(self.published, self.digits)

    @property
    def shown_settings(self) -> Settings:
        """The settings that readers see: without those that only have their app's default."""
        implied = self.run.implied
        return {name: value for name, value in self.settings.items() if name not in implied}

    @property
    def printed(self) -> str:
        """The published value as the document prints it."""
        if self.digits is None or self.published is None:
            return "" if self.published is None else str(self.published)
        return _to_digits(self.published, self.digits)

    @property
    def stack(self) -> tuple[StackEntry, ...]:
        """Its parts, or else the cycle stack of what its metric times, on the first core.

        A row that follows from others times nothing.
        """
        if self.parts:
            return self.parts
        if self.run.result is None or self.basis == DERIVED:
            return ()
        core = self.run.result.cores[0]
        if not self.timed:
            return core.stack
        return _sum(section.stack for section in core.sections if section.name in self.timed)

    @property
    def error_pct(self) -> float | None:
        """The simulated value's deviation from the published one, in percent of the latter."""
        if not self.published:
            return None
        if self.digits is not None:
            return self._rounded_error_pct(self.published, self.digits)
        return round((self.simulated - self.published) / self.published * 100, 3)

    def _rounded_error_pct(self, published: float, digits: int) -> float:
        """How far the simulated value is from those that the document would print the same way."""
        half = _half_of_last_digit(published, digits)
        nearest = min(max(self.simulated, published - half), published + half)
        return round((self.simulated - nearest) / nearest * 100, 3)

    def to_dict(self) -> dict[str, Any]:
        """The row as the JSON of `cyclescope bench` has it, with `waits` only if there are some."""
        low, high = self.interval or (None, None)
        return {
            "experiment": self.experiment,
            "board": self.board,
            "label": self.label,
            "settings": dict(self.settings),
            "metric": self.metric,
            "unit": self.unit,
            "simulated": self.simulated,
            "published": self.published,
            "error_pct": self.error_pct,
            "basis": self.basis,
            "calibrated_by": list(self.calibrated_by),
            "interval_low": low,
            "interval_high": high,
            **({"waits": [vars(entry) for entry in self.waits]} if self.waits else {}),
        }


@dataclass(frozen=True)
class Parts:
    """How the time of a metric is divided by functions, over all cores.

    `call` is the function of the first core whose calls were measured, one for each result in
    order. `functions` are pairs of a function ("cm4:main" is another core's) and its part's name;
    no two of them run at the same time. Time outside them is the `rest`.
    """

    call: str
    functions: tuple[tuple[str, str], ...]
    rest: str
    # no calls but the measured one have to be kept
    windows: ClassVar[tuple[str, ...]] = ()

    def of(self, window: Window, others: Sequence[Window] = ()) -> tuple[StackEntry, ...]:
        """The parts of a call, in picoseconds and the first core's cycles; they sum to its time."""
        whole_ps, hz = window.end_ps - window.begin_ps, window.cores[0].hz
        found = [(words, self._ps(window, function)) for function, words in self.functions]
        rest = (self.rest, whole_ps - sum(ps for _, ps in found))
        return tuple(StackEntry(words, ps * hz // 10**12, ps) for words, ps in (*found, rest))

    def _ps(self, window: Window, function: str) -> int:
        core_name, _, name = function.rpartition(":")
        return sum(
            entry.ps
            for core in window.cores
            for section in core.sections
            if core.name == (core_name or window.cores[0].name) and section.name == name
            for entry in section.stack
        )


@dataclass(frozen=True)
class Causes:
    """The time of a metric divided by causes: the cycle stack of the call that it measured.

    `call` is the function of the first core whose calls were measured, one for each result in
    order.
    """

    call: str
    functions: tuple[tuple[str, str], ...] = ()
    windows: ClassVar[tuple[str, ...]] = ()

    def of(self, window: Window, others: Sequence[Window] = ()) -> tuple[StackEntry, ...]:
        """The first core's stack in a call."""
        return window.cores[0].stack


@dataclass(frozen=True)
class Step:
    """A part of a time, up to an event: the begin or the end of a call of a function.

    `is_last` says that the function's last call in the measured time counts, not its first. A
    window does not have the core of its call: no two cores may have a function of this name.
    """

    function: str
    is_end: bool
    part: str
    is_last: bool = False


@dataclass(frozen=True)
class Steps:
    """The time of a metric divided by events on all cores, which follow one another.

    `call` is the function of the first core whose calls were measured, one for each result in
    order. `steps` are in the order of their events; time after the last one is the `rest`. They
    show what waits for what. Sums of functions that run at the same time can't show that.
    """

    call: str
    steps: tuple[Step, ...]
    rest: str
    functions: ClassVar[tuple[tuple[str, str], ...]] = ()

    @property
    def windows(self) -> tuple[str, ...]:
        """The functions whose calls have to be kept."""
        return tuple(dict.fromkeys(step.function for step in self.steps))

    def of(self, window: Window, others: Sequence[Window] = ()) -> tuple[StackEntry, ...]:
        """The parts of a call, in picoseconds and the first core's cycles; they sum to its time.

        A step whose event is missing, or before that of an earlier step, has no time of its own.
        """
        hz, at_ps = window.cores[0].hz, window.begin_ps
        found = []
        for step in self.steps:
            event_ps = min(max(self._event_ps(step, window, others), at_ps), window.end_ps)
            found.append((step.part, event_ps - at_ps))
            at_ps = event_ps
        found.append((self.rest, window.end_ps - at_ps))
        return tuple(StackEntry(words, ps * hz // 10**12, ps) for words, ps in found)

    def _event_ps(self, step: Step, within: Window, others: Sequence[Window]) -> int:
        name = step.function.rpartition(":")[2]
        times = [
            other.end_ps if step.is_end else other.begin_ps
            for other in others
            if other.section == name
        ]
        times = [ps for ps in times if within.begin_ps <= ps <= within.end_ps]
        if not times:
            return within.begin_ps
        return max(times) if step.is_last else min(times)


def flat_row(row: Row) -> dict[str, Any]:
    """A row as one level of columns, without waits; settings have names `settings.<name>`."""
    columns = row.to_dict()
    columns["calibrated_by"] = "; ".join(row.calibrated_by)
    settings = columns.pop("settings")
    columns.pop("waits", None)
    return columns | {f"settings.{name}": value for name, value in settings.items()}


def waits_of(run: RunRecord, timed: Sequence[str]) -> tuple[WaitEntry, ...]:
    """The waits of a run's first core in these functions, or in the whole run without any."""
    if run.result is None:
        return ()
    core = run.result.cores[0]
    if not timed:
        return core.waits or ()
    return _sum(section.waits or () for section in core.sections if section.name in timed)


def _sum(stacks: Iterable[Iterable[_Entry]]) -> tuple[_Entry, ...]:
    """Stacks added up, cause by cause, in the order of first occurrence."""
    totals: dict[str, _Entry] = {}
    for stack in stacks:
        for entry in stack:
            sofar = totals.get(entry.cause)
            cycles, ps = (0, 0) if sofar is None else (sofar.cycles, sofar.ps)
            totals[entry.cause] = replace(entry, cycles=cycles + entry.cycles, ps=ps + entry.ps)
    return tuple(totals.values())


def _to_digits(value: float, digits: int) -> str:
    """A value rounded to `digits` significant digits: "2E+05"."""
    return f"{value:.{digits - 1}E}"


def _half_of_last_digit(value: float, digits: int) -> float:
    """Half a unit of the last of a value's significant digits."""
    return 10 ** (math.floor(math.log10(abs(value))) - digits + 1) / 2


def _rounded(value: float) -> float:
    """An end of an interval: six significant digits are more than its precision."""
    return float(f"{value:.6g}")
