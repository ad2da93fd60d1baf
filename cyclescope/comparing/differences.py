"""All differences between two runs. Differences sum exactly, as cycles do.

If two builds inline differently, cycles move from one function to another; the differences of all
functions of a core still sum to the difference of its cycles.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from cyclescope import reprs
from cyclescope.board.results import Metric, Settings
from cyclescope.comparing import directions
from cyclescope.comparing.runs import Core, Cycles, Function, Run, Watched, base

NEW, GONE = "new", "gone"


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_One = TypeVar("_One", bound=_Named)


@dataclass(frozen=True)
class Change:
    """A number before and after."""

    before: int | float
    after: int | float

    @property
    def difference(self) -> int | float:
        """The increase."""
        return self.after - self.before

    @property
    def percent(self) -> float | None:
        """The difference in percent of the number before; None if that is 0."""
        return 100 * self.difference / abs(self.before) if self.before else None


@dataclass(frozen=True)
class FunctionChange:
    """A function in both runs, or in one; None for the other.

    `name` has its file after it if functions of several files have the name.
    """

    name: str
    before: Function | None
    after: Function | None

    @property
    def state(self) -> str | None:
        """`NEW` or `GONE` if only one of the runs has the function."""
        if self.before is None:
            return NEW
        return GONE if self.after is None else None

    @property
    def cycles(self) -> Change:
        """The cycles of its own code."""
        return Change(*((one.cycles if one else 0) for one in (self.before, self.after)))

    @property
    def total_cycles(self) -> Change:
        """Its cycles with all that it called."""
        both = (self.before, self.after)
        return Change(*((one.total_cycles or 0) if one else 0 for one in both))

    @property
    def instructions(self) -> Change:
        """Instructions of its own code that were executed."""
        return Change(*((one.instructions if one else 0) for one in (self.before, self.after)))

    @property
    def calls(self) -> Change:
        """Its calls; inlined calls do not count."""
        return Change(*((one.calls or 0) if one else 0 for one in (self.before, self.after)))

    @property
    def causes(self) -> dict[str, int]:
        """The difference of each cause of its cycles; they sum to the difference of the cycles."""
        return changed(*(one.causes if one else {} for one in (self.before, self.after)))

    @property
    def is_equal(self) -> bool:
        """Whether the function did the same in the same number of cycles."""
        return (
            self.before is not None
            and self.after is not None
            and not self.causes
            and _work(self.before) == _work(self.after)
        )


def _work(function: Function) -> tuple[int, int, int | None]:
    """The work of its own code, without the functions that it called."""
    return function.cycles, function.instructions, function.calls


class _OfBoth:
    """Common parts of sections and cores; a missing one counts as 0."""

    before: Any
    after: Any

    @property
    def cycles(self) -> Change:
        """All of its cycles, with the functions that it called."""
        return Change(*((one.cycles if one else 0) for one in (self.before, self.after)))

    @property
    def causes(self) -> dict[str, int]:
        """The difference of each cause of its cycles."""
        return changed(*(one.causes if one else {} for one in (self.before, self.after)))


@dataclass(frozen=True)
class SectionChange(_OfBoth):
    """A watched function in both runs, or in one."""

    name: str
    before: Watched | None
    after: Watched | None

    @property
    def calls(self) -> Change:
        """Its calls that ended."""
        return Change(*((one.calls if one else 0) for one in (self.before, self.after)))

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        return self.before == self.after


@dataclass(frozen=True)
class CoreChange(_OfBoth):
    """A core in both runs, or in one.

    `functions` are all of both runs, the largest difference first; None if one run has no profile.
    """

    name: str
    before: Core | None
    after: Core | None
    functions: tuple[FunctionChange, ...] | None
    sections: tuple[SectionChange, ...]

    @property
    def instructions(self) -> Change:
        """All instructions that the core executed."""
        return Change(*((one.instructions if one else 0) for one in (self.before, self.after)))

    @property
    def differing(self) -> list[FunctionChange]:
        """The functions that differ, the largest difference first."""
        return [one for one in self.functions or () if not one.is_equal]

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        return (
            self.before is not None
            and self.after is not None
            and not self.causes
            and not self.cycles.difference
            and not self.instructions.difference
            and not self.differing
            and all(section.is_equal for section in self.sections)
        )


@dataclass(frozen=True)
class MetricChange:
    """A metric in both runs, or in one.

    `worse` is the direction in which it gets worse ("more", "less"), None if that is unknown.
    """

    name: str
    unit: str
    settings: Settings
    before: int | float | None
    after: int | float | None
    worse: str | None

    @property
    def values(self) -> Change | None:
        """Both values; None if only one run has it."""
        if self.before is None or self.after is None:
            return None
        return Change(self.before, self.after)

    @property
    def verdict(self) -> str:
        """ "same", "better", "worse", "new", "gone"; "other" if the direction is unknown."""
        if self.values is None:
            return NEW if self.before is None else GONE
        if not self.values.difference:
            return "same"
        if self.worse is None:
            return "other"
        is_more = self.values.difference > 0
        return "worse" if is_more == (self.worse == directions.MORE) else "better"


@dataclass(frozen=True)
class Comparison:
    """Two runs, and all that differs. `counters` has only those that differ."""

    before: Run
    after: Run
    cores: tuple[CoreChange, ...]
    metrics: tuple[MetricChange, ...]
    counters: Mapping[str, Change]

    def __repr__(self) -> str:
        """The runs, and the number of parts that differ."""
        return reprs.short(
            self,
            before=self.before.label,
            after=self.after.label,
            is_equal=self.is_equal,
            elapsed_ps=self.elapsed_ps,
            cores=[core.name for core in self.cores if not core.is_equal],
            metrics=reprs.names(one.name for one in self.metrics if one.verdict != "same"),
            counters=len(self.counters),
        )

    @property
    def has_equal_end(self) -> bool:
        """Whether both runs ended the same way, with the same status, as far as both report it."""
        return all(
            one == other or None in (one, other)
            for one, other in (
                (self.before.outcome, self.after.outcome),
                (self.before.exit_code, self.after.exit_code),
            )
        )

    @property
    def elapsed_ps(self) -> Change | None:
        """Simulated time; None if one of them does not report it."""
        if self.before.elapsed_ps is None or self.after.elapsed_ps is None:
            return None
        return Change(self.before.elapsed_ps, self.after.elapsed_ps)

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        return (
            self.has_equal_end
            and not (self.elapsed_ps and self.elapsed_ps.difference)
            and not self.counters
            and all(core.is_equal for core in self.cores)
            and all(metric.verdict == "same" for metric in self.metrics)
        )


def compare(before: Run, after: Run, worse: Mapping[str, str] | None = None) -> Comparison:
    """All differences between two runs.

    `worse` has the direction in which metrics get worse, by name, if units do not show it.
    """
    cores = [
        CoreChange(name, old, new, _functions(old, new), _sections(old, new))
        for name, old, new in _by_name(before.cores, after.cores)
    ]
    return Comparison(
        before,
        after,
        tuple(cores),
        tuple(_metrics(before.metrics, after.metrics, worse or {})),
        _counters(before.counters, after.counters),
    )


def changed(before: Cycles, after: Cycles) -> dict[str, int]:
    """The difference of each name, the largest first; without names that do not differ."""
    names = dict.fromkeys((*before, *after))
    found = {name: after.get(name, 0) - before.get(name, 0) for name in names}
    items = [(name, difference) for name, difference in found.items() if difference]
    return dict(sorted(items, key=lambda one: (-abs(one[1]), one[0])))


def _by_name(
    before: Iterable[_One], after: Iterable[_One]
) -> list[tuple[str, _One | None, _One | None]]:
    old, new = ({one.name: one for one in ones} for ones in (before, after))
    return [(name, old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new))]


def _sections(before: Core | None, after: Core | None) -> tuple[SectionChange, ...]:
    old, new = (core.sections if core else () for core in (before, after))
    return tuple(SectionChange(*both) for both in _by_name(old, new))


def _functions(before: Core | None, after: Core | None) -> tuple[FunctionChange, ...] | None:
    """The functions of both, paired."""
    old, new = (core.functions if core else () for core in (before, after))
    if old is None or new is None:
        return None
    pairs = _paired(old, new)
    names = Counter(ones[-1].name for pair in pairs if (ones := [one for one in pair if one]))
    found = []
    for one, other in pairs:
        shown = other or one
        assert shown is not None
        file = base(shown.file)
        is_shared = names[shown.name] > 1 and file
        found.append(
            FunctionChange(f"{shown.name} ({file})" if is_shared else shown.name, one, other)
        )
    return tuple(sorted(found, key=_by_size))


def _by_size(change: FunctionChange) -> tuple[Any, ...]:
    return (
        -abs(change.cycles.difference),
        change.is_equal,
        -change.cycles.after,
        change.name,
    )


def _paired(
    before: Sequence[Function], after: Sequence[Function]
) -> list[tuple[Function | None, Function | None]]:
    """Pairs of functions of two builds: by name and file; the rest by name, if that is unique."""
    pairs, old, new = _matched(before, after, lambda one: one.key)
    more, old, new = _matched(old, new, lambda one: one.name)
    return [*pairs, *more, *((one, None) for one in old), *((None, one) for one in new)]


def _matched(
    before: Iterable[Function], after: Iterable[Function], key: Any
) -> tuple[list[tuple[Function | None, Function | None]], list[Function], list[Function]]:
    """Pairs of functions with a key that no other has; and the rest of both."""
    old, new = _grouped(before, key), _grouped(after, key)
    both = [name for name in old if len(old[name]) == 1 == len(new.get(name, ()))]
    pairs: list[tuple[Function | None, Function | None]] = [
        (old.pop(name)[0], new.pop(name)[0]) for name in both
    ]
    return pairs, _flat(old), _flat(new)


def _grouped(functions: Iterable[Function], key: Any) -> dict[Hashable, list[Function]]:
    found: dict[Hashable, list[Function]] = defaultdict(list)
    for one in functions:
        found[key(one)].append(one)
    return found


def _flat(groups: Mapping[Hashable, list[Function]]) -> list[Function]:
    return [one for ones in groups.values() for one in ones]


def _metrics(
    before: Iterable[Metric], after: Iterable[Metric], worse: Mapping[str, str]
) -> Iterable[MetricChange]:
    """Metrics by name and settings; a metric that is printed several times by its number."""
    old, new = _by_turn(before), _by_turn(after)
    for key in dict.fromkeys((*old, *new)):
        one, other = old.get(key), new.get(key)
        shown = other or one
        assert shown is not None
        yield MetricChange(
            name=shown.name,
            unit=shown.unit,
            settings=shown.settings,
            before=None if one is None else one.value,
            after=None if other is None else other.value,
            worse=worse.get(shown.name) or directions.worse(shown.name, shown.unit),
        )


def _by_turn(metrics: Iterable[Metric]) -> dict[Hashable, Metric]:
    turns: Counter[Hashable] = Counter()
    found: dict[Hashable, Metric] = {}
    for metric in metrics:
        key = metric.name, metric.unit, tuple(sorted(metric.settings.items()))
        found[(*key, turns[key])] = metric
        turns[key] += 1
    return found


def _counters(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, Change]:
    if not before or not after:
        return {}
    names = dict.fromkeys((*before, *after))
    both = {name: Change(before.get(name, 0), after.get(name, 0)) for name in names}
    return {name: change for name, change in both.items() if change.difference}
