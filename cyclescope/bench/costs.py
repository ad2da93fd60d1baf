"""What the runs of the bench take on this host, from earlier benches: for their order, and to say
beforehand how long it will take.

After each bench the cache keeps what each run took here. A run that never ran here counts with what
the table that is shipped (`cyclescope/data/bench-costs.json`, made by `scripts/bench_costs.py` from
such a file), times how much slower this host is on the others.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclescope import resources
from cyclescope.bench.planning import Job
from cyclescope.bench.rows import RunRecord
from cyclescope.host import kept

_NAME = "bench-costs.json"


@dataclass(frozen=True)
class Costs:
    """Seconds of one processor that runs take, by their keys: here, and on another host."""

    here: Mapping[str, float]
    elsewhere: Mapping[str, float]

    def of(self, job: Job) -> float:
        """What a run will take here, in seconds of one processor; a guess if it is a new one."""
        name = key(job)
        if name in self.here:
            return self.here[name]
        return self.elsewhere.get(name, self._typical) * self._slower

    def total(self, jobs: Iterable[Job]) -> float:
        """What all of some runs take, in seconds of one processor."""
        return sum(map(self.of, jobs))

    def are_from_here(self, jobs: Sequence[Job]) -> bool:
        """Whether all of these runs were made here before."""
        return all(key(job) in self.here for job in jobs)

    @property
    def _typical(self) -> float:
        known = [*self.elsewhere.values(), *self.here.values()]
        return statistics.median(known) if known else 1.0

    @property
    def _slower(self) -> float:
        both = self.here.keys() & self.elsewhere.keys()
        there = sum(self.elsewhere[name] for name in both)
        return sum(self.here[name] for name in both) / there if there else 1.0


def key(job: Job) -> str:
    """A run's name in tables of costs."""
    return f"{job.experiment.name} on {job.run.board}: {job.configured.label}"


def load() -> Costs:
    """What is known; nothing where no table can be read."""
    return Costs(_table(_kept()), _table(resources.bench_costs()))


def keep(jobs: Sequence[Job], records: Sequence[RunRecord | None]) -> None:
    """Remember what runs took here. A cache that can't be written is no reason to fail."""
    took = {
        key(job): round(record.result.wall_ns / 1e9, 3)
        for job, record in zip(jobs, records, strict=True)
        if record is not None and record.error is None and record.result is not None
    }
    if not took:
        return
    path = _kept()
    kept.write_json(path, dict(sorted((_table(path) | took).items())))


def _kept() -> Path:
    return resources.cache() / _NAME


def _table(path: Path) -> dict[str, float]:
    found = kept.read_json(path)
    if not isinstance(found, dict):
        return {}
    return {
        name: float(value)
        for name, value in found.items()
        if isinstance(value, int | float) and 0 <= value < 1e6
    }
