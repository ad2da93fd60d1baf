"""A fit as the user requests it, by the command line, a TOML file or Python; and its execution."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy

from cyclescope import experiments
from cyclescope.bench import planning as bench_planning
from cyclescope.board import Board
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.setup.loading import Loading
from cyclescope.errors import SettingError, UsageError
from cyclescope.fitting import cells as tables
from cyclescope.fitting import parameters, published
from cyclescope.fitting.cells import Cell
from cyclescope.fitting.crossing import cross_validated, held_out
from cyclescope.fitting.judging import judge
from cyclescope.fitting.models import Model, Running, check, sections_of
from cyclescope.fitting.parameters import Asked, Free
from cyclescope.fitting.results import FitResult, FittedCell
from cyclescope.fitting.searching import MOST_COMBINATIONS, Found, Problem, search
from cyclescope.host import toml_files
from cyclescope.host.inputs import printable
from cyclescope.similar_names import did_you_mean
from cyclescope.sweeps.axes import Axis
from cyclescope.sweeps.requests import DEFAULT_LIMIT, program_path
from cyclescope.sweeps.targets import ElfTarget, ExperimentTarget, Target
from cyclescope.units import parse_time_ps

# The relative error that is assumed for a cell without one, until the deviations show more.
_ERROR = 0.01
# The end of another search is as good if its cost differs by no more than this.
_AS_GOOD = 1.01
PUBLISHED = "the published table"


@dataclass(frozen=True)
class Request:
    """A fit as requested.

    `target` is the path of an ELF, or an experiment's name, whose published cells are then fitted.
    `table` is the CSV file of measured cells, `metric` the metric of lines that name no other.
    `prior` is the standard deviation of a normal prior around the board's values, as a fraction of
    their ranges. With `every` N, only each N-th number is fitted; the others show how well the fit
    predicts.
    """

    target: str
    board: str | None = None
    table: str | None = None
    free: tuple[Asked, ...] = ()
    sets: Mapping[str, OverrideValue] = field(default_factory=dict)
    metric: str | None = None
    prior: float | None = None
    every: int = 1
    seed: int = 0
    limit: str | None = None
    loading: Loading = field(default_factory=Loading)

    @property
    def is_experiment(self) -> bool:
        """Whether the target is an experiment's name."""
        return self.target in experiments.KNOWN and not Path(self.target).is_file()

    def plan(self) -> Plan:
        """The checked fit. Raises `EngineError` for invalid input, before anything runs."""
        if self.limit is not None:
            parse_time_ps(self.limit)
        if self.prior is not None and not 0 < self.prior < math.inf:
            raise UsageError(f"--prior {self.prior}: expected a number above 0, as in 0.5")
        return self._published() if self.is_experiment else self._measured()

    def _measured(self) -> Plan:
        path = program_path(self.target)
        if self.board is None:
            raise UsageError("--board is missing: a shipped board's name, or the path of a .dts")
        if self.table is None:
            raise UsageError("--cells is missing: a CSV file of what was measured")
        free = parameters.resolved(self.free, self.board, self.sets)
        found = tables.read(Path(self.table), self.metric)
        _check_columns(found, free)
        cores = [core["name"] for core in Board(self.board, self.sets).describe()["cores"]]
        limit = self.limit or DEFAULT_LIMIT
        target = ElfTarget(
            path, self.board, self.sets, limit, sections_of(found, cores), self.loading
        )
        for column in dict.fromkeys(name for cell in found for name in cell.settings):
            values = {cell.settings[column] for cell in found if column in cell.settings}
            _check_setting(target, Axis(column, tuple(sorted(values))), self.table)
        plan = Plan(self, self.board, Path(self.table).name, free, target, lambda how: found)
        check(target, found, free)
        return plan

    def _published(self) -> Plan:
        if self.table is not None or self.metric is not None or self.loading != Loading():
            raise UsageError(
                f"--cells, --metric and options of a program: {self.target} is fitted to what was "
                "published"
            )
        (experiment,) = experiments.select([self.target])
        sets = [(path, str(value)) for path, value in self.sets.items()]
        jobs = published.jobs(bench_planning.plan([experiment], sets), self.board)
        board = jobs[0].run.board
        if self.limit is not None:
            jobs = [replace(job, run=replace(job.run, limit=self.limit)) for job in jobs]
        on_board = {path: value for path, value in self.sets.items() if path in jobs[0].extra}
        free = parameters.resolved(self.free, board, on_board)
        whole, short = (ExperimentTarget(made) for made in (jobs, published.short(jobs)))

        def find(how: Running) -> list[Cell]:
            return published.cells(whole, short, how)

        return Plan(self, board, f"{PUBLISHED} of {self.target}", free, short, find, whole)


@dataclass(frozen=True)
class Plan:
    """A fit whose input was checked; `find` gives its cells, which may take runs.

    `target` is run while values are searched, `whole`, if not None, with the values that were
    found.
    """

    request: Request
    board: str
    table: str
    free: tuple[Free, ...]
    target: Target
    find: Callable[[Running], Sequence[Cell]]
    whole: ExperimentTarget | None = None

    def __post_init__(self) -> None:
        """Raises `UsageError` for more combinations of alternatives than are tried."""
        sizes = [len(one.values) for one in self.free if not one.is_span]
        if math.prod(sizes) > MOST_COMBINATIONS:
            raise UsageError(
                f"--free: {math.prod(sizes):,} combinations of alternatives: "
                f"{MOST_COMBINATIONS} at most"
            )

    def run(self, how: Running) -> FitResult:
        """Fit, judge and cross-validate.

        Raises `EngineError` for a run that fails, `UsageError` for a metric that no run has,
        `StoppedError` if a stop was requested.
        """
        runs = 0

        def ended(more: int) -> None:
            nonlocal runs
            runs += more
            how.ended(more)

        counted = replace(how, ended=ended)
        cells = list(self.find(counted))
        seen = set(tables.numbers(cells)[:: self.request.every])
        chosen = [cell for cell in cells if cell.number in seen]
        model = Model(self.target, chosen, self.free, counted)
        errors = numpy.array([cell.error or _ERROR for cell in chosen])
        problem = Problem(model, range(len(chosen)), errors, self.request.prior)
        found = search(problem)
        judged = judge(problem, found)
        as_it_is = Model(self.target, chosen, (), counted).values([()])[0]
        before = as_it_is / numpy.array([cell.value for cell in chosen]) - 1
        held = cross_validated(problem, before, self.request.seed)
        fitted = self._fitted(cells, seen, found, counted)
        others = [cell for cell in fitted if not cell.is_fitted]
        return FitResult(
            self.request.target,
            self.board,
            self.table,
            judged.parameters,
            fitted,
            judged.untold,
            judged.alike,
            held,
            held_out(*_deviations(others)) if others else None,
            len(tables.numbers(chosen)),
            _elsewhere(problem, found),
            self.request.prior,
            runs,
        )

    def _fitted(
        self, cells: Sequence[Cell], seen: set[str], found: Found, how: Running
    ) -> tuple[FittedCell, ...]:
        """All cells, with the numbers of whole runs before and after the fit."""
        before: Sequence[float]
        after: Sequence[float]
        if self.whole is None:
            before = Model(self.target, cells, (), how).values([()])[0].tolist()
            after = Model(self.target, cells, self.free, how).values([found.point])[0].tolist()
        else:
            values = zip(self.free, found.point, strict=True)
            settings = [(one.path, str(one.values[place])) for one, place in values]
            given = [published.values(self.whole, changed, how) for changed in ((), settings)]
            before, after = ([one[cell.base, cell.label] for cell in cells] for one in given)
        return tuple(
            FittedCell(
                cell.label,
                cell.metric,
                cell.value,
                before[at],
                after[at],
                cell.number in seen,
            )
            for at, cell in enumerate(cells)
        )


def _deviations(cells: Sequence[FittedCell]) -> tuple[list[float], list[float]]:
    """Relative deviations, after and before the fit."""
    return [cell.after_pct / 100 for cell in cells], [cell.before_pct / 100 for cell in cells]


def _elsewhere(problem: Problem, found: Found) -> tuple[int, ...] | None:
    """Where another search with the same alternatives ended, if that is as good but far away."""
    spans = problem.spans
    for point, cost in found.others:
        far = any(abs(point[at] - found.point[at]) > 1 for at in spans)
        same = all(point[at] == found.point[at] for at in range(len(point)) if at not in spans)
        if far and same and cost <= found.cost * _AS_GOOD:
            return tuple(
                free.values[place] for free, place in zip(problem.model.free, point, strict=True)
            )
    return None


def _check_columns(cells: Sequence[Cell], free: Sequence[Free]) -> None:
    paths = {one.path for one in free}
    for cell in cells:
        twice = next((name for name in cell.settings if name in paths), None)
        if twice is not None:
            raise UsageError(f"{twice}: both a column of the table and free")


def _check_setting(target: Target, axis: Axis, table: str) -> None:
    if axis.path == "board":
        raise UsageError(f"{table}: column board: one board is fitted at a time")
    try:
        target.expanded(axis)
    except SettingError as error:
        reason = str(error).replace("--vary ", "column ", 1)
        raise UsageError(f"{table}: {reason}") from None


# ---- from plain data: TOML and Python


def from_data(data: Mapping[str, Any], folder: Path = Path()) -> Request:
    """The request in a table, as a TOML file has it; paths are relative to `folder`.

    Raises `UsageError` for unknown keys and values of a wrong type, `SettingError` for invalid
    parameters.
    """
    unknown = next((key for key in data if key not in _KEYS), None)
    if unknown is not None:
        hint = did_you_mean(unknown, _KEYS) or f": there are {', '.join(_KEYS)}"
        raise UsageError(f"{printable(unknown)}: no such key in a fit{hint}")
    for key, (kinds, words) in _KEYS.items():
        if key in data and (not isinstance(data[key], kinds) or isinstance(data[key], bool)):
            raise UsageError(f"{key}: expected {words}, not {printable(str(data[key]))}")
    if "target" not in data:
        raise UsageError("target is missing: the path of an ELF, or an experiment's name")
    if data.get("every", 1) < 1:
        raise UsageError(f"every: expected a number from 1, not {data['every']}")
    board, target, table = data.get("board"), data["target"], data.get("cells")
    return Request(
        target=target if target in experiments.KNOWN else str(folder / target),
        board=str(folder / board) if board is not None and board.endswith(".dts") else board,
        table=None if table is None else str(folder / table),
        free=tuple(_asked(data.get("free", ()))),
        sets=dict(data.get("set", {})),
        metric=data.get("metric"),
        prior=data.get("prior"),
        every=data.get("every", 1),
        seed=data.get("seed", 0),
        limit=data.get("limit"),
    )


_KEYS: Mapping[str, tuple[Any, str]] = {
    "target": (str, "a text"),
    "board": (str, "a text"),
    "cells": (str, "a text"),
    "free": ((list, tuple, dict), "a list or a table"),
    "set": (dict, "a table"),
    "metric": (str, "a text"),
    "prior": ((int, float), "a number"),
    "every": (int, "a number"),
    "seed": (int, "a number"),
    "limit": (str, "a text"),
}


def _asked(free: Sequence[str] | Mapping[str, Any]) -> Iterator[Asked]:
    if not isinstance(free, Mapping):
        yield from (parameters.parse(str(one)) for one in free)
        return
    for path, values in free.items():
        text = values if isinstance(values, str) else ",".join(map(str, values or ()))
        yield parameters.asked(path, text or None)


def made(target: str, given: Mapping[str, Any]) -> Request:
    """The request of a target with these values, or of a TOML file that has all of them itself."""
    if not target.endswith(".toml"):
        return from_data({"target": target, **given})
    if given:
        raise TypeError(f"{target} describes the whole fit: remove {', '.join(given)}")
    return read_toml(Path(target))


def read_toml(path: Path) -> Request:
    """The request in a file. Raises `UsageError` for an invalid file, `OSError` for no access."""
    data = toml_files.read(path)
    try:
        return from_data(data, path.parent)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
