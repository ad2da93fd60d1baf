"""Intervals of parameters, from their profiles: how much worse the cells fit at each value.

A parameter is moved away from the best point, and the others follow within their bounds, by their
slopes there. A value is possible if the cost does not exceed the deviations of a 95 % interval.
The parameter's own slopes would give the interval only if cells kept changing at the same rate: for
a latency that a buffer hides, the interval is bounded on one side only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from scipy import optimize

from cyclescope.fitting.models import Array
from cyclescope.fitting.searching import Found, Problem

_Place = tuple[int, int]
"""The index of a parameter and the index of one of its values."""


@dataclass
class _Side:
    """One side of an interval: a possible value and an impossible one, with their costs.

    A cost is the root of how much worse the cells fit, in standard deviations.
    """

    at: int
    inside: int
    outside: int
    near: float = 0.0
    far: float = math.inf

    @property
    def is_open(self) -> bool:
        """Whether there are values between the two."""
        return abs(self.outside - self.inside) > 1

    def crossing(self, most: float) -> float:
        """Where the cost reaches `most`, on a straight line between the two."""
        part = (most - self.near) / (self.far - self.near)
        return self.inside + (self.outside - self.inside) * part

    def next(self, most: float, is_halved: bool) -> int:
        """The next value to try: where the line crosses, or the middle.

        The line alone may lead to the same end repeatedly.
        """
        place = (self.inside + self.outside) / 2 if is_halved else self.crossing(most)
        low, high = sorted((self.inside, self.outside))
        return min(max(round(place), low + 1), high - 1)

    def narrow(self, place: int, cost: float, most: float) -> None:
        """Replace the possible or the impossible value, depending on the cost."""
        if cost <= most:
            self.inside, self.near = place, cost
        else:
            self.outside, self.far = place, cost

    def end(self, most: float) -> int:
        """The last possible value: the exact end, rounded to one of the two integers around it."""
        if self.inside == self.outside:
            return self.inside
        place = self.crossing(most)
        return math.floor(place + 0.5) if self.outside > self.inside else math.ceil(place - 0.5)


def intervals(problem: Problem, found: Found, scale: float, most: float) -> list[tuple[int, int]]:
    """For each span of a problem, the indices of the first and the last possible value.

    `scale` is the factor by which the cells' errors are larger than assumed; `most` is half an
    interval in standard deviations.
    """
    spans = problem.spans
    if not spans:
        return []
    here = [(at, found.point[at]) for at in spans]
    least = dict(zip(spans, _costs(problem, found, scale, here), strict=True))

    def costs(places: Sequence[_Place]) -> list[float]:
        pairs = zip(places, _costs(problem, found, scale, places), strict=True)
        return [math.sqrt(max(0.0, cost - least[at])) for (at, _), cost in pairs]

    ends = [end for at in spans for end in ((at, 0), (at, len(problem.model.free[at].values) - 1))]
    sides = [_Side(at, found.point[at], end) for at, end in ends]
    for side, cost in zip(sides, costs(ends), strict=True):
        side.narrow(side.outside, cost, most)
    is_halved = False
    while wide := [side for side in sides if side.is_open]:
        # collect the values of all sides first, so that their runs are made in parallel
        tried = [(side.at, side.next(most, is_halved)) for side in wide]
        for side, (_, place), cost in zip(wide, tried, costs(tried), strict=True):
            side.narrow(place, cost, most)
        is_halved = not is_halved
    found_ends = [side.end(most) for side in sides]
    return list(zip(found_ends[::2], found_ends[1::2], strict=True))


def _costs(problem: Problem, found: Found, scale: float, places: Sequence[_Place]) -> list[float]:
    """The sums of squared deviations with a parameter at a value and the others adapted to it."""
    point = found.point
    moved = [(*point[:at], place, *point[at + 1 :]) for at, place in places]
    rows = problem.residuals(moved) / units(problem, scale)
    slopes = problem.slopes(point) / units(problem, scale)[:, None]
    low = -numpy.array([point[at] for at in problem.spans], float)
    high = problem.widths[problem.spans] + low
    costs = []
    for (at, _), row in zip(places, rows, strict=True):
        others = [n for n, other in enumerate(problem.spans) if other != at]
        if others:
            bounds = (low[others] - 1e-9, high[others] + 1e-9)
            step = optimize.lsq_linear(slopes[:, others], -row, bounds=bounds).x
            row = row + slopes[:, others] @ step
        costs.append(float((row**2).sum()))
    return costs


def units(problem: Problem, scale: float) -> Array:
    """The divisors of the residuals; those of a prior stay 1 if the problem has one."""
    cells, parameters = len(problem.chosen), len(problem.model.free)
    held = 1.0 if problem.prior is not None else math.inf
    return numpy.array([scale] * cells + [held] * parameters)
