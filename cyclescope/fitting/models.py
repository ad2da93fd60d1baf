"""The numbers that a board gives for all cells at a point: the runs of a fit, each made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from cyclescope._engine import Stop
from cyclescope.errors import EngineError, UsageError
from cyclescope.fitting.cells import Cell
from cyclescope.fitting.parameters import Free
from cyclescope.similar_names import did_you_mean_or
from cyclescope.sweeps import running
from cyclescope.sweeps.measures import Namer
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.running import Batch, Group, StoppedError
from cyclescope.sweeps.store import Store
from cyclescope.sweeps.targets import Target

Point = tuple[int, ...]
"""For each free parameter, the index of its value."""
Array = NDArray[numpy.float64]

_CYCLES, _PS = ".cycles", ".ps"


@dataclass(frozen=True)
class Running:
    """How runs are made: the number of threads, the store of earlier outcomes, and the stop.

    `ended` is called with the number of runs that were made or found in the store.
    """

    threads: int
    stop: Stop
    store: Store | None
    ended: Callable[[int], None] = lambda runs: None


class Model:
    """The numbers of a target for cells, as a function of the free parameters' values."""

    def __init__(
        self, target: Target, cells: Sequence[Cell], free: Sequence[Free], how: Running
    ) -> None:
        self.cells, self.free = tuple(cells), tuple(free)
        self.runs = 0
        self._target, self._how = target, how
        self._groups = list(dict.fromkeys(map(_group, self.cells)))
        self._known: dict[Point, Array] = {}

    def values(self, points: Sequence[Point]) -> Array:
        """A row of cells' numbers for each point.

        Raises `EngineError` for a run that fails, `UsageError` for a run that lacks a cell's
        metric, `StoppedError` after a stop.
        """
        new = [point for point in dict.fromkeys(points) if point not in self._known]
        rows = [_row(self.free, group, point) for point in new for group in self._groups]
        if rows:
            how = self._how
            batch = Batch(self._target, rows)
            found = running.run(
                batch, how.threads, how.stop, how.store, lambda row, outcome: how.ended(1)
            )
            self.runs += len(rows)
            if None in found:
                raise StoppedError
            outcomes = [one for one in found if one is not None]
            for at, point in enumerate(new):
                own = outcomes[at * len(self._groups) : (at + 1) * len(self._groups)]
                self._known[point] = self._numbers(own, rows[at * len(self._groups)][1])
        return numpy.array([self._known[point] for point in points])

    def _numbers(self, outcomes: Sequence[Outcome], settings: Sequence[tuple[str, str]]) -> Array:
        by_group = dict(zip(self._groups, outcomes, strict=True))
        numbers = {group: numbers_of(outcome) for group, outcome in by_group.items()}
        found = []
        for cell in self.cells:
            outcome, known = by_group[_group(cell)], numbers[_group(cell)]
            if outcome.error is not None:
                point = " ".join(f"{path}={value}" for path, value in settings)
                raise EngineError(f"{cell.label}: the run failed with {point}: {outcome.error}")
            if cell.metric not in known:
                shown = [name for name in known if ".stack." not in name]
                hint = did_you_mean_or(cell.metric, list(known), f"there are {', '.join(shown)}")
                raise UsageError(f"{cell.label}: no run has {cell.metric}{hint}")
            found.append(float(known[cell.metric]) * cell.factor)
        return numpy.array(found)


def numbers_of(outcome: Outcome) -> dict[str, float]:
    """All numbers of a run, by name; a watched function also has cycles of the first core."""
    found = dict(Namer([outcome]).values(outcome))
    hz = outcome.cores[0].hz if outcome.cores else 0
    cycles = {
        name.removesuffix(_PS) + _CYCLES: value * hz / 10**12
        for name, value in found.items()
        if name.endswith(_PS)
    }
    return cycles | found


def sections_of(cells: Sequence[Cell], cores: Sequence[str]) -> tuple[str, ...]:
    """The functions that runs have to watch for the metrics of cells."""
    names = [
        cell.metric.rpartition(".")[0]
        for cell in cells
        if cell.metric.endswith((_PS, _CYCLES, ".calls"))
    ]
    return tuple(dict.fromkeys(name for name in names if name and name not in cores))


def check(target: Target, cells: Sequence[Cell], free: Sequence[Free]) -> None:
    """Raises `UsageError` for a run that is known to be impossible before it starts."""
    groups = list(dict.fromkeys(map(_group, cells)))
    ends = [tuple(0 for _ in free), tuple(len(one.values) - 1 for one in free)]
    rows = [_row(free, group, point) for point in ends for group in groups]
    batch = Batch(target, rows)
    for row, (_, settings) in enumerate(rows):
        try:
            batch.trial(row).check()
        except (EngineError, OSError) as error:
            point = " ".join(f"{path}={value}" for path, value in settings)
            raise UsageError(f"{point}: {' '.join(str(error).split())}") from None


def _group(cell: Cell) -> Group:
    return cell.base, tuple(sorted(cell.settings.items()))


def _row(free: Sequence[Free], group: Group, point: Point) -> Group:
    """The settings of a run for a group of cells, at a point."""
    base, settings = group
    changed = [(one.path, str(one.values[place])) for one, place in zip(free, point, strict=True)]
    return base, (*settings, *changed)
