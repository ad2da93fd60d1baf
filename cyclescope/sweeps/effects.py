"""Which setting matters how much for a metric, of what a sweep varied.

Of a design for Sobol's indices, SALib works them out: the part of the variance that a setting
causes by itself (first order), and with all its interactions (total). Of other designs it is the
main effects: the mean over all rows with one value of a setting, and which part of the variance
these means have. In a whole grid that is the first-order index, exactly; of points that were
drawn, what chance alone would have of it is taken off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from cyclescope.board.results import Value
from cyclescope.errors import UsageError
from cyclescope.sweeps import designs
from cyclescope.sweeps.results import SweepResult, SweepRow

# Values of a span are put together in so many groups of neighbours, with so many rows at least.
_MOST_GROUPS = 8
_LEAST_IN_GROUP = 5
# As likely it is at the most that any setting is named which does nothing.
_CHANCE = 0.01


@dataclass(frozen=True)
class Effect:
    """What a setting does to a metric.

    `first` is its part of the variance by itself, 0 to 1, `total` the one with its interactions;
    `first_error` and `total_error` are half of their 95 % intervals. The last three are of Sobol's
    indices alone. `best` and `worst` are the values with the best and the worst mean.
    """

    name: str
    first: float
    best: Value
    best_mean: float
    worst: Value
    worst_mean: float
    total: float | None = None
    first_error: float | None = None
    total_error: float | None = None

    @property
    def matters(self) -> float:
        """By what effects are put in order."""
        return self.first if self.total is None else self.total


@dataclass(frozen=True)
class Effects:
    """The effects of all settings on a metric, the largest first.

    `rest` is the part of the variance that no setting has by itself: what several do together.
    `note` says why there are no better figures, if there could be.
    """

    metric: str
    effects: tuple[Effect, ...]
    rest: float
    note: str = ""

    @property
    def has_totals(self) -> bool:
        """Whether these are Sobol's indices."""
        return any(effect.total is not None for effect in self.effects)


def effects(result: SweepResult, metric: str | None = None) -> Effects:
    """The effects of what was varied on a metric, by default the sweep's first."""
    name = metric or result.metrics[0]
    rows = [row for row in result.rows if row.value(name) is not None]
    found = [effect for factor in _factors(result) if (effect := _main(result, factor, rows, name))]
    note = ""
    if result.design.kind == designs.SOBOL and found:
        found, note = _sobol(result, found, rows, name)
    ordered = tuple(sorted(found, key=lambda effect: -effect.matters))
    return Effects(name, ordered, max(0.0, 1 - math.fsum(one.first for one in found)), note)


def is_significant(values: Sequence[Value], numbers: Sequence[float], settings: int) -> bool:
    """Whether rows show that a setting with these values moves the numbers, of all `settings`.

    Values that were drawn go along with the numbers by chance, too. Of a setting that does nothing,
    the rank correlation (Spearman, 1904) has a standard deviation of 1 / sqrt(rows - 1), and is
    nearly normal: it has to be larger than one setting in a hundred sweeps has by chance, of as
    many as were tried (Bonferroni). Too few rows tell that of none: 14 are needed for 20 settings.
    """
    rows = len(numbers)
    if rows < 2:
        return False
    deviations = NormalDist().inv_cdf(1 - _CHANCE / (2 * max(1, settings)))
    return abs(_rank_correlation(values, numbers)) * math.sqrt(rows - 1) > deviations


def _rank_correlation(values: Sequence[Value], numbers: Sequence[float]) -> float:
    middle = (len(numbers) - 1) / 2
    pairs = [(a - middle, b - middle) for a, b in zip(_ranks(values), _ranks(numbers), strict=True)]
    squares = [math.fsum(pair[side] ** 2 for pair in pairs) for side in (0, 1)]
    together = math.fsum(a * b for a, b in pairs)
    return together / math.sqrt(squares[0] * squares[1]) if all(squares) else 0.0


def _ranks(values: Sequence[Value]) -> list[float]:
    """The places of values in their order; equal ones have the mean of theirs. Words come last."""
    keys = [(0, one, "") if isinstance(one, int | float) else (1, 0.0, one) for one in values]
    places: dict[tuple[int, float, str], list[int]] = {}
    for place, key in enumerate(sorted(keys)):
        places.setdefault(key, []).append(place)
    return [(places[key][0] + places[key][-1]) / 2 for key in keys]


def _factors(result: SweepResult) -> list[tuple[str, ...]]:
    """What varies by itself; columns that advance together are one."""
    zips = result.design.zips
    together = {path: group for group in zips for path in group}
    return list(dict.fromkeys(together.get(name, (name,)) for name in result.columns))


def _main(
    result: SweepResult, factor: Sequence[str], rows: Sequence[SweepRow], metric: str
) -> Effect | None:
    """The main effect of a factor; None if it has one value only."""
    spans = {axis.path for axis in result.axes if axis.span is not None}
    valued = [(row.settings.get(factor[0], ""), row) for row in rows]
    groups = list(_groups(valued, factor[0] in spans))
    if len(groups) < 2:
        return None
    means = [(value, _mean(members, metric), len(members)) for value, members in groups]
    numbers = [row.values[metric] for row in rows]
    mean = math.fsum(numbers) / len(numbers)
    whole = math.fsum((number - mean) ** 2 for number in numbers)
    between = math.fsum(size * (one - mean) ** 2 for _, one, size in means)
    sign = -1 if result.measures[metric].is_more_better else 1
    ordered = sorted(means, key=lambda one: sign * one[1])
    (best, best_mean, _), (worst, worst_mean, _) = ordered[0], ordered[-1]
    first = min(1.0, between / whole) if whole else 0.0
    if result.design.kind != designs.GRID:
        first = _without_chance(first, len(rows), len(means))
    return Effect(" + ".join(factor), first, best, best_mean, worst, worst_mean)


def _without_chance(part: float, rows: int, groups: int) -> float:
    """A part of the variance less what groups of rows drawn by chance have of it anyway.

    It is epsilon squared of the analysis of variance (Kelley, 1935). A grid has nothing by chance.
    """
    if rows <= groups:
        return 0.0
    return max(0.0, 1 - (1 - part) * (rows - 1) / (rows - groups))


def _groups(
    valued: Sequence[tuple[Value, SweepRow]], is_span: bool
) -> Iterator[tuple[Value, list[SweepRow]]]:
    """Rows by their value; of a span or very many numbers, neighbours together by the middle one.

    Values that were drawn of a span are hardly ever the same: each by itself says nothing.
    """
    by_value: dict[Value, list[SweepRow]] = {}
    for value, row in valued:
        by_value.setdefault(value, []).append(row)
    numbers = [value for value in by_value if isinstance(value, int | float)]
    is_many = is_span or len(by_value) > 4 * _MOST_GROUPS
    if not is_many or len(numbers) < len(by_value):
        yield from by_value.items()
        return
    ordered = sorted(numbers)
    groups = min(_MOST_GROUPS, max(2, len(valued) // _LEAST_IN_GROUP))
    size = math.ceil(len(ordered) / groups)
    for at in range(0, len(ordered), size):
        values = ordered[at : at + size]
        yield values[len(values) // 2], [row for value in values for row in by_value[value]]


def _mean(rows: Sequence[SweepRow], metric: str) -> float:
    return math.fsum(row.values[metric] for row in rows) / len(rows)


def _sobol(
    result: SweepResult, found: Sequence[Effect], rows: Sequence[SweepRow], metric: str
) -> tuple[list[Effect], str]:
    """The effects with Sobol's indices, or as they are, with why there are none."""
    if len(rows) < result.planned:
        missing = result.planned - len(rows)
        return list(
            found
        ), f"no Sobol indices: they need all {result.planned} runs, {missing} have no result"
    numbers = [row.values[metric] for row in rows]
    if len(set(numbers)) < 2:
        return list(found), f"no Sobol indices: {metric} is the same in all runs"
    indices = _analyze(len(result.axes), numbers, result.design.seed)
    by_path = dict(zip((axis.path for axis in result.axes), indices, strict=True))
    return [
        Effect(
            effect.name,
            by_path[effect.name][0],
            effect.best,
            effect.best_mean,
            effect.worst,
            effect.worst_mean,
            total=by_path[effect.name][2],
            first_error=by_path[effect.name][1],
            total_error=by_path[effect.name][3],
        )
        for effect in found
    ], ""


def _analyze(
    dimensions: int, numbers: Sequence[float], seed: int
) -> list[tuple[float, float, float, float]]:
    """First-order index, its error, total index, its error, of each axis."""
    try:
        import numpy
        from SALib.analyze import sobol
    except ImportError as absent:
        raise UsageError(designs.NO_SALIB) from absent
    found = sobol.analyze(
        designs.problem(dimensions), numpy.array(numbers, float), calc_second_order=False, seed=seed
    )
    columns = (found[name].tolist() for name in ("S1", "S1_conf", "ST", "ST_conf"))
    return list(zip(*columns, strict=True))
