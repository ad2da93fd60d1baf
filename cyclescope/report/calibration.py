"""Whether intervals contain what they claim: the part of published numbers in them, by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes

from cyclescope.bench import coverage
from cyclescope.bench.coverage import Coverage
from cyclescope.bench.rows import Row
from cyclescope.bench.uncertainty import LEVEL_PCT, Spreads
from cyclescope.report import svg
from cyclescope.report.agreement import axes_of
from cyclescope.report.colours import stand_in

ALL, ONCE = "all", "once"
_NAMES = {ALL: "published number", ONCE: "independent number"}
_MARKERS = {ALL: "o", ONCE: "D"}
ROLES = {ALL: "cause-0", ONCE: "cause-1"}
_MARGIN_PCT = 2


@dataclass(frozen=True)
class Calibration:
    """The coverage of all numbers, and of those that are independent, with the plot of both."""

    all: tuple[Coverage, ...]
    once: tuple[Coverage, ...]
    svg: Markup

    @property
    def shown(self) -> Coverage:
        """The coverage of the intervals that tables show."""
        return next(one for one in self.all if one.level_pct == LEVEL_PCT)


def calibration(rows: Sequence[Row], known: Spreads) -> Calibration | None:
    """The calibration of some rows; None if no row has a known spread."""
    every, once = (coverage.curve(own, known) for own in (rows, coverage.independent(rows)))
    return Calibration(every, once, _draw(every, once)) if every else None


def _draw(every: Sequence[Coverage], once: Sequence[Coverage]) -> Markup:
    figure, axes = axes_of()
    least = every[0].level_pct
    axes.set_xlim(least - _MARGIN_PCT, 100 + _MARGIN_PCT)
    axes.set_ylim(-_MARGIN_PCT, 100 + _MARGIN_PCT)
    axes.plot((least, 100), (least, 100), color=stand_in("muted"), linewidth=0.8)
    marks: dict[str, str] = {}
    for name, found in ((ALL, every), (ONCE, once)):
        _line(axes, name, found)
        for one in found:
            gid = f"level-{name}-{one.level_pct:g}"
            marks[gid] = words(one, _NAMES[name])
            _point(axes, name, one, gid)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, position: f"{value:g} %")
    axes.set_xticks([one.level_pct for one in every if one.level_pct % 10 == 0])
    axes.set_xlabel("runs with plausible values in the interval")
    axes.set_ylabel("published numbers in it")
    return svg.inline(figure, "calibration", "Published numbers in intervals by their level", marks)


def words(one: Coverage, name: str) -> str:
    """A point in words: "90 % intervals hold 61 of 162 published numbers: 38 %"."""
    held = f"{one.inside} of {one.numbers} {name}{'s' if one.numbers != 1 else ''}"
    return f"{one.level_pct:g} % intervals hold {held}: {one.pct:.0f} %"


def _line(axes: Axes, name: str, found: Sequence[Coverage]) -> None:
    across, up = [one.level_pct for one in found], [one.pct for one in found]
    axes.plot(across, up, color=stand_in(ROLES[name]), linewidth=1.4)


def _point(axes: Axes, name: str, one: Coverage, gid: str) -> None:
    (point,) = axes.plot(
        [one.level_pct],
        [one.pct],
        marker=_MARKERS[name],
        markersize=6,
        color=stand_in(ROLES[name]),
        markeredgecolor=stand_in("page"),
        markeredgewidth=0.7,
        linestyle="none",
        clip_on=False,
    )
    point.set_gid(gid)
