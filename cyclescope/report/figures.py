"""The plots of an experiment: its rows as bars, and their cycle stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cyclescope.bench.rows import Row
from cyclescope.report import svg, words
from cyclescope.report.colours import Style, stand_in
from cyclescope.report.stacks import Panel
from cyclescope.report.text import RowName, plain, plausible, scale_for, signed_percent
from cyclescope.units import format_ps

INCH = 72  # SVG units
WIDTH = 720
_SMALL_WIDTH, _SMALL_ROW = 330, 20
_ROW, _SECOND_BAR, _FOOT = 30, 14, 40
_BAR = 12
FONT, _SMALL = 9, 8
_VALUE = FONT - 0.5
# The text of a link to a flame graph, and its width.
FLAME_GRAPH = "flame graph"
_LINK = 54
# The width of a letter, in parts of the font's size; the reader's font is not known here.
LETTER = 0.56


@dataclass(frozen=True)
class NamedRow:
    """A row with the name that distinguishes it from the others."""

    row: Row
    name: RowName


def comparison(rows: Sequence[NamedRow], prefix: str, title: str) -> Markup:
    """Published and simulated values side by side, a group of bars for each row, in one unit."""
    numbers = [
        value for named in rows for value in (*_values(named.row), *(_ends(named.row) or ()))
    ]
    scale = scale_for(rows[0].row.unit, numbers)
    heights = [_ROW + (_SECOND_BAR if named.row.published is not None else 0) for named in rows]
    figure, axes = chart([named.name for named in rows], heights, right=120)
    marks: dict[str, str] = {}
    for place, (named, centre) in enumerate(zip(rows, centres(heights), strict=True)):
        row, offset = named.row, 0.0
        if row.published is not None:
            offset = _BAR / 2 + 0.5
            gid = f"published-{place}"
            marks[gid] = f"{named.name}, published: {plain(row.published)} {row.unit}"
            _bar(axes, centre - offset, 0, scale.of(row.published), "published", gid)
            words.after(
                axes,
                scale.text(row.published),
                scale.of(row.published),
                centre - offset,
                _VALUE,
                "muted",
            )
        gid = f"simulated-{place}"
        own = f"{named.name}, simulated: {plain(row.simulated)} {row.unit}"
        marks[gid] = own + plausible(row)
        _bar(axes, centre + offset, 0, scale.of(row.simulated), "simulated", gid)
        ends = _ends(row)
        if ends is not None:
            _whisker(axes, centre + offset, (scale.of(ends[0]), scale.of(ends[1])))
        error = signed_percent(row.error_pct)
        text = scale.text(row.simulated) + (f"  ({error})" if error else "")
        end = scale.of(max(row.simulated, *(ends or ()), 0))
        words.after(axes, text, end, centre + offset, _VALUE)
    axes.set_xlim(0, max(map(scale.of, numbers), default=0) or 1)
    axes.set_xlabel(scale.quantity)
    return svg.inline(figure, prefix, title, marks)


def preview(rows: Sequence[NamedRow], prefix: str, title: str) -> Markup:
    """Published and simulated values as thin bars, small enough for an overview."""
    scale = scale_for(rows[0].row.unit, [value for named in rows for value in _values(named.row)])
    heights = [_SMALL_ROW] * len(rows)
    figure, axes = chart([named.name for named in rows], heights, right=52, width=_SMALL_WIDTH)
    marks: dict[str, str] = {}
    for place, (named, centre) in enumerate(zip(rows, centres(heights), strict=True)):
        row = named.row
        sides = [("published", row.published, -3.25), ("simulated", row.simulated, 3.25)]
        shown = [side for side in sides if side[1] is not None]
        for what, value, offset in shown:
            gid = f"{what}-{place}"
            marks[gid] = f"{named.name}, {what}: {plain(value or 0)} {row.unit}"
            middle = centre + (offset if len(shown) > 1 else 0)
            _bar(axes, middle, 0, scale.of(value or 0), what, gid, thick=6)
        end = max(scale.of(value or 0) for _, value, _ in shown)
        words.after(axes, signed_percent(row.error_pct), end, centre, _VALUE)
    axes.set_xlabel(scale.quantity)
    return svg.inline(figure, prefix, title, marks)


def _values(row: Row) -> list[float]:
    return [value for value in (row.published, row.simulated) if value is not None]


def _ends(row: Row) -> tuple[float, float] | None:
    """The ends of a number's interval, if it has one."""
    return row.interval


def _whisker(axes: Axes, centre: float, ends: tuple[float, float]) -> None:
    """A thin line over a bar, from the lower end of the interval to the upper one."""
    for role, width in (("page", 2.6), ("ink", 1)):
        axes.hlines(centre, *ends, color=stand_in(role), linewidth=width, zorder=3)


def stacks(
    panel: Panel, styles: Mapping[str, Style], prefix: str, title: str, links: Mapping[RowName, str]
) -> Markup:
    """The time of each row by cause, a bar for each row: in time, or in shares of it.

    `links` are the addresses of rows' flame graphs, as far as they exist.
    """
    heights = [_ROW - 4] * len(panel.rows)
    right = 70 + (_LINK if links else 0)
    figure, axes = chart([row.name for row in panel.rows], heights, right)
    scale = scale_for("ps", [row.total_ps for row in panel.rows])
    marks: dict[str, str] = {}
    leading: dict[str, str] = {}
    ends = []
    for place, (row, centre) in enumerate(zip(panel.rows, centres(heights), strict=True)):
        per_ps = 100 / row.total_ps if panel.as_shares else scale.factor
        start_ps = 0
        for number, (cause, ps) in enumerate(row.shares):
            gid = f"share-{place}-{number}"
            percent = plain(ps / row.total_ps * 100, 3)
            marks[gid] = f"{row.name}: {cause}, {format_ps(ps)}, {percent} %"
            _segment(axes, centre, start_ps * per_ps, ps * per_ps, styles[cause], gid)
            start_ps += ps
        ends.append(start_ps * per_ps)
        words.after(axes, scale.text(row.total_ps), ends[-1], centre, _VALUE)
        if row.name in links:
            gid = f"flame-{place}"
            marks[gid], leading[gid] = f"{row.name}: flame graph of its run", links[row.name]
            words.ending(axes, FLAME_GRAPH, centre, right, _SMALL, "link", edge=1).set_gid(gid)
    axes.set_xlim(0, max(ends, default=0) or 1)
    axes.set_xlabel("share of the time, %" if panel.as_shares else scale.quantity)
    return svg.inline(figure, prefix, title, marks, leading)


def chart(
    names: Sequence[RowName], heights: Sequence[int], right: int, width: int = WIDTH
) -> tuple[Figure, Axes]:
    """Empty axes with a place for each row, its name at the left, `right` units free for values."""
    left = min(max(map(_name_width, names), default=0) + 14, width * 0.45)
    total = sum(heights)
    figure = Figure(figsize=(width / INCH, (total + _FOOT) / INCH))
    box = (left / width, _FOOT / (total + _FOOT))
    axes = figure.add_axes((*box, 1 - box[0] - right / width, 1 - box[1]))
    axes.set_ylim(total, 0)
    axes.set_yticks([])
    quieten(axes, line="left", grid="x")
    axes.xaxis.set_major_formatter(lambda value, position: plain(value))
    for name, centre in zip(names, centres(heights), strict=True):
        _name(axes, name, centre)
    return figure, axes


def quieten(axes: Axes, line: str, grid: Literal["x", "y"]) -> None:
    """The look of all plots: one line, a pale grid across it, small grey words."""
    axes.patch.set_visible(False)
    for side, spine in axes.spines.items():
        spine.set_visible(side == line)
        spine.set_color(stand_in("muted"))
    axes.set_axisbelow(True)
    axes.grid(axis=grid, color=stand_in("rule"), linewidth=0.7)
    axes.tick_params(length=0, pad=5, labelsize=FONT - 0.5, labelcolor=stand_in("muted"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(color=stand_in("muted"), fontsize=FONT - 0.5)


def _name_width(name: RowName) -> float:
    return max(len(name.label) * FONT, len(name.settings) * _SMALL) * LETTER


def _name(axes: Axes, name: RowName, centre: float) -> None:
    lines = [(name.label, FONT, "ink")]
    if name.settings:
        lines.append((name.settings, _SMALL, "muted"))
    first = centre - (len(lines) - 1) * 5
    for number, (text, size, role) in enumerate(lines):
        words.ending(axes, text, first + number * 10.5, -8, size, role)


def centres(heights: Sequence[int]) -> list[float]:
    """The middle of each place of a chart."""
    return [sum(heights[:place]) + height / 2 for place, height in enumerate(heights)]


def _bar(
    axes: Axes,
    centre: float,
    start: float,
    length: float,
    role: str,
    gid: str,
    thick: float = _BAR,
) -> None:
    (bar,) = axes.barh(centre, length, height=thick, left=start, color=stand_in(role))
    bar.set_gid(gid)


def _segment(
    axes: Axes, centre: float, start: float, length: float, style: Style, gid: str
) -> None:
    (bar,) = axes.barh(
        centre,
        length,
        height=_BAR + 4,
        left=start,
        color=style.colour,
        edgecolor=stand_in("page"),
        linewidth=0.6,
        hatch=style.hatch or None,
    )
    bar.set_gid(gid)
