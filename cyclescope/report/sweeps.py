"""Plots of a measurement over a setting, a line for each value of another one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from cyclescope.bench.pivots import in_words, value_of
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Sweep
from cyclescope.report import spans, svg
from cyclescope.report.colours import Style, by_order, stand_in
from cyclescope.report.figures import FONT, INCH, LETTER, WIDTH, quieten
from cyclescope.report.spans import Span
from cyclescope.report.text import plain

# At the right of a full plot, for the names at the lines' ends; before such a name, for its marker.
_LEAST_RIGHT, _MARKER = 110, 18
# Between the names at the lines' ends, in SVG units.
_LEAST_GAP = 13
# Between the ticks of a logarithmic axis.
_LEAST_TICKS = 29
_MARKERS = "osD^vP"


@dataclass(frozen=True)
class Size:
    """A plot's size in SVG units: at the left there is room for large numbers and the axis's name.

    Of a `small` plot only the lines of simulated numbers have names.
    """

    width: int
    height: int
    left: int
    top: int
    foot: int
    font: float
    small: bool = False

    @property
    def plot_height(self) -> int:
        """Between the axis and the top."""
        return self.height - self.top - self.foot


FULL = Size(WIDTH, 300, left=66, top=12, foot=44, font=FONT)
SMALL = Size(330, 200, left=58, top=10, foot=42, font=FONT, small=True)


@dataclass(frozen=True)
class Plot:
    """A plot with its title."""

    title: str
    svg: Markup


@dataclass(frozen=True)
class Line:
    """The rows of one line by their value of the swept setting; `level` has none and spans all.

    `published` takes the rows' published numbers instead of the simulated ones. Lines `of` the same
    thing have one colour.
    """

    name: str
    points: tuple[tuple[str, Row], ...]
    level: bool
    of: str
    published: bool = False

    def value(self, row: Row) -> float:
        """What the line shows of a row."""
        return row.published or 0 if self.published else row.simulated


def plots(result: ExperimentResult) -> Iterator[Plot]:
    """A plot for each sweep, board and value of what has a plot each, of an experiment."""
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


def _draw(sweep: Sweep, rows: Sequence[Row], prefix: str, title: str, size: Size) -> Markup:
    base = reference(sweep, rows)
    drawn = lines(sweep, rows)
    heights = [_height(sweep, line, row, base) for line in drawn for _, row in line.points]
    span = spans.logarithmic(heights, margin=1.5) if sweep.log else spans.linear(heights)
    named = [line for line in drawn if not (size.small and line.published)]
    right = _right([line.name for line in named], size)
    axes, figure = _axes(right, size)
    places = list(dict.fromkeys(x for line in drawn if not line.level for x, _ in line.points))
    width = size.width - size.left - right
    across = (
        _number(axes, places, sweep.log, width)
        if _is_numbered(sweep, rows)
        else _enumerate(axes, places, sweep, width)
    )
    _upright(axes, span)
    axes.set_xlabel(sweep.x_title)
    # without the row to compare with, values are shown in their own unit
    axes.set_ylabel(rows[0].unit if sweep.reference and not base else sweep.y_title)
    marks: dict[str, str] = {}
    ends = []
    for number, (line, look) in enumerate(zip(drawn, _looks(drawn), strict=True)):
        shown = [span.drawn(_height(sweep, line, row, base)) for _, row in line.points]
        for place, (x, row) in enumerate(line.points):
            ratio = shown[place] if base else None
            marks[f"point-{number}-{place}"] = _explanation(sweep, line, x, row, ratio)
        _draw_line(axes, line, shown, across, look, f"point-{number}")
        if line in named:
            ends.append((shown[-1], line.name, look))
    _name_ends(axes, ends, span, size)
    return svg.inline(figure, prefix, title, marks)


def _draw_line(
    axes: Axes,
    line: Line,
    heights: Sequence[float],
    across: Mapping[str, float],
    look: _Look,
    gid: str,
) -> None:
    """A line with its points, or a level one without any."""
    if line.level:
        axes.axhline(heights[0], color=look.style.colour, linewidth=1.4, linestyle=(0, (5, 3)))
        return
    at = [across[x] for x, _ in line.points]
    _stroke(axes, at, heights, look)
    for place, (x, height) in enumerate(zip(at, heights, strict=True)):
        _point(axes, x, height, look, f"{gid}-{place}")


@dataclass(frozen=True)
class _Look:
    """How a line and its points look: published ones are dashed, their points hollow."""

    style: Style
    marker: str
    published: bool


def _looks(drawn: Sequence[Line]) -> list[_Look]:
    """A colour and a marker for each thing that lines are of."""
    of = list(dict.fromkeys(line.of for line in drawn))
    styles = by_order(len(of))
    places = [of.index(line.of) for line in drawn]
    return [
        _Look(styles[place], _MARKERS[place % len(_MARKERS)], line.published)
        for place, line in zip(places, drawn, strict=True)
    ]


def _upright(axes: Axes, span: Span) -> None:
    if span.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, position: plain(value))
    axes.set_ylim(span.low, span.high)


def _stroke(axes: Axes, across: Sequence[float], heights: Sequence[float], look: _Look) -> None:
    # dashes below a line that meets them would not be seen
    dashes, above = ((0, (2, 2)), 2.5) if look.published else ("solid", 2.0)
    colour = look.style.colour
    axes.plot(across, heights, color=colour, linewidth=1.4, linestyle=dashes, zorder=above)


def _height(sweep: Sweep, line: Line, row: Row, base: Row | None) -> float:
    """What is drawn: the value, or how often it fits into the reference's."""
    if base is None:
        return line.value(row) / sweep.per
    return base.simulated / row.simulated if row.simulated else 0.0


def _explanation(sweep: Sweep, line: Line, x: str, row: Row, ratio: float | None) -> str:
    text = f"{line.name}, {x} {sweep.x_title}: {plain(line.value(row))} {row.unit}"
    return text if ratio is None else f"{text}, {plain(ratio, 3)} {sweep.y_title}"


def _right(names: Iterable[str], size: Size) -> float:
    """What the names at the lines' ends take, in SVG units."""
    longest = max(map(len, names), default=0) * size.font * LETTER
    return max(0 if size.small else _LEAST_RIGHT, _MARKER + 6 + longest)


def _axes(right: float, size: Size) -> tuple[Axes, Figure]:
    figure = Figure(figsize=(size.width / INCH, size.height / INCH))
    width = (size.width - size.left - right) / size.width
    place = (size.left / size.width, size.foot / size.height)
    axes = figure.add_axes((*place, width, size.plot_height / size.height))
    quieten(axes, line="bottom", grid="y")
    return axes, figure


def _enumerate(axes: Axes, places: Sequence[str], sweep: Sweep, width: float) -> dict[str, float]:
    """Values side by side, as many with a tick as there is room for; where each is."""
    axes.set_xlim(-0.25, max(len(places) - 1, 0) + 0.25)
    called = [in_words(sweep.words, sweep.x, place) for place in places]
    longest = max(map(len, called), default=0) * FONT * LETTER + 4
    step = max(1, math.ceil(longest * len(places) / width))
    axes.set_xticks(range(0, len(places), step), called[::step])
    return {x: place for place, x in enumerate(places)}


def _number(axes: Axes, places: Sequence[str], log: bool, width: float) -> dict[str, float]:
    """Numbers along an axis, those with a tick for whose name there is room."""
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


def _point(axes: Axes, x: float, y: float, look: _Look, gid: str) -> None:
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


def _name_ends(
    axes: Axes, ends: Sequence[tuple[float, str, _Look]], span: Span, size: Size
) -> None:
    """Each line's marker and name at its right end, moved up where it would cover another."""
    lowest = 0.0
    for height, name, look in sorted(ends, key=lambda end: end[0]):
        at = max(span.fraction(height) * size.plot_height, lowest)
        lowest = at + _LEAST_GAP
        axes.annotate(
            name,
            (1, at / size.plot_height),
            xycoords="axes fraction",
            xytext=(_MARKER, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=size.font - 0.5,
            color=stand_in("ink"),
            annotation_clip=False,
            parse_math=False,
        )
        width = axes.get_position().width * size.width
        _key(axes, 1 + 11 / width, at / size.plot_height, look)


def _key(axes: Axes, x: float, y: float, look: _Look) -> None:
    """The marker before a line's name, in parts of the plot."""
    colour = look.style.colour
    axes.plot(
        [x],
        [y],
        transform=axes.transAxes,
        marker=look.marker,
        markersize=5,
        color=stand_in("page") if look.published else colour,
        markeredgecolor=colour,
        linestyle="none",
        clip_on=False,
    )
