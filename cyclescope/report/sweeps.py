"""Plots of a measurement over a setting, a line for each value of another one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from cyclescope.bench.pivots import in_words, value_of
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Sweep
from cyclescope.report import spans, svg
from cyclescope.report.colours import stand_in
from cyclescope.report.figures import FONT, LETTER
from cyclescope.report.lines import (
    FULL,
    SMALL,
    Look,
    Size,
    axes_of,
    looks,
    name_ends,
    right_of,
    stroke,
    upright,
)
from cyclescope.report.text import plain, plausible

# The least distance of the ticks of a logarithmic axis.
_LEAST_TICKS = 29


@dataclass(frozen=True)
class Plot:
    """A plot with its title."""

    title: str
    svg: Markup


@dataclass(frozen=True)
class Line:
    """The rows of one line by their value of the swept setting; `level` has none and spans all.

    `published` takes the rows' published numbers instead of the simulated ones. Lines with the same
    `of` have one colour.
    """

    name: str
    points: tuple[tuple[str, Row], ...]
    level: bool
    of: str
    published: bool = False

    def value(self, row: Row) -> float:
        """A row's value in the line."""
        return row.published or 0 if self.published else row.simulated


def plots(result: ExperimentResult) -> Iterator[Plot]:
    """An experiment's plots: for each sweep, board and value of settings that split plots."""
    for number, (sweep, title, rows) in enumerate(_groups(result)):
        yield Plot(title, _draw(sweep, rows, f"{result.name}-sweep-{number}", title, FULL))


def preview(result: ExperimentResult) -> Plot | None:
    """The first plot with published numbers, or else the first, drawn small; None without any."""
    groups = _groups(result)
    known = [
        group for group in groups if any(row.published is not None for row in group[2])
    ] or groups
    if not known:
        return None
    sweep, title, rows = known[0]
    return Plot(title, _draw(sweep, rows, f"{result.name}-preview", title, SMALL))


def _groups(result: ExperimentResult) -> list[tuple[Sweep, str, list[Row]]]:
    """The rows of each plot, with its title, in the order of the plots."""
    found: dict[tuple[Sweep, str], list[Row]] = {}
    for row in result.rows:
        for sweep in row.sweeps:
            of = [] if sweep.together else [row.board]
            each = [_called(sweep, row, sweep.each)] if sweep.each else []
            found.setdefault((sweep, ", ".join(of + each)), []).append(row)
    ordered = sorted(found.items(), key=lambda plot: plot[0][0].order)
    return [
        (sweep, f"{sweep.title}: {shown}" if shown else sweep.title, rows)
        for (sweep, shown), rows in ordered
    ]


def lines(sweep: Sweep, rows: Sequence[Row]) -> list[Line]:
    """The lines of a plot, in the order of their first rows; published ones come first."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(_called(sweep, row, sweep.line), []).append(row)
    found = [_line(sweep, name, rows) for name, rows in by_name.items()]
    return [*_published(sweep, by_name), *found]


def _published(sweep: Sweep, by_name: Mapping[str, Sequence[Row]]) -> Iterator[Line]:
    """A line for each one that has published numbers, named after it if there are many."""
    if sweep.published is None:
        return
    known = {
        name: [row for row in rows if row.published is not None] for name, rows in by_name.items()
    }
    known = {name: rows for name, rows in known.items() if rows}
    for name, rows in known.items():
        called = sweep.published if len(known) == 1 else f"{name}, {sweep.published}"
        yield replace(_line(sweep, name, rows), name=called, published=True)


def _called(sweep: Sweep, row: Row, name: str) -> str:
    return in_words(sweep.words, name, value_of(row, name))


def _line(sweep: Sweep, name: str, rows: Sequence[Row]) -> Line:
    ordered = (
        sorted(rows, key=lambda row: _place(sweep, row)) if _is_numbered(sweep, rows) else rows
    )
    return Line(
        name,
        tuple((str(value_of(row, sweep.x)), row) for row in ordered),
        level=all(value_of(row, sweep.x) is None for row in rows),
        of=name,
    )


def _is_numbered(sweep: Sweep, rows: Iterable[Row]) -> bool:
    """Whether rows are placed along an axis of numbers; words are placed side by side."""
    return (sweep.log or sweep.linear) and not any(
        isinstance(value_of(row, sweep.x), str) for row in rows
    )


def _place(sweep: Sweep, row: Row) -> float:
    """The place of a row along an axis of numbers."""
    value = value_of(row, sweep.x)
    return value if isinstance(value, int | float) else 0


def reference(sweep: Sweep, rows: Sequence[Row]) -> Row | None:
    """The row that the others are compared with; None if values are shown directly."""
    if sweep.reference is None:
        return None
    name, value = sweep.reference
    return next((row for row in rows if value_of(row, name) == value), None)


def _draw(sweep: Sweep, rows: Sequence[Row], prefix: str, title: str, size: Size) -> Markup:
    base = reference(sweep, rows)
    drawn = lines(sweep, rows)
    heights = [_height(sweep, line, row, base) for line in drawn for _, row in line.points]
    heights += [end for line in drawn for bar in _bars(sweep, line, base) for end in bar or ()]
    span = spans.logarithmic(heights, margin=1.5) if sweep.log else spans.linear(heights)
    named = [line for line in drawn if not (size.small and line.published)]
    right = right_of([line.name for line in named], size)
    axes, figure = axes_of(right, size)
    places = list(dict.fromkeys(x for line in drawn if not line.level for x, _ in line.points))
    width = size.width - size.left - right
    across = (
        _number(axes, places, sweep.log, width)
        if _is_numbered(sweep, rows)
        else _enumerate(axes, places, sweep, width)
    )
    upright(axes, span)
    axes.set_xlabel(sweep.x_title)
    # without the row to compare with, values are shown in their own unit
    axes.set_ylabel(rows[0].unit if sweep.reference and not base else sweep.y_title)
    styled = looks([line.of for line in drawn], [line.published for line in drawn])
    marks: dict[str, str] = {}
    ends = []
    for number, (line, look) in enumerate(zip(drawn, styled, strict=True)):
        shown = [span.drawn(_height(sweep, line, row, base)) for _, row in line.points]
        for place, (x, row) in enumerate(line.points):
            ratio = shown[place] if base else None
            marks[f"point-{number}-{place}"] = _explanation(sweep, line, x, row, ratio)
        _draw_line(axes, line, shown, across, look, f"point-{number}")
        for (x, _), bar in zip(line.points, _bars(sweep, line, base), strict=True):
            if bar is not None:
                _draw_bar(axes, across[x], (span.drawn(bar[0]), span.drawn(bar[1])), look)
        if line in named:
            ends.append((shown[-1], line.name, look))
    name_ends(axes, ends, span, size)
    return svg.inline(figure, prefix, title, marks)


def _draw_line(
    axes: Axes,
    line: Line,
    heights: Sequence[float],
    across: Mapping[str, float],
    look: Look,
    gid: str,
) -> None:
    """A line with its points, or a level one without any."""
    if line.level:
        axes.axhline(heights[0], color=look.style.colour, linewidth=1.4, linestyle=(0, (5, 3)))
        return
    at = [across[x] for x, _ in line.points]
    stroke(axes, at, heights, look)
    for place, (x, height) in enumerate(zip(at, heights, strict=True)):
        _point(axes, x, height, look, f"{gid}-{place}")


def _draw_bar(axes: Axes, x: float, ends: tuple[float, float], look: Look) -> None:
    """The thin line under a point, over its number's interval."""
    axes.vlines(x, *ends, color=look.style.colour, linewidth=0.9, alpha=0.6, zorder=1.5)


def _bars(sweep: Sweep, line: Line, base: Row | None) -> list[tuple[float, float] | None]:
    """The intervals of a line's points; None for unknown ones, and for ratios."""
    if line.published or line.level or base is not None:
        return [None] * len(line.points)
    return [
        None if row.interval is None else (row.interval[0] / sweep.per, row.interval[1] / sweep.per)
        for _, row in line.points
    ]


def _height(sweep: Sweep, line: Line, row: Row, base: Row | None) -> float:
    """The drawn number: the value, or how often it fits into the reference's."""
    if base is None:
        return line.value(row) / sweep.per
    return base.simulated / row.simulated if row.simulated else 0.0


def _explanation(sweep: Sweep, line: Line, x: str, row: Row, ratio: float | None) -> str:
    text = f"{line.name}, {x} {sweep.x_title}: {plain(line.value(row))} {row.unit}"
    if ratio is None:
        return text if line.published else text + plausible(row)
    return f"{text}, {plain(ratio, 3)} {sweep.y_title}"


def _enumerate(axes: Axes, places: Sequence[str], sweep: Sweep, width: float) -> dict[str, float]:
    """Values side by side, with as many ticks as have room; returns the place of each."""
    axes.set_xlim(-0.25, max(len(places) - 1, 0) + 0.25)
    called = [in_words(sweep.words, sweep.x, place) for place in places]
    longest = max(map(len, called), default=0) * FONT * LETTER + 4
    step = max(1, math.ceil(longest * len(places) / width))
    axes.set_xticks(range(0, len(places), step), called[::step])
    return {x: place for place, x in enumerate(places)}


def _number(axes: Axes, places: Sequence[str], log: bool, width: float) -> dict[str, float]:
    """Numbers along an axis, with those ticks whose names have room."""
    across = {x: float(x) for x in places}
    numbers = across.values()
    span = spans.logarithmic(numbers, margin=1.1) if log else spans.linear(numbers)
    if log:
        axes.set_xscale("log")
    axes.set_xlim(span.low, span.high)
    ticks = span.roomy(sorted(numbers), _LEAST_TICKS / width)
    axes.set_xticks(ticks, [plain(tick).replace(",", "") for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    return across


def _point(axes: Axes, x: float, y: float, look: Look, gid: str) -> None:
    colour, page = look.style.colour, stand_in("page")
    (point,) = axes.plot(
        [x],
        [y],
        marker=look.marker,
        markersize=5,
        color=page if look.published else colour,
        markeredgecolor=colour if look.published else page,
        markeredgewidth=1.2 if look.published else 0.6,
        linestyle="none",
        zorder=3,
        clip_on=False,
    )
    point.set_gid(gid)
