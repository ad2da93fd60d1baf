"""A frame: the changes of wires while a select was low, and the bytes that they transfer.

A frame is a transfer on an SPI bus, or the activity of any pins while one of them is low.

Bits are taken at rising edges of the clock, as modes 0 and 3 do, the most significant one first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

SELECT, CLOCK, MOSI, MISO = WIRES = ("cs0", "sck", "mosi", "miso")
"""The names of an SPI bus's wires, its first chip select among them."""


QUAD_WIRES = (SELECT, CLOCK, "io0", "io1", "io2", "io3")
"""The wires of a bus with bidirectional data lines."""


@dataclass(frozen=True)
class Trigger:
    """Selects the frame to keep: the first one with at least `clocks` clocks, or the last one.

    `bus` is the label of the node that has the `wires`; the wire `select` is low during a frame.
    """

    bus: str
    wires: tuple[str, ...] = WIRES
    select: str = SELECT
    clocks: int = 8
    is_last: bool = False

    @property
    def is_of_spi(self) -> bool:
        """Whether the trigger is for frames of an SPI bus."""
        return CLOCK in self.wires


@dataclass(frozen=True)
class Phase:
    """A part of each frame: `clocks` clocks, on data wires from the most significant one on.

    Without `clocks` the phase has the rest of the frame; without `wires` it has no value.
    """

    name: str
    clocks: int | None
    wires: tuple[str, ...] = ()


@dataclass(frozen=True)
class Span:
    """A phase in a frame: from the start of its first clock to the end of its last, its value."""

    phase: Phase
    start_ps: int
    end_ps: int
    value: int | None


@dataclass(frozen=True)
class Wire:
    """A wire's level before a frame begins, and the times of its changes, in order."""

    first: int
    changes_ps: tuple[int, ...]

    @property
    def rises_ps(self) -> tuple[int, ...]:
        """The times of the rising edges."""
        return self.changes_ps[self.first :: 2]

    def before(self, at_ps: int) -> int:
        """The level just before a time."""
        return (self.first + sum(change < at_ps for change in self.changes_ps)) % 2


@dataclass(frozen=True)
class Byte:
    """A byte on a wire, from the edge that takes its first bit to the end of its last clock."""

    start_ps: int
    end_ps: int
    value: int


@dataclass(frozen=True)
class Frame:
    """The changes on wires while the select was low: on an SPI bus, a chip's transfer.

    `start_ps` is the time of the select's falling edge in the run; all other times count from
    there. `wires` are by name.
    """

    start_ps: int
    length_ps: int
    wires: dict[str, Wire]

    def bytes_on(self, name: str) -> tuple[Byte, ...]:
        """The whole bytes on a data wire, as its receiver samples them."""
        rises_ps = self.wires[CLOCK].rises_ps
        starts = range(0, len(rises_ps) - 7, 8)
        return tuple(self._byte(self.wires[name], rises_ps[start : start + 8]) for start in starts)

    @property
    def clocks(self) -> int:
        """The number of clocks in the frame."""
        return len(self.wires[CLOCK].rises_ps) if CLOCK in self.wires else 0

    def spans(self, phases: Iterable[Phase]) -> Iterator[Span]:
        """The consecutive phases in the frame, up to its end."""
        rises_ps = self.wires[CLOCK].rises_ps if CLOCK in self.wires else ()
        half_ps = (rises_ps[1] - rises_ps[0]) // 2 if len(rises_ps) > 1 else 0
        first = 0
        for phase in phases:
            taken = rises_ps[first:] if phase.clocks is None else rises_ps[first:][: phase.clocks]
            if not taken:
                return
            value = self._value(phase, taken) if phase.wires else None
            yield Span(phase, taken[0] - half_ps, taken[-1] + half_ps, value)
            first += len(taken)

    def _value(self, phase: Phase, rises_ps: Sequence[int]) -> int:
        value = 0
        for at_ps in rises_ps:
            for name in phase.wires:
                value = value << 1 | self.wires[name].before(at_ps)
        return value

    def _byte(self, wire: Wire, rises_ps: Sequence[int]) -> Byte:
        value = 0
        for at_ps in rises_ps:
            value = value << 1 | wire.before(at_ps)
        falls = (at_ps for at_ps in self.wires[CLOCK].changes_ps if at_ps > rises_ps[-1])
        return Byte(rises_ps[0], next(falls, self.length_ps), value)

    def to_dict(self) -> dict[str, Any]:
        """The frame ready for JSON."""
        return {
            "start_ps": self.start_ps,
            "length_ps": self.length_ps,
            "wires": {
                name: {"first": wire.first, "changes_ps": list(wire.changes_ps)}
                for name, wire in self.wires.items()
            },
        }


def spi_buses(signals: Iterable[tuple[str, str, bool]]) -> list[str]:
    """The labels of the SPI buses among recorded signals, sorted."""
    names: dict[str, set[str]] = {}
    for scope, name, _ in signals:
        names.setdefault(scope, set()).add(name)
    return sorted(scope for scope, found in names.items() if found.issuperset(WIRES))


def kept_frame(
    signals: Sequence[tuple[str, str, bool]],
    changes: Iterable[tuple[int, int, int]],
    trigger: Trigger,
) -> Frame | None:
    """The frame that a trigger selects; None if there is no such frame.

    Signals and changes are from a recording (`waveforms.py`). A select that falls without a byte,
    as when a chip's supply is switched, is not a frame.
    """
    names = {
        number: name
        for number, (scope, name, _) in enumerate(signals)
        if scope == trigger.bus and name in trigger.wires
    }
    levels = {names[number]: int(signals[number][2]) for number in names}
    if set(levels) != set(trigger.wires):
        return None
    taken: _Taken | None = None
    found: Frame | None = None
    for at_ps, signal, level in changes:
        name = names.get(signal)
        if name is None or levels[name] == level:
            continue
        if name == trigger.select and level == 0:
            taken = _Taken(at_ps, levels)
        if taken is not None:
            taken.changes_ps[name].append(at_ps - taken.start_ps)
            if name == trigger.select and level == 1:
                frame, taken = taken.frame(at_ps), None
                if not trigger.is_of_spi or frame.clocks >= trigger.clocks:
                    found = frame
                    if not trigger.is_last:
                        return found
        levels[name] = level
    return found


class _Taken:
    """A frame that has begun, and is recorded."""

    def __init__(self, start_ps: int, levels: dict[str, int]) -> None:
        self.start_ps = start_ps
        self.first = dict(levels)
        self.changes_ps: dict[str, list[int]] = {name: [] for name in levels}

    def frame(self, end_ps: int) -> Frame:
        wires = {name: Wire(self.first[name], tuple(self.changes_ps[name])) for name in self.first}
        return Frame(self.start_ps, end_ps - self.start_ps, wires)
