"""Places of values of settings and metrics along the axes of a sweep's plots."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from cyclescope.board.results import Value
from cyclescope.report import lines, spans
from cyclescope.report.figures import FONT, LETTER
from cyclescope.report.spans import Span
from cyclescope.report.text import plain
from cyclescope.sweeps import words

# Numbers that differ by more than this factor are drawn by their logarithms.
_WIDE = 50
# With more values than this, ticks are at round numbers.
_MOST_TICKED = 40
# The distance between the labels of ticks, in SVG units.
_GAP = 8


@dataclass(frozen=True)
class Across:
    """An axis of numbers: the place of each value, and the places that can have a tick.

    Numbers that go by factors are placed by their logarithms; 0 is a step before the least of them.
    """

    places: Mapping[Value, float]
    ticks: Sequence[tuple[float, str]]

    def draw(self, axes: Axes, title: str, width: float) -> None:
        """The axis below a plot of this width, with those ticks whose labels have room."""
        low, high = min(self.places.values()), max(self.places.values())
        margin = (high - low) * 0.03 or 1
        axes.set_xlim(low - margin, high + margin)
        per_unit = (high - low + 2 * margin) / width
        kept: list[tuple[float, str]] = []
        end = -math.inf
        for place, label in self.ticks:
            half = (len(label) * (FONT - 0.5) * LETTER / 2 + _GAP / 2) * per_unit
            if place - half >= end:
                kept.append((place, label))
                end = place + half
        axes.set_xticks([tick[0] for tick in kept], [tick[1] for tick in kept], parse_math=False)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel(title, parse_math=False)


def across(values: Sequence[Value], is_log: bool | None = None) -> Across:
    """The axis of ascending numbers, logarithmic if requested, or else if they go by factors."""
    numbers = [float(value) for value in values]
    logarithmic = goes_by_factors(numbers) if is_log is None else is_log and numbers[-1] > 0
    if not logarithmic:
        places = dict(zip(values, numbers, strict=True))
        round_ones = MaxNLocator(7).tick_values(numbers[0], numbers[-1])
        rounded = [(float(at), _label(at)) for at in round_ones]
    else:
        above = [math.log2(number) for number in numbers if number > 0]
        step = (above[-1] - above[0]) / (len(above) - 1) if len(above) > 1 else 1
        places = {
            value: math.log2(number) if number > 0 else above[0] - min(step, 2)
            for value, number in zip(values, numbers, strict=True)
        }
        ends = (2.0 ** above[0], 2.0 ** above[-1])
        found = LogLocator(subs=(1, 2, 5)).tick_values(*ends)
        rounded = [(math.log2(at), _label(at)) for at in found if at > 0]
    if len(values) <= _MOST_TICKED:
        return Across(places, [(places[value], words.value(value)) for value in values])
    low, high = min(places.values()), max(places.values())
    return Across(places, [tick for tick in rounded if low <= tick[0] <= high])


def _label(number: float) -> str:
    return words.value(round(number)) if float(number).is_integer() else f"{number:g}"


def goes_by_factors(numbers: Sequence[float]) -> bool:
    """Whether ascending numbers go by factors rather than by steps; a 0 may precede them."""
    found = [number for number in numbers if number > 0]
    if len(found) < len(numbers) - (numbers[0] == 0) or len(found) < 2 or found[-1] < 8 * found[0]:
        return False
    pairs = list(itertools.pairwise(found))
    factors = [math.log(high / low) for low, high in pairs]
    steps = [high - low for low, high in pairs]
    return max(factors) / min(factors) <= max(steps) / min(steps)


def span_of(values: Sequence[float]) -> Span:
    """The range of a metric's axis.

    It begins at 0 unless all values are close to each other; a wide range is logarithmic.
    """
    low, high = min(values), max(values)
    if low > 0 and high > _WIDE * low:
        return spans.logarithmic(values, margin=1.3)
    if 0 <= low < high / 2 or low == high > 0:
        return spans.linear(values)
    margin = (high - low) * 0.08 or 1
    return Span(low - margin, high + margin, log=False)


def upright(axes: Axes, span: Span, title: str) -> None:
    """The axis of a metric at the left."""
    lines.upright(axes, span)
    if span.log and span.high > 1000 * span.low:
        axes.yaxis.set_major_locator(LogLocator())
    axes.set_ylabel(title, parse_math=False)


def along(axes: Axes, span: Span, title: str) -> None:
    """The axis of a metric below."""
    if span.log:
        axes.set_xscale("log")
        wide = span.high > 1000 * span.low
        axes.xaxis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, position: plain(value))
    axes.set_xlim(span.low, span.high)
    axes.set_xlabel(title, parse_math=False)
