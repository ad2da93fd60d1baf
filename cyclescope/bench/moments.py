"""The windows of runs that are shown as timelines: their runs, times and contents."""

from __future__ import annotations

from collections.abc import Sequence

from cyclescope._engine import Stop
from cyclescope.bench import images, programs
from cyclescope.bench.experiment import Run
from cyclescope.bench.planning import Job
from cyclescope.bench.views import Moment
from cyclescope.board import Board
from cyclescope.board.excerpts import Excerpt, excerpt
from cyclescope.errors import EngineError, error_text
from cyclescope.profile.profile import Profile


def of(jobs: Sequence[Job]) -> dict[int, list[Moment]]:
    """The moments of the jobs' experiments, by the place of the first job that each may belong to.

    A moment without a planned run has no place.
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
            f"but {len(begins)} ended"
        )
    begin_ps = max(0, begins[moment.call - 1] - moment.before_ps)
    return begin_ps, begin_ps + moment.length_ps


def of_run(
    run: Run, moment: Moment, stop: Stop | None, profile: Profile | None = None
) -> tuple[Moment, Excerpt | str]:
    """The excerpt of a window of a run, or why it failed: the run counts without it.

    `profile` is the profile of the run in the moment's short form, with the calls of its function;
    without it the run is made once more, to find the window's begin.
    """
    try:
        return moment, _excerpt(run.changed(moment.shortened), moment, stop, profile)
    except EngineError as error:
        return moment, error_text(error)


def _excerpt(short: Run, moment: Moment, stop: Stop | None, profile: Profile | None) -> Excerpt:
    """A window of a run, which is run up to its end."""
    elf = programs.built(short.app, short.board, short.settings, short.overrides)
    if profile is None:
        with images.of_run(short) as (overrides, _):
            board = Board(short.board, overrides).load(str(elf))
            profile = board.run(short.limit, profile=[moment.function], stop=stop).profile
    begin_ps, end_ps = window_ps(moment, profile) if profile else (0, 0)
    with images.of_run(short) as (overrides, _):
        machine = Board(short.board, overrides).load(str(elf)).start()
        return excerpt(machine, begin_ps, end_ps, moment.wires, moment.in_place, stop)
