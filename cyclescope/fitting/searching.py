"""The search for the values with which cells fit best.

Parameters are integers and each point costs runs, so SciPy's bounded least squares works on a
smooth approximation: the numbers at the nearest integers, and slopes by finite steps from there.
The result is then improved among the integers around it. Alternatives have no slopes: each
combination of them is tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy
from scipy import optimize

from cyclescope.errors import UsageError
from cyclescope.fitting.models import Array, Model, Point

MOST_COMBINATIONS = 64
# Weight of the board's own value: it holds parameters that no cell determines.
_HELD = 1e-6
_MOST_STEPS = 20
# Slopes of long ranges are taken over a fraction of the range: one unit would be lost in rounding.
_STEPS_OF_RANGE = 20
# The number of most promising integers around an estimate that are run.
_MOST_TRIED = 12
_PER_RUN = 1e-9


@dataclass(frozen=True)
class Problem:
    """What the fit minimises: cells' deviations in units of their errors, and those of a prior.

    `chosen` are the indices of the fitted cells. `errors` are standard deviations as fractions of
    the cells' values. `prior` is the standard deviation of the parameters around the board's
    values, as a fraction of their ranges; None for no prior.
    """

    model: Model
    chosen: Sequence[int]
    errors: Array
    prior: float | None = None
    _slopes: dict[Point, Array] = field(default_factory=dict, repr=False, compare=False)

    @property
    def widths(self) -> Array:
        """For each parameter, the number of steps from the first value to the last."""
        return numpy.array([free.width for free in self.model.free], float)

    @property
    def start(self) -> Point:
        """The board's own values, or those nearest to them."""
        return tuple(free.start for free in self.model.free)

    @property
    def spans(self) -> list[int]:
        """The indices of the parameters that have slopes."""
        return [at for at, free in enumerate(self.model.free) if free.is_span]

    def deviations(self, points: Sequence[Point]) -> Array:
        """For each point, a row of the chosen cells' relative deviations."""
        measured = numpy.array([cell.value for cell in self.model.cells])
        relative = self.model.values(points) / measured - 1
        return relative[:, self.chosen]

    def residuals(self, points: Sequence[Point]) -> Array:
        """For each point, a row of deviations in units of their errors, and those of the prior."""
        away = (numpy.array(points, float) - numpy.array(self.start)) / self.widths
        return numpy.hstack(
            [self.deviations(points) / self.errors[list(self.chosen)], away * self._held]
        )

    def costs(self, points: Sequence[Point]) -> Array:
        """The sum of the squares of a point's residuals."""
        return (self.residuals(points) ** 2).sum(axis=1)

    def slopes(self, point: Point) -> Array:
        """The change of each residual for a step of each span; one column for each of `spans`."""
        if point not in self._slopes:
            ends = [self._ends(point, at) for at in self.spans]
            found = self.residuals([one for pair in ends for one in pair])
            columns = [
                (found[2 * number + 1] - found[2 * number]) / (high[at] - low[at])
                for number, (at, (low, high)) in enumerate(zip(self.spans, ends, strict=True))
            ]
            self._slopes[point] = numpy.array(columns).T
        return self._slopes[point]

    @property
    def _held(self) -> float:
        return _HELD if self.prior is None else 1 / self.prior

    def _ends(self, point: Point, at: int) -> tuple[Point, Point]:
        last = len(self.model.free[at].values) - 1
        step = max(1, last // _STEPS_OF_RANGE)
        low, high = max(0, point[at] - step), min(last, point[at] + step)
        return _moved(point, {at: low}), _moved(point, {at: high})


@dataclass(frozen=True)
class Found:
    """Where a search ended, with its cost; `others` are the ends of searches from other starts."""

    point: Point
    cost: float
    others: tuple[tuple[Point, float], ...] = ()


def search(problem: Problem) -> Found:
    """The best point from the board's values, and from the other end of the ranges.

    Raises `UsageError` for too many combinations of alternatives.
    """
    ends: dict[Point, float] = {}
    for start in _starts(problem):
        point = _local(problem, start)
        ends[point] = float(problem.costs([point])[0])
    best = min(ends, key=lambda point: ends[point])
    others = tuple((point, cost) for point, cost in ends.items() if point != best)
    return Found(best, ends[best], others)


def _starts(problem: Problem) -> list[Point]:
    free = problem.model.free
    alternatives = [at for at in range(len(free)) if at not in problem.spans]
    sizes = [len(free[at].values) for at in alternatives]
    if prod(sizes) > MOST_COMBINATIONS:
        raise UsageError(
            f"--free: {prod(sizes):,} combinations of alternatives: {MOST_COMBINATIONS} at most"
        )
    here = problem.start
    across = _moved(here, {at: free[at].width - here[at] for at in problem.spans})
    return list(
        dict.fromkeys(
            _moved(start, dict(zip(alternatives, places, strict=True)))
            for start in (here, across)
            for places in itertools.product(*map(range, sizes))
        )
    )


def _local(problem: Problem, start: Point) -> Point:
    """The best point near a start, with its alternatives."""
    if not problem.spans:
        return start
    best = _estimated(problem, start)
    best = min((start, best), key=lambda point: float(problem.costs([point])[0]))
    for _ in range(_MOST_STEPS):
        near = _around(problem, best)
        costs = problem.costs(near)
        lowest = int(costs.argmin())
        now = float(problem.costs([best])[0])
        if costs[lowest] >= now * (1 - _PER_RUN):
            break
        best = near[lowest]
    return best


def _estimated(problem: Problem, start: Point) -> Point:
    """The least-squares solution for the smooth approximation, at the nearest integers."""
    spans = problem.spans
    highest = problem.widths[spans]

    def nearest(places: Array) -> Point:
        whole = numpy.clip(numpy.rint(places), 0, highest)
        return _moved(start, {at: int(place) for at, place in zip(spans, whole, strict=True)})

    def stand_in(places: Array) -> Array:
        point = nearest(places)
        off = places - numpy.array([point[at] for at in spans])
        found: Array = problem.residuals([point])[0] + problem.slopes(point) @ off
        return found

    found = optimize.least_squares(
        stand_in,
        # strictly between the bounds
        numpy.clip([float(start[at]) for at in spans], 1e-3, highest - 1e-3),
        jac=lambda places: problem.slopes(nearest(places)),
        bounds=(numpy.zeros(len(spans)), highest),
        x_scale=highest,
        xtol=1e-4,
        max_nfev=_MOST_STEPS,
    )
    return nearest(found.x)


def _around(problem: Problem, point: Point) -> list[Point]:
    """The most promising integers near a point: its neighbours, and those of a linear estimate."""
    spans = problem.spans
    slopes, residuals = problem.slopes(point), problem.residuals([point])[0]
    highest = problem.widths[spans]
    here = numpy.array([point[at] for at in spans], float)
    lowest, most = -here, highest - here
    step = optimize.lsq_linear(slopes, -residuals, bounds=(lowest - 1e-9, most + 1e-9)).x
    offsets = itertools.product((-1, 0, 1), repeat=min(len(spans), 6))
    tails = numpy.zeros(max(0, len(spans) - 6))
    around = [numpy.rint(step) + numpy.concatenate([one, tails]) for one in offsets]
    single = [sign * row for row in numpy.eye(len(spans)) for sign in (-1, 1)]
    halves = [numpy.rint(step * part) for part in (0.5, 0.25)]
    moves = [numpy.clip(move, lowest, most) for move in (*around, *halves)]
    moves.sort(key=lambda move: float(((residuals + slopes @ move) ** 2).sum()))
    chosen = [numpy.clip(move, lowest, most) for move in (*moves[:_MOST_TRIED], *halves, *single)]
    return list(
        dict.fromkeys(
            _moved(point, {at: int(here[n] + move[n]) for n, at in enumerate(spans)})
            for move in chosen
        )
    )


def _moved(point: Point, changes: dict[int, int]) -> Point:
    return tuple(changes.get(at, place) for at, place in enumerate(point))
