"""The rows of a comparison's tables, for terminals and Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cyclescope.comparing import words
from cyclescope.comparing.differences import (
    Change,
    Comparison,
    CoreChange,
    FunctionChange,
    MetricChange,
)
from cyclescope.comparing.plain import Instructions


@dataclass(frozen=True)
class Line:
    """A row's name, its cycles, and why they differ; `is_code` if the name is one in a program."""

    name: str
    cycles: Change
    why: tuple[str, ...] = ()
    is_code: bool = False

    @property
    def numbers(self) -> tuple[str, str, str, str]:
        """Before, after, difference, percent."""
        return (
            words.number(self.cycles.before),
            words.number(self.cycles.after),
            words.signed(self.cycles.difference) if self.cycles.difference else "0",
            words.percent(self.cycles),
        )


def cores(comparison: Comparison) -> Iterator[Line]:
    """The cores that ran."""
    for core in comparison.cores:
        if core.cycles.before or core.cycles.after:
            yield Line(core.name, core.cycles, (words.causes(core.causes),))


def causes(core: CoreChange) -> Iterator[Line]:
    """The causes that differ, and the cycles of the others."""
    old, new = (one.causes if one else {} for one in (core.before, core.after))
    changes = {name: Change(old.get(name, 0), new.get(name, 0)) for name in core.causes}
    for name, change in changes.items():
        yield Line(name, change)
    same = Change(
        core.cycles.before - sum(change.before for change in changes.values()),
        core.cycles.after - sum(change.after for change in changes.values()),
    )
    if same.before or same.after:
        yield Line("the same", same)


def functions(core: CoreChange, instructions: Instructions, most: int) -> Iterator[Line]:
    """The functions that differ most, and all others as one row."""
    shown = core.differing[:most]
    for one in shown:
        yield Line(one.name, one.cycles, _reasons(core, one, instructions), is_code=True)
    rest = words.rest(core, shown)
    if rest is not None:
        yield Line(*rest)


def _reasons(core: CoreChange, one: FunctionChange, instructions: Instructions) -> tuple[str, ...]:
    found = map(words.instruction, instructions.get((core.name, one.name), ()))
    return (words.why(one), *found)


def sections(core: CoreChange, *, only_differing: bool = False) -> Iterator[Line]:
    """The watched functions."""
    for one in core.sections:
        if not (only_differing and one.is_equal):
            yield Line(one.name, one.cycles, (words.section_why(one),), is_code=True)


def metric(one: MetricChange) -> tuple[str, str, str, str, str]:
    """A metric: name, before, after, percent, and whether that is better or worse, if known."""
    verdict = "" if one.verdict in ("same", "other") else one.verdict
    return words.metric_name(one), *words.metric_values(one), verdict
