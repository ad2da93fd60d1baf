"""A profile as plain data: call paths, and the cost of each instruction on each of them.

A profile is exact, not sampled: the cycles of a core's costs sum to the core's cycles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from cyclescope import reprs

TASK, FUNCTION, EXCEPTION, INLINED = "task", "function", "exception", "inlined"
"""Kinds of call paths, by their innermost frame."""


@dataclass(frozen=True, slots=True)
class Place:
    """The source place of an address; `file`, `line` and `column` may be unknown (None)."""

    function: str
    file: str | None = None
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """A call path: its innermost frame, and the path that this frame was called from.

    `name` is the name of a function, a task or an exception; `place` and `address` are the start of
    the function or task. `calls` is the number of ended calls; their cycles include all that they
    called, and the longest began at `longest_at_ps` of simulated time. An inlined frame has no
    calls. `return_address` is the address after the calling instruction; None unless paths are
    distinguished by call sites.
    """

    parent: int | None
    kind: str
    name: str
    address: int | None = None
    place: Place | None = None
    calls: int = 0
    total_cycles: int = 0
    longest_cycles: int = 0
    longest_at_ps: int = 0
    shortest_cycles: int = 0
    return_address: int | None = None


@dataclass(frozen=True, slots=True)
class Charge:
    """Cycles of a cost, with the indexes of their cause and of the clock's rate."""

    cause: int
    rate: int
    cycles: int


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of an instruction on a call path, `path`, the index of its innermost frame.

    Cycles that belong to no instruction have the `address` None. `places` are the source places of
    the address: inlined functions first, the function with the symbol last.
    """

    path: int
    address: int | None
    places: tuple[Place, ...]
    executions: int
    charges: tuple[Charge, ...]
    cycles: int

    @property
    def place(self) -> Place:
        """The innermost source place of the instruction."""
        return self.places[0] if self.places else Place("")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a watched function, with its begin and end in simulated time."""

    path: int
    begin_ps: int
    cycles: int
    ps: int | None = None


@dataclass(frozen=True, slots=True)
class Interrupt:
    """One interrupt whose handler has ended, in simulated time.

    `line` is the device that raised it and the exception's name, `input` the number of the core's
    input; None for the core's own exceptions. `raised_ps` is the time of the line's edge; None if
    unknown. `cycles` count from the entry to the end of the handler.
    """

    line: str
    input: int | None
    raised_ps: int | None
    taken_ps: int
    first_instruction_ps: int
    end_ps: int
    cycles: int = 0

    @property
    def latency_ps(self) -> int | None:
        """The time from the line's edge to the handler's first instruction."""
        return None if self.raised_ps is None else self.first_instruction_ps - self.raised_ps

    @property
    def response_ps(self) -> int | None:
        """The time from the line's edge to the handler's end."""
        return None if self.raised_ps is None else self.end_ps - self.raised_ps


@dataclass(frozen=True, slots=True)
class Wait:
    """An event that was waited for on a call path, and for how long; the costs include this time.

    Waits are recorded by calls: waits in an inlined function belong to the function around it.
    """

    path: int
    what: str
    ps: int


@dataclass(frozen=True)
class CoreProfile:
    """The profile of one core.

    `rates_hz` are the rates of its clock, in order, and `causes` the names in the run's cycle
    stack. `calls` has the kept calls of functions, by the user's names for them. `waits` stays None
    unless the run recorded waits.
    """

    name: str
    rates_hz: tuple[int, ...]
    causes: tuple[str, ...]
    paths: tuple[Path, ...]
    costs: tuple[Cost, ...]
    calls: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)
    interrupts: tuple[Interrupt, ...] = ()
    notes: tuple[str, ...] = ()
    waits: tuple[Wait, ...] | None = None

    def __repr__(self) -> str:
        """The profile with its sums, for an interpreter."""
        return reprs.short(
            self,
            name=self.name,
            cycles=self.cycles,
            instructions=self.instructions,
            paths=len(self.paths),
            calls=reprs.names(self.calls),
            interrupts=len(self.interrupts),
        )

    @cached_property
    def cycles(self) -> int:
        """All cycles of the core."""
        return sum(cost.cycles for cost in self.costs)

    @cached_property
    def instructions(self) -> int:
        """Instructions that the core executed."""
        return sum(cost.executions for cost in self.costs)

    def chain(self, path: int) -> list[int]:
        """The indices of the frames of a call path, the outermost first."""
        found = []
        at: int | None = path
        while at is not None:
            found.append(at)
            at = self.paths[at].parent
        return found[::-1]

    def names(self, path: int) -> list[str]:
        """The names of the frames of a call path, the outermost first."""
        return [self.paths[index].name for index in self.chain(path)]

    def by_cause(self, costs: Iterable[Cost]) -> dict[str, int]:
        """Cycles of some costs by cause, the largest first."""
        cycles = [0] * len(self.causes)
        for cost in costs:
            for charge in cost.charges:
                cycles[charge.cause] += charge.cycles
        named = [(cause, n) for cause, n in zip(self.causes, cycles, strict=True) if n]
        return dict(sorted(named, key=lambda item: (-item[1], item[0])))

    def walk(self) -> list[int]:
        """All paths, callers before callees, in the engine's order."""
        order: list[int] = []
        pending = [i for i in reversed(range(len(self.paths))) if self.paths[i].parent is None]
        while pending:
            path = pending.pop()
            order.append(path)
            pending += reversed(self.called[path])
        return order

    @cached_property
    def called(self) -> tuple[tuple[int, ...], ...]:
        """For each path, the paths that were called from it."""
        found: list[list[int]] = [[] for _ in self.paths]
        for index, path in enumerate(self.paths):
            if path.parent is not None:
                found[path.parent].append(index)
        return tuple(map(tuple, found))

    @cached_property
    def self_cycles(self) -> tuple[int, ...]:
        """The cycles of each path without its callees."""
        cycles = [0] * len(self.paths)
        for cost in self.costs:
            cycles[cost.path] += cost.cycles
        return tuple(cycles)

    @cached_property
    def total_cycles(self) -> tuple[int, ...]:
        """The cycles of each path with all its callees, also in calls that did not end."""
        cycles = list(self.self_cycles)
        for index in reversed(self.walk()):
            parent = self.paths[index].parent
            if parent is not None:
                cycles[parent] += cycles[index]
        return tuple(cycles)
