"""What the runs of the bench take on this host: for their order, and to say beforehand how long.

After each bench the cache keeps what each run took here. A run that never ran here counts with what
the table that is shipped says (`cyclescope/data/bench-costs.json`, made by
`scripts/bench_costs.py`), which is in a unit that does not depend on the host: what `calibration`
takes, which is measured here.
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
# What waits and a profile make of a run's time, where nothing is known of the run with them.
_EXPLAINED = 3.0
# What a build counts of which nothing is known, in units: a few sources of its own, and linking.
_BUILD = 12.0


@dataclass(frozen=True)
class Table:
    """What runs took by their `key`, and builds of an ELF by `build_key`."""

    runs: Mapping[str, float] = field(default_factory=dict)
    builds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Costs:
    """What runs take: `here` in seconds of a thread of a bench, `shipped` in units.

    `unit_s` is what a unit takes here, if it was measured.
    """

    here: Table
    shipped: Table
    unit_s: float | None = None

    def of(self, job: Job) -> float:
        """What a run will take here, in seconds of a thread; a guess if it is a new one."""
        name = key(job)
        if name in self.here.runs:
            return self.here.runs[name]
        return self._unit_s * self._units(job, name)

    def of_building(self, job: Job) -> float:
        """What it will take to build the run's firmware here, in seconds of a thread."""
        name = build_key(job)
        if name in self.here.builds:
            return self.here.builds[name]
        return self._unit_s * self.shipped.builds.get(name, _BUILD)

    def of_report(self, jobs: Sequence[Job]) -> float:
        """What it takes to make tables and the report of runs, in seconds."""
        if REPORT in self.here.runs:
            return self.here.runs[REPORT] * len(jobs)
        return self._unit_s * self.shipped.runs.get(REPORT, 0.0) * len(jobs)

    def total(self, jobs: Iterable[Job]) -> float:
        """What all of some runs take, in seconds of a thread."""
        return sum(map(self.of, jobs))

    def are_from_here(self, jobs: Iterable[Job]) -> bool:
        """Whether all of these runs were made here before."""
        return all(key(job) in self.here.runs for job in jobs)

    def measured(self, threads: int) -> Costs:
        """With the unit measured on this host, as fast as it is now."""
        return replace(self, unit_s=calibration.unit_s(threads))

    def _units(self, job: Job, name: str) -> float:
        """What the shipped table says of a run, or of the same run explained or not."""
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
        """As measured, or as the runs say that both tables have."""
        if self.unit_s is not None:
            return self.unit_s
        both = self.here.runs.keys() & self.shipped.runs.keys()
        units = sum(self.shipped.runs[name] for name in both)
        return sum(self.here.runs[name] for name in both) / units if units else 1.0


def key(job: Job) -> str:
    """A run's name in tables of costs: with waits and a profile it is another one."""
    how = "" if job.explained is Explained.NOT else f", explained {job.explained.value}"
    return f"{job.experiment.name} on {job.run.board}: {job.configured.label}{how}"


def build_key(job: Job) -> str:
    """What a build of a run's firmware is called in tables of costs: all of an app are alike."""
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
    """What is known; nothing where no table can be read."""
    return Costs(_table(_kept()), _table(resources.bench_costs()))


def keep(took: Table) -> None:
    """Remember what was measured here, in seconds. It does not fail without a cache to write to."""
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
