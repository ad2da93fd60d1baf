"""A comparison of two runs as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.comparing import words
from cyclescope.comparing.differences import Change, Comparison, CoreChange, MetricChange
from cyclescope.comparing.plain import Instructions

_VERDICTS = {"same": "", "other": ""}


def comparison(found: Comparison, instructions: Instructions, top: int) -> Group:
    """Headlines; causes, functions and sections of each core; metrics; what was counted."""
    before, after = found.before, found.after
    lines = [f"A: {before.label}", f"B: {after.label}", *words.headline(found)]
    ended = words.ends(found)
    if ended:
        lines.append(ended)
    if found.is_equal:
        lines.append(words.NO_DIFFERENCE)
        return Group(*map(Text, lines))
    parts: list[RenderableType] = [*map(Text, lines)]
    for core in found.cores:
        parts += _core(core, instructions, top)
    if any(metric.verdict != "same" for metric in found.metrics):
        parts.append(_metrics(found.metrics))
    counted = words.counters(found)
    if counted:
        parts += [Text("counted", style="italic"), *map(Text, counted)]
    return Group(*parts)


def _core(core: CoreChange, instructions: Instructions, top: int) -> Iterator[RenderableType]:
    if core.causes:
        yield _causes(core)
    if core.differing:
        yield _functions(core, instructions, top)
    if not all(section.is_equal for section in core.sections):
        yield _sections(core)


def _table(title: str, first: str, *, why: bool = True, footer: Sequence[str] = ()) -> Table:
    table = Table(title=Text(title), title_justify="left", show_footer=bool(footer))
    cells = iter((*footer, "", "", "", "", "", ""))
    table.add_column(first, footer=next(cells), overflow="fold")
    for heading in ("before", "after", "difference", "%"):
        table.add_column(heading, footer=next(cells), justify="right", no_wrap=True)
    if why:
        table.add_column("why")
    return table


def numbers(change: Change) -> tuple[str, str, str, str]:
    """Before, after, difference, percent."""
    return (
        words.number(change.before),
        words.number(change.after),
        words.signed(change.difference) if change.difference else "0",
        words.percent(change),
    )


def _causes(core: CoreChange) -> Table:
    """The causes that differ, and what the others took."""
    footer = ("total", *numbers(core.cycles))
    table = _table(f"{core.name}: cycles by cause", "cause", why=False, footer=footer)
    old, new = (one.causes if one else {} for one in (core.before, core.after))
    changes = {name: Change(old.get(name, 0), new.get(name, 0)) for name in core.causes}
    for name, change in changes.items():
        table.add_row(Text(name), *numbers(change))
    same = Change(
        core.cycles.before - sum(change.before for change in changes.values()),
        core.cycles.after - sum(change.after for change in changes.values()),
    )
    if same.before or same.after:
        table.add_row("the same", *numbers(same))
    return table


def _functions(core: CoreChange, instructions: Instructions, top: int) -> Table:
    footer = ("total", *numbers(core.cycles))
    table = _table(f"{core.name}: cycles by function, its own code", "function", footer=footer)
    shown = core.differing[:top]
    for one in shown:
        found = map(words.instruction, instructions.get((core.name, one.name), ()))
        table.add_row(
            Text(one.name), *numbers(one.cycles), Text("\n".join([words.why(one), *found]))
        )
    rest = words.rest(core, shown)
    if rest is not None:
        table.add_row(rest[0], *numbers(rest[1]), "")
    return table


def _sections(core: CoreChange) -> Table:
    table = _table(f"{core.name}: sections, with all they call", "function")
    for section in core.sections:
        why = Text(words.section_why(section))
        table.add_row(Text(section.name), *numbers(section.cycles), why)
    return table


def _metrics(metrics: Sequence[MetricChange]) -> Table:
    table = Table(title="what the firmware printed", title_justify="left")
    table.add_column("metric", overflow="fold")
    for heading in ("before", "after", "%"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for one in metrics:
        values = map(Text, words.metric_values(one))
        verdict = _VERDICTS.get(one.verdict, one.verdict)
        table.add_row(Text(words.metric_name(one)), *values, verdict)
    return table
