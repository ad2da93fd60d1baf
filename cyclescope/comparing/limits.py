"""How much worse a result may get, and which results exceed that."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from cyclescope.comparing import words
from cyclescope.comparing.differences import Change, Comparison, FunctionChange
from cyclescope.errors import UsageError
from cyclescope.similar_names import did_you_mean_or

_PERCENT = re.compile(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*%\s*", re.ASCII)


@dataclass(frozen=True)
class Exceeded:
    """A number that got worse by more than was allowed, with its unit."""

    what: str
    change: Change
    unit: str


def parse_percent(text: str) -> Fraction:
    """A share such as "2%" or "0.5 %". Raises `UsageError` for anything else."""
    match = _PERCENT.fullmatch(text)
    if not match:
        raise UsageError(f"{text!r}: expected percent such as 2% or 0.5%")
    return Fraction(match[1])


def exceeds(change: Change, percent: Fraction) -> bool:
    """Whether a number changed, up or down, by more than `percent` of its old value.

    For integers that is exact; for others, a change by rounding does not count.
    """
    moved = abs(change.difference)
    if not change.before:
        return moved > 0
    allowed = percent / 100 * abs(change.before)
    is_exact = isinstance(change.before, int) and isinstance(change.after, int)
    return moved > allowed and (is_exact or not math.isclose(moved, allowed, rel_tol=1e-9))


def exceeded(comparison: Comparison, percent: Fraction, functions: Iterable[str]) -> list[Exceeded]:
    """Numbers that got worse by more than `percent`: cores, metrics, functions with all they call.

    Raises `UsageError` if neither run has such a function.
    """
    found = [*_functions(comparison, percent, functions)]
    cores = [
        Exceeded(f"{core.name}: all cycles", core.cycles, "cycles")
        for core in comparison.cores
        if core.cycles.difference > 0 and exceeds(core.cycles, percent)
    ]
    metrics = [
        Exceeded(words.metric_label(metric), metric.values, metric.unit)
        for metric in comparison.metrics
        if metric.verdict == "worse" and metric.values and exceeds(metric.values, percent)
    ]
    return cores + metrics + found


def _functions(
    comparison: Comparison, percent: Fraction, names: Iterable[str]
) -> Iterator[Exceeded]:
    for name in names:
        for core, function in named(comparison, name):
            cycles = function.total_cycles
            if cycles.difference > 0 and exceeds(cycles, percent):
                yield Exceeded(f"{core}: {function.name} with all it calls", cycles, "cycles")


def named(comparison: Comparison, name: str) -> list[tuple[str, FunctionChange]]:
    """The functions of a name, with or without its file after it, each with its core.

    Raises `UsageError` if neither run has one.
    """
    known = [(core.name, one) for core in comparison.cores for one in core.functions or ()]
    found = [(core, one) for core, one in known if name in _names(one)]
    if not found:
        if not known:
            raise UsageError(f"--function {name}: these runs have no profile")
        hint = did_you_mean_or(name, {one.name for _, one in known}, "the table has their names")
        raise UsageError(f"--function {name}: it ran in neither{hint}")
    return found


def _names(function: FunctionChange) -> set[str]:
    both = (function.before, function.after)
    return {function.name, *(one.name for one in both if one)}
