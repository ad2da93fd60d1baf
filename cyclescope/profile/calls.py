"""How long the calls of a function took, and how late interrupts were."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cyclescope.profile.model import Call, CoreProfile, Interrupt

_MOST_BINS = 16
# Where the longest takes so many times the shortest, bins of one width would show one bar.
_WIDE = 16
_PS = 10**12


@dataclass(frozen=True)
class Bin:
    """Calls that took `least` cycles or more, and less than `below`."""

    least: int
    below: int
    calls: int


@dataclass(frozen=True)
class Spread:
    """The calls of a function that ended: how many, what they took, and the longest of them."""

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
        """Cycles of a call on average."""
        return self.total / self.calls


@dataclass(frozen=True)
class Times:
    """How long calls took in picoseconds, whatever clock each of them had."""

    shortest: int
    median: int
    mean: int
    p99: int
    longest: int
    total: int


def times(calls: Sequence[Call]) -> Times | None:
    """The times of calls; None if that of one is not known."""
    known = sorted(call.ps for call in calls if call.ps is not None)
    if not known or len(known) < len(calls):
        return None
    total = sum(known)
    return Times(known[0], _at(known, 0.5), total // len(known), _at(known, 0.99), known[-1], total)


def calls_of(core: CoreProfile, function: str) -> tuple[Call, ...]:
    """The kept calls of a function, by the name that the run was given."""
    return core.calls.get(function, ())


def own_name(core: CoreProfile, function: str) -> str:
    """A function's name without the core that it was asked for of: "cm4:main" is main."""
    own = function.removeprefix(f"{core.name}:")
    return function if own.startswith(":") else own


def spread(calls: Sequence[Call]) -> Spread | None:
    """How the times of calls are spread; None of no calls."""
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
    """The least number that so large a share of all does not exceed."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def _bins(ordered: Sequence[int]) -> Iterator[Bin]:
    """Bins of one width, or each twice as wide as the one before, from the first to the last."""
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
    """The interrupts of one line: how many, and how late the core was, in picoseconds.

    `handler_ps` is the time that the core spent entering, running and leaving their handlers, less
    that of interrupts that came meanwhile; `handler_cycles` the same in cycles, None if the core's
    clock has changed. The latency lasts from the line's edge to the handler's first instruction;
    that of the latest began at `most_at_ps`. The other times are None where no edge is known.
    """

    line: str
    taken: int
    handler_ps: int
    handler_cycles: int | None
    least_ps: int | None = None
    mean_ps: int | None = None
    most_ps: int | None = None
    most_at_ps: int | None = None
    longest_response_ps: int | None = None


def latencies(core: CoreProfile) -> list[Latency]:
    """The latency of each interrupt line of a core, the slowest first."""
    lines = defaultdict(list)
    handlers_ps: dict[str, int] = defaultdict(int)
    for one, own_ps in zip(core.interrupts, _own_times(core.interrupts), strict=True):
        lines[one.line].append(one)
        handlers_ps[one.line] += own_ps
    rate = core.rates_hz[0] if len(set(core.rates_hz)) == 1 else None
    found = []
    for line, taken in lines.items():
        edges = [one for one in taken if one.raised_ps is not None]
        handler_ps = handlers_ps[line]
        cycles = None if rate is None else (handler_ps * rate + _PS // 2) // _PS
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


def _own_times(interrupts: Sequence[Interrupt]) -> list[int]:
    """The time in each handler, less that of handlers that interrupted it."""
    own = [one.end_ps - one.taken_ps for one in interrupts]
    open_ones: list[int] = []
    for place in sorted(range(len(own)), key=lambda place: interrupts[place].taken_ps):
        begin_ps = interrupts[place].taken_ps
        while open_ones and interrupts[open_ones[-1]].end_ps <= begin_ps:
            open_ones.pop()
        if open_ones:
            outer = open_ones[-1]
            own[outer] -= min(interrupts[place].end_ps, interrupts[outer].end_ps) - begin_ps
        open_ones.append(place)
    return [max(one, 0) for one in own]
