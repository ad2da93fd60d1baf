"""Intervals of parameters, by their profiles: how much worse cells come out at each value.

A parameter is moved away from the best point, and the others follow within their bounds, by their
slopes there. A value is possible where that costs no more than the deviations of a 95 % interval.
Slopes of the parameter itself would say it only where cells go on moving alike: a latency that a
buffer hides has an end on one side.
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
"""A parameter, and the place of one of its values."""


@dataclass
class _Side:
    """What is known of a side: a place that is possible and one that is not, with their costs.

    A cost is the root of how much worse cells come out, in standard deviations.
    """

    at: int
    inside: int
    outside: int
    near: float = 0.0
    far: float = math.inf

    @property
    def is_open(self) -> bool:
        """Whether there are places between the two."""
        return abs(self.outside - self.inside) > 1

    def crossing(self, most: float) -> float:
        """Where the cost comes to `most`, on a straight line between the two."""
        part = (most - self.near) / (self.far - self.near)
        return self.inside + (self.outside - self.inside) * part

    def next(self, most: float, is_halved: bool) -> int:
        """The place between the two to try: where the line crosses, or the one in the middle.

        The line may lead to the same end again and again.
        """
        place = (self.inside + self.outside) / 2 if is_halved else self.crossing(most)
        low, high = sorted((self.inside, self.outside))
        return min(max(round(place), low + 1), high - 1)

    def narrow(self, place: int, cost: float, most: float) -> None:
        """Take a place as the one or the other."""
        if cost <= most:
            self.inside, self.near = place, cost
        else:
            self.outside, self.far = place, cost

    def end(self, most: float) -> int:
        """The last possible value: a true one between two integers is rounded to one of them."""
        if self.inside == self.outside:
            return self.inside
        place = self.crossing(most)
        return math.floor(place + 0.5) if self.outside > self.inside else math.ceil(place - 0.5)


def intervals(problem: Problem, found: Found, scale: float, most: float) -> list[tuple[int, int]]:
    """Of each span of a problem, the places of the first and the last possible value.

    `scale` is by how much cells' errors are larger than they were taken for, and `most` half an
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
        # all that is to be tried at once, so that runs are made side by side
        tried = [(side.at, side.next(most, is_halved)) for side in wide]
        for side, (_, place), cost in zip(wide, tried, costs(tried), strict=True):
            side.narrow(place, cost, most)
        is_halved = not is_halved
    found_ends = [side.end(most) for side in sides]
    return list(zip(found_ends[::2], found_ends[1::2], strict=True))


def _costs(problem: Problem, found: Found, scale: float, places: Sequence[_Place]) -> list[float]:
    """The squares of all deviations with a parameter at a place, where the others have followed."""
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
    """What each residual is divided by; a prior's stay as they are, if there is one to count."""
    cells, parameters = len(problem.chosen), len(problem.model.free)
    held = 1.0 if problem.prior is not None else math.inf
    return numpy.array([scale] * cells + [held] * parameters)
