"""The overview's plots: each published number beside the simulated one, and their errors.

Numbers that come from a hardware's own description are met to the last digit or not: those that are
met are one stroke in the background, so that they don't hide the others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from cyclescope.bench.pivots import CLOSE_PCT
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import PREDICTED, Row
from cyclescope.board.description.parameters import CALIBRATED
from cyclescope.report import svg
from cyclescope.report.anchors import Anchors
from cyclescope.report.colours import stand_in
from cyclescope.report.figures import INCH, quieten
from cyclescope.report.text import plain, plausible, row_names, scale_to, signed_percent
from cyclescope.units import count

# Both plots, in SVG units: narrow enough for a phone.
_WIDTH, _HEIGHT = 460, 380
_LEFT, _RIGHT, _TOP, _FOOT = 86, 12, 12, 46
_FONT = 10
_BASES = (PREDICTED, CALIBRATED)
_MARKERS = {PREDICTED: "o", CALIBRATED: "D"}
# Times are shown in this unit, whatever they were published in.
TIME_UNIT = "us"
# Bars of the histogram, in percent: +-10 % is at the edge of two, 0 in the middle of one.
_BAR_PCT, _FIRST_PCT, _LAST_PCT = 4, -30, 30


@dataclass(frozen=True)
class Cell:
    """A published number that is shown by itself: its row, its name, and the place of its row."""

    row: Row
    experiment: str
    name: str
    target: str

    @property
    def words(self) -> str:
        """Both numbers and the error, in the unit of the document."""
        row = self.row
        both = f"published {plain(row.published or 0)}, simulated {plain(row.simulated)} {row.unit}"
        error = f"{signed_percent(row.error_pct)} ({row.basis})"
        return f"{self.experiment}: {self.name}\n{both.rstrip()}, {error}{plausible(row)}"


@dataclass(frozen=True)
class Agreement:
    """The cells of all experiments: `shown` one by one, `met` as a total, `left_out` not drawn.

    `met` are the exact numbers that are met, of the experiments `met_in`; exact numbers that are
    not met are shown. A number that is 0 has no place on a logarithmic axis.
    """

    shown: tuple[Cell, ...]
    met: tuple[Row, ...]
    met_in: tuple[str, ...]
    left_out: int

    def of(self, basis: str) -> list[Cell]:
        """The shown cells of a basis."""
        return [cell for cell in self.shown if cell.row.basis == basis]


def collect(results: Iterable[ExperimentResult], anchors: Anchors) -> Agreement:
    """The cells of some experiments; rows that follow from others are not cells."""
    shown: list[Cell] = []
    met: dict[str, list[Row]] = {}
    left_out = 0
    for result in results:
        rows = [row for row in result.rows if row.basis in _BASES]
        if result.exact:
            met[result.name] = [row for row in rows if row.is_exact]
            rows = [row for row in rows if not row.is_exact]
        drawn = [row for row in rows if (row.published or 0) > 0 and row.simulated > 0]
        left_out += len(rows) - len(drawn)
        shown += [
            Cell(row, result.name, str(name), anchors.of(row))
            for row, name in zip(drawn, row_names(drawn), strict=True)
        ]
    all_met = tuple(row for own in met.values() for row in own)
    return Agreement(tuple(shown), all_met, tuple(met), left_out)


def scatter(found: Agreement) -> Markup:
    """Simulated over published, on equal logarithmic axes."""
    places = [_place(cell.row) for cell in found.shown]
    met = [_place(row)[0] for row in found.met if row.simulated > 0]
    bars = [_interval(cell.row) for cell in found.shown]
    ends = (value for values in (*places, *filter(None, bars)) for value in values)
    low, high = _decades([*ends, *met])
    figure, axes = axes_of()
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    marks: dict[str, str] = {}
    links: dict[str, str] = {}
    _band(axes, low, high)
    if met:
        marks["met"] = (
            f"{', '.join(found.met_in)}: "
            f"{count(len(found.met), 'number')} of the hardware's own description, met exactly"
        )
        links["met"] = f"#{found.met_in[0]}"
        _stroke(axes, min(met), max(met))
    for number, (cell, (x, y), bar) in enumerate(zip(found.shown, places, bars, strict=True)):
        gid = f"cell-{number}"
        marks[gid], links[gid] = cell.words, f"#{cell.target}"
        if bar is not None:
            draw_interval(axes, x, *bar, cell.row.basis)
        draw_point(axes, x, y, cell.row.basis, gid)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(FixedLocator(_ticks(low, high)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(lambda value, position: plain(value))
    axes.set_xlabel(f"published (times in {TIME_UNIT})")
    axes.set_ylabel("simulated")
    return svg.inline(figure, "agreement", "Simulated over published numbers", marks, links)


def histogram(found: Agreement) -> Markup:
    """The number of shown cells by error, the bars of one basis on top of the other's."""
    errors = {
        basis: [cell.row.error_pct or 0 for cell in found.of(basis)] for basis in reversed(_BASES)
    }
    figure, axes = axes_of(grid="y")
    marks: dict[str, str] = {}
    axes.axvspan(-CLOSE_PCT, CLOSE_PCT, color=stand_in("band"), linewidth=0, zorder=0)
    highest = 0
    for number, (left, right) in enumerate(_bins()):
        height = 0
        for basis, values in errors.items():
            inside = sum(left <= value < right for value in values)
            if inside:
                gid = f"bar-{number}-{basis}"
                marks[gid] = f"{_between(left, right)}: {count(inside, f'{basis} number')}"
                _bar(axes, left, right, height, inside, basis, gid)
            height += inside
        highest = max(highest, height)
    edge = _BAR_PCT + _LAST_PCT
    axes.set_xlim(-edge - 1, edge + 1)
    axes.set_ylim(0, highest * 1.06 or 1)
    axes.set_xticks([*range(_FIRST_PCT, _LAST_PCT + 1, 10)])
    axes.xaxis.set_major_formatter(
        lambda value, position: f"{value:+.0f}".replace("-", "\N{MINUS SIGN}") if value else "0"
    )
    axes.locator_params(axis="y", integer=True)
    axes.set_xlabel("error, % of the published number; the last bars include all beyond")
    axes.set_ylabel("numbers")
    return svg.inline(figure, "errors", "How many numbers have which error", marks)


def _place(row: Row) -> tuple[float, float]:
    """A row's published and simulated number, times in one unit."""
    scale = scale_to(row.unit, TIME_UNIT)
    return scale.of(row.published or 0), scale.of(row.simulated)


def _interval(row: Row) -> tuple[float, float] | None:
    """The interval of a row's simulated number, times in one unit; None without an interval."""
    if row.interval is None or row.interval[0] <= 0:
        return None
    low, high = map(scale_to(row.unit, TIME_UNIT).of, row.interval)
    return low, high


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """The whole powers of ten around some numbers."""
    low, high = min(values, default=1), max(values, default=10)
    below, above = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return 10.0**below, 10.0 ** max(above, below + 1)


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten, as many as have room."""
    first, last = round(math.log10(low)), round(math.log10(high))
    step = 1 if last - first <= 5 else 2
    return [10.0**exponent for exponent in range(first, last + 1, step)]


def axes_of(grid: str = "both") -> tuple[Figure, Axes]:
    """Empty axes of the overview's size, and their figure; its `grid` is "y" or "both"."""
    figure = Figure(figsize=(_WIDTH / INCH, _HEIGHT / INCH))
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _FOOT
    axes = figure.add_axes((_LEFT / _WIDTH, _FOOT / _HEIGHT, width / _WIDTH, height / _HEIGHT))
    quieten(axes, line="bottom", grid="y")
    if grid == "both":
        axes.grid(axis="x", color=stand_in("rule"), linewidth=0.7)
    axes.tick_params(labelsize=_FONT)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(fontsize=_FONT)
    return figure, axes


def _band(axes: Axes, low: float, high: float) -> None:
    """The line of equal numbers, and the band of what is close to it."""
    ends = (low, high)
    close = CLOSE_PCT / 100
    axes.fill_between(
        ends,
        [value * (1 - close) for value in ends],
        [value * (1 + close) for value in ends],
        color=stand_in("band"),
        linewidth=0,
    )
    axes.plot(ends, ends, color=stand_in("muted"), linewidth=0.5)


def _stroke(axes: Axes, low: float, high: float) -> None:
    """A stroke from the least to the greatest of the numbers that are met."""
    (line,) = axes.plot((low, high), (low, high), color=stand_in("other"), linewidth=5, alpha=0.45)
    line.set_gid("met")


def draw_interval(axes: Axes, x: float, low: float, high: float, basis: str) -> None:
    """The thin line under a number's point, over its interval."""
    axes.vlines(x, low, high, color=stand_in(basis), linewidth=0.9, alpha=0.6, zorder=1.5)


def draw_point(axes: Axes, x: float, y: float, basis: str, gid: str) -> None:
    """The point of a number, by its basis."""
    (point,) = axes.plot(
        [x],
        [y],
        marker=_MARKERS[basis],
        markersize=5.5,
        color=stand_in(basis),
        alpha=0.85,
        markeredgecolor=stand_in("page"),
        markeredgewidth=0.7,
        linestyle="none",
        clip_on=False,
    )
    point.set_gid(gid)


def _bins() -> Iterator[tuple[float, float]]:
    """The histogram's bars: lower and upper error; the first and the last have only one end."""
    edges = [*range(_FIRST_PCT, _LAST_PCT + 1, _BAR_PCT)]
    yield -math.inf, edges[0]
    yield from itertools.pairwise(edges)
    yield edges[-1], math.inf


def _between(left: float, right: float) -> str:
    if math.isinf(left):
        return f"below {signed_percent(right)}"
    if math.isinf(right):
        return f"{signed_percent(left)} and above"
    return f"{signed_percent(left)} to {signed_percent(right)}"


def _bar(
    axes: Axes, left: float, right: float, bottom: float, height: float, basis: str, gid: str
) -> None:
    start = max(left, _FIRST_PCT - _BAR_PCT)
    (bar,) = axes.bar(
        start,
        height,
        width=min(right, _LAST_PCT + _BAR_PCT) - start,
        bottom=bottom,
        align="edge",
        color=stand_in(basis),
        edgecolor=stand_in("page"),
        linewidth=1,
    )
    bar.set_gid(gid)
