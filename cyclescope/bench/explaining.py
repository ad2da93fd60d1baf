"""Which runs a bench makes and explains for a quick answer.

A run is explained by its waits, its profile and the moment that the report shows. That takes
several times as long: so one run of each experiment is explained unless all are requested. An
experiment may say that its runs are too long for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cyclescope.bench import moments
from cyclescope.bench.planning import Explained, Job
from cyclescope.bench.views import Moment


def narrowed(jobs: Sequence[Job]) -> list[Job]:
    """The runs that published numbers need, and the explained run of each experiment.

    If that has no published number but a short form, only the short form is made.
    """
    made = []
    for job, moment in zip(marked(jobs), _moments(jobs), strict=True):
        if job.published or job.run.is_needed or job.explained is Explained.ITSELF:
            made.append(job)
        elif job.explained is Explained.IN_SHORT and moment is not None:
            made.append(job.shortened(moment.shortened))
    return made


def marked(jobs: Sequence[Job]) -> list[Job]:
    """The jobs, with one explained run for each experiment.

    It is the run of the experiment's moment, in the moment's short form; without a moment, the
    first run that has a published number.
    """
    chosen = _explained(jobs)
    return [
        replace(job, explained=chosen.get(place, Explained.NOT)) for place, job in enumerate(jobs)
    ]


def _explained(jobs: Sequence[Job]) -> dict[int, Explained]:
    """The places of the runs that are explained, and how."""
    chosen: dict[str, tuple[int, Explained]] = {}
    able = [(place, job) for place, job in enumerate(jobs) if job.experiment.is_explained]
    shown = _moments(jobs)
    for place, _ in able:
        moment = shown[place]
        if moment is not None:
            how = Explained.IN_SHORT if moment.shortened else Explained.ITSELF
            chosen.setdefault(jobs[place].experiment.name, (place, how))
    # those with a published number first
    for place, job in sorted(able, key=lambda pair: not pair[1].published):
        chosen.setdefault(job.experiment.name, (place, Explained.ITSELF))
    return dict(chosen.values())


def _moments(jobs: Sequence[Job]) -> list[Moment | None]:
    """For each job the first moment of that job, if there is one."""
    found = moments.of(jobs)
    return [next(iter(found.get(place, ())), None) for place in range(len(jobs))]
