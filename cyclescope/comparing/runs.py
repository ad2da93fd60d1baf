"""A run as it is compared: what a result, its profile or a file of either has to say of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from cyclescope.board.outcome.stack_entries import StackEntry
from cyclescope.board.results import CoreResult, Metric, RunResult, Section
from cyclescope.profile import tables
from cyclescope.profile.annotation import Code
from cyclescope.profile.model import CoreProfile
from cyclescope.profile.profile import Profile

_MOST = 1e100
Cycles = Mapping[str, int]
"""Cycles by cause."""


@dataclass(frozen=True)
class Function:
    """What a function's own code took: `causes` sum to `cycles`.

    `total_cycles` are with all that it called. `calls` are those that ended; None of what is
    inlined everywhere, and of tasks.
    """

    name: str
    file: str | None
    line: int | None
    cycles: int
    total_cycles: int | None
    instructions: int
    calls: int | None
    causes: Cycles

    @property
    def key(self) -> tuple[str, str]:
        """What makes it the same function in another build, whose sources may lie elsewhere."""
        return self.name, base(self.file)


@dataclass(frozen=True)
class Watched:
    """A function that a run watched, with all that it called."""

    name: str
    calls: int
    cycles: int
    causes: Cycles


@dataclass(frozen=True)
class Core:
    """What a core took; `functions` is None where the run has no profile.

    The cycles of all functions sum to `cycles`.
    """

    name: str
    cycles: int
    instructions: int
    causes: Cycles
    functions: tuple[Function, ...] | None = None
    sections: tuple[Watched, ...] = ()


@dataclass(frozen=True)
class Run:
    """A run, or what a file tells of one; `label` names it in a sentence.

    `code` has the instructions of its program by address, where that was read, and `profile` what
    each of them took.
    """

    label: str
    board: str
    firmware: str
    outcome: str | None
    exit_code: int | None
    elapsed_ps: int | None
    cores: tuple[Core, ...]
    metrics: tuple[Metric, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    message: str | None = None
    profile: Profile | None = field(default=None, repr=False)
    code: Mapping[int, Code] = field(default_factory=dict, repr=False)


def within(metric: Metric) -> Metric:
    """A metric whose value can be calculated with: a firmware may print any number of digits."""
    if -_MOST <= metric.value <= _MOST:
        return metric
    return replace(metric, value=math.copysign(_MOST, metric.value > 0 or -1))


def base(file: str | None) -> str:
    """A file's name without its folders."""
    return (file or "").rpartition("/")[2]


def of_result(result: RunResult, label: str, code: Mapping[int, Code] | None = None) -> Run:
    """A run's result, with the functions of its profile if it has one."""
    profiles = {core.name: core for core in result.profile.cores} if result.profile else {}
    return Run(
        label=label,
        board=result.board,
        firmware=result.firmware,
        outcome=result.outcome,
        exit_code=result.exit_code,
        elapsed_ps=result.elapsed_ps,
        cores=tuple(_core(core, profiles.get(core.name)) for core in result.cores),
        metrics=tuple(map(within, result.metrics)),
        counters=result.counters,
        message=result.message,
        profile=result.profile,
        code=code or {},
    )


def _core(core: CoreResult, profile: CoreProfile | None) -> Core:
    return Core(
        name=core.name,
        cycles=core.cycles,
        instructions=core.instructions,
        causes=by_cause(core.stack),
        functions=None if profile is None else functions(profile),
        sections=tuple(map(_watched, core.sections)),
    )


def _watched(section: Section) -> Watched:
    return Watched(section.name, section.calls, section.cycles, by_cause(section.stack))


def functions(profile: CoreProfile) -> tuple[Function, ...]:
    """The functions of a core's profile by their own names, those with the most cycles first."""
    return tuple(
        Function(
            # two of one name have their files behind it there
            name=row.name.removesuffix(f" ({base(row.file)})"),
            file=row.file,
            line=row.line,
            cycles=row.self_cycles,
            total_cycles=row.total_cycles,
            instructions=row.instructions,
            calls=row.calls,
            causes=row.causes,
        )
        for row in tables.rows(profile, "function")
    )


def by_cause(stack: Iterable[StackEntry]) -> dict[str, int]:
    """The cycles of a cycle stack by cause, without what has none."""
    return {entry.cause: entry.cycles for entry in stack if entry.cycles}
