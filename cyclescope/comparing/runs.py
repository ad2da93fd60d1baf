"""A run to compare: the contents of a result, its profile or a file of either."""

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
    """The cycles of a function's own code: `causes` sum to `cycles`.

    `total_cycles` include the functions that it called. `calls` are those that ended; None for a
    function that is inlined everywhere, and for tasks.
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
        """Identifies the function in another build, whose sources may have other paths."""
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
    """The cycles of a core; without a profile, `functions` stays None.

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
    """A run, or the contents of a run's file; `label` names it in a sentence.

    `code` has the instructions of its program by address, if they were read, and `profile` their
    cycles.
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
    """A metric with a value for arithmetic: a firmware may print any number of digits."""
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
            # functions of one name have their files after it there
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
