"""A profile as plain data: call paths, and what each instruction cost on each of them.

It is exact, not sampled: the cycles of a core's costs sum to the core's cycles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from cyclescope import reprs

TASK, FUNCTION, EXCEPTION, INLINED = "task", "function", "exception", "inlined"
"""Kinds of call paths: what their innermost frame is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an address is in the sources; `file`, `line` and `column` only if the ELF tells."""

    function: str
    file: str | None = None
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """A call path, by its innermost frame and the path that this one was called from.

    `name` is a function's, a task's or an exception's; `place` and `address` are where a function
    or a task begins. `calls` are those that ended, and what they took with all that they called;
    the longest began at `longest_at_ps` of simulated time. What is `inlined` has no calls.
    `return_address` is where its calls return to, behind the instruction that calls; None unless
    paths are apart by that.
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
    """Cycles of a cost, by the index of their cause and that of the clock's rate."""

    cause: int
    rate: int
    cycles: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What an instruction cost on a call path, the index of its innermost frame.

    `address` is None for cycles that belong to no instruction. `places` are where the address is
    in the sources: of inlined functions first, the function that has the symbol last.
    """

    path: int
    address: int | None
    places: tuple[Place, ...]
    executions: int
    charges: tuple[Charge, ...]
    cycles: int

    @property
    def place(self) -> Place:
        """Where the instruction itself is in the sources."""
        return self.places[0] if self.places else Place("")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a watched function, from its begin (simulated time) to its end."""

    path: int
    begin_ps: int
    cycles: int
    ps: int | None = None


@dataclass(frozen=True, slots=True)
class Interrupt:
    """One interrupt whose handler has ended, by simulated times.

    `line` is the device that raised it and the exception's name, `input` the number of the core's
    input; None for one of the core's own. `raised_ps` is None where it is not known when its line
    went up.
    """

    line: str
    input: int | None
    raised_ps: int | None
    taken_ps: int
    first_instruction_ps: int
    end_ps: int

    @property
    def latency_ps(self) -> int | None:
        """From the line's edge to the handler's first instruction."""
        return None if self.raised_ps is None else self.first_instruction_ps - self.raised_ps

    @property
    def response_ps(self) -> int | None:
        """From the line's edge to the handler's end."""
        return None if self.raised_ps is None else self.end_ps - self.raised_ps


@dataclass(frozen=True, slots=True)
class Wait:
    """What was waited for on a call path, and how long: time that its costs have, too.

    It is told by calls: what waits in an inlined function is in the function that it is inlined in.
    """

    path: int
    what: str
    ps: int


@dataclass(frozen=True)
class CoreProfile:
    """The profile of one core.

    `rates_hz` are those that its clock had, in their order, and `causes` the names that the run's
    cycle stack has. `calls` has the calls of the functions that the run was asked to keep them of,
    by the name that was asked for. `waits` is None unless the run was asked for it.
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
        """Its sums."""
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
        """All paths, each before those that were called from it, in the order of the engine's."""
        order: list[int] = []
        pending = [i for i in reversed(range(len(self.paths))) if self.paths[i].parent is None]
        while pending:
            path = pending.pop()
            order.append(path)
            pending += reversed(self.called[path])
        return order

    @cached_property
    def called(self) -> tuple[tuple[int, ...], ...]:
        """The paths that were called from each path."""
        found: list[list[int]] = [[] for _ in self.paths]
        for index, path in enumerate(self.paths):
            if path.parent is not None:
                found[path.parent].append(index)
        return tuple(map(tuple, found))

    @cached_property
    def self_cycles(self) -> tuple[int, ...]:
        """The cycles of each path without what it called."""
        cycles = [0] * len(self.paths)
        for cost in self.costs:
            cycles[cost.path] += cost.cycles
        return tuple(cycles)

    @cached_property
    def total_cycles(self) -> tuple[int, ...]:
        """The cycles of each path with all that it called, calls that did not end included."""
        cycles = list(self.self_cycles)
        for index in reversed(self.walk()):
            parent = self.paths[index].parent
            if parent is not None:
                cycles[parent] += cycles[index]
        return tuple(cycles)
