"""The time that runs of the bench take on this host: to order them, and to estimate the total.

After each bench the cache keeps each run's time here. A run that never ran here counts with its
time in the shipped table (`cyclescope/data/bench-costs.json`, made by `scripts/bench_costs.py`).
The table's unit does not depend on the host: it is the time that `calibration` takes, which is
measured here.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cyclescope import firmware, resources
from cyclescope.bench import calibration
from cyclescope.bench.planning import Explained, Job
from cyclescope.host import kept

_NAME = "bench-costs.json"
_RUNS, _BUILDS, REPORT = "runs", "builds", "report, for each run"
# The factor of waits and a profile on a run's time, if the run with them is unknown.
_EXPLAINED = 3.0
# The units of an unknown build: a few sources of its own, and linking.
_BUILD = 12.0


@dataclass(frozen=True)
class Table:
    """Times of runs by their `key`, and of builds of an ELF by `build_key`."""

    runs: Mapping[str, float] = field(default_factory=dict)
    builds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Costs:
    """Times of runs: `here` in seconds of a thread of a bench, `shipped` in units.

    `unit_s` is the time of a unit here, if it was measured.
    """

    here: Table
    shipped: Table
    unit_s: float | None = None

    def of(self, job: Job) -> float:
        """The time that a run will take here, in seconds of a thread; for a new run a guess."""
        name = key(job)
        if name in self.here.runs:
            return self.here.runs[name]
        return self._unit_s * self._units(job, name)

    def of_building(self, job: Job) -> float:
        """The time to build the run's firmware here, in seconds of a thread."""
        name = build_key(job)
        if name in self.here.builds:
            return self.here.builds[name]
        return self._unit_s * self.shipped.builds.get(name, _BUILD)

    def of_report(self, jobs: Sequence[Job]) -> float:
        """The time to make tables and the report of runs, in seconds."""
        if REPORT in self.here.runs:
            return self.here.runs[REPORT] * len(jobs)
        return self._unit_s * self.shipped.runs.get(REPORT, 0.0) * len(jobs)

    def total(self, jobs: Iterable[Job]) -> float:
        """The time of all these runs, in seconds of a thread."""
        return sum(map(self.of, jobs))

    def are_from_here(self, jobs: Iterable[Job]) -> bool:
        """Whether all these runs were made here before."""
        return all(key(job) in self.here.runs for job in jobs)

    def measured(self, threads: int) -> Costs:
        """With the unit measured on this host, as fast as it is now."""
        return replace(self, unit_s=calibration.unit_s(threads))

    def _units(self, job: Job, name: str) -> float:
        """The shipped table's time of a run, or of the same run explained or not."""
        if name in self.shipped.runs:
            return self.shipped.runs[name]
        is_explained = job.explained is Explained.ITSELF
        how = Explained.NOT if is_explained else Explained.ITSELF
        other = self.shipped.runs.get(key(replace(job, explained=how)), self._typical)
        return other * _EXPLAINED if is_explained else other / _EXPLAINED

    @cached_property
    def _typical(self) -> float:
        return statistics.median(self.shipped.runs.values()) if self.shipped.runs else 1.0

    @cached_property
    def _unit_s(self) -> float:
        """The unit as measured, or calculated from the runs that both tables have."""
        if self.unit_s is not None:
            return self.unit_s
        both = self.here.runs.keys() & self.shipped.runs.keys()
        units = sum(self.shipped.runs[name] for name in both)
        return sum(self.here.runs[name] for name in both) / units if units else 1.0


def key(job: Job) -> str:
    """A run's name in tables of costs; a run with waits and a profile has another name."""
    how = "" if job.explained is Explained.NOT else f", explained {job.explained.value}"
    return f"{job.experiment.name} on {job.run.board}: {job.configured.label}{how}"


def build_key(job: Job) -> str:
    """The name of a build of a run's firmware in tables of costs: one for all builds of an app."""
    return f"{job.run.app} for {job.run.board}"


def unbuilt(jobs: Iterable[Job]) -> list[Job]:
    """Jobs whose firmware is not in the cache: one for each ELF that is to be built."""
    found: dict[str, Job] = {}
    for job in jobs:
        run = job.configured
        name = firmware.unbuilt(run.app, run.board, run.settings, run.overrides)
        if name is not None:
            found.setdefault(name, job)
    return list(found.values())


def load() -> Costs:
    """The known times; empty if no table can be read."""
    return Costs(_table(_kept()), _table(resources.bench_costs()))


def keep(took: Table) -> None:
    """Remember times that were measured here, in seconds. Without a writable cache, do nothing."""
    if not took.runs:
        return
    path = _kept()
    known = _table(path)
    tables = {_RUNS: {**known.runs, **took.runs}, _BUILDS: {**known.builds, **took.builds}}
    kept.write_json(
        path,
        {
            kind: {name: round(table[name], 3) for name in sorted(table)}
            for kind, table in tables.items()
        },
    )


def _kept() -> Path:
    return resources.cache() / _NAME


def _table(path: Path) -> Table:
    found = kept.read_json(path)
    return Table(_numbers(found, _RUNS), _numbers(found, _BUILDS))


def _numbers(found: Any, kind: str) -> dict[str, float]:
    named = found.get(kind) if isinstance(found, dict) else None
    if not isinstance(named, dict):
        return {}
    return {
        name: float(value)
        for name, value in named.items()
        if isinstance(value, int | float) and 0 <= value < 1e6
    }
