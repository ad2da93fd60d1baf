"""A comparison of two runs as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.cli.tables.columns import Fitted
from cyclescope.comparing import lines, words
from cyclescope.comparing.differences import Change, Comparison, CoreChange, MetricChange
from cyclescope.comparing.lines import Line
from cyclescope.comparing.plain import Instructions


def comparison(found: Comparison, instructions: Instructions, top: int) -> Group:
    """Headlines; causes, functions and sections of each core; metrics; counters."""
    before, after = found.before, found.after
    headlines = [f"A: {before.label}", f"B: {after.label}", *words.headline(found)]
    ended = words.ends(found)
    if ended:
        headlines.append(ended)
    if found.is_equal:
        headlines.append(words.NO_DIFFERENCE)
        return Group(*map(Text, headlines))
    parts: list[RenderableType] = [*map(Text, headlines)]
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
        yield _changes(f"{core.name}: cycles by cause", "cause", lines.causes(core), core.cycles)
    if core.differing:
        title = f"{core.name}: cycles by function, its own code"
        found = lines.functions(core, instructions, top)
        yield _changes(title, "function", found, core.cycles, why=True)
    if not all(section.is_equal for section in core.sections):
        title = f"{core.name}: sections, with all they call"
        yield _changes(title, "function", lines.sections(core), why=True)


def _changes(
    title: str, first: str, rows: Iterable[Line], total: Change | None = None, *, why: bool = False
) -> Table:
    """A row for each change; `total` at the foot."""
    table = Fitted(title=Text(title), title_justify="left", show_footer=total is not None)
    footer = ("", "", "", "", "") if total is None else ("total", *Line("", total).numbers)
    table.add_column(first, footer=footer[0], is_name=True)
    goes = {"before": 2, "after": 1, "difference": None, "%": 3}
    for heading, foot in zip(goes, footer[1:], strict=True):
        table.add_column(heading, footer=foot, justify="right", no_wrap=True, goes=goes[heading])
    if why:
        table.add_column("why")
    for row in rows:
        reasons = [Text("\n".join(row.why))] if why else []
        table.add_row(Text(row.name), *row.numbers, *reasons)
    return table


def _metrics(metrics: Sequence[MetricChange]) -> Table:
    table = Fitted(title="what the firmware printed", title_justify="left")
    table.add_column("metric", is_name=True)
    for heading in ("before", "after", "%"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for one in metrics:
        table.add_row(*map(Text, lines.metric(one)))
    return table
