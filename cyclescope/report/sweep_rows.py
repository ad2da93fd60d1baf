"""The data of a sweep's page: a metric of its rows, and the settings that it is drawn over."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cyclescope.board.results import Value
from cyclescope.report.text import Scale, plain, scale_for
from cyclescope.sweeps import words
from cyclescope.sweeps.effects import Effects, effects
from cyclescope.sweeps.results import SweepResult, SweepRow
from cyclescope.units import count

MOST_POINTS = 2000
"""The most rows that a plot shows."""


@dataclass(frozen=True)
class Factor:
    """Columns that vary together, or one that varies by itself; the first represents all.

    `values` are the values of rows: numbers ascending, words in order of occurrence.
    """

    paths: tuple[str, ...]
    values: tuple[Value, ...]

    @property
    def name(self) -> str:
        """Its name on the page."""
        return " + ".join(map(words.short, self.paths))

    @property
    def is_numeric(self) -> bool:
        """Whether it has a place along an axis of numbers."""
        return all(_is_number(value) for value in self.values)

    def of(self, row: SweepRow) -> Value:
        """The value of a row."""
        return row.settings.get(self.paths[0], "")


@dataclass(frozen=True)
class View:
    """A metric of a sweep: the rows that have it, its unit in plots, its factors and effects.

    `factors` have two values or more. Those that matter most come first.
    """

    result: SweepResult
    metric: str
    rows: tuple[SweepRow, ...]
    scale: Scale
    factors: tuple[Factor, ...]
    effects: Effects

    @property
    def title(self) -> str:
        """The metric with its unit in plots."""
        unit = words.unit(self.result, self.metric)
        if not unit or unit == self.metric:
            return self.metric
        return f"{self.metric.removesuffix(f'_{unit}')} ({self.scale.unit})"

    @property
    def axes(self) -> list[Factor]:
        """The factors that the user varied, not what the experiment varies by itself."""
        given = {axis.path for axis in self.result.axes}
        return [factor for factor in self.factors if given.intersection(factor.paths)]

    @property
    def is_more_better(self) -> bool:
        """Whether more is better."""
        return self.result.measures[self.metric].is_more_better

    def value(self, row: SweepRow) -> float:
        """A row's number in the unit of plots."""
        return float(self.scale.of(row.values[self.metric]))

    def mean(self, rows: Sequence[SweepRow]) -> float:
        """The mean of some rows in the unit of plots."""
        return math.fsum(map(self.value, rows)) / len(rows)

    def best(self, rows: Iterable[SweepRow]) -> SweepRow:
        """The best of some rows."""
        return min(rows, key=lambda row: self.result.badness(row, self.metric))

    def tip(self, row: SweepRow) -> str:
        """A row in words: its number, all of its settings, its price."""
        unit = words.unit(self.result, self.metric)
        lines = [f"{self.metric}: {words.number(row, self.metric)} {unit}".rstrip()]
        lines.append(words.settings(row.settings, "\n"))
        if row.price is not None:
            lines.append(f"price {row.price:g}")
        return "\n".join(lines)

    def tip_of(self, what: str, rows: Sequence[SweepRow]) -> str:
        """Some rows in words: the mean, and the best and the worst with their settings."""
        if len(rows) == 1:
            return self.tip(rows[0])
        best = self.best(rows)
        numbers = sorted(map(self.value, rows))
        unit = self.scale.unit
        return (
            f"{what}: mean {plain(self.mean(rows))} {unit} of {count(len(rows), 'row')}, "
            f"{plain(numbers[0])} to {plain(numbers[-1])}\nthe best of them:\n{self.tip(best)}"
        )


def view(result: SweepResult, metric: str) -> View | None:
    """A metric of a sweep prepared for plots; None if no row has a number for it."""
    rows = tuple(row for row in result.rows if row.value(metric) is not None)
    finite = tuple(row for row in rows if math.isfinite(row.values[metric]))
    if len(finite) < len(rows):
        # an infinite number or NaN has no place, nor a part in any mean
        rows, result = finite, replace(result, rows=finite)
    if not rows:
        return None
    scale = scale_for(words.unit(result, metric), (abs(row.values[metric]) for row in rows))
    matters = effects(result, metric)
    order = {effect.name: place for place, effect in enumerate(matters.effects)}
    found = sorted(
        _factors(result, rows), key=lambda factor: order.get(" + ".join(factor.paths), len(order))
    )
    return View(result, metric, rows, scale, tuple(found), matters)


def _factors(result: SweepResult, rows: Sequence[SweepRow]) -> Iterator[Factor]:
    together = {path: group for group in result.design.zips for path in group}
    for paths in dict.fromkeys(together.get(name, (name,)) for name in result.columns):
        values = list(dict.fromkeys(row.settings.get(paths[0], "") for row in rows))
        if all(map(_is_number, values)):
            values.sort()
        if len(values) > 1:
            yield Factor(paths, tuple(values))


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def by_value(
    factor: Factor, rows: Iterable[SweepRow], most: int
) -> list[tuple[tuple[Value, ...], list[SweepRow]]]:
    """Rows by the factor's values, in their order; of more than `most`, neighbours together."""
    size = math.ceil(len(factor.values) / most)
    place = {value: number // size for number, value in enumerate(factor.values)}
    found: dict[int, list[SweepRow]] = {}
    for row in rows:
        found.setdefault(place[factor.of(row)], []).append(row)
    return [
        (factor.values[number * size : (number + 1) * size], found[number])
        for number in sorted(found)
    ]


def in_words(values: Sequence[Value]) -> str:
    """One value, or neighbours from the first to the last."""
    if len(values) == 1:
        return words.value(values[0])
    return f"{words.value(values[0])} to {words.value(values[-1])}"


def thinned(rows: Sequence[SweepRow], most: int, kept: Iterable[SweepRow] = ()) -> list[SweepRow]:
    """Of very many rows, `most` that are evenly selected, and those that are to be `kept`."""
    if len(rows) <= most:
        return list(rows)
    wanted = {id(row) for row in kept} | {id(rows[n * len(rows) // most]) for n in range(most)}
    return [row for row in rows if id(row) in wanted]


def stack_times(result: SweepResult, row: SweepRow) -> Mapping[str, int]:
    """The time of the first core by cause in a row's run, in picoseconds, without zeros."""
    core = next((name.partition(_STACK)[0] for name in result.measures if _STACK in name), None)
    start = f"{core}{_STACK}"
    return {
        name.removeprefix(start).removesuffix("_ps"): round(value)
        for name, value in row.values.items()
        if core is not None and name.startswith(start) and value > 0
    }


_STACK = ".stack."
