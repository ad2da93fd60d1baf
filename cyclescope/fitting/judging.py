"""How well cells determine the values that were found, and which parameters they can't distinguish.

Intervals come from `profiling`. Around the best point, cells change linearly, by their slopes.
Cells do not determine a combination of parameters whose standard deviation is as large as the
parameters' ranges; such a combination is reported with its parameters. If the table has no errors,
the remaining deviations estimate them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from scipy import stats

from cyclescope.fitting.models import Array, Point
from cyclescope.fitting.parameters import Free
from cyclescope.fitting.profiling import intervals, units
from cyclescope.fitting.searching import Found, Problem

# Half of a 95 % interval, as a fraction of the range, above which cells do not determine a value.
_VAGUE = 0.5
# The smallest part of a parameter that belongs to a direction in which no cell changes.
_TAKES_PART = 0.3
# The cosine of two parameters' columns above which cells react to both in the same way.
SIMILAR = 0.98
_CONFIDENCE = 0.975
# A relative deviation below this counts as none.
_NOTHING = 1e-9

DETERMINED, NO_EFFECT, WEAK, TOGETHER = "told", "no effect", "weak", "together"


@dataclass(frozen=True)
class Judgement:
    """How well cells determine a parameter: an interval `low` to `high`, or possible alternatives.

    `told` is `DETERMINED`, `NO_EFFECT` (no cell depends on it), `WEAK` (any value is about as
    good), or `TOGETHER` (cells determine only a combination with others: `Undetermined`).
    """

    free: Free
    value: int
    told: str
    possible: tuple[int, ...]


@dataclass(frozen=True)
class Undetermined:
    """Parameters that cells determine only in combination, with the number of `combinations`.

    `weights` has the factors of the one combination of two parameters.
    """

    paths: tuple[str, ...]
    combinations: int
    weights: tuple[float, ...] = ()

    @property
    def words(self) -> str:
        """The finding as a sentence."""
        names = " and ".join([", ".join(self.paths[:-1]), self.paths[-1]])
        if self.weights:
            return f"{names} can't be distinguished: these cells determine only {self._combination}"
        number = "nothing" if not self.combinations else f"only {self.combinations} combination"
        plural = "s" if self.combinations > 1 else ""
        return f"{names} can't be distinguished: these cells determine {number}{plural} of them"

    @property
    def _combination(self) -> str:
        ratio = self.weights[1] / self.weights[0]
        if abs(ratio - 1) < 0.1:
            return "their sum"
        if abs(ratio + 1) < 0.1:
            return "their difference"
        sign = "+" if ratio > 0 else "-"
        return f"{self.paths[0]} {sign} {abs(ratio):.2g} x {self.paths[1]}"


@dataclass(frozen=True)
class Judged:
    """How well cells determine parameters, singly and in combination, and which pairs hardly
    differ.

    `alike` are pairs of determined parameters with nearly proportional effects on the cells, with
    the cosine of their columns.
    """

    parameters: tuple[Judgement, ...]
    untold: tuple[Undetermined, ...]
    alike: tuple[tuple[str, str, float], ...]


def judge(problem: Problem, found: Found) -> Judged:
    """How well the chosen cells of a problem determine the point that was found."""
    free = problem.model.free
    spans = problem.spans
    scale = _scale(problem, found)
    slopes = _scaled(problem, found.point, scale)
    widths = problem.widths[spans]
    factor = _factor(problem)
    effective = [n for n in range(len(spans)) if _depends(problem, found.point, spans[n])]
    places = intervals(problem, found, scale, factor)
    weak = [n for n in effective if _alone(slopes[:, n], factor) > _VAGUE]
    strong = [n for n in effective if n not in weak]
    groups = _groups(slopes, strong, factor, widths, [free[at].path for at in spans])
    together = {path for group in groups for path in group.paths}
    judgements = []
    for at, one in enumerate(free):
        value = one.values[found.point[at]]
        if not one.is_span:
            judgements.append(_alternatives(problem, found, at, scale * factor))
            continue
        n = spans.index(at)
        low, high = places[n]
        # the slopes may be those of a side on which no cell changes: the other side may determine
        # it
        is_weak = n in weak and high - low >= _VAGUE * one.width
        told = NO_EFFECT if n not in effective else WEAK if is_weak else DETERMINED
        told = TOGETHER if one.path in together else told
        judgements.append(Judgement(one, value, told, (one.values[low], one.values[high])))
    alike = _similar_pairs(slopes, strong, [free[at].path for at in spans], together)
    return Judged(tuple(judgements), groups, alike)


def _scale(problem: Problem, found: Found) -> float:
    """The factor by which the cells' errors are larger than assumed.

    Errors that a table states are not made smaller.
    """
    cells = [problem.model.cells[at] for at in problem.chosen]
    deviations = problem.deviations([found.point])[0] / problem.errors[list(problem.chosen)]
    counted = _counted(problem)
    freedom = counted - len(problem.model.free)
    left = float((deviations**2).mean()) * counted / freedom if freedom > 0 else 1.0
    stated = all(cell.error is not None for cell in cells)
    rounding = numpy.array([cell.rounding for cell in cells]) / 3**0.5
    least = (
        1.0 if stated else float(((rounding / problem.errors[list(problem.chosen)]) ** 2).mean())
    )
    return max(left, least) ** 0.5


def _factor(problem: Problem) -> float:
    """Half an interval in standard deviations: Student's t for the remaining degrees of freedom."""
    freedom = max(1, _counted(problem) - len(problem.model.free))
    return float(stats.t.ppf(_CONFIDENCE, freedom))


def _counted(problem: Problem) -> int:
    """The number of cells; cells that follow from one another count once, repeated ones each."""
    cells = [problem.model.cells[at] for at in problem.chosen]
    named = {cell.independent for cell in cells if cell.independent}
    return len(named) + sum(not cell.independent for cell in cells)


def _scaled(problem: Problem, point: Point, scale: float) -> Array:
    """Slopes over whole ranges, in units of the remaining errors; a prior's stay unscaled."""
    if not problem.spans:
        return numpy.zeros((1, 0))
    slopes = problem.slopes(point) / units(problem, scale)[:, None]
    scaled: Array = slopes * problem.widths[problem.spans]
    return scaled


def _depends(problem: Problem, point: Point, at: int) -> bool:
    """Whether any cell changes with a parameter between the ends of its range."""
    last = len(problem.model.free[at].values) - 1
    ends = [(*point[:at], place, *point[at + 1 :]) for place in (0, last)]
    low, here, high = problem.deviations([ends[0], point, ends[1]])
    return bool(max(abs(low - here).max(), abs(high - here).max()) > _NOTHING)


def _alone(column: Array, factor: float) -> float:
    """Half an interval, as a fraction of the range, if all other parameters were known."""
    length = float(numpy.linalg.norm(column))
    return factor / length if length else numpy.inf


def _groups(
    slopes: Array, strong: Sequence[int], factor: float, widths: Array, paths: Sequence[str]
) -> tuple[Undetermined, ...]:
    """Parameters that are part of a combination that cells do not determine."""
    if len(strong) < 2:
        return ()
    _, sizes, rows = numpy.linalg.svd(slopes[:, strong], full_matrices=True)
    sizes = numpy.concatenate([sizes, numpy.zeros(len(strong) - len(sizes))])
    directions = [row for size, row in zip(sizes, rows, strict=True) if factor > _VAGUE * size]
    groups: list[set[int]] = []
    for row in directions:
        members = {n for n, part in enumerate(row) if abs(part) >= _TAKES_PART}
        joined = [group for group in groups if group & members]
        groups = [group for group in groups if group not in joined]
        groups.append(members.union(*joined))
    return tuple(_undetermined(group, directions, strong, widths, paths) for group in groups)


def _undetermined(
    group: set[int],
    directions: Sequence[Array],
    strong: Sequence[int],
    widths: Array,
    paths: Sequence[str],
) -> Undetermined:
    members = sorted(group)
    own = [row for row in directions if any(abs(row[n]) >= _TAKES_PART for n in members)]
    told = len(members) - len(own)
    names = tuple(paths[strong[n]] for n in members)
    if len(members) == 2 and told == 1:
        # no cell changes along this direction; cells determine the combination perpendicular to it
        first, second = (own[0][n] * widths[strong[n]] for n in members)
        return Undetermined(names, 1, (1.0, -first / second))
    return Undetermined(names, max(0, told))


def _similar_pairs(
    slopes: Array, strong: Sequence[int], paths: Sequence[str], together: set[str]
) -> tuple[tuple[str, str, float], ...]:
    found = []
    for at, n in enumerate(strong):
        for other in strong[:at]:
            lengths = numpy.linalg.norm(slopes[:, n]) * numpy.linalg.norm(slopes[:, other])
            cosine = float(slopes[:, n] @ slopes[:, other] / lengths)
            if abs(cosine) > SIMILAR and not {paths[n], paths[other]} <= together:
                found.append((paths[other], paths[n], round(cosine, 4)))
    return tuple(found)


def _alternatives(problem: Problem, found: Found, at: int, most: float) -> Judgement:
    """The alternatives about as good as the best, each with the best of all other values."""
    free = problem.model.free[at]
    best: dict[int, float] = {}
    for point, cost in ((found.point, found.cost), *found.others):
        best[point[at]] = min(cost, best.get(point[at], numpy.inf))
    near = [place for place, cost in sorted(best.items()) if cost - found.cost <= most**2]
    others = [abs(cost - found.cost) for cost in best.values()]
    told = DETERMINED if len(near) == 1 else WEAK
    if len(near) == len(free.values) and max(others) < _NOTHING:
        told = NO_EFFECT
    values = tuple(free.values[place] for place in near)
    return Judgement(free, free.values[found.point[at]], told, values)
