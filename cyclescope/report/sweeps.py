"""Plots of a measurement over a setting, a line for each value of another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from cyclescope.report import spans, svg
from cyclescope.report.colours import Style, by_order, stand_in
from cyclescope.report.figures import FONT, INCH, LETTER, WIDTH, quieten
from cyclescope.report.spans import Span
from cyclescope.report.text import plain
from cyclescope.results import ExperimentResult, Row
from cyclescope.views import Sweep, in_words, value_of

# At the left there is room for "1,000,000" and the axis's name.
_HEIGHT, _LEFT, _RIGHT, _TOP, _FOOT = 300, 66, 110, 12, 44
# Between the names at the lines' ends, in SVG units.
_LEAST_GAP = 13
# Between the ticks of a logarithmic axis.
_LEAST_TICKS = 29
_MARKERS = "osD^vP"


@dataclass(frozen=True)
class Plot:
    """A plot with its title."""

    title: str
    svg: Markup


@dataclass(frozen=True)
class Line:
    """The rows of one line by their value of the swept setting; `level` has none and spans all.

    `published` takes the rows' published numbers instead of the simulated ones.
    """

    name: str
    points: tuple[tuple[str, Row], ...]
    level: bool
    published: bool = False

    def value(self, row: Row) -> float:
        """What the line shows of a row."""
        return row.published or 0 if self.published else row.simulated


def plots(result: ExperimentResult) -> Iterator[Plot]:
    """A plot for each sweep, board and value of what has a plot each, of an experiment."""
    found: dict[tuple[Sweep, str], list[Row]] = {}
    for row in result.rows:
        for sweep in row.sweeps:
            of = [] if sweep.together else [row.board]
            each = [_called(sweep, row, sweep.each)] if sweep.each else []
            found.setdefault((sweep, ", ".join(of + each)), []).append(row)
    ordered = sorted(found.items(), key=lambda plot: plot[0][0].order)
    for number, ((sweep, shown), rows) in enumerate(ordered):
        title = f"{sweep.title}: {shown}" if shown else sweep.title
        yield Plot(title, _draw(sweep, rows, f"{result.name}-sweep-{number}", title))


def lines(sweep: Sweep, rows: Sequence[Row]) -> list[Line]:
    """The lines of a plot, in the order of their first rows; what was published comes first."""
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
        yield replace(_line(sweep, called, rows), published=True)


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
    )


def _is_numbered(sweep: Sweep, rows: Iterable[Row]) -> bool:
    """Whether rows stand along an axis of numbers; words stand side by side."""
    return (sweep.log or sweep.linear) and not any(
        isinstance(value_of(row, sweep.x), str) for row in rows
    )


def _place(sweep: Sweep, row: Row) -> float:
    """Where a row stands along an axis of numbers."""
    value = value_of(row, sweep.x)
    return value if isinstance(value, int | float) else 0


def reference(sweep: Sweep, rows: Sequence[Row]) -> Row | None:
    """The row that the others are compared with; None if values are shown as they are."""
    if sweep.reference is None:
        return None
    name, value = sweep.reference
    return next((row for row in rows if value_of(row, name) == value), None)


def _draw(sweep: Sweep, rows: Sequence[Row], prefix: str, title: str) -> Markup:
    base = reference(sweep, rows)
    drawn = lines(sweep, rows)
    places = list(dict.fromkeys(x for line in drawn if not line.level for x, _ in line.points))
    heights = [_height(sweep, line, row, base) for line in drawn for _, row in line.points]
    span = spans.logarithmic(heights, margin=1.5) if sweep.log else spans.linear(heights)
    axes, figure = _axes(_right([line.name for line in drawn]))
    numbered = _is_numbered(sweep, rows)
    across = _number(axes, places, sweep.log) if numbered else _enumerate(axes, places, sweep)
    if sweep.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, position: plain(value))
    axes.set_xlabel(sweep.x_title)
    # without the row to compare with, values are shown in their own unit
    axes.set_ylabel(rows[0].unit if sweep.reference and not base else sweep.y_title)
    marks: dict[str, str] = {}
    ends = []
    for number, (line, style) in enumerate(zip(drawn, by_order(len(drawn)), strict=True)):
        heights = [span.drawn(_height(sweep, line, row, base)) for _, row in line.points]
        if line.level:
            axes.axhline(heights[0], color=style.colour, linewidth=1.4, linestyle=(0, (5, 3)))
        else:
            at = [across[x] for x, _ in line.points]
            dashes = (0, (2, 2)) if line.published else "solid"
            # dashes below a line that meets them would not be seen
            above = 2.5 if line.published else 2
            axes.plot(
                at, heights, color=style.colour, linewidth=1.4, linestyle=dashes, zorder=above
            )
            for place, ((x, row), height) in enumerate(zip(line.points, heights, strict=True)):
                gid = f"point-{number}-{place}"
                marks[gid] = _explanation(sweep, line, x, row, height if base else None)
                _point(axes, at[place], height, style, _MARKERS[number % len(_MARKERS)], gid)
        ends.append((heights[-1], line.name, style))
    axes.set_ylim(span.low, span.high)
    _name_ends(axes, ends, span)
    return svg.inline(figure, prefix, title, marks)


def _height(sweep: Sweep, line: Line, row: Row, base: Row | None) -> float:
    """What is drawn: the value, or how often it fits into the reference's."""
    if base is None:
        return line.value(row) / sweep.per
    return base.simulated / row.simulated if row.simulated else 0.0


def _explanation(sweep: Sweep, line: Line, x: str, row: Row, ratio: float | None) -> str:
    text = f"{line.name}, {x} {sweep.x_title}: {plain(line.value(row))} {row.unit}"
    return text if ratio is None else f"{text}, {plain(ratio, 3)} {sweep.y_title}"


def _right(names: Iterable[str]) -> float:
    """What the names at the lines' ends take, in SVG units."""
    return max(_RIGHT, 12 + max(map(len, names), default=0) * FONT * LETTER)


def _axes(right: float) -> tuple[Axes, Figure]:
    figure = Figure(figsize=(WIDTH / INCH, _HEIGHT / INCH))
    width, height = WIDTH - _LEFT - right, _HEIGHT - _TOP - _FOOT
    box = (_LEFT / WIDTH, _FOOT / _HEIGHT, width / WIDTH, height / _HEIGHT)
    axes = figure.add_axes(box)
    quieten(axes, line="bottom", grid="y")
    return axes, figure


def _enumerate(axes: Axes, places: Sequence[str], sweep: Sweep) -> dict[str, float]:
    """Values side by side, each with its tick; where each is."""
    axes.set_xlim(-0.25, max(len(places) - 1, 0) + 0.25)
    called = [in_words(sweep.words, sweep.x, place) for place in places]
    axes.set_xticks(range(len(places)), called)
    return {x: place for place, x in enumerate(places)}


def _number(axes: Axes, places: Sequence[str], log: bool) -> dict[str, float]:
    """Numbers along an axis, those with a tick for whose name there is room."""
    across = {x: float(x) for x in places}
    numbers = across.values()
    span = spans.logarithmic(numbers, margin=1.1) if log else spans.linear(numbers)
    if log:
        axes.set_xscale("log")
    axes.set_xlim(span.low, span.high)
    ticks = span.roomy(sorted(numbers), _LEAST_TICKS / (WIDTH - _LEFT - _RIGHT))
    axes.set_xticks(ticks, [plain(tick).replace(",", "") for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    return across


def _point(axes: Axes, x: float, y: float, style: Style, marker: str, gid: str) -> None:
    (point,) = axes.plot(
        [x],
        [y],
        marker=marker,
        markersize=5,
        color=style.colour,
        markeredgecolor=stand_in("page"),
        markeredgewidth=0.6,
        linestyle="none",
    )
    point.set_gid(gid)


def _name_ends(axes: Axes, ends: Sequence[tuple[float, str, Style]], span: Span) -> None:
    """Each line's name at its right end, moved up where it would cover another."""
    height_units = _HEIGHT - _TOP - _FOOT
    lowest = 0.0
    for height, name, style in sorted(ends, key=lambda end: end[0]):
        at = max(span.fraction(height) * height_units, lowest)
        lowest = at + _LEAST_GAP
        axes.annotate(
            name,
            (1, at / height_units),
            xycoords="axes fraction",
            xytext=(8, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=FONT - 0.5,
            color=style.colour,
            annotation_clip=False,
            parse_math=False,
        )
