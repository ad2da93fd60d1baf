"""Which windows of which runs are shown as timelines, and when they begin."""

from __future__ import annotations

from collections.abc import Sequence

from cyclescope.bench.planning import Job
from cyclescope.bench.views import Moment
from cyclescope.errors import EngineError
from cyclescope.profile.profile import Profile


def of(jobs: Sequence[Job]) -> dict[int, list[Moment]]:
    """The moments of the jobs' experiments, by the place of the first job that each may be of.

    A moment has no place if no such run is planned.
    """
    found: dict[int, list[Moment]] = {}
    experiments = {job.experiment.name: job.experiment for job in jobs}
    for experiment in experiments.values():
        for moment in experiment.moments:
            own = ((n, job) for n, job in enumerate(jobs) if job.experiment is experiment)
            places = (n for n, job in own if moment.takes(job.run.app, job.run.all_settings))
            if (place := next(places, None)) is not None:
                found.setdefault(place, []).append(moment)
    return found


def window_ps(moment: Moment, profile: Profile) -> tuple[int, int]:
    """Begin and end of a moment in a run of this profile, which has kept its function's calls.

    Raises `EngineError` if there was no such call.
    """
    calls = (core.calls.get(moment.function, ()) for core in profile.cores)
    begins = sorted(call.begin_ps for own in calls for call in own)
    if len(begins) < moment.call:
        raise EngineError(
            f"the moment {moment.title!r} begins with call {moment.call} of {moment.function}, "
            f"of which {len(begins)} ended"
        )
    begin_ps = max(0, begins[moment.call - 1] - moment.before_ps)
    return begin_ps, begin_ps + moment.length_ps
