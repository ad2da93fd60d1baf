"""Which of the varied settings affect a metric most.

For a design for Sobol's indices, SALib computes them: the part of the variance that a setting
causes by itself (first order), and with all its interactions (total). For other designs, effects
are main effects: the mean over all rows with one value of a setting, and the part of the variance
that these means explain. For a full grid this is exactly the first-order index; for drawn points,
the part that chance alone would explain is subtracted.
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

# Values of a span are grouped with their neighbours: the number of groups, and the fewest rows of
# one.
_MOST_GROUPS = 8
_LEAST_IN_GROUP = 5
# The highest probability that a sweep names any setting that has no effect.
_CHANCE = 0.01


@dataclass(frozen=True)
class Effect:
    """What a setting does to a metric.

    `first` is the part of the variance that it causes by itself, 0 to 1, `total` the part with its
    interactions; `first_error` and `total_error` are half of their 95 % intervals. Only Sobol's
    indices have the last three. `best` and `worst` are the values with the best and the worst mean.
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
        """The number by which effects are sorted."""
        return self.first if self.total is None else self.total


@dataclass(frozen=True)
class Effects:
    """The effects of all settings on a metric, the largest first.

    `rest` is the part of the variance that no setting causes by itself: interactions. `note` says
    why there are no better figures, if there could be.
    """

    metric: str
    effects: tuple[Effect, ...]
    rest: float
    note: str = ""

    @property
    def has_totals(self) -> bool:
        """Whether the effects are Sobol's indices."""
        return any(effect.total is not None for effect in self.effects)


def effects(result: SweepResult, metric: str | None = None) -> Effects:
    """The effects of the varied settings on a metric, by default the sweep's first."""
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

    Drawn values correlate with the numbers by chance, too. For a setting without effect, the rank
    correlation (Spearman, 1904) is nearly normal with a standard deviation of 1 / sqrt(rows - 1).
    It has to exceed the value that one setting in a hundred sweeps reaches by chance, given the
    number of settings that were tried (Bonferroni). Too few rows show no effect: 20 settings need
    14 rows.
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
    """The ranks of values; equal values have the mean of theirs. Words come last."""
    keys = [(0, one, "") if isinstance(one, int | float) else (1, 0.0, one) for one in values]
    places: dict[tuple[int, float, str], list[int]] = {}
    for place, key in enumerate(sorted(keys)):
        places.setdefault(key, []).append(place)
    return [(places[key][0] + places[key][-1]) / 2 for key in keys]


def _factors(result: SweepResult) -> list[tuple[str, ...]]:
    """Columns that vary independently; columns that advance together are one factor."""
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
    """A part of the variance, less what as many groups of random rows would explain by chance.

    It is epsilon squared of the analysis of variance (Kelley, 1935). In a grid, chance explains
    nothing.
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
    """The effects with Sobol's indices, or as they are, with the reason why they are missing."""
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
