"""The numbers of a run by name: printed metrics, time, cycles, watched functions.

A printed metric goes by its name, or, if a run printed it with several settings, by
`name[setting=value]`. `elapsed_ps` is the simulated time; `cpu0.cycles`, `cpu0.instructions` and
`cpu0.stack.<cause>_ps` belong to a core; `f.ps` and `f.calls` to a watched function f.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cyclescope.board.results import Metric
from cyclescope.comparing import directions
from cyclescope.sweeps.outcomes import Outcome

ELAPSED = "elapsed_ps"
Number = int | float


@dataclass(frozen=True)
class Measure:
    """The name of a number of runs, with its unit; `is_printed` by the firmware.

    `given` is the direction in which it gets worse (`directions.MORE`, `LESS`) if the user stated
    it.
    """

    name: str
    unit: str
    is_printed: bool = False
    given: str | None = None

    @property
    def worse(self) -> str | None:
        """The direction in which it gets worse, as in `cyclescope compare`; None if unknown."""
        return self.given or directions.worse(self.name, self.unit)

    @property
    def is_more_better(self) -> bool:
        """Whether more of it is better; if the direction is unknown, less is."""
        return self.worse == directions.LESS


class Namer:
    """Names the metrics that the runs of a sweep printed, as briefly as is unambiguous."""

    def __init__(self, runs: Iterable[Outcome]) -> None:
        self._in_several: set[str] = set()
        for run in runs:
            seen: set[str] = set()
            for metric in run.metrics:
                if metric.name in seen:
                    self._in_several.add(metric.name)
                seen.add(metric.name)

    def name(self, metric: Metric) -> str:
        """The metric's name, with its settings if there are several."""
        if metric.name not in self._in_several or not metric.settings:
            return metric.name
        shown = " ".join(f"{name}={value}" for name, value in metric.settings.items())
        return f"{metric.name}[{shown}]"

    def values(self, outcome: Outcome) -> dict[str, Number]:
        """All numbers of a run, by name, printed ones first."""
        return {sys.intern(measure.name): value for measure, value in self.measured(outcome)}

    def measured(self, outcome: Outcome) -> Iterator[tuple[Measure, Number]]:
        """All numbers of a run with their measures; if one was printed twice, the last counts."""
        printed = {self.name(metric): metric for metric in outcome.metrics}
        for name, metric in printed.items():
            yield Measure(name, metric.unit, is_printed=True), metric.value
        for section in outcome.sections:
            yield Measure(f"{section.name}.ps", "ps"), section.ps
            yield Measure(f"{section.name}.calls", "calls"), section.calls
        if not outcome.ended:
            return
        yield Measure(ELAPSED, "ps"), outcome.elapsed_ps
        for core in outcome.cores:
            yield Measure(f"{core.name}.cycles", "cycles"), core.cycles
            yield Measure(f"{core.name}.instructions", "instructions"), core.instructions
        for core in outcome.cores:
            for cause, ps in core.stack_ps.items():
                yield Measure(f"{core.name}.stack.{cause}_ps", "ps"), ps


def all_measures(
    namer: Namer, runs: Iterable[Outcome], worse: Mapping[str, str] | None = None
) -> dict[str, Measure]:
    """The measures of at least one run, by name: printed metrics first, stacks last.

    `worse` are the user's directions of metrics; the name of a metric with several settings means
    all.
    """
    given = worse or {}
    found: dict[str, Measure] = {}
    for run in runs:
        for measure, _ in namer.measured(run):
            if measure.name not in found:
                way = given.get(measure.name) or given.get(plain(measure.name))
                found[measure.name] = replace(measure, given=way) if way else measure
    return dict(sorted(found.items(), key=lambda item: _order(item[1])))


def plain(name: str) -> str:
    """A metric's name without its settings."""
    return name.partition("[")[0]


def _order(measure: Measure) -> int:
    if measure.is_printed:
        return 0
    return 2 if ".stack." in measure.name else 1


def default_metrics(known: Mapping[str, Measure], preferred: Iterable[str]) -> list[str]:
    """The metrics that a sweep shows by default.

    These are the metrics that an experiment has cells for, else the first few that the firmware
    printed, else watched functions, else the time of the run.
    """
    wanted = [
        name for one in preferred for name in known if name == one or name.startswith(f"{one}[")
    ]
    printed = [name for name, measure in known.items() if measure.is_printed]
    sections = [name for name in known if name.endswith(".ps")]
    return (wanted or printed or sections or [ELAPSED])[:_MOST_SHOWN]


# The most columns that a reader can compare.
_MOST_SHOWN = 6
