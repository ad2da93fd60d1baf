"""The wires of an SPI bus during a frame: step lines with the bytes above them, a panel a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cyclescope.frames import MISO, MOSI, Byte, Frame, Wire
from cyclescope.report import svg
from cyclescope.report.colours import stand_in
from cyclescope.report.figures import FONT, INCH, LETTER, WIDTH, quieten
from cyclescope.report.text import plain
from cyclescope.results import ExperimentResult
from cyclescope.units import count
from cyclescope.views import Frames

# In SVG units: a wire's levels, what is between wires, above a panel, and for bytes.
_HIGH, _BETWEEN, _APART, _BYTE = 9, 6, 15, 12
_FOOT, _RIGHT, _WIRE_NAMES = 44, 62, 44
_SMALL = FONT - 1
# Before and after each frame, in parts of the longest.
_MARGIN = 0.012
_PS_PER_US = 10**6
_COLOURS = {MOSI: "cause-0", MISO: "cause-3"}


@dataclass(frozen=True)
class Plot:
    """A plot with its title and what there is to see."""

    title: str
    text: str
    svg: Markup


@dataclass(frozen=True)
class _Panel:
    """A frame and what it is called, `top` below the upper end of the plot."""

    name: str
    frame: Frame
    top: float
    number: int


def plot(result: ExperimentResult) -> Plot | None:
    """The frames that the runs of an experiment kept; None if there are none."""
    view = result.frames
    found = [
        (str(run.settings[view.panel]), run.result.frame)
        for run in result.runs
        if view and run.result and run.result.frame and not run.error
    ]
    if view is None or not found:
        return None
    return Plot(view.title, view.text, _draw(view, found, f"{result.name}-wires"))


def _draw(view: Frames, found: Sequence[tuple[str, Frame]], prefix: str) -> Markup:
    height = sum(_height(name) for name, _ in view.wires) + _APART
    panels = [
        _Panel(name, frame, number * height, number) for number, (name, frame) in enumerate(found)
    ]
    longest_us = max(_us(frame.length_ps) for _, frame in found)
    names = max(len(name) for name, _ in found) * FONT * LETTER
    axes, figure = _axes(len(found) * height, names + _WIRE_NAMES)
    axes.set_xlim(-_MARGIN * longest_us, longest_us * (1 + _MARGIN))
    marks: dict[str, str] = {}
    for panel in panels:
        _words(axes, panel.name, panel.top + height / 2 + _APART / 2, -_WIRE_NAMES, "ink")
        top = panel.top + _APART
        for wire, called in view.wires:
            low = top + _height(wire) - _BETWEEN
            _words(axes, called, low - _HIGH / 2, -6, "muted")
            marks |= _wire(axes, panel, wire, called, low, _MARGIN * longest_us)
            top += _height(wire)
        first = panel.top + _APART + _height(view.wires[0][0]) - _BETWEEN - _HIGH / 2
        _duration(axes, panel.frame, first, _MARGIN * longest_us)
    return svg.inline(figure, prefix, view.title, marks)


def _height(wire: str) -> float:
    """What a wire takes in a panel; those with data have bytes above them."""
    return _HIGH + _BETWEEN + (_BYTE if wire in _COLOURS else 0)


def _us(ps: int) -> float:
    return ps / _PS_PER_US


def _axes(total: float, left: float) -> tuple[Axes, Figure]:
    figure = Figure(figsize=(WIDTH / INCH, (total + _FOOT) / INCH))
    box = (left / WIDTH, _FOOT / (total + _FOOT))
    axes = figure.add_axes((*box, 1 - box[0] - _RIGHT / WIDTH, 1 - box[1]))
    axes.set_ylim(total + _BETWEEN, 0)
    axes.set_yticks([])
    quieten(axes, line="bottom", grid="x")
    axes.xaxis.set_major_formatter(lambda value, position: plain(value))
    axes.set_xlabel("time since the select fell, us")
    return axes, figure


def _wire(
    axes: Axes, panel: _Panel, wire: str, called: str, low: float, margin_us: float
) -> dict[str, str]:
    """Draw a wire and its bytes; gives what explains them."""
    frame = panel.frame
    shown = frame.wires[wire]
    points = list(_steps(shown, -margin_us, _us(frame.length_ps) + margin_us))
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
        _byte(axes, byte, low - _HIGH, _COLOURS[wire], gid)
    return marks


def _steps(wire: Wire, start_us: float, end_us: float) -> Iterator[tuple[float, int]]:
    """The corners of a wire's line."""
    level = wire.first
    yield start_us, level
    for at_ps in wire.changes_ps:
        yield _us(at_ps), level
        level = 1 - level
        yield _us(at_ps), level
    yield end_us, level


def _byte(axes: Axes, byte: Byte, bottom: float, role: str, gid: str) -> None:
    """A byte's digits in a bar over its clocks, as logic analysers show it."""
    start, end = _us(byte.start_ps), _us(byte.end_ps)
    bar = Rectangle(
        (start, bottom - 2), end - start, 1 - _BYTE, facecolor=stand_in(role), alpha=0.18
    )
    bar.set_gid(gid)
    axes.add_patch(bar)
    axes.annotate(
        f"{byte.value:02X}",
        ((start + end) / 2, bottom - 2 - (_BYTE - 1) / 2),
        ha="center",
        va="center_baseline",
        fontsize=_SMALL,
        color=stand_in("ink"),
        annotation_clip=False,
        parse_math=False,
    )


def _duration(axes: Axes, frame: Frame, centre: float, margin_us: float) -> None:
    axes.annotate(
        f"{plain(_us(frame.length_ps), 4)} us",
        (_us(frame.length_ps) + margin_us, centre),
        xytext=(5, 0),
        textcoords="offset points",
        va="center_baseline",
        fontsize=FONT - 0.5,
        color=stand_in("ink"),
        annotation_clip=False,
        parse_math=False,
    )


def _words(axes: Axes, text: str, centre: float, right: float, role: str) -> None:
    """Words that end so far beside the left end of the axes."""
    axes.annotate(
        text,
        (0, centre),
        xycoords=axes.get_yaxis_transform(),
        xytext=(right, 0),
        textcoords="offset points",
        ha="right",
        va="center_baseline",
        fontsize=FONT if role == "ink" else _SMALL,
        color=stand_in(role),
        annotation_clip=False,
        parse_math=False,
    )
