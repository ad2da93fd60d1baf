"""The error of each published number, side by side in the order of the tables, by experiment."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cyclescope.bench.pivots import CLOSE_PCT
from cyclescope.bench.rows import Row
from cyclescope.report import svg, words
from cyclescope.report.agreement import Agreement, Cell, draw_interval, draw_point
from cyclescope.report.colours import stand_in
from cyclescope.report.figures import FONT, INCH, LETTER, quieten

# In SVG units.
_WIDTH, _HEIGHT = 1000, 250
_LEFT, _RIGHT, _TOP, _FOOT = 52, 8, 10, 34
# The gap between two experiments, in places of a number.
_APART = 4
# The largest factor by which room for long names makes all places narrower.
_SHRUNK = 1.4
# Larger errors are drawn at this one.
_MOST_PCT = 50


def draw(found: Agreement) -> Markup:
    """A point for each number, at its error in percent, with a link to its row."""
    groups = _groups(found.shown)
    figure, axes = _axes(groups, max(abs(cell.row.error_pct or 0) for cell in found.shown))
    marks: dict[str, str] = {}
    links: dict[str, str] = {}
    for group in groups:
        words.below(
            axes, group.cells[0].experiment, (group.start + group.end) / 2, 12, FONT, "muted"
        )
        for place, cell in enumerate(group.cells):
            gid = f"cell-{len(marks)}"
            marks[gid], links[gid] = cell.words, f"#{cell.target}"
            if (bar := _errors_pct(cell.row)) is not None:
                low, high = map(_clipped, bar)
                draw_interval(axes, group.first + place, low, high, cell.row.basis)
            error_pct = _clipped(cell.row.error_pct or 0)
            draw_point(axes, group.first + place, error_pct, cell.row.basis, gid)
    return svg.inline(figure, "strip", "Error of each number by experiment", marks, links)


def _errors_pct(row: Row) -> tuple[float, float] | None:
    """The errors of the ends of a number's interval."""
    if row.interval is None or not row.published:
        return None
    low, high = ((end / row.published - 1) * 100 for end in row.interval)
    return low, high


def _clipped(error_pct: float) -> float:
    return max(-_MOST_PCT, min(error_pct, _MOST_PCT))


@dataclass(frozen=True)
class _Group:
    """The numbers of an experiment, from place `first` to `end`."""

    cells: tuple[Cell, ...]
    first: float
    start: float
    end: float


def _groups(cells: Sequence[Cell]) -> list[_Group]:
    """Experiments one after the other, each with room for its numbers and its name."""
    by_name = [tuple(own) for _, own in itertools.groupby(cells, key=lambda cell: cell.experiment)]
    place = (_WIDTH - _LEFT - _RIGHT) / (len(cells) + _APART * len(by_name))
    found = []
    start = 0.0
    for own in by_name:
        name = len(own[0].experiment) * FONT * LETTER / place
        room = max(len(own), name * _SHRUNK)
        found.append(_Group(own, start + (room - len(own) + 1) / 2, start, start + room))
        start += room + _APART
    return found


def _axes(groups: Sequence[_Group], largest_pct: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(_WIDTH / INCH, _HEIGHT / INCH))
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _FOOT
    axes = figure.add_axes((_LEFT / _WIDTH, _FOOT / _HEIGHT, width / _WIDTH, height / _HEIGHT))
    quieten(axes, line="left", grid="y")
    axes.axhspan(-CLOSE_PCT, CLOSE_PCT, color=stand_in("band"), linewidth=0)
    axes.axhline(0, color=stand_in("muted"), linewidth=0.5)
    axes.set_xlim(-_APART / 2, groups[-1].end + _APART / 2)
    axes.set_xticks([])
    reach = min(_MOST_PCT, max(2 * CLOSE_PCT, math.ceil(largest_pct / 10) * 10))
    axes.set_ylim(-reach * 1.05, reach * 1.05)
    axes.set_yticks(range(-reach, reach + 1, 10))
    axes.yaxis.set_major_formatter(
        lambda value, position: f"{value:+.0f} %".replace("-", "\N{MINUS SIGN}") if value else "0"
    )
    return figure, axes
