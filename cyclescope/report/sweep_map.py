"""A map of a sweep's metric over two settings: the better a cell, the stronger its colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cyclescope.report import svg, words
from cyclescope.report.colours import stand_in
from cyclescope.report.figures import FONT, INCH, LETTER, WIDTH
from cyclescope.report.sweep_plots import fitted
from cyclescope.report.sweep_rows import Factor, View, by_value, in_words
from cyclescope.report.text import plain
from cyclescope.sweeps import designs
from cyclescope.sweeps.results import SweepRow

LEAST_VALUES = 3
# The most values of a setting that have a cell each; drawn points have few values in common.
_MOST_CELLS, _MOST_DRAWN_CELLS = 24, 8
_RIGHT, _TOP = 12, 6
_NUMBER = FONT - 1
# The colour's strength at the worst and at the best value.
_WEAK, _STRONG = 0.05, 0.62
# Numbers that differ by more than this factor have logarithmic colours.
_WIDE = 20
_MOST_LETTERS = 28


@dataclass(frozen=True)
class Map:
    """A map with its title, its introduction, and its two ends in words."""

    title: str
    text: str
    svg: Markup
    worst: str
    best: str


@dataclass(frozen=True)
class _Cell:
    column: int
    line: int
    rows: Sequence[SweepRow]
    what: str


@dataclass(frozen=True)
class _Grid:
    """The labels of columns and lines, and the cells that have rows."""

    columns: list[str]
    lines: list[str]
    cells: list[_Cell]


def draw(view: View, prefix: str) -> Map | None:
    """A map over the two settings that matter most; None without two that have enough values."""
    known = [factor for factor in view.factors if len(factor.values) >= LEAST_VALUES]
    axes_first = sorted(known, key=lambda factor: factor not in view.axes)
    if len(axes_first) < 2:
        return None
    # the one with more values goes along the longer side
    across, up = sorted(axes_first[:2], key=lambda factor: -len(factor.values))
    title = f"{view.metric} over {across.name} and {up.name}"
    grid = _grid(view, across, up)
    means = [view.mean(cell.rows) for cell in grid.cells]
    by_logarithm = min(means) > 0 and max(means) > _WIDE * min(means)
    parts = _parts(means, view.is_more_better, by_logarithm)
    drawn = _draw(view, grid, means, parts, (across.name, up.name), prefix, title)
    best, worst = (max, min) if view.is_more_better else (min, max)
    text = "The stronger the colour, the better."
    if any(len(cell.rows) > 1 for cell in grid.cells):
        text += " Each cell is the mean over all rows that have both values."
    if by_logarithm:
        text += " Colours go by the logarithm."
    unit = view.scale.unit
    return Map(
        title,
        text,
        drawn,
        f"{plain(worst(means), 4)} {unit}".rstrip(),
        f"{plain(best(means), 4)} {unit}".rstrip(),
    )


def _grid(view: View, across: Factor, up: Factor) -> _Grid:
    most = _MOST_CELLS if view.result.design.kind == designs.GRID else _MOST_DRAWN_CELLS
    columns = by_value(across, view.rows, most)
    lines = by_value(up, view.rows, most)
    line_of = {value: number for number, (values, _) in enumerate(lines) for value in values}
    cells = []
    for column, (values, rows) in enumerate(columns):
        by_line: dict[int, list[SweepRow]] = {}
        for row in rows:
            by_line.setdefault(line_of[up.of(row)], []).append(row)
        for line, members in by_line.items():
            what = f"{across.name}={in_words(values)}, {up.name}={in_words(lines[line][0])}"
            cells.append(_Cell(column, line, members, what))
    return _Grid([in_words(one) for one, _ in columns], [in_words(one) for one, _ in lines], cells)


def _parts(means: Sequence[float], is_more_better: bool, by_logarithm: bool) -> list[float]:
    """The rank of each mean: 0 the worst, 1 the best."""
    found = [math.log(mean) for mean in means] if by_logarithm else list(means)
    low, high = min(found), max(found)
    if low == high:
        return [0.5] * len(found)
    parts = [(one - low) / (high - low) for one in found]
    return parts if is_more_better else [1 - part for part in parts]


def _draw(
    view: View,
    grid: _Grid,
    means: Sequence[float],
    parts: Sequence[float],
    names: tuple[str, str],
    prefix: str,
    title: str,
) -> Markup:
    longest = max(len(fitted(name, _MOST_LETTERS)) for name in grid.lines)
    left = longest * FONT * LETTER + 40
    texts = [plain(mean, 4) for mean in means]
    wide = (WIDTH - left - _RIGHT) / len(grid.columns)
    high = 26 if len(grid.lines) <= 12 else 18
    foot, is_turned = _foot(grid.columns, wide)
    height = high * len(grid.lines) + foot + _TOP
    figure = Figure(figsize=(WIDTH / INCH, height / INCH))
    inner = (WIDTH - left - _RIGHT, height - foot - _TOP)
    axes = figure.add_axes(
        (left / WIDTH, foot / height, inner[0] / WIDTH, inner[1] / height), frame_on=False
    )
    axes.set_xlim(0, len(grid.columns))
    axes.set_ylim(0, len(grid.lines))
    marks: dict[str, str] = {}
    has_room = max(map(len, texts)) * _NUMBER * LETTER + 6 <= wide
    for number, (cell, text, part) in enumerate(zip(grid.cells, texts, parts, strict=True)):
        gid = f"cell-{number}"
        marks[gid] = view.tip_of(cell.what, cell.rows)
        _fill(axes, cell, part, gid)
        if has_room:
            words.centred(axes, text, cell.column + 0.5, cell.line + 0.5, _NUMBER)
    _label(axes, grid, names, is_turned)
    return svg.inline(figure, prefix, title, marks)


def _fill(axes: Axes, cell: _Cell, part: float, gid: str) -> None:
    best = part == 1
    rectangle = Rectangle(
        (cell.column + 0.02, cell.line + 0.04),
        0.96,
        0.92,
        facecolor=(stand_in("cause-0"), _WEAK + (_STRONG - _WEAK) * part),
        edgecolor=stand_in("ink" if best else "rule"),
        linewidth=1.5 if best else 0.5,
        zorder=3 if best else 2,
        gid=gid,
    )
    axes.add_patch(rectangle)


def _foot(columns: Sequence[str], wide: float) -> tuple[float, bool]:
    """The height of the columns' labels below, and whether they are rotated for lack of room."""
    longest = max(len(fitted(name, _MOST_LETTERS)) for name in columns) * (FONT - 0.5) * LETTER
    if longest + 10 <= wide:
        return 40, False
    return longest * 0.75 + 40, True


def _label(axes: Axes, grid: _Grid, names: tuple[str, str], is_turned: bool) -> None:
    turned: dict[str, Any] = (
        {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if is_turned else {}
    )
    axes.set_xticks(
        [place + 0.5 for place in range(len(grid.columns))],
        [fitted(name, _MOST_LETTERS) for name in grid.columns],
        parse_math=False,
        **(turned if is_turned else {}),
    )
    axes.set_yticks(
        [place + 0.5 for place in range(len(grid.lines))],
        [fitted(name, _MOST_LETTERS) for name in grid.lines],
        parse_math=False,
    )
    axes.tick_params(length=0, pad=4, labelsize=FONT - 0.5, labelcolor=stand_in("muted"))
    for axis, name in ((axes.xaxis, names[0]), (axes.yaxis, names[1])):
        axis.set_label_text(
            fitted(name, 50), color=stand_in("muted"), fontsize=FONT - 0.5, parse_math=False
        )
