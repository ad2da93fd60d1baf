"""A run as a timeline: a file in the format of Perfetto (ui.perfetto.dev, trace_processor)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cyclescope._engine import Machine
from cyclescope.board.observing import triggers
from cyclescope.errors import OutputError, UsageError
from cyclescope.host import outputs
from cyclescope.similar_names import did_you_mean_or
from cyclescope.units import format_ps, parse_bytes, parse_time_ps

KINDS = (
    "wire",
    "frame",
    "reads in place",
    "bus",
    "busy",
    "transfer",
    "serial",
    "queue",
    "conversion",
    "timer",
    "other",
    "interrupt",
    "core",
    "exception",
    "led",
    "pin",
    "function",
)
"""Kinds of activities. Functions are the cores' calls, from begin to end."""
ASKED_FOR = ("reads in place", "bus", "queue", "pin")
"""Kinds that are recorded only on request: they have many records, and take time to record."""
DEFAULT = "default"
"""Stands for all kinds that are recorded by default."""
MEMORY = "64MiB"
"""The default size of the memory for records."""

_BY_DEFAULT = tuple(kind for kind in KINDS if kind not in ASKED_FOR)
_FUNCTION = "function"
# the engine's memory for a recorded call, and again when it is written with its names
_CALL_BYTES = 176
# later than the end of any run
_NEVER_PS = 2**63 - 1


@dataclass(frozen=True)
class Timeline:
    """A file for a timeline, with the timeline's begin, end and kinds of activity.

    With `when` the timeline begins when that condition becomes true, and `from_ps` is 0. It keeps
    the most recent records that fit in `memory_bytes`.
    """

    path: str | os.PathLike[str]
    from_ps: int = 0
    to_ps: int = _NEVER_PS
    memory_bytes: int = 1 << 26
    kinds: tuple[str, ...] = _BY_DEFAULT
    when: str | None = None


@dataclass
class Recording:
    """The outcome of a recording, filled when the run has ended."""

    notes: list[str] = field(default_factory=list)
    failed_saves: list[str] = field(default_factory=list)


def timeline_of(
    path: str | os.PathLike[str] | None,
    begin: str | int | None = None,
    length: str | int | None = None,
    memory: str | int | None = None,
    kinds: Iterable[str] = (),
    when: str | None = None,
) -> Timeline | None:
    """The timeline that a user requested; None without a file.

    Times are texts such as "10ms", or picoseconds; memory is a text such as "64MiB", or bytes.
    Raises `UsageError` for an invalid time or size, for unknown kinds, and for two begins.
    """
    if path is None:
        return None
    if begin is not None and when is not None:
        raise UsageError("--trace-from and --trace-when exclude each other")
    from_ps = 0 if begin is None else _time_ps(begin)
    to_ps = _NEVER_PS if length is None else min(_NEVER_PS, from_ps + _time_ps(length))
    memory = MEMORY if memory is None else memory
    memory_bytes = parse_bytes(memory) if isinstance(memory, str) else memory
    return Timeline(path, from_ps, to_ps, memory_bytes, _chosen(kinds), when)


def _chosen(kinds: Iterable[str]) -> tuple[str, ...]:
    chosen: list[str] = []
    for kind in kinds:
        if kind not in (*KINDS, DEFAULT):
            names = (*KINDS, DEFAULT)
            there = did_you_mean_or(kind, names, f"there are {', '.join(names)}")
            raise UsageError(f"no kind of activity is called {kind!r}{there}")
        chosen += _BY_DEFAULT if kind == DEFAULT else (kind,)
    return tuple(dict.fromkeys(chosen)) or _BY_DEFAULT


def _time_ps(time: str | int) -> int:
    return parse_time_ps(time) if isinstance(time, str) else time


@contextlib.contextmanager
def recorded(machine: Machine, timeline: Timeline | None) -> Iterator[Recording]:
    """Record a timeline while the machine runs, and write it also if the run fails."""
    recording = Recording()
    if timeline is None:
        yield recording
        return
    window = (timeline.from_ps, timeline.to_ps)
    kinds = [kind for kind in timeline.kinds if kind != _FUNCTION]
    calls = timeline.memory_bytes // 2 // _CALL_BYTES if _FUNCTION in timeline.kinds else None
    memory_bytes = timeline.memory_bytes // (2 if calls else 1)
    if timeline.when is None:
        machine.record_timeline(kinds, memory_bytes, *window, calls)
    else:
        what = (kinds, memory_bytes, calls, timeline.to_ps)
        triggers.add(machine, timeline.when, triggers.TRACE, what)
    try:
        yield recording
    finally:
        recording.failed_saves += _write(machine, timeline)
    recording.notes += _notes(machine, timeline)


def _write(machine: Machine, timeline: Timeline) -> list[str]:
    """Write the file; the errors if it could not be written."""
    try:
        with outputs.opened(timeline.path, "wb") as file:
            for piece in machine.timeline():
                file.write(piece)
    except OutputError as error:
        return [str(error)]
    return []


def _notes(machine: Machine, timeline: Timeline) -> Iterator[str]:
    begun = [
        trigger.count
        for trigger in triggers.results(machine, machine.now())
        if trigger.action == "trace"
    ]
    if begun == [0]:
        path = os.fspath(timeline.path)
        yield f"{path}: the timeline is empty: {timeline.when} has not become true"
    _, dropped, devices_from_ps, _ = machine.activities().summary()
    functions_from_ps = machine.functions_complete_from_ps()
    complete = {
        "devices": devices_from_ps if dropped else None,
        "functions": functions_from_ps,
    }
    said = [
        f"{what} are complete from {format_ps(from_ps)} on"
        for what, from_ps in complete.items()
        if from_ps is not None and from_ps > timeline.from_ps
    ]
    if said:
        yield (
            f"{os.fspath(timeline.path)}: there was no room for all: {' and '.join(said)}; "
            "give it more memory or a shorter window"
        )
