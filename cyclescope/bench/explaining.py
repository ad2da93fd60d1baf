"""Which runs a bench makes and explains if it is to answer soon.

A run is explained by what it waits for, by its profile and by the moment that the report shows. It
takes several times as long: so one run an experiment is explained unless all are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cyclescope.bench import moments
from cyclescope.bench.planning import Explained, Job
from cyclescope.bench.views import Moment


def narrowed(jobs: Sequence[Job]) -> list[Job]:
    """The runs that published numbers need, and of each experiment the one that is explained.

    Where that has no published number and a short form, the short form alone is made.
    """
    made = []
    for job, moment in zip(marked(jobs), _moments(jobs), strict=True):
        if job.published or job.run.is_needed or job.explained is Explained.ITSELF:
            made.append(job)
        elif job.explained is Explained.IN_SHORT and moment is not None:
            made.append(job.shortened(moment.shortened))
    return made


def marked(jobs: Sequence[Job]) -> list[Job]:
    """The jobs, of which one an experiment is explained.

    It is the one that the experiment's moment is of, in the short form that the moment has; without
    a moment, the first that has a published number.
    """
    chosen = _explained(jobs)
    return [
        replace(job, explained=chosen.get(place, Explained.NOT)) for place, job in enumerate(jobs)
    ]


def _explained(jobs: Sequence[Job]) -> dict[int, Explained]:
    """The places of the runs that are explained, and how."""
    chosen: dict[str, tuple[int, Explained]] = {}
    for place, moment in enumerate(_moments(jobs)):
        if moment is not None:
            how = Explained.IN_SHORT if moment.shortened else Explained.ITSELF
            chosen.setdefault(jobs[place].experiment.name, (place, how))
    # those with a published number first
    for place, job in sorted(enumerate(jobs), key=lambda pair: not pair[1].published):
        chosen.setdefault(job.experiment.name, (place, Explained.ITSELF))
    return dict(chosen.values())


def _moments(jobs: Sequence[Job]) -> list[Moment | None]:
    """Of each job the first moment that is of it, if there is one."""
    found = moments.of(jobs)
    return [next(iter(found.get(place, ())), None) for place in range(len(jobs))]
