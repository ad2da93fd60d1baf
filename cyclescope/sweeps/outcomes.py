"""The outcome of a run of a sweep: what its row shows and the cache keeps, no more."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cyclescope.board.results import Metric, RunResult, Settings


@dataclass(frozen=True)
class CoreOutcome:
    """What one core did; `stack_ps` has its time by cause."""

    name: str
    hz: int
    cycles: int
    instructions: int
    stack_ps: Mapping[str, int]


@dataclass(frozen=True)
class SectionOutcome:
    """The completed calls of a watched function, in picoseconds."""

    name: str
    calls: int
    ps: int


@dataclass(frozen=True)
class Outcome:
    """One run: how it ended, what it measured, and how its time was spent.

    `error` is one line if the run counts as failed. `ended` is the result's outcome ("exit",
    "limit"), empty if there was no run. `is_kept` says that the outcome came from the cache.
    """

    error: str | None
    ended: str = ""
    elapsed_ps: int = 0
    metrics: tuple[Metric, ...] = ()
    cores: tuple[CoreOutcome, ...] = ()
    sections: tuple[SectionOutcome, ...] = ()
    is_kept: bool = field(default=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without `is_kept`."""
        return {
            "error": self.error,
            "ended": self.ended,
            "elapsed_ps": self.elapsed_ps,
            "metrics": [
                [one.name, one.unit, one.value, dict(one.settings)] for one in self.metrics
            ],
            "cores": [
                [core.name, core.hz, core.cycles, core.instructions, dict(core.stack_ps)]
                for core in self.cores
            ],
            "sections": [[one.name, one.calls, one.ps] for one in self.sections],
        }


def _interned(stack_ps: Mapping[str, int]) -> dict[str, int]:
    return {sys.intern(cause): ps for cause, ps in stack_ps.items()}


def from_dict(found: Mapping[str, Any]) -> Outcome:
    """The outcome that `to_dict` wrote. Raises `KeyError` or `TypeError` for anything else."""
    return Outcome(
        error=found["error"],
        ended=found["ended"],
        elapsed_ps=found["elapsed_ps"],
        metrics=tuple(_metric(*metric) for metric in found["metrics"]),
        cores=tuple(
            CoreOutcome(
                name,
                hz,
                cycles,
                instructions,
                {sys.intern(cause): ps for cause, ps in stack.items()},
            )
            for name, hz, cycles, instructions, stack in found["cores"]
        ),
        sections=tuple(SectionOutcome(*section) for section in found["sections"]),
    )


def failed(error: str) -> Outcome:
    """The outcome of a run that could not start."""
    return Outcome(error)


def of_result(
    result: RunResult, metrics: Iterable[Metric], sections: Iterable[str], error: str | None
) -> Outcome:
    """What a row needs of a result."""
    wanted = set(sections)
    return Outcome(
        error=error,
        ended=result.outcome,
        elapsed_ps=result.elapsed_ps,
        metrics=tuple(_metric(one.name, one.unit, one.value, one.settings) for one in metrics),
        cores=tuple(
            CoreOutcome(
                core.name,
                core.hz,
                core.cycles,
                core.instructions,
                {sys.intern(entry.cause): entry.ps for entry in core.stack},
            )
            for core in result.cores
        ),
        sections=tuple(
            SectionOutcome(_section_name(number, core.name, one.name), one.calls, one.ps)
            for number, core in enumerate(result.cores)
            for one in core.sections
            if _section_name(number, core.name, one.name) in wanted
        ),
    )


def _section_name(core: int, core_name: str, function: str) -> str:
    """The name that the command line uses: functions of the first core without the core's name."""
    return f"{core_name}:{function}" if core else function


def _metric(name: str, unit: str, value: int | float, settings: Settings) -> Metric:
    """A metric whose names are shared: thousands of outcomes have the same few."""
    shared = {sys.intern(setting): one for setting, one in settings.items()}
    return Metric(sys.intern(name), sys.intern(unit), value, shared)
