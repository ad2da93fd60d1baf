"""Plots of a sweep's metric over one setting, or over the price: lines, points, dots by word."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes

from cyclescope.board.results import Value
from cyclescope.report import figures, spans, svg, words
from cyclescope.report.colours import stand_in
from cyclescope.report.lines import FULL, Look, Size, axes_of, looks, name_ends, right_of, stroke
from cyclescope.report.spans import Span
from cyclescope.report.sweep_axes import Across, across, along, span_of, upright
from cyclescope.report.sweep_rows import (
    MOST_POINTS,
    Factor,
    View,
    by_value,
    in_words,
    thinned,
)
from cyclescope.report.text import RowName, plain
from cyclescope.sweeps import words as sweep_words
from cyclescope.sweeps.results import SweepRow
from cyclescope.units import count

MOST_AXES = 6
"""The most settings that have plots: those that matter most."""
# The most values of the other axis that lines can distinguish.
_MOST_LINES = 8
_MOST_ALONG = 300
_MOST_WORDS = 40
# The right margin of a plot without names.
_NO_NAMES = 16
_WORD_ROW = 26
# The most letters of a row's name; the distance of the numbers of priced points, in SVG units.
_MOST_LETTERS, _LEAST_APART = 60, 15
# The most letters of a name at a line's end.
_MOST_BESIDE = 32


@dataclass(frozen=True)
class Plot:
    """A plot with its title and its introduction."""

    title: str
    text: str
    svg: Markup


def fitted(name: str, most: int = _MOST_LETTERS) -> str:
    """A name cut to its length: the end of a long one, such as a path, is the most informative."""
    return name if len(name) <= most else f"…{name[1 - most :]}"


def over(view: View, factor: Factor, prefix: str, most: int = MOST_POINTS) -> Plot:
    """The metric over one setting: lines or dots for a grid, points for drawn samples."""
    title = f"{view.metric} over {factor.name}"
    if not factor.is_numeric:
        return _by_word(view, factor, prefix, f"{view.metric} by {factor.name}", most)
    if view.result.design.kind == "grid":
        return _lines(view, factor, prefix, title)
    return _points(view, factor, prefix, title, most)


def _lines(view: View, factor: Factor, prefix: str, title: str) -> Plot:
    others = [other for other in view.factors if other.paths != factor.paths]
    has_lines = len(others) == 1 and len(others[0].values) <= _MOST_LINES
    groups: list[tuple[str, Sequence[SweepRow]]] = [("", view.rows)]
    if has_lines:
        groups = [
            (sweep_words.value(value), [row for row in view.rows if others[0].of(row) == value])
            for value in others[0].values
        ]
        groups = [group for group in groups if group[1]]
    drawn = [(name, by_value(factor, rows, _MOST_ALONG)) for name, rows in groups]
    has_band = any(len(rows) > 1 for _, points in drawn for _, rows in points)
    span = span_of([view.value(row) for row in view.rows])
    right = (
        right_of([fitted(name, _MOST_BESIDE) for name, _ in drawn], FULL)
        if has_lines
        else _NO_NAMES
    )
    axes, figure = axes_of(right, FULL)
    axis = _across(view, factor)
    swarms: dict[str, list[str]] = {}
    ends = []
    for number, ((name, points), look) in enumerate(
        zip(drawn, looks([name for name, _ in drawn]), strict=True)
    ):
        places = [axis.places[values[len(values) // 2]] for values, _ in points]
        means = [view.mean(rows) for _, rows in points]
        if has_band:
            _band(axes, places, [list(map(view.value, rows)) for _, rows in points], look)
        stroke(axes, places, [span.drawn(mean) for mean in means], look)
        gid = f"point-{number}"
        _swarm(axes, places, [span.drawn(mean) for mean in means], look, gid, len(points) > 60)
        swarms[gid] = [
            view.tip_of(f"{factor.name}={in_words(values)}", rows) for values, rows in points
        ]
        ends.append((means[-1], fitted(name, _MOST_BESIDE), look))
    axis.draw(axes, factor.name, FULL.width - FULL.left - right)
    upright(axes, span, view.title)
    if has_lines:
        name_ends(axes, ends, span, FULL)
    text = _about_lines(factor, others[0].name if has_lines else "", has_band)
    return Plot(title, text, svg.inline(figure, prefix, title, {}, swarms=swarms))


def _about_lines(factor: Factor, line: str, has_band: bool) -> str:
    parts = [f"A line for each {line}."] if line else []
    if has_band:
        parts.append(
            "The line is the mean over the rows with a value, the band reaches from the least of "
            "them to the greatest."
        )
    if len(factor.values) > _MOST_ALONG:
        parts.append("Neighbouring values are grouped.")
    return " ".join(parts)


def _across(view: View, factor: Factor) -> Across:
    """The axis of a factor; values that were drawn by logarithms are shown by logarithms, too."""
    span = next((axis.span for axis in view.result.axes if axis.path == factor.paths[0]), None)
    return across(factor.values, span.is_log if span else None)


def _band(
    axes: Axes, places: Sequence[float], values: Sequence[Sequence[float]], look: Look
) -> None:
    axes.fill_between(
        places,
        [min(own) for own in values],
        [max(own) for own in values],
        color=look.style.colour,
        alpha=0.16,
        linewidth=0,
    )


def _swarm(
    axes: Axes,
    places: Sequence[float],
    heights: Sequence[float],
    look: Look,
    gid: str,
    small: bool,
    alpha: float = 1,
) -> None:
    """Points with the same look, each with its own explanation."""
    (points,) = axes.plot(
        places,
        heights,
        marker=look.marker,
        markersize=3.2 if small else 5,
        color=look.style.colour,
        markeredgecolor=stand_in("page"),
        markeredgewidth=0.3 if small else 0.6,
        linestyle="none",
        alpha=alpha,
        zorder=3,
        clip_on=False,
    )
    points.set_gid(gid)


def _shown(rows: Sequence[SweepRow], drawn: Sequence[SweepRow]) -> str:
    if len(drawn) == len(rows):
        return ""
    return f" Shown are {len(drawn):,} of {count(len(rows), 'row')}, evenly selected."


def _points(view: View, factor: Factor, prefix: str, title: str, most: int) -> Plot:
    best = view.best(view.rows)
    rows = thinned(view.rows, most, [best])
    axis = _across(view, factor)
    axes, figure = axes_of(_NO_NAMES, FULL)
    span = span_of([view.value(row) for row in view.rows])
    places = [axis.places[factor.of(row)] for row in rows]
    _swarm(
        axes,
        places,
        [span.drawn(view.value(row)) for row in rows],
        looks([""])[0],
        "point-0",
        len(rows) > 150,
        0.75,
    )
    _ring(axes, axis.places[factor.of(best)], span.drawn(view.value(best)))
    axis.draw(axes, factor.name, FULL.width - FULL.left - _NO_NAMES)
    upright(axes, span, view.title)
    text = f"Each point is a row; the best has a ring.{_shown(view.rows, rows)}"
    swarms = {"point-0": list(map(view.tip, rows))}
    return Plot(title, text, svg.inline(figure, prefix, title, {}, swarms=swarms))


def _ring(axes: Axes, x: float, y: float) -> None:
    axes.plot(
        [x],
        [y],
        marker="o",
        markersize=10,
        color="none",
        markeredgecolor=stand_in("ink"),
        markeredgewidth=1.2,
        linestyle="none",
        clip_on=False,
        zorder=4,
    )


def _by_word(view: View, factor: Factor, prefix: str, title: str, most: int) -> Plot:
    """Dots of all rows for each word, side by side, and their mean as a stroke."""
    groups = [(values[0], rows) for values, rows in by_value(factor, view.rows, len(factor.values))]
    sign = -1 if view.is_more_better else 1
    groups.sort(key=lambda group: sign * view.mean(group[1]))
    kept = groups[:_MOST_WORDS]
    names = [RowName(fitted(sweep_words.value(value)), "") for value, _ in kept]
    heights = [_WORD_ROW] * len(kept)
    figure, axes = figures.chart(names, heights, right=70)
    span = span_of([view.value(row) for _, rows in kept for row in rows])
    swarms: dict[str, list[str]] = {}
    marks: dict[str, str] = {}
    is_thinned = False
    has_means = any(len(rows) > 1 for _, rows in kept)
    if not has_means and all(view.value(rows[0]) >= 0 for _, rows in kept):
        span = spans.linear([view.value(rows[0]) for _, rows in kept])
    look = looks([""])[0]
    for number, ((value, rows), centre) in enumerate(
        zip(kept, figures.centres(heights), strict=True)
    ):
        drawn = thinned(rows, max(1, most // len(kept)), [view.best(rows)])
        is_thinned = is_thinned or len(drawn) < len(rows)
        numbers = list(map(view.value, drawn))
        mean = span.drawn(view.mean(rows))
        if not has_means:
            axes.plot([span.low, mean], [centre, centre], color=look.style.colour, linewidth=1.4)
        elif len(rows) > 1:
            marks[f"mean-{number}"] = view.tip_of(f"{factor.name}={sweep_words.value(value)}", rows)
            _stem(axes, min(numbers), max(numbers), mean, centre, f"mean-{number}")
        gid = f"point-{number}"
        swarms[gid] = list(map(view.tip, drawn))
        shown = [span.drawn(one) for one in numbers]
        _swarm(axes, shown, [centre] * len(shown), look, gid, len(rows) > 30, 0.75)
        words.after(axes, plain(view.mean(rows), 4), span.high, centre, figures.FONT - 0.5)
    along(axes, span, view.title)
    parts = ["The best first."]
    if has_means:
        parts = ["The best mean first. Each dot is a row; strokes and numbers are the means."]
    if len(groups) > len(kept):
        parts.append(f"Shown are {len(kept)} of {len(groups):,} values.")
    if is_thinned:
        parts.append(f"Of very many rows some {most:,} are shown, evenly selected.")
    text = " ".join(parts)
    return Plot(title, text, svg.inline(figure, prefix, title, marks, swarms=swarms))


def _stem(axes: Axes, low: float, high: float, mean: float, centre: float, gid: str) -> None:
    axes.plot([low, high], [centre, centre], color=stand_in("rule"), linewidth=3, zorder=1)
    (stroke_of_mean,) = axes.plot(
        [mean, mean],
        [centre - 9, centre + 9],
        color=stand_in("ink"),
        linewidth=2.2,
        zorder=4,
    )
    stroke_of_mean.set_gid(gid)


def over_price(view: View, prefix: str, most: int = MOST_POINTS) -> Plot | None:
    """The metric over the price, with a line through the best rows; None without prices."""
    worth = view.result.pareto(view.metric)
    priced = [row for row in view.rows if row.price is not None]
    if not worth or len({row.price for row in priced}) < 2:
        return None
    title = f"{view.metric} over the price"
    rows = thinned(priced, most, worth)
    axes, figure = axes_of(_NO_NAMES, FULL)
    span = span_of([view.value(row) for row in priced])
    prices: list[Value] = sorted({row.price or 0.0 for row in priced})
    axis = across(prices)
    plain_look, worth_look = looks(["rows", "worth"])
    is_worth = set(map(id, worth))
    others = [row for row in rows if id(row) not in is_worth]
    swarms: dict[str, list[str]] = {}
    for gid, drawn, look in (("point-0", others, plain_look), ("point-1", worth, worth_look)):
        if not drawn:
            continue
        places = [axis.places[row.price or 0.0] for row in drawn]
        heights = [span.drawn(view.value(row)) for row in drawn]
        small, alpha = len(drawn) > 150, 0.6 if drawn is others else 1
        _swarm(axes, places, heights, look, gid, small, alpha)
        swarms[gid] = list(map(view.tip, drawn))
    numbered = list(_number_worth(view, worth, axis, span))
    _stairs(axes, worth, view, axis, span, worth_look)
    axis.draw(axes, "price", FULL.width - FULL.left - _NO_NAMES)
    upright(axes, span, view.title)
    for number, x, y in numbered:
        _name_number(axes, number, x, y, FULL)
    text = "The stairs join the rows that no cheaper row equals; the table below has their numbers."
    return Plot(
        title, text + _shown(priced, rows), svg.inline(figure, prefix, title, {}, swarms=swarms)
    )


def _stairs(
    axes: Axes, worth: Sequence[SweepRow], view: View, axis: Across, span: Span, look: Look
) -> None:
    places = [axis.places[row.price or 0.0] for row in worth]
    heights = [span.drawn(view.value(row)) for row in worth]
    # the best row stays the best at any higher price
    axes.step(
        [*places, max(axis.places.values())],
        [*heights, heights[-1]],
        where="post",
        color=look.style.colour,
        linewidth=1.4,
        zorder=2,
    )


def _number_worth(
    view: View, worth: Iterable[SweepRow], axis: Across, span: Span
) -> Iterator[tuple[int, float, float]]:
    """The numbers of priced rows with their places, except for those close to the one before."""
    low, high = min(axis.places.values()), max(axis.places.values())
    last = (-1000.0, -1000.0)
    for number, row in enumerate(worth, start=1):
        x, y = axis.places[row.price or 0.0], span.drawn(view.value(row))
        at = ((x - low) / (high - low) * 600, span.fraction(y) * FULL.plot_height)
        room = _LEAST_APART + 5 * len(str(number))
        if abs(at[0] - last[0]) >= room or abs(at[1] - last[1]) >= _LEAST_APART:
            yield number, x, y
            last = at


def _name_number(axes: Axes, number: int, x: float, y: float, size: Size) -> None:
    axes.annotate(
        str(number),
        (x, y),
        xytext=(6, 6),
        textcoords="offset points",
        fontsize=size.font,
        fontweight="bold",
        color=stand_in("ink"),
        annotation_clip=False,
        zorder=5,
    )


def plots(view: View, prefix: str, most: int) -> Iterator[Plot]:
    """A plot for each axis, those that matter most first."""
    for number, factor in enumerate(itertools.islice(view.axes, MOST_AXES)):
        yield over(view, factor, f"{prefix}-over-{number}", most)
