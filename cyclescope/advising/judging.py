"""How what-ifs are judged: the metrics that count, and a run's numbers beside the original's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cyclescope.advising.results import Tried
from cyclescope.advising.whatifs import WhatIf
from cyclescope.errors import UsageError
from cyclescope.sweeps import measures
from cyclescope.sweeps.measures import ELAPSED, Measure, Namer, Number, default_metrics
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.requests import Request
from cyclescope.sweeps.results import check_metrics, unknown

# Units of counts, which get neither faster nor slower.
_COUNTS = {"instructions", "misses", "errors", "retries", "calls"}


def metrics_of(request: Request, first: Outcome) -> list[Measure]:
    """The metrics of the advice: those that the user named, or the experiment's, or printed ones.

    Of printed metrics only times and rates count; without any it is the time of the run. Raises
    `SettingError` for a metric that the run does not have, `UsageError` if nothing can be compared.
    """
    check_metrics(request.metrics, request.worse, first)
    known = measures.all_measures(Namer([first]), [first], request.worse)
    if request.metrics:
        named = {name for one in known for name in (one, measures.plain(one))}
        for name in request.metrics:
            if name not in named:
                raise unknown("--metric", name, known)
        wanted = set(request.metrics)
        return [one for one in known.values() if {one.name, measures.plain(one.name)} & wanted]
    values = Namer([first]).values(first)
    timed = {
        name: one
        for name, one in known.items()
        if one.is_printed and values.get(name) and one.worse and one.unit not in _COUNTS
    }
    chosen = [timed[name] for name in default_metrics(timed, request.preferred) if name in timed]
    if not chosen and first.ended == "limit":
        raise UsageError(
            f"{request.target}: it does not end, and prints no time or rate: name a metric, "
            "as in --section FUNCTION --metric FUNCTION.ps"
        )
    return chosen or [known[ELAPSED]]


def where(first: Outcome) -> dict[str, float]:
    """The parts of the first core's time by cause, the largest first."""
    stack = first.cores[0].stack_ps if first.cores else {}
    total = sum(stack.values())
    found = sorted(stack.items(), key=lambda item: -item[1])
    return {cause: ps / total for cause, ps in found if ps}


def tried(what_if: WhatIf, first: Outcome, outcome: Outcome, chosen: Sequence[Measure]) -> Tried:
    """The numbers of a what-if, beside `first`: the unchanged program."""
    before, after = (Namer([first]).values(one) for one in (first, outcome))
    about = {one.name for one in chosen}
    plain = [
        one.name
        for one, _ in Namer([first]).measured(first)
        if one.is_printed and one.worse is None and one.name not in about
    ]
    differs = tuple(name for name in plain if after.get(name) != before.get(name))
    error = outcome.error
    if error is None and outcome.ended != first.ended:
        error = f"it ended differently: {outcome.ended}"
    return Tried(what_if, _only(before, chosen), _only(after, chosen), chosen, error, differs)


def _only(values: Mapping[str, Number], chosen: Sequence[Measure]) -> dict[str, Number]:
    return {one.name: values[one.name] for one in chosen if one.name in values}
