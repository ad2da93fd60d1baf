"""Runs of earlier benches, kept by all that they depend on: unchanged runs are not made again.

A run depends on its board with all properties, on the sources of its firmware, on its disk, on how
it is run and explained, and on the build of Cyclescope. Runs that ended well are kept, each in a
file of the cache.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from cyclescope.bench import moments, programs, published
from cyclescope.bench.experiment import Run
from cyclescope.bench.planning import Explained, Job
from cyclescope.bench.rows import RunRecord
from cyclescope.bench.running import Recorded
from cyclescope.bench.views import Moment
from cyclescope.board.description import digests
from cyclescope.board.outcome import kept_results
from cyclescope.errors import EngineError
from cyclescope.firmware import unchanging
from cyclescope.host import kept


class KeptRuns:
    """The records of a bench's jobs that were made before, with the data that `recorded` requests.

    The files of boards and firmware are read once, at construction. A record that can't be read or
    written is not an error.
    """

    def __init__(self, jobs: Sequence[Job], recorded: Recorded, folder: Path | None = None) -> None:
        """The records in a folder, by default in the user's cache."""
        self._folder = kept_results.of_this_build("benches", folder)
        self._boards = digests.Boards()
        shown = moments.of(jobs)
        with unchanging():
            places = (
                self._place(job, recorded, shown.get(place, ())) for place, job in enumerate(jobs)
            )
            self._places = {id(job): place for job, place in zip(jobs, places, strict=True)}

    def has(self, job: Job) -> bool:
        """Whether a job has a record; the record may turn out to be incomplete."""
        place = self._places[id(job)]
        return place is not None and place.exists()

    def get(self, job: Job) -> RunRecord | None:
        """The record of a job, if it exists and is complete."""
        place = self._places[id(job)]
        data = None if place is None else kept.read_bytes(place)
        # digest and build match: these are bytes that `put` has written
        record = None if data is None else pickle.loads(data)
        return record if isinstance(record, RunRecord) else None

    def put(self, job: Job, record: RunRecord) -> None:
        """Keep the record of a job that ended well, with all that is shown of it."""
        place = self._places[id(job)]
        if place is not None and _is_whole(record):
            kept.write_bytes(place, pickle.dumps(record, pickle.HIGHEST_PROTOCOL))

    def _place(self, job: Job, recorded: Recorded, shown: Sequence[Moment]) -> Path | None:
        """The file of a job's record; None if it is unknown what the run depends on."""
        try:
            name = digests.of_parts(self._depends_on(job, recorded, shown))
        except (EngineError, OSError):
            # the run itself will report the fault
            return None
        return self._folder / name[:2] / f"{name}.run"

    def _depends_on(
        self, job: Job, recorded: Recorded, shown: Sequence[Moment]
    ) -> Iterator[object]:
        run = job.configured
        yield job.experiment.name
        yield from (job.explained.value, job.published, dataclasses.astuple(recorded))
        yield from (self._boards.digest(run.board), digests.of_overrides(run.overrides))
        # callables are part of the build
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
    """The digest of a published table; it is read once."""
    return digests.of_parts([repr(published.load(name))])


def _digest_of_firmware(run: Run) -> str:
    return programs.digest(run.app, run.board, run.settings, run.overrides)


def _is_whole(record: RunRecord) -> bool:
    """Whether a run and all that explains it ended well."""
    if record.error is not None or any(isinstance(window, str) for _, window in record.moments):
        return False
    return record.short is None or _is_whole(record.short)
