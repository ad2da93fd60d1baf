"""Common parts of line plots: their size, axes, the lines' styles, and names at their ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from cyclescope.report.colours import Style, by_order, stand_in
from cyclescope.report.figures import FONT, INCH, LETTER, WIDTH, quieten
from cyclescope.report.spans import Span
from cyclescope.report.text import plain

# Widths at the right of a full plot: for the names at the lines' ends, and for a name's marker.
_LEAST_RIGHT, _MARKER = 110, 18
# The distance of names at the lines' ends, in SVG units.
_LEAST_GAP = 13
_MARKERS = "osD^vP"


@dataclass(frozen=True)
class Size:
    """A plot's size in SVG units; the left margin has room for large numbers and the axis's name.

    In a `small` plot only the lines of simulated numbers have names.
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
        """The distance from the axis to the top."""
        return self.height - self.top - self.foot


FULL = Size(WIDTH, 300, left=66, top=12, foot=44, font=FONT)
SMALL = Size(330, 200, left=58, top=10, foot=42, font=FONT, small=True)


@dataclass(frozen=True)
class Look:
    """The look of a line and its points: published ones are dashed, their points hollow."""

    style: Style
    marker: str
    published: bool


def looks(of: Sequence[str], published: Sequence[bool] = ()) -> list[Look]:
    """A colour and a marker for each subject of lines (`of`); one look for each line."""
    things = list(dict.fromkeys(of))
    styles = by_order(len(things))
    places = [things.index(one) for one in of]
    return [
        Look(styles[place], _MARKERS[place % len(_MARKERS)], is_published)
        for place, is_published in zip(places, published or [False] * len(of), strict=True)
    ]


def upright(axes: Axes, span: Span) -> None:
    """The axis at the left, from the span's low end to its high one."""
    if span.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, position: plain(value))
    axes.set_ylim(span.low, span.high)


def stroke(axes: Axes, across: Sequence[float], heights: Sequence[float], look: Look) -> None:
    """A line, dashed if it was published."""
    # dashes that cover another line would not be visible
    dashes, above = ((0, (2, 2)), 2.5) if look.published else ("solid", 2.0)
    colour = look.style.colour
    axes.plot(across, heights, color=colour, linewidth=1.4, linestyle=dashes, zorder=above)


def right_of(names: Iterable[str], size: Size) -> float:
    """The width of the names at the lines' ends, in SVG units."""
    longest = max(map(len, names), default=0) * size.font * LETTER
    return max(0 if size.small else _LEAST_RIGHT, _MARKER + 6 + longest)


def axes_of(right: float, size: Size) -> tuple[Axes, Figure]:
    """Empty axes with a margin at the right, and their figure."""
    figure = Figure(figsize=(size.width / INCH, size.height / INCH))
    width = (size.width - size.left - right) / size.width
    place = (size.left / size.width, size.foot / size.height)
    axes = figure.add_axes((*place, width, size.plot_height / size.height))
    quieten(axes, line="bottom", grid="y")
    return axes, figure


def name_ends(axes: Axes, ends: Sequence[tuple[float, str, Look]], span: Span, size: Size) -> None:
    """Each line's marker and name at its right end, moved if it would cover another."""
    ordered = sorted(ends, key=lambda end: end[0])
    places = _apart([span.fraction(end[0]) * size.plot_height for end in ordered], size)
    for at, (_, name, look) in zip(places, ordered, strict=True):
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


def _apart(heights: Sequence[float], size: Size) -> list[float]:
    """Ascending heights moved up until none overlap, and down again if they leave the plot."""
    lowest, raised = 0.0, []
    for height in heights:
        raised.append(max(height, lowest))
        lowest = raised[-1] + _LEAST_GAP
    highest, found = size.plot_height + size.top - 5.0, []
    for height in reversed(raised):
        found.append(min(height, highest))
        highest = found[-1] - _LEAST_GAP
    return found[::-1]


def _key(axes: Axes, x: float, y: float, look: Look) -> None:
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
