"""A window of a run as a timeline: a lane for the activity of each core and each device, over time.

Cores have a lane for each level of nested functions; functions that run during the whole window are
left out, as they show nothing. Spans that are too short to be visible are drawn together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import RunRecord
from cyclescope.bench.views import Moment
from cyclescope.board.excerpts import CORE, EXCEPTION, TASK, Calls, Excerpt, Span, Track, Wire
from cyclescope.report import svg, words
from cyclescope.report.colours import stand_in
from cyclescope.report.figures import FONT, INCH, LETTER, WIDTH, quieten
from cyclescope.report.text import Scale, plain, scale_for
from cyclescope.units import count, format_ps

# In SVG units: a lane's bars, the gap between lanes, and between different cores or devices.
_BAR, _BETWEEN, _APART = 11, 2, 5
_FOOT, _RIGHT, _MOST_LEFT = 40, 14, 210
_SMALL = FONT - 1.5
# The width of a letter in a bar, in parts of the font's size: names in code have few narrow ones.
_LETTER = 0.62
# Shorter spans are drawn together with a neighbour, if it is as close.
_SHORTEST = 1.2
# Names that do not fit are cut off, unless fewer letters would be left.
_FEWEST_LETTERS = 5
# The most names of spans that are drawn together.
_MOST_NAMED = 3
_FUNCTIONS = "functions"
# Kinds of lanes: their colours, and their names in the legend; in its order.
_KINDS = {
    TASK: ("cause-7", "tasks"),
    _FUNCTIONS: ("cause-0", "functions of a core"),
    EXCEPTION: ("cause-4", "exceptions"),
    CORE: ("cpu", "core asleep or in reset"),
    "busy": ("cause-1", "chip busy"),
    "wire": ("cause-5", "clocks on a wire"),
    "frame": ("cause-5", "frames"),
    "reads in place": ("cause-5", "reads in place"),
    "transfer": ("cause-2", "DMA"),
    "serial": ("cause-6", "characters"),
    "conversion": ("cause-9", "conversions"),
    "timer": ("cause-7", "timers"),
    "other": ("cause-8", "other activities"),
    "interrupt": ("cause-3", "interrupt and request lines"),
}
# Kinds whose bars contain their text.
_PALE = (TASK, _FUNCTIONS, "frame", "serial")
_ALPHA = (0.42, 0.3, 0.2, 0.14)


@dataclass(frozen=True)
class Plot:
    """A plot with its title, its description, the run that it is of, and its legend.

    Without a picture, `text` gives the reason.
    """

    title: str
    text: str
    run: str
    svg: Markup | None
    legend: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Lane:
    """Spans of one kind that do not overlap, one after the other.

    `level` is the nesting of the lane's functions, among those that are shown.
    """

    owner: str
    name: str
    kind: str
    spans: tuple[Span, ...]
    level: int = 0
    wire: Wire | None = None

    @property
    def starts_stack(self) -> bool:
        """Whether it has the outermost functions of a core, or of a task."""
        return self.kind == _FUNCTIONS and self.level == 0

    @property
    def label(self) -> str:
        """The text beside it."""
        if self.wire is not None:
            return self.wire.name
        if self.kind == _FUNCTIONS:
            return self.owner if self.level == 0 else ""
        return f"{self.owner}: {self.name}"


@dataclass(frozen=True)
class _Bar:
    """One drawn bar: a span, or several that are too short to be visible."""

    spans: tuple[Span, ...]

    @property
    def begin_ps(self) -> int:
        return self.spans[0].begin_ps

    @property
    def end_ps(self) -> int:
        return max(span.end_ps for span in self.spans)


def plots(result: ExperimentResult) -> list[Plot]:
    """The moments of an experiment's runs."""
    shown = [(run, *shown) for run in result.runs for shown in run.moments if not run.error]
    return [
        _plot(run, moment, excerpt, f"{result.name}-moment-{number}")
        for number, (run, moment, excerpt) in enumerate(shown)
    ]


def _plot(run: RunRecord, moment: Moment, excerpt: Excerpt | str, prefix: str) -> Plot:
    if isinstance(excerpt, str):
        return Plot(moment.title, f"There is no timeline: {excerpt}.", run.label, None, ())
    lanes = list(_lanes(moment, excerpt))
    used = {lane.kind for lane in lanes if lane.spans}
    legend = tuple(
        (text, f"swatch {role}") for kind, (role, text) in _KINDS.items() if kind in used
    )
    text = moment.text if excerpt.is_whole else f"{moment.text} There was no room for all of it."
    return Plot(moment.title, text, run.label, _draw(moment, excerpt, lanes, prefix), legend)


# ---- lanes


def _lanes(moment: Moment, excerpt: Excerpt) -> Iterator[_Lane]:
    """Cores first, then devices in their order, wires last."""
    for core in excerpt.cores:
        own = [one for one in excerpt.tracks if one.scope == core]
        # a single task all the time is not worth a lane
        tasks = [one for one in own if one.kind == TASK and len(one.spans) > 1]
        yield from _track_lanes(moment, tasks)
        for calls in (calls for calls in excerpt.calls if calls.core == core):
            yield from _function_lanes(calls, excerpt, moment.depth)
        yield from _track_lanes(moment, [one for one in own if one.kind != TASK])
    others = [one for one in excerpt.tracks if one.scope not in excerpt.cores]
    for scope in dict.fromkeys(track.scope for track in others):
        yield from _track_lanes(moment, [one for one in others if one.scope == scope])
    for wire in excerpt.wires:
        yield _Lane(wire.name.partition(".")[0], "", "wire", (), wire=wire)


def _track_lanes(moment: Moment, tracks: Sequence[Track]) -> Iterator[_Lane]:
    for track in tracks:
        lane = _Lane(track.scope, track.title, track.kind, track.spans)
        if not any(fnmatchcase(lane.label, pattern) for pattern in moment.hidden):
            yield lane


def _function_lanes(calls: Calls, excerpt: Excerpt, depth: int) -> Iterator[_Lane]:
    levels: list[list[Span]] = [[] for _ in range(depth)]
    around: list[Span] = []
    for span in calls.spans:
        if span.begin_ps <= excerpt.begin_ps and span.end_ps >= excerpt.end_ps:
            continue
        around = [one for one in around if one.end_ps > span.begin_ps]
        if len(around) < depth:
            levels[len(around)].append(span)
        around.append(span)
    owner = f"{calls.core}, {calls.task}" if calls.task else calls.core
    for level, spans in enumerate(levels):
        if spans:
            yield _Lane(owner, "", _FUNCTIONS, tuple(spans), level)


def _bars(lane: _Lane, shortest_ps: float) -> list[_Bar]:
    """The bars of a lane: spans that are too short to be visible are drawn together."""
    bars: list[list[Span]] = []
    for span in lane.spans:
        is_short = span.end_ps - span.begin_ps < shortest_ps
        last = bars[-1] if bars else []
        is_near = bool(last) and span.begin_ps - last[-1].end_ps < shortest_ps
        if is_short and is_near and last[-1].end_ps - last[-1].begin_ps < shortest_ps:
            last.append(span)
        else:
            bars.append([span])
    return [_Bar(tuple(spans)) for spans in bars]


# ---- drawn


def _draw(moment: Moment, excerpt: Excerpt, lanes: Sequence[_Lane], prefix: str) -> Markup:
    scale = scale_for("ps", [excerpt.length_ps])
    labels = [lane.label for lane in lanes]
    left = min(_MOST_LEFT, max((len(label) for label in labels), default=0) * FONT * LETTER + 12)
    tops = _tops(lanes)
    total = (tops[-1] if tops else 0) + _BAR + _APART
    figure = Figure(figsize=(WIDTH / INCH, (total + _FOOT) / INCH))
    box = (left / WIDTH, _FOOT / (total + _FOOT))
    axes = figure.add_axes((*box, 1 - box[0] - _RIGHT / WIDTH, 1 - box[1]))
    axes.set_ylim(total, -_BETWEEN)
    axes.set_yticks([])
    quieten(axes, line="bottom", grid="x")
    axes.xaxis.set_major_formatter(lambda value, position: plain(value))
    origin_ps = excerpt.begin_ps + moment.before_ps
    painter = _Painter(axes, excerpt, origin_ps, scale, WIDTH - left - _RIGHT)
    axes.set_xlim(painter.at(excerpt.begin_ps), painter.at(excerpt.end_ps))
    called = moment.function.rpartition(":")[2]
    axes.set_xlabel(f"time since {called} was called, {scale.unit}")
    for number, (lane, top) in enumerate(zip(lanes, tops, strict=True)):
        painter.lane(number, lane, top)
    return svg.inline(figure, prefix, moment.title, painter.marks)


def _tops(lanes: Sequence[_Lane]) -> list[float]:
    tops: list[float] = []
    for before, lane in zip((None, *lanes), lanes, strict=False):
        top = tops[-1] + _BAR + _BETWEEN if tops else 0
        # tasks may have the same name
        is_other = before and (before.owner != lane.owner or lane.starts_stack)
        tops.append(top + _APART if is_other else top)
    return tops


class _Painter:
    """Draws lanes; `marks` are the explanations of what was drawn."""

    def __init__(
        self, axes: Axes, excerpt: Excerpt, origin_ps: int, scale: Scale, width: float
    ) -> None:
        self.marks: dict[str, str] = {}
        self._axes, self._excerpt, self._origin_ps = axes, excerpt, origin_ps
        self._scale, self._width = scale, width

    def lane(self, number: int, lane: _Lane, top: float) -> None:
        """A lane with its label."""
        words.ending(self._axes, lane.label, top + _BAR / 2, -6, FONT - 0.5, "ink")
        if lane.wire is not None:
            self._wire(number, lane.wire, top)
        for place, bar in enumerate(_bars(lane, self._excerpt.length_ps / self._width * _SHORTEST)):
            gid = f"span-{number}-{place}"
            self.marks[gid] = self._words(lane, bar)
            begin, end = self.at(bar.begin_ps), self.at(bar.end_ps)
            self._rectangle(lane, (begin, end), top, gid)
            room = int(self._units(end - begin) / (_SMALL * _LETTER) - 0.6)
            if room > 0 and len(bar.spans) == 1 and (text := _inside(lane, bar.spans[0], room)):
                words.centred(self._axes, text, (begin + end) / 2, top + _BAR / 2, _SMALL)

    def at(self, ps: int) -> float:
        """The place of a time on the axis; times outside are at its ends."""
        within = min(max(ps, self._excerpt.begin_ps), self._excerpt.end_ps)
        return self._scale.of(within - self._origin_ps)

    def _units(self, length: float) -> float:
        """A length on the axis in units of the picture."""
        return length / self._scale.of(self._excerpt.length_ps) * self._width

    def _rectangle(self, lane: _Lane, ends: tuple[float, float], top: float, gid: str) -> None:
        begin, end = ends
        # an activity without duration is visible all the same
        least = self._scale.of(self._excerpt.length_ps) / self._width * _SHORTEST / 2
        is_pale = lane.kind in _PALE
        bar = Rectangle(
            (begin, top),
            max(end - begin, least),
            _BAR,
            facecolor=stand_in(_KINDS[lane.kind][0]),
            alpha=_ALPHA[min(lane.level, len(_ALPHA) - 1)] if is_pale else None,
            edgecolor=stand_in("page"),
            linewidth=0.4 if self._units(end - begin) > 2 * _SHORTEST else 0,
        )
        bar.set_gid(gid)
        self._axes.add_patch(bar)

    def _wire(self, number: int, wire: Wire, top: float) -> None:
        times, levels, level = [self.at(self._excerpt.begin_ps)], [wire.first], wire.first
        for at_ps in wire.changes_ps:
            times += [self.at(at_ps)] * 2
            levels += [level, 1 - level]
            level = 1 - level
        times.append(self.at(self._excerpt.end_ps))
        levels.append(level)
        heights = [top + _BAR - 1 - level * (_BAR - 2) for level in levels]
        (line,) = self._axes.plot(times, heights, color=stand_in("simulated"), linewidth=0.9)
        gid = f"wire-{number}"
        line.set_gid(gid)
        self.marks[gid] = f"{wire.name}: {count(len(wire.changes_ps), 'edge')}"

    def _words(self, lane: _Lane, bar: _Bar) -> str:
        """The explanation of a bar: its activity, when it begins and ends, how long it takes."""
        origin_ps, scale = self._origin_ps, self._scale
        begin, end = (plain(scale.of(ps - origin_ps)) for ps in (bar.begin_ps, bar.end_ps))
        times = f"{begin} to {end} {scale.unit}"
        if len(bar.spans) == 1:
            span = bar.spans[0]
            what = _said(lane, span)
            return f"{lane.owner}: {what}, {times} ({format_ps(span.end_ps - span.begin_ps)})"
        names = Counter(_short(_said(lane, span)) for span in bar.spans)
        most = [f"{n} x {name}" for name, n in names.most_common(_MOST_NAMED)]
        more = len(names) - len(most)
        together = ", ".join(most) + (f" and {more} more" if more > 0 else "")
        return f"{lane.owner}: {together}, {times}"


def _said(lane: _Lane, span: Span) -> str:
    """The activity of a span, in words."""
    if lane.kind in (_FUNCTIONS, TASK):
        return span.text
    if lane.kind == "serial" and span.text:
        return f"{lane.name} {_character(span.text)}"
    return f"{lane.name}: {span.text}" if span.text else lane.name


def _short(words: str) -> str:
    """The first part of a frame's text."""
    return words if len(words) < 40 else f"{words[:36]} ..."


def _character(text: str) -> str:
    return repr(chr(int(text))) if text.isdecimal() and int(text) < 128 else text


def _inside(lane: _Lane, span: Span, room: int) -> str:
    """The text in a bar with room for `room` letters; empty if nothing fits."""
    if lane.kind in (_FUNCTIONS, TASK):
        name = span.text.partition("(")[0]
        if len(name) <= room:
            return name
        return f"{name[: room - 1]}…" if room >= _FEWEST_LETTERS else ""
    if lane.kind == "serial":
        return _character(span.text)
    if lane.kind == "frame":
        return _some_bytes(span.text, room)
    if lane.kind == EXCEPTION and len(span.text) <= room:
        return span.text
    if lane.kind == CORE and len(lane.name) <= room:
        return lane.name
    return ""


def _some_bytes(text: str, room: int) -> str:
    """As many bytes of a frame as fit; the sent ones if any were sent."""
    digits = text.partition(";")[0].removeprefix("sent ").removeprefix("received ").upper()
    shown = digits.partition(" AND ")[0]
    if len(digits) <= room:
        return digits
    whole = (room - 2) // 3 * 3 - 1
    return f"{shown[:whole]} …" if whole >= 2 else ""
