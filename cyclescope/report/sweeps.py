"""Plots of a measurement over a setting, a line for each value of another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cyclescope.report import svg
from cyclescope.report.colours import Style, by_order, stand_in
from cyclescope.report.figures import FONT, INCH, WIDTH, quieten
from cyclescope.report.text import plain
from cyclescope.results import ExperimentResult, Row
from cyclescope.views import Sweep, value_of

_HEIGHT, _LEFT, _RIGHT, _TOP, _FOOT = 300, 48, 110, 12, 44
# Between the names at the lines' ends, in SVG units.
_LEAST_GAP = 13
_MARKERS = "osD^vP"


@dataclass(frozen=True)
class Plot:
    """A plot with its title."""

    title: str
    svg: Markup


@dataclass(frozen=True)
class Line:
    """The rows of one line by their value of the swept setting; `level` has none and spans all."""

    name: str
    points: tuple[tuple[str, Row], ...]
    level: bool


def plots(result: ExperimentResult) -> Iterator[Plot]:
    """A plot for each sweep and board of an experiment."""
    found: dict[tuple[Sweep, str], list[Row]] = {}
    for row in result.rows:
        if row.sweep is not None:
            found.setdefault((row.sweep, row.board), []).append(row)
    for number, ((sweep, board), rows) in enumerate(found.items()):
        title = f"{sweep.title}: {board}"
        yield Plot(title, _draw(sweep, rows, f"{result.name}-sweep-{number}", title))


def lines(sweep: Sweep, rows: Sequence[Row]) -> list[Line]:
    """The lines of a plot, in the order of their first rows."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(str(value_of(row, sweep.line)), []).append(row)
    return [
        Line(
            name,
            tuple((str(value_of(row, sweep.x)), row) for row in found),
            level=all(value_of(row, sweep.x) is None for row in found),
        )
        for name, found in by_name.items()
    ]


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
    axes, figure = _axes(places)
    axes.set_xlabel(sweep.x_title)
    axes.set_ylabel(sweep.y_title if base else rows[0].unit)
    marks: dict[str, str] = {}
    ends = []
    for number, (line, style) in enumerate(zip(drawn, by_order(len(drawn)), strict=True)):
        heights = [_height(row, base) for _, row in line.points]
        if line.level:
            axes.axhline(heights[0], color=style.colour, linewidth=1.4, linestyle=(0, (5, 3)))
        else:
            across = [places.index(x) for x, _ in line.points]
            axes.plot(across, heights, color=style.colour, linewidth=1.4)
            for place, ((x, row), height) in enumerate(zip(line.points, heights, strict=True)):
                gid = f"point-{number}-{place}"
                marks[gid] = _explanation(sweep, line.name, x, row, height if base else None)
                _point(axes, across[place], height, style, _MARKERS[number % len(_MARKERS)], gid)
        ends.append((heights[-1], line.name, style))
    top = max(_height(row, base) for row in rows) * 1.06
    axes.set_ylim(0, top or 1)
    _name_ends(axes, ends, top or 1)
    return svg.inline(figure, prefix, title, marks)


def _height(row: Row, base: Row | None) -> float:
    """What is drawn: the value, or how often it fits into the reference's."""
    if base is None:
        return row.simulated
    return base.simulated / row.simulated if row.simulated else 0.0


def _explanation(sweep: Sweep, name: str, x: str, row: Row, ratio: float | None) -> str:
    text = f"{name}, {x} {sweep.x_title}: {plain(row.simulated)} {row.unit}"
    return text if ratio is None else f"{text}, {plain(ratio, 3)} {sweep.y_title}"


def _axes(places: Sequence[str]) -> tuple[Axes, Figure]:
    figure = Figure(figsize=(WIDTH / INCH, _HEIGHT / INCH))
    width, height = WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _FOOT
    box = (_LEFT / WIDTH, _FOOT / _HEIGHT, width / WIDTH, height / _HEIGHT)
    axes = figure.add_axes(box)
    quieten(axes, line="bottom", grid="y")
    axes.set_xlim(-0.25, max(len(places) - 1, 0) + 0.25)
    axes.set_xticks(range(len(places)), places)
    axes.yaxis.set_major_formatter(lambda value, position: plain(value))
    return axes, figure


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


def _name_ends(axes: Axes, ends: Sequence[tuple[float, str, Style]], top: float) -> None:
    """Each line's name at its right end, moved up where it would cover another."""
    per_value = (_HEIGHT - _TOP - _FOOT) / top
    lowest = 0.0
    for height, name, style in sorted(ends, key=lambda end: end[0]):
        at = max(height * per_value, lowest)
        lowest = at + _LEAST_GAP
        axes.annotate(
            name,
            (1, at / per_value),
            xycoords=axes.get_yaxis_transform(),
            xytext=(8, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=FONT - 0.5,
            color=style.colour,
            annotation_clip=False,
            parse_math=False,
        )
