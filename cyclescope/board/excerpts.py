"""The activity of devices and cores in a window of time, for display.

Nothing is sampled: each span is exact to the picosecond, also if the iteration of a polling loop
was skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cyclescope._engine import Machine, Stop
from cyclescope.board.observing.timelines import ASKED_FOR, KINDS
from cyclescope.board.observing.waveforms import asked_for, changes, chosen

CORE, EXCEPTION, TASK = "core", "exception", "task"
"""Kinds of the cores' activity: sleep, exceptions, tasks."""
IN_PLACE = "reads in place"
"""The kind of SPI clocks of reads in a memory window: only recorded on request."""
_FUNCTION = "function"
_MOST_BYTES = 1 << 26
_MOST_CALLS = 1 << 18
_MOST_SPANS = 200_000


@dataclass(frozen=True, slots=True)
class Span:
    """An activity from `begin_ps` to `end_ps` of the run; `text` has details."""

    begin_ps: int
    end_ps: int
    text: str = ""


@dataclass(frozen=True)
class Track:
    """Activity of one kind on one device or core, in the order of time.

    `scope` is its label, `name` the activity; `part` distinguishes channels of a device, and `line`
    is the destination of an interrupt line.
    """

    scope: str
    name: str
    kind: str
    spans: tuple[Span, ...]
    part: int = 0
    line: str = ""

    @property
    def title(self) -> str:
        """The activity, with its part or its interrupt line."""
        if self.line:
            return f"{self.name} to {self.line}"
        return f"{self.name} {self.part}" if self.part else self.name


@dataclass(frozen=True)
class Calls:
    """The functions on one of a core's stacks: callers before callees.

    `task` is the stack's task, if known. A function lasts until it returns, also while the core
    runs another task.
    """

    core: str
    task: str
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Wire:
    """A wire by its name in waveforms: its level at the begin, and the times of its changes."""

    name: str
    first: int
    changes_ps: tuple[int, ...]


@dataclass(frozen=True)
class Excerpt:
    """Activity in a window of a run; spans may begin before it and end after it.

    `is_whole` is false if there was too much activity to keep it all.
    """

    begin_ps: int
    end_ps: int
    cores: tuple[str, ...]
    tracks: tuple[Track, ...]
    calls: tuple[Calls, ...]
    wires: tuple[Wire, ...]
    is_whole: bool

    @property
    def length_ps(self) -> int:
        """The length of the window."""
        return self.end_ps - self.begin_ps


def excerpt(
    machine: Machine,
    begin_ps: int,
    end_ps: int,
    wires: Sequence[str] = (),
    in_place: bool = False,
    stop: Stop | None = None,
) -> Excerpt:
    """Run a new machine to the end of a window, and return the window's activity.

    `wires` are patterns such as "spi0.*"; with `in_place` the SPI clocks of reads in place are
    included. Raises `UsageError` for unknown wires.
    """
    kinds = [kind for kind in KINDS if kind not in (_FUNCTION, *ASKED_FOR)]
    kinds += [IN_PLACE] if in_place else []
    machine.record_timeline(kinds, _MOST_BYTES, begin_ps, end_ps, _MOST_CALLS)
    signals = machine.wave_signals()
    places = chosen(signals, wires, asked_for(machine)) if wires else []
    if places:
        machine.record_waves(places)
    report = machine.run(end_ps, None, stop=stop)
    end_ps = min(end_ps, report["elapsed_ps"])
    _, dropped, complete_from_ps, _ = machine.activities().summary()
    slices = machine.function_slices()
    return Excerpt(
        begin_ps,
        end_ps,
        tuple(core["name"] for core in report["cores"]),
        (*_tasks(machine, begin_ps, end_ps), *_tracks(machine, begin_ps, end_ps)),
        tuple(_calls(slices, begin_ps, end_ps)),
        tuple(_wires(machine, places, begin_ps, end_ps)),
        is_whole=not (dropped and complete_from_ps > begin_ps)
        and (machine.functions_complete_from_ps() or 0) <= begin_ps,
    )


def _tracks(machine: Machine, begin_ps: int, end_ps: int) -> Iterator[Track]:
    activities = machine.activities()
    found: dict[int, list[Span]] = {}
    for track, begin, end, text in activities.instances(begin_ps, end_ps, _MOST_SPANS):
        found.setdefault(track, []).append(Span(begin, end, text))
    for number, (scope, name, kind, part, line) in enumerate(activities.tracks()):
        if number in found:
            spans = sorted(found[number], key=lambda span: (span.begin_ps, span.end_ps))
            yield Track(scope, name, kind, tuple(spans), part, line)


def _tasks(machine: Machine, begin_ps: int, end_ps: int) -> Iterator[Track]:
    found: dict[str, list[Span]] = {}
    for core, task, begin, end in machine.task_slices():
        if begin < end_ps and end > begin_ps:
            found.setdefault(core, []).append(Span(begin, end, task))
    for core, spans in found.items():
        yield Track(core, "tasks", TASK, tuple(spans))


def _calls(
    slices: Sequence[tuple[str, int, str, str, int, int]], begin_ps: int, end_ps: int
) -> Iterator[Calls]:
    found: dict[tuple[str, int, str], list[Span]] = {}
    for core, stack, task, function, begin, end in slices:
        if begin < end_ps and end > begin_ps:
            found.setdefault((core, stack, task), []).append(Span(begin, end, function))
    for (core, _, task), spans in found.items():
        yield Calls(core, task, tuple(spans))


def _wires(machine: Machine, places: Sequence[int], begin_ps: int, end_ps: int) -> Iterator[Wire]:
    signals = machine.wave_signals()
    levels = {place: int(signals[place][2]) for place in places}
    within: dict[int, list[int]] = {place: [] for place in places}
    for at_ps, place, level in changes(machine.wave_changes()) if places else ():
        if at_ps < begin_ps:
            levels[place] = level
        elif at_ps <= end_ps:
            within[place].append(at_ps)
    for place in places:
        scope, name, _ = signals[place]
        yield Wire(f"{scope}.{name}", levels[place], tuple(within[place]))
