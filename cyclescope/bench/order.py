"""The order in which runs start: interesting ones soon, and no long one alone at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cyclescope.bench.planning import Job


def places(jobs: Sequence[Job], seconds: Callable[[Job], float]) -> list[int]:
    """The places of jobs in the order in which they start.

    The first job of each experiment is its cheapest run with a published number (any run, if none
    has one), the cheapest experiments first. The others with a published number follow, then the
    rest, each group from the longest to the shortest.
    """
    took = [seconds(job) for job in jobs]
    first: dict[str, int] = {}
    for place in sorted(range(len(jobs)), key=lambda at: (not jobs[at].published, took[at])):
        first.setdefault(jobs[place].experiment.name, place)
    headlines = sorted(first.values(), key=lambda at: took[at])
    others = set(range(len(jobs))).difference(headlines)
    return headlines + sorted(others, key=lambda at: (not jobs[at].published, -took[at], at))
