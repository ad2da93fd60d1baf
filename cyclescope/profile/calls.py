"""Durations of a function's calls, and latencies of interrupts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cyclescope.profile.model import Call, CoreProfile, Interrupt

_MOST_BINS = 16
# From this ratio of the longest to the shortest call on, bins of equal width would show one bar.
_WIDE = 16


@dataclass(frozen=True)
class Bin:
    """Calls that took `least` cycles or more, and less than `below`."""

    least: int
    below: int
    calls: int


@dataclass(frozen=True)
class Spread:
    """The ended calls of a function: their number, statistics of cycles, and the longest call."""

    calls: int
    shortest: int
    median: int
    p99: int
    longest: int
    total: int
    worst: Call
    bins: tuple[Bin, ...]

    @property
    def mean(self) -> float:
        """Mean cycles of a call."""
        return self.total / self.calls


@dataclass(frozen=True)
class Times:
    """Durations of calls in picoseconds, independent of clock changes."""

    shortest: int
    median: int
    mean: int
    p99: int
    longest: int
    total: int


def times(calls: Sequence[Call]) -> Times | None:
    """The times of calls; None if one of them is unknown."""
    known = sorted(call.ps for call in calls if call.ps is not None)
    if not known or len(known) < len(calls):
        return None
    total = sum(known)
    return Times(known[0], _at(known, 0.5), total // len(known), _at(known, 0.99), known[-1], total)


def calls_of(core: CoreProfile, function: str) -> tuple[Call, ...]:
    """The kept calls of a function, by the user's name for it."""
    return core.calls.get(function, ())


def own_name(core: CoreProfile, function: str) -> str:
    """A function's name without its core: "cm4:main" is main."""
    own = function.removeprefix(f"{core.name}:")
    return function if own.startswith(":") else own


def spread(calls: Sequence[Call]) -> Spread | None:
    """The distribution of calls' cycles; None without calls."""
    if not calls:
        return None
    cycles = sorted(call.cycles for call in calls)
    return Spread(
        calls=len(cycles),
        shortest=cycles[0],
        median=_at(cycles, 0.5),
        p99=_at(cycles, 0.99),
        longest=cycles[-1],
        total=sum(cycles),
        worst=max(calls, key=lambda call: (call.cycles, -call.begin_ps)),
        bins=tuple(_bins(cycles)),
    )


def _at(ordered: Sequence[int], share: float) -> int:
    """The least number that a share of all numbers does not exceed: a percentile."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def _bins(ordered: Sequence[int]) -> Iterator[Bin]:
    """Bins of equal width, or each twice as wide as the one before."""
    edges = _edges(ordered[0], ordered[-1])
    counts = [0] * (len(edges) - 1)
    at = 0
    for cycles in ordered:
        while cycles >= edges[at + 1]:
            at += 1
        counts[at] += 1
    for (least, below), number in zip(pairwise(edges), counts, strict=True):
        yield Bin(least, below, number)


def _edges(shortest: int, longest: int) -> list[int]:
    if longest > _WIDE * max(shortest, 1):
        first = shortest.bit_length() - 1 if shortest else -1
        powers = range(first, longest.bit_length() + 1)
        return [0 if power < 0 else 1 << power for power in powers]
    width = _round_up(max(math.ceil((longest - shortest + 1) / _MOST_BINS), 1))
    begin = shortest // width * width
    return list(range(begin, longest + width + 1, width))


def _round_up(width: int) -> int:
    """The next of 1, 2, 5, 10, 20, 50 ..."""
    scale = 10 ** (len(str(width)) - 1)
    return next(step * scale for step in (1, 2, 5, 10) if step * scale >= width)


@dataclass(frozen=True)
class Latency:
    """The interrupts of one line: their number, and their latencies in picoseconds.

    `handler_ps` is the time that the core spent entering, running and leaving their handlers,
    without nested interrupts; `handler_cycles` is the same in cycles. The latency lasts from the
    line's edge to the handler's first instruction; the largest one began at `most_at_ps`. The other
    times need a known edge, else they stay None.
    """

    line: str
    taken: int
    handler_ps: int
    handler_cycles: int
    least_ps: int | None = None
    mean_ps: int | None = None
    most_ps: int | None = None
    most_at_ps: int | None = None
    longest_response_ps: int | None = None


def latencies(core: CoreProfile) -> list[Latency]:
    """The latencies of each interrupt line of a core, the slowest line first."""
    lines = defaultdict(list)
    handlers: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for one, (own_ps, own) in zip(core.interrupts, _own_times(core.interrupts), strict=True):
        lines[one.line].append(one)
        all_ps, cycles = handlers[one.line]
        handlers[one.line] = (all_ps + own_ps, cycles + own)
    found = []
    for line, taken in lines.items():
        edges = [one for one in taken if one.raised_ps is not None]
        handler_ps, cycles = handlers[line]
        if not edges:
            found.append(Latency(line, len(taken), handler_ps, cycles))
            continue
        late_ps = [one.latency_ps or 0 for one in edges]
        most_ps = max(late_ps)
        found.append(
            Latency(
                line=line,
                taken=len(taken),
                handler_ps=handler_ps,
                handler_cycles=cycles,
                least_ps=min(late_ps),
                mean_ps=sum(late_ps) // len(late_ps),
                most_ps=most_ps,
                most_at_ps=edges[late_ps.index(most_ps)].raised_ps,
                longest_response_ps=max(one.response_ps or 0 for one in edges),
            )
        )
    return sorted(found, key=lambda one: (-(one.most_ps or 0), one.line))


def _own_times(interrupts: Sequence[Interrupt]) -> list[tuple[int, int]]:
    """Time and cycles in each handler, without nested handlers."""
    own = [[one.end_ps - one.taken_ps, one.cycles] for one in interrupts]
    open_ones: list[int] = []
    for place in sorted(range(len(own)), key=lambda place: interrupts[place].taken_ps):
        one = interrupts[place]
        while open_ones and interrupts[open_ones[-1]].end_ps <= one.taken_ps:
            open_ones.pop()
        # A handler that ends after the one around it belongs to a task that was switched to.
        if open_ones and one.end_ps <= interrupts[open_ones[-1]].end_ps:
            outer = own[open_ones[-1]]
            outer[0] -= one.end_ps - one.taken_ps
            outer[1] -= one.cycles
        open_ones.append(place)
    return [(max(own_ps, 0), max(cycles, 0)) for own_ps, cycles in own]
