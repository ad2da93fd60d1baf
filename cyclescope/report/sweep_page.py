"""A sweep as a page: the best row, the metrics over the settings, what matters, all rows.

`sweep_rows` prepares the data; `sweep_plots` and `sweep_map` draw it on the axes of `sweep_axes`.
"""

from __future__ import annotations

import importlib.metadata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cyclescope.report import colours, section, stacks, sweep_map, sweep_plots
from cyclescope.report.environment import environment
from cyclescope.report.page import MOST_AT_ONCE
from cyclescope.report.section import StackFigure, stack_figure
from cyclescope.report.sweep_map import Map
from cyclescope.report.sweep_plots import Plot
from cyclescope.report.sweep_rows import MOST_POINTS, View, by_value, stack_times, thinned, view
from cyclescope.report.text import RowName, plain
from cyclescope.sweeps import designs, words
from cyclescope.sweeps.results import SweepResult, SweepRow
from cyclescope.units import count, format_ps

# The page shows the first metrics; the table has all of them.
_MOST_METRICS = 3
# The most points of a page: each has its explanation, and its place.
_MOST_POINT_BYTES, _PLACE_BYTES = 1_800_000, 110
_MOST_BARS = 24
_MOST_REASONS = 20


@dataclass(frozen=True)
class Part:
    """The parts of the page for one metric."""

    view: View
    best: SweepRow
    worst: SweepRow
    plots: tuple[Plot, ...]
    map: Map | None
    price: Plot | None
    worth: tuple[SweepRow, ...]

    @property
    def ratio(self) -> float | None:
        """The factor between the best and the worst, 1 or more; None if one is 0."""
        low, high = sorted(abs(self.view.value(row)) for row in (self.best, self.worst))
        return high / low if low else None

    @property
    def mean_heading(self) -> str:
        """The heading of a column of means."""
        unit = self.view.scale.unit
        return f"mean, {unit}" if unit else "mean"

    def text(self, row: SweepRow) -> str:
        """A row's number with its unit, as plots show it."""
        unit = self.view.scale.unit
        return f"{plain(self.view.value(row))} {'' if unit == self.view.metric else unit}".rstrip()


@dataclass(frozen=True)
class Reason:
    """Why runs failed: how many, and the settings of one of them."""

    text: str
    times: int
    first: SweepRow


@dataclass(frozen=True)
class Stacks:
    """The cycle stacks of the best rows by the values of a setting; `left_out` have no bar."""

    factor: str
    metric: str
    figure: StackFigure
    left_out: int


def render(result: SweepResult) -> str:
    """The page of a sweep as HTML; the same result gives the same bytes."""
    views = [found for name in result.metrics[:_MOST_METRICS] if (found := view(result, name))]
    most = _most_points(views)
    filters: dict[str, Callable[..., Any]] = {
        "plain": plain,
        "count": count,
        "time": format_ps,
        "value": words.value,
        "short": words.short,
        "settings": words.settings,
        "part": words.part,
        "axis_value": words.axis_value,
        "with_unit": lambda name: words.with_unit(result, name),
        "number": words.number,
        "guess": lambda name: words.guess(result, name),
    }
    reasons = _reasons(result)
    return (
        environment(filters)
        .get_template("sweep.html.j2")
        .render(
            result=result,
            target=words.target(result),
            design=words.design(result),
            parts=[_part(one, f"metric-{number}", most) for number, one in enumerate(views)],
            stacks=_stacks(views[0]) if views else None,
            reasons=reasons[:_MOST_REASONS],
            more_reasons=len(reasons[_MOST_REASONS:]),
            failed=len(result.failures),
            is_priced=result.is_priced,
            is_grid=result.design.kind == designs.GRID,
            most_metrics=_MOST_METRICS,
            most_at_once=MOST_AT_ONCE,
            light=colours.values(dark=False),
            dark=colours.values(dark=True),
            version=importlib.metadata.version("cyclescope"),
        )
    )


def _most_points(views: Sequence[View]) -> int:
    """The most points of a plot."""
    if not views:
        return MOST_POINTS
    result = views[0].result
    plots = sum(min(len(one.axes), sweep_plots.MOST_AXES) + result.is_priced for one in views)
    of_point = len(views[0].tip(views[0].rows[0])) + _PLACE_BYTES
    return min(MOST_POINTS, _MOST_POINT_BYTES // of_point // max(plots, 1))


def _part(found: View, prefix: str, most: int) -> Part:
    result, metric = found.result, found.metric
    return Part(
        found,
        best=found.best(found.rows),
        worst=max(found.rows, key=lambda row: result.badness(row, metric)),
        plots=tuple(sweep_plots.plots(found, prefix, most)),
        map=sweep_map.draw(found, f"{prefix}-map"),
        price=sweep_plots.over_price(found, f"{prefix}-price", most),
        worth=result.pareto(metric),
    )


def _reasons(result: SweepResult) -> list[Reason]:
    """Reasons of failed runs, the most frequent first."""
    times = Counter(row.error or "" for row in result.failures)
    first = {row.error or "": row for row in reversed(result.failures)}
    return [Reason(text, number, first[text]) for text, number in times.most_common()]


def _stacks(found: View) -> Stacks | None:
    """The cycle stacks of the best row for each value of the first setting that varies."""
    order = {axis.path: number for number, axis in enumerate(found.result.axes)}
    axes = sorted(found.axes, key=lambda axis: min(order.get(path, 99) for path in axis.paths))
    if not axes:
        return None
    axis = axes[0]
    groups = by_value(axis, found.rows, len(axis.values))
    best = [found.best(rows) for _, rows in groups]
    shown = thinned(best, _MOST_BARS)
    others = _differing(found.result, shown, axis.paths)
    panel = stacks.of_times(
        [
            (
                RowName(sweep_plots.fitted(words.value(axis.of(row)), 44), _settings(row, others)),
                dict(stack_times(found.result, row)),
            )
            for row in shown
        ]
    )
    if panel is None:
        return None
    styles = colours.styles([section.shown(panel)])
    title = f"Cycle stacks by {axis.name}"
    figure = stack_figure(panel, styles, "stacks", title, {})
    if figure is None:
        return None
    return Stacks(axis.name, found.metric, figure, len(best) - len(shown))


def _differing(
    result: SweepResult, rows: Sequence[SweepRow], but_for: Sequence[str]
) -> tuple[str, ...]:
    """The columns in which these rows differ."""
    return tuple(
        name
        for name in result.columns
        if name not in but_for and len({row.settings.get(name, "") for row in rows}) > 1
    )


def _settings(row: SweepRow, columns: Sequence[str]) -> str:
    chosen = {name: row.settings[name] for name in columns if name in row.settings}
    return sweep_plots.fitted(words.settings(chosen), 64)
