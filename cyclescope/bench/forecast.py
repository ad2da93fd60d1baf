"""How long a bench will take: its runs, the firmware that is not built yet, and the report."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import cached_property

from cyclescope.bench import costs, order
from cyclescope.bench.costs import Costs
from cyclescope.bench.planning import Job
from cyclescope.bench.running import Before
from cyclescope.firmware import unchanging


class Forecast:
    """The time of jobs on `threads` threads, without those that were made `before`.

    If times of this host are missing, the host is measured first. Raises `FirmwareError` if it is
    unknown how to build a job's firmware.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        known: Costs,
        threads: int,
        before: Before | None = None,
    ) -> None:
        self._jobs, self._threads = jobs, threads
        self._kept = {id(job) for job in jobs if before is not None and before.has(job)}
        to_make = [job for job in jobs if id(job) not in self._kept]
        with unchanging():
            self._new = {id(job): job for job in costs.unbuilt(to_make)}
        self.is_from_here = known.are_from_here(to_make) and not self._new
        self.costs = known if self.is_from_here else known.measured(threads)

    @property
    def kept(self) -> int:
        """The number of runs that were made before, and are not made again."""
        return len(self._kept)

    @property
    def builds(self) -> int:
        """The number of programs to build."""
        return len(self._new)

    def is_new(self, job: Job) -> bool:
        """Whether the job's firmware is built for it first."""
        return id(job) in self._new

    def of(self, job: Job) -> float:
        """The time of a job with its build, in seconds of a thread."""
        if id(job) in self._kept:
            return 0.0
        building = self.costs.of_building(job) if self.is_new(job) else 0.0
        return building + self.costs.of(job)

    @cached_property
    def total_s(self) -> float:
        """The time of all jobs, in seconds of a thread."""
        return sum(map(self.of, self._jobs))

    @cached_property
    def expected_s(self) -> float:
        """The time until all is done: threads take jobs in order, and the report comes last."""
        busy_s = [0.0] * self._threads
        for place in order.places(self._jobs, self.costs.of):
            heapq.heapreplace(busy_s, busy_s[0] + self.of(self._jobs[place]))
        return max(busy_s) + self.costs.of_report(self._jobs)
