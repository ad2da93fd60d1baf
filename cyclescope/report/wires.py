"""Wires during a frame: step lines with their contents above; a panel for each run.

On an SPI bus the contents are bytes, or a frame's phases by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.views import Frames
from cyclescope.board.observing.frames import MISO, MOSI, Frame, Phase, Span, Wire
from cyclescope.report import svg, words
from cyclescope.report.colours import stand_in
from cyclescope.report.figures import FONT, INCH, LETTER, WIDTH, quieten
from cyclescope.report.text import plain
from cyclescope.units import count

# In SVG units: a wire's levels, the gap between wires, above a panel, and for bytes.
_HIGH, _BETWEEN, _APART, _BYTE = 9, 6, 15, 12
_FOOT, _RIGHT, _WIRE_NAMES = 44, 62, 44
_SMALL = FONT - 1
# The margin before and after each frame, in parts of the longest.
_MARGIN = 0.012
_PS_PER_US = 10**6
_COLOURS = {MOSI: "cause-0", MISO: "cause-3"}
# Bars of a frame's phases, and a line above them for names that do not fit.
_PHASES = 2 * _BYTE
_PHASE_COLOURS = ("cause-0", "cause-3")


@dataclass(frozen=True)
class Plot:
    """A plot with its title and its description."""

    title: str
    text: str
    svg: Markup


@dataclass(frozen=True)
class _Panel:
    """A frame and its name, with its wires and phases, `top` below the plot's end.

    `unit_us` is the length of 1 on the axis.
    """

    name: str
    frame: Frame
    wires: tuple[tuple[str, str], ...]
    phases: tuple[Phase, ...]
    top: float
    number: int
    unit_us: float

    @property
    def length_ps(self) -> int:
        """The shown part of the frame: all of it, or up to the end of the last phase."""
        spans = [*self.frame.spans(self.phases)]
        return spans[-1].end_ps if spans else self.frame.length_ps

    def at(self, ps: int) -> float:
        """The place of a time of the frame on the axis."""
        return ps / _PS_PER_US / self.unit_us

    @property
    def first_wire(self) -> float:
        """The place of the first wire."""
        return self.top + _APART + (_PHASES if self.phases else 0)

    @property
    def height(self) -> float:
        """The height of the panel."""
        return self.first_wire - self.top + sum(_height(name) for name, _ in self.wires)


def plot(result: ExperimentResult) -> Plot | None:
    """The frames that the runs of an experiment kept; None without frames."""
    view = result.frames
    panels: list[_Panel] = []
    for run in result.runs:
        if view and run.result and run.result.frame and not run.error:
            settings = run.settings
            wires, phases = view.wires_of(settings), view.phases_of(settings)
            top = panels[-1].top + panels[-1].height if panels else 0
            name = str(settings[view.panel])
            frame = run.result.frame
            unit_us = frame.length_ps / _PS_PER_US if view.each else 1.0
            panels.append(_Panel(name, frame, wires, phases, top, len(panels), unit_us))
    if view is None or not panels:
        return None
    return Plot(view.title, view.text, _draw(view, panels, f"{result.name}-wires"))


def _draw(view: Frames, panels: Sequence[_Panel], prefix: str) -> Markup:
    longest = max(panel.at(panel.length_ps) for panel in panels)
    # all letters of a short name may be wide
    names = max(len(panel.name) for panel in panels) * FONT * LETTER + FONT
    called = max(len(called) for panel in panels for _, called in panel.wires) * _SMALL * LETTER
    left = max(_WIRE_NAMES, called + 10)
    axes, figure = _axes(panels[-1].top + panels[-1].height, names + left, view)
    axes.set_xlim(-_MARGIN * longest, longest * (1 + _MARGIN))
    marks: dict[str, str] = {}
    for panel in panels:
        centre = (panel.first_wire + panel.top + panel.height) / 2
        words.ending(axes, panel.name, centre, -left, FONT, "ink")
        marks |= _phases(axes, panel, longest)
        top = panel.first_wire
        for wire, name in panel.wires:
            low = top + _height(wire) - _BETWEEN
            words.ending(axes, name, low - _HIGH / 2, -6, _SMALL, "muted")
            marks |= _wire(axes, panel, wire, name, low, _MARGIN * longest)
            top += _height(wire)
        first = panel.first_wire + _height(panel.wires[0][0]) - _BETWEEN - _HIGH / 2
        text = f"{plain(_us(panel.length_ps), 4)} us"
        words.after(axes, text, panel.at(panel.length_ps) + _MARGIN * longest, first, FONT - 0.5)
    return svg.inline(figure, prefix, view.title, marks)


def _phases(axes: Axes, panel: _Panel, longest: float) -> dict[str, str]:
    """Bars over the clocks of each phase with its name; returns their explanations."""
    marks: dict[str, str] = {}
    width = WIDTH - _RIGHT - 2 * _WIRE_NAMES
    for number, span in enumerate(panel.frame.spans(panel.phases)):
        gid = f"phase-{panel.number}-{number}"
        start, end = panel.at(span.start_ps), panel.at(span.end_ps)
        times = f"{plain(_us(span.start_ps), 4)} to {plain(_us(span.end_ps), 4)} us"
        marks[gid] = f"{panel.name}, {_said(span)}: {times}"
        # A name that does not fit over its phase stands a line higher.
        fits = (end - start) / longest * width >= len(_said(span)) * _SMALL * LETTER
        low = panel.first_wire - 2
        _bar(axes, (start, end), low, _PHASE_COLOURS[number % len(_PHASE_COLOURS)], gid)
        words.centred(
            axes, _said(span), (start + end) / 2, low - (_BYTE - 1) * (0.5 if fits else 1.5), _SMALL
        )
    return marks


def _said(span: Span) -> str:
    """A phase's name, with its value in hexadecimal digits."""
    if span.value is None or span.phase.clocks is None:
        return span.phase.name
    digits = -(-span.phase.clocks * len(span.phase.wires) // 4)
    return f"{span.phase.name} {span.value:0{digits}X}"


def _height(wire: str) -> float:
    """The height of a wire in a panel; wires with data have bytes above them."""
    return _HIGH + _BETWEEN + (_BYTE if wire in _COLOURS else 0)


def _us(ps: int) -> float:
    return ps / _PS_PER_US


def _axes(total: float, left: float, view: Frames) -> tuple[Axes, Figure]:
    figure = Figure(figsize=(WIDTH / INCH, (total + _FOOT) / INCH))
    box = (left / WIDTH, _FOOT / (total + _FOOT))
    axes = figure.add_axes((*box, 1 - box[0] - _RIGHT / WIDTH, 1 - box[1]))
    axes.set_ylim(total + _BETWEEN, 0)
    axes.set_yticks([])
    quieten(axes, line="bottom", grid="x")
    if view.each:
        axes.set_xticks([])
    axes.xaxis.set_major_formatter(lambda value, position: plain(value))
    axes.set_xlabel(view.x_title)
    return axes, figure


def _wire(
    axes: Axes, panel: _Panel, wire: str, called: str, low: float, margin: float
) -> dict[str, str]:
    """Draw a wire and its bytes; returns their explanations."""
    frame = panel.frame
    shown = frame.wires[wire]
    points = list(_steps(panel, shown, margin))
    gid = f"wire-{panel.number}-{called}"
    (line,) = axes.plot(
        [at for at, _ in points],
        [low - level * _HIGH for _, level in points],
        color=stand_in(_COLOURS.get(wire, "simulated")),
        linewidth=0.9,
        solid_joinstyle="miter",
    )
    line.set_gid(gid)
    marks = {gid: f"{panel.name}, {called}: {count(len(shown.changes_ps), 'edge')}"}
    for number, byte in enumerate(frame.bytes_on(wire) if wire in _COLOURS else ()):
        gid = f"byte-{panel.number}-{called}-{number}"
        span = f"{plain(_us(byte.start_ps), 4)} to {plain(_us(byte.end_ps), 4)} us"
        marks[gid] = f"{panel.name}, {called}: {byte.value:02X}, {span}"
        ends = panel.at(byte.start_ps), panel.at(byte.end_ps)
        _bar(axes, ends, low - _HIGH - 2, _COLOURS[wire], gid)
        words.centred(
            axes, f"{byte.value:02X}", sum(ends) / 2, low - _HIGH - 2 - (_BYTE - 1) / 2, _SMALL
        )
    return marks


def _steps(panel: _Panel, wire: Wire, margin: float) -> Iterator[tuple[float, int]]:
    """The corners of a wire's line."""
    level = wire.first
    yield -margin, level
    for at_ps in wire.changes_ps:
        yield panel.at(at_ps), level
        level = 1 - level
        yield panel.at(at_ps), level
    yield panel.at(panel.frame.length_ps) + margin, level


def _bar(axes: Axes, ends: tuple[float, float], low: float, role: str, gid: str) -> None:
    """A pale bar as high as a byte's, above `low`."""
    start, end = ends
    bar = Rectangle((start, low), end - start, 1 - _BYTE, facecolor=stand_in(role), alpha=0.18)
    bar.set_gid(gid)
    axes.add_patch(bar)
