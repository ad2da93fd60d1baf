"""Which runs a bench makes and explains if it is to answer soon.

A run is explained by what it waits for, by its profile and by the moment that the report shows. It
takes several times as long: so one run an experiment is explained unless all are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cyclescope.bench import moments
from cyclescope.bench.planning import Explained, Job


def narrowed(jobs: Sequence[Job]) -> list[Job]:
    """The runs that published numbers need, and of each experiment the one that is explained."""
    return [
        job
        for job in marked(jobs)
        if job.published or job.run.is_needed or job.explained is not Explained.NOT
    ]


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
    for place, shown in moments.of(jobs).items():
        how = Explained.IN_SHORT if shown[0].shortened else Explained.ITSELF
        chosen.setdefault(jobs[place].experiment.name, (place, how))
    # those with a published number first
    for place, job in sorted(enumerate(jobs), key=lambda pair: not pair[1].published):
        chosen.setdefault(job.experiment.name, (place, Explained.ITSELF))
    return dict(chosen.values())
