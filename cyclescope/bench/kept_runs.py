"""Runs of benches before, kept by all that they depend on: what has not changed is not run again.

A run depends on its board with all properties, on what its firmware is built from, on its disk, on
how it is run and explained, and on the build of Cyclescope. Kept are runs that ended well, each in
a file of the cache.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from cyclescope.bench import moments, published
from cyclescope.bench.experiment import Run
from cyclescope.bench.planning import Explained, Job
from cyclescope.bench.rows import RunRecord
from cyclescope.bench.running import Told
from cyclescope.bench.views import Moment
from cyclescope.board.description import digests
from cyclescope.board.outcome import kept_results
from cyclescope.errors import EngineError
from cyclescope.firmware import digest_of, unchanging
from cyclescope.host import kept


class KeptRuns:
    """The records of the jobs of a bench that were made before, explained as `told` says.

    The files of boards and firmware are looked at once, when it is made. What can't be read or
    written is no reason to fail.
    """

    def __init__(self, jobs: Sequence[Job], told: Told, folder: Path | None = None) -> None:
        """Those in a folder, by default in the user's cache."""
        self._folder = kept_results.of_this_build("benches", folder)
        self._boards = digests.Boards()
        shown = moments.of(jobs)
        with unchanging():
            places = (
                self._place(job, told, shown.get(place, ())) for place, job in enumerate(jobs)
            )
            self._places = {id(job): place for job, place in zip(jobs, places, strict=True)}

    def has(self, job: Job) -> bool:
        """Whether there is a record of a job; it may turn out not to be whole."""
        place = self._places[id(job)]
        return place is not None and place.exists()

    def get(self, job: Job) -> RunRecord | None:
        """The record of a job, if it is there and whole."""
        place = self._places[id(job)]
        data = None if place is None else kept.read_bytes(place)
        # the digest fits and the build is this one: these are bytes that `put` has written
        record = None if data is None else pickle.loads(data)
        return record if isinstance(record, RunRecord) else None

    def put(self, job: Job, record: RunRecord) -> None:
        """Keep the record of a job that ended well, with all that was to be shown of it."""
        place = self._places[id(job)]
        if place is not None and _is_whole(record):
            kept.write_bytes(place, pickle.dumps(record, pickle.HIGHEST_PROTOCOL))

    def _place(self, job: Job, told: Told, shown: Sequence[Moment]) -> Path | None:
        """Where a job's record is kept; None if it is not known what it depends on."""
        try:
            name = digests.of_parts(self._depends_on(job, told, shown))
        except (EngineError, OSError):
            # the run itself will say what is wrong
            return None
        return self._folder / name[:2] / f"{name}.run"

    def _depends_on(self, job: Job, told: Told, shown: Sequence[Moment]) -> Iterator[object]:
        run = job.configured
        yield job.experiment.name
        yield from (job.explained.value, job.published, dataclasses.astuple(told))
        yield from (self._boards.digest(run.board), digests.of_overrides(run.overrides))
        # what is called is part of the build
        fields = ((field.name, getattr(run, field.name)) for field in dataclasses.fields(run))
        yield [(name, repr(value)) for name, value in fields if not callable(value)]
        # numbers that a run must give to count as one that ended well
        yield _digest_of_published(job.experiment.published)
        yield [repr(moment) for moment in shown]
        # a moment may be of a run of its own
        for made in (run, *(run.changed(moment.shortened) for moment in shown)):
            yield _digest_of_firmware(made)
        if shown and job.explained is Explained.IN_SHORT:
            yield _digest_of_firmware(job.shortened(shown[0].shortened).configured)


@cache
def _digest_of_published(name: str) -> str:
    """Of a table as it was read, which is once."""
    return digests.of_parts([repr(published.load(name))])


def _digest_of_firmware(run: Run) -> str:
    return digest_of(run.app, run.board, run.settings, run.overrides)


def _is_whole(record: RunRecord) -> bool:
    """Whether a run and all that explains it ended well."""
    if record.error is not None or any(isinstance(window, str) for _, window in record.moments):
        return False
    return record.short is None or _is_whole(record.short)
